#include "switchboard/tools/inspect_commands.h"

#include <fnmatch.h>

#include <algorithm>
#include <ostream>

#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/op_facts.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/objects/inspect_higher_order.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/inspect_json.h"
#include "switchboard/tools/run_place.h"
#include "switchboard/tools/terminal.h"

namespace sb::tools {
namespace {

// The names that a user may have meant: "add.Tensor" is aten::add.Tensor, "aten.mm" is aten::mm,
// and "aten.add.Tensor", with two dots, can only be aten::add.Tensor.
std::vector<std::string> candidates(std::string text) {
  constexpr std::string_view kPython = "torch.ops.", kDefault = ".default";
  if (text.starts_with(kPython)) text.erase(0, kPython.size());
  if (text.ends_with(kDefault)) text.resize(text.size() - kDefault.size());
  SB_CHECK_VALUE(!text.empty(), "expected an operator's name, got nothing");
  if (text.find("::") != text.npos) return {text};
  std::vector<std::string> names;
  const size_t dot = text.find('.');
  if (dot == text.npos || dot == text.rfind('.')) names.push_back("aten::" + text);
  if (dot != text.npos) names.push_back(text.replace(dot, 1, "::"));
  return names;
}

std::vector<std::string> names_matching(const Dispatcher& dispatcher, const std::string& glob) {
  std::vector<std::string> names;
  for (const OperatorHandle& op : dispatcher.all_ops())
    if (::fnmatch(glob.c_str(), op.name().to_string().c_str(), 0) == 0)
      names.push_back(op.name().to_string());
  return names;
}

// Each operator, higher-order ones too.
std::vector<ListedOp> listed_ops(const Dispatcher& dispatcher, const std::string& glob) {
  std::vector<ListedOp> ops;
  for (const std::string& name : names_matching(dispatcher, glob)) {
    const OperatorHandle op = dispatcher.find_op_or_throw(name);
    ops.push_back({name, op.schema().to_string(), op_facts(OpOverload(op))});
  }
  for (const HigherOrderOperator* const op : all_higher_order_ops())
    if (::fnmatch(glob.c_str(), op->name().c_str(), 0) == 0)
      ops.push_back({op->name(), signature_text(*op), {}});
  return ops;
}

// The higher-order operator of a name that a user typed; nullptr if it is none.
HigherOrderOperator* find_typed_higher_order_op(const std::string& text) {
  constexpr std::string_view kNamespace = "higher_order::";
  for (const std::string& name : candidates(text))
    if (name.starts_with(kNamespace)) return find_higher_order_op(name.substr(kNamespace.size()));
  return nullptr;
}

// The keys of "--keys CPU,AutogradCPU".
DispatchKeySet parse_keys(const std::string& text) {
  DispatchKeySet keys;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::optional<DispatchKey> key = find_dispatch_key(name);
    SB_CHECK_VALUE(key && *key != DispatchKey::Observed, "--keys: unknown dispatch key ",
                   io::quote(name), "; the keys of a device: --device");
    SB_CHECK_VALUE(is_runtime_key(*key), "--keys: ", io::quote(name),
                   " is not a key of one kernel: no tensor carries it");
    keys |= *key;
  }
  return keys;
}

// Whether this program can make tensors there, real or fake.
bool is_here(const std::string& device) {
  if (device == "fake" || device.starts_with("fake:")) return true;
  const DeviceType type = Device(device).type;
  return type != DeviceType::Meta && find_allocator(type);
}

// The tensor for each tensor that an argument needs, its device for each device, and None for what
// has no default: an explanation reads no more of a call.
Stack sample_arguments(const FunctionSchema& schema, const Tensor& tensor) {
  Stack arguments;
  for (const Argument& argument : schema.arguments) {
    const Type& type = argument.type;
    if (type.base == BaseType::Device)
      arguments.emplace_back(tensor.device());
    else if (argument.default_value)
      arguments.push_back(*argument.default_value);
    else if (type.base != BaseType::Tensor || type.is_optional())
      arguments.emplace_back();
    else if (type.is_list())
      arguments.emplace_back(std::vector<Tensor>{tensor});
    else
      arguments.emplace_back(tensor);
  }
  return arguments;
}

}  // namespace

OperatorHandle find_typed_op(const Dispatcher& dispatcher, const std::string& text) {
  const std::vector<std::string> names = candidates(text);
  for (const std::string& name : names)
    if (const auto op = dispatcher.find_op(name)) return *op;
  std::string near;
  for (const std::string& name : names)
    for (const std::string& overload : names_matching(dispatcher, name + ".*"))
      near += (near.empty() ? "" : ", ") + overload;
  if (const HigherOrderOperator* const op = find_higher_order_op(text))
    near += (near.empty() ? "" : ", ") + op->name();
  SB_THROW(RuntimeError, io::quote(text), ": no such operator; ",
           near.empty() ? "sb ops lists all" : "there is " + near);
}

const CommandSpec& ops_spec() {
  static const CommandSpec spec = {
      "ops",
      "[GLOB]",
      0,
      1,
      "Lists the operators and their schemas, and the higher-order operators with the names of\n"
      "their arguments. GLOB is a shell pattern for names, such as 'aten::add*' or, in any\n"
      "namespace, '*softmax*'.",
      {{"facts", "", "below each what 'sb table' says of it: tags, out= form, effect, ..."}}};
  return spec;
}

const CommandSpec& table_spec() {
  static const CommandSpec spec = {
      "table",
      "OP",
      1,
      1,
      "Prints the operator's computed table: for each key the kernel that a call runs, where it\n"
      "was registered, and the rule that put it there; and what else is known of it: tags, its\n"
      "out= form, its effect, what autocast does to it, kernels that are disabled, rules for\n"
      "modes. Of a higher-order operator, such as higher_order::cond, its own rules: those at\n"
      "keys, and those for modes.",
      {{"all", "", "keys without a kernel too"}}};
  return spec;
}

const CommandSpec& explain_spec() {
  static const CommandSpec spec = {
      "explain",
      "OP",
      1,
      1,
      "Explains where a call goes: each key that is considered, highest first, why it is passed\n"
      "over or taken, the kernel's source line, and the way from there to the kernel that "
      "computes; then what 'sb table' says of the operator besides.\n"
      "Exit status 1 if no kernel runs, or the way ends in a failure.",
      {{"keys", "K,K", "the keys of the arguments together, such as CPU,AutogradCPU"},
       {"device", "D", "tensors on that device instead (cpu): dummy, fake, fake:cuda:0"}}};
  return spec;
}

int ops_command(const CommandLine& line, std::ostream& out) {
  const std::string glob = line.arguments().empty() ? "*" : line.arguments()[0];
  const std::vector<ListedOp> ops = listed_ops(default_dispatcher(), glob);
  if (line.has("json")) {
    out << ops_json(ops);
    return ops.empty() ? kFails : kHolds;
  }
  for (const ListedOp& op : ops)
    out << op.schema << "\n" << (line.has("facts") ? to_string(op.facts) : "");
  if (!ops.empty()) return kHolds;
  out << "no operator matches " << io::quote(glob);
  if (glob.find_first_of("*?[:") == glob.npos) out << "; try 'sb ops \"*" << glob << "*\"'";
  out << "\n";
  return kFails;
}

int table_command(const CommandLine& line, std::ostream& out) {
  const std::string& name = line.arguments().at(0);
  const bool all = line.has("all"), json = line.has("json");
  if (const HigherOrderOperator* const op = find_typed_higher_order_op(name)) {
    out << (json ? table_json(*op) : styled(table_to_string(*op, all), terminal_style(out)));
  } else {
    const OperatorHandle handle = find_typed_op(default_dispatcher(), name);
    const std::vector<OpFact> facts = op_facts(OpOverload(handle));
    out << (json ? table_json(handle, facts, all)
                 : styled(table_to_string(handle, all) + to_string(facts), terminal_style(out)));
  }
  return kHolds;
}

int explain_command(const CommandLine& line, std::ostream& out) {
  SB_CHECK_VALUE(!line.has("keys") || !line.has("device"),
                 "explain: give --keys or --device, not both");
  const auto print = [&](const HigherOrderExplanation& explanation) {
    out << (line.has("json") ? explanation_json(explanation)
                             : styled(to_string(explanation), terminal_style(out)));
    return computes(explanation) ? kHolds : kFails;
  };
  const auto print_of_op = [&](const OperatorHandle& op, const Explanation& explanation) {
    const std::vector<OpFact> facts = op_facts(OpOverload(op));
    out << (line.has("json")
                ? explanation_json(explanation, facts)
                : styled(to_string(explanation) + to_string(facts), terminal_style(out)));
    return computes(explanation) ? kHolds : kFails;
  };
  const std::string& name = line.arguments().at(0);
  const HigherOrderOperator* const higher_order = find_typed_higher_order_op(name);
  const auto explain_keys = [&](DispatchKeySet keys) {
    if (higher_order) return print(explain(*higher_order, keys));
    const OperatorHandle op = find_typed_op(default_dispatcher(), name);
    return print_of_op(op, explain(op, keys));
  };
  if (const auto keys = line.find("keys")) return explain_keys(parse_keys(*keys));
  const std::string device = line.get("device", "cpu");
  // Of a device that is not here there are no tensors, but it is known which keys they would have.
  if (!is_here(device)) return explain_keys(tensor_key_set(Device(device).type));
  const RunPlace place = RunPlace::parse(device);
  const Tensor on_cpu = zeros({});  // before the fake mode of the place is active
  Mover mover(place);
  const Tensor tensor = mover.move(on_cpu);
  if (higher_order) return explain_keys(tensor.key_set());
  const OperatorHandle op = find_typed_op(default_dispatcher(), name);
  return print_of_op(op, explain(op, sample_arguments(op.schema(), tensor)));
}

}  // namespace sb::tools
