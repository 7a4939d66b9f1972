#include "switchboard/tests/conformance/dispatch_cases.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/alias_keys.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/tests/conformance/dispatch_values.h"

namespace sb::conformance {
namespace {

constexpr size_t kMostKernelsInACall = 1000;  // more is a kernel that calls itself forever

Difference expect_json(const Json& expected, const Json& actual) {
  if (expected == actual) return std::nullopt;
  return str_cat("expected ", expected.dump(), ", got ", actual.dump());
}

// The same for objects: names the first key that differs.
Difference expect_object(const Json& expected, const Json& actual) {
  if (!expected.is_object() || !actual.is_object()) return expect_json(expected, actual);
  for (const auto& [key, value] : expected.items()) {
    if (!actual.contains(key)) return str_cat(key, ": expected ", value.dump(), ", got nothing");
    if (auto d = expect_json(value, actual[key])) return str_cat(key, ": ", *d);
  }
  for (const auto& [key, value] : actual.items())
    if (!expected.contains(key)) return str_cat(key, ": expected nothing, got ", value.dump());
  return std::nullopt;
}

// What a case has made so far.
class World {
 public:
  explicit World(const Json& json) {
    if (json.contains("kernels"))
      behaviours_ = json["kernels"].get<std::map<std::string, std::string>>();
  }
  ~World() {
    while (!libraries_.empty()) libraries_.pop_back();
  }

  // Does the step. Throws an sb::Error where what the step asks for fails, and nothing else for
  // valid steps.
  Difference run(const Json& step) {
    const std::string& what = step.at("do").get_ref<const std::string&>();
    if (what == "library") return open_library(step);
    if (what == "define") return define(step);
    if (what == "impl") return impl(step);
    if (what == "fallback") return fallback(step);
    if (what == "destroy") return destroy(step);
    if (what == "table") return expect_object(step.at("expect"), table(name_of(step)));
    if (what == "kernels") return expect_object(step.at("expect"), kernels(name_of(step)));
    if (what == "exists") return expect_json(step.at("expect"), exists(name_of(step)));
    if (what == "dangling")
      return expect_json(step.at("expect"),
                         dispatcher_.dangling_ops(step.at("ns").get<std::string>()));
    if (what == "has_kernel")
      return expect_json(step.at("expect"), has_kernel(name_of(step), read_key(step.at("key"))));
    if (what == "call") return call(step);
    if (what == "redispatch") return redispatch(step);
    if (what == "keyset") return key_set(step);
    if (what == "has")
      return expect_json(step.at("expect"),
                         evaluate_key_set(step.at("expr")).has(read_key(step.at("key"))));
    if (what == "alias_has")
      return expect_json(step.at("expect"),
                         alias_includes(read_key(step.at("alias")), read_key(step.at("key"))));
    throw MalformedCase(str_cat("a step of unknown kind '", what, "'"));
  }

  // The kernels that ran in the last call, as [label, own key].
  const Json& log() const { return log_; }

 private:
  // What a labelled kernel does.
  void behave(const std::string& label, const OperatorHandle& op, DispatchKeySet keys,
              Stack* stack) {
    const DispatchKey own = keys.highest_key();
    log_.push_back({label, std::string(canonical_name(own))});
    SB_CHECK(log_.size() < kMostKernelsInACall, "kernel ", label, " calls itself forever");
    const auto it = behaviours_.find(label);
    const std::string behaviour = it == behaviours_.end() ? "return" : it->second;
    const std::string verb = behaviour.substr(0, behaviour.find(' '));
    const std::string object =
        verb.size() < behaviour.size() ? behaviour.substr(verb.size() + 1) : "";
    if (verb == "raise") SB_THROW(RuntimeError, "the kernel ", label, " raised");
    std::optional<ExcludeKeysGuard> guard;
    if (verb.rfind("exclude_and_", 0) == 0) guard.emplace(own);
    if (verb == "redispatch" || verb == "exclude_and_redispatch") {
      op.redispatch_boxed(keys & DispatchKeySet::below(own), stack);
    } else if (verb == "redispatch_after") {
      op.redispatch_boxed(keys & DispatchKeySet::below(read_key(Json(object))), stack);
    } else if (verb == "exclude_and_call" && object.empty()) {
      op.call_boxed(stack);
    } else if (verb == "call" || verb == "exclude_and_call") {
      Stack arguments(stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments.size()),
                      stack->end());
      dispatcher_.find_op_or_throw(object).call_boxed(&arguments);
      put_empty_returns(op, stack);
    } else if (verb == "return") {
      put_empty_returns(op, stack);
    } else {
      throw MalformedCase(str_cat("a kernel of unknown behaviour '", behaviour, "'"));
    }
  }

  static void put_empty_returns(const OperatorHandle& op, Stack* stack) {
    stack->resize(stack->size() - op.schema().arguments.size());
    for (const Return& r : op.schema().returns) stack->push_back(empty_return(r.type));
  }

  KernelFunction make_labelled_kernel(const std::string& label) {
    constexpr std::string_view kTyped = "typed:";
    if (label == "fallthrough") return make_fallthrough_kernel();
    KernelFunction kernel;
    if (label.rfind(kTyped, 0) == 0) {
      kernel = make_typed_kernel(std::string_view(label).substr(kTyped.size()));
    } else {
      kernel = make_kernel([this, label](const OperatorHandle& op, DispatchKeySet keys,
                                         Stack* stack) { behave(label, op, keys, stack); });
    }
    labels_[kernel.state.get()] = label;
    made_.push_back(kernel);
    return kernel;
  }

  std::string label_of(const RegisteredKernel& kernel) const {
    if (kernel.function.entries.is_fallthrough()) return "fallthrough";
    if (kernel.function.entries.is_autograd_fallback()) return "autograd_fallback";
    const auto it = labels_.find(kernel.function.state.get());
    return it == labels_.end() ? "framework" : it->second;
  }

  Difference open_library(const Json& step) {
    const std::string kind = step.at("kind").get<std::string>();
    const LibraryKind library_kind = kind == "DEF"    ? LibraryKind::Def
                                     : kind == "IMPL" ? LibraryKind::Impl
                                                      : LibraryKind::Fragment;
    std::optional<DispatchKey> key;
    if (step.contains("key")) key = read_key(step["key"]);
    auto library =
        std::make_unique<Library>(dispatcher_, library_kind, step.at("ns").get<std::string>(), key,
                                  SourceLocation::current());
    libraries_.emplace_back(step.at("as").get<std::string>(), std::move(library));
    return std::nullopt;
  }

  auto find_library(const Json& step) {
    const std::string& name = step.at("lib").get_ref<const std::string&>();
    for (auto it = libraries_.begin(); it != libraries_.end(); ++it)
      if (it->first == name) return it;
    throw MalformedCase(str_cat("no library ", name));
  }

  // The library of a step that may register a kernel where there is one.
  Library& overriding_library(const Json& step) {
    return find_library(step)->second->allow_override();
  }

  void register_kernel(const Json& step, const std::string& op) {
    Library& library = overriding_library(step);
    const std::string label = step.at("kernel").get<std::string>();
    if (step.contains("key")) {
      const DispatchKey key = read_key(step["key"]);
      library.impl(op, key, make_labelled_kernel(label));
    } else {
      library.impl(op, make_labelled_kernel(label));
    }
  }

  Difference define(const Json& step) {
    Library& library = overriding_library(step);
    const std::string schema = step.at("schema").get<std::string>();
    if (step.contains("kernel") && !step.contains("key")) {
      library.define(schema, make_labelled_kernel(step["kernel"].get<std::string>()));
    } else {
      const OperatorHandle op = library.define(schema);
      if (step.contains("kernel")) register_kernel(step, op.name().to_string());
    }
    return std::nullopt;
  }

  Difference impl(const Json& step) {
    register_kernel(step, name_of(step));
    return std::nullopt;
  }

  Difference fallback(const Json& step) {
    Library& library = find_library(step)->second->allow_override(false);
    const std::string label = step.at("kernel").get<std::string>();
    if (step.contains("key")) {
      const DispatchKey key = read_key(step["key"]);
      library.fallback(key, make_labelled_kernel(label));
    } else {
      library.fallback(make_labelled_kernel(label));
    }
    return std::nullopt;
  }

  Difference destroy(const Json& step) {
    libraries_.erase(find_library(step));
    return std::nullopt;
  }

  static std::string name_of(const Json& step) { return step.at("op").get<std::string>(); }

  const OperatorEntry* find_entry(const std::string& name) const {
    return dispatcher_.find_entry(OperatorName::parse(name));
  }

  Json table(const std::string& name) const {
    const OperatorEntry* const entry = find_entry(name);
    if (!entry) return nullptr;
    Json rows = Json::object();
    dispatcher_.inspect([&] {
      for (std::string_view key_name : table_keys()) {
        const Resolution r = entry->resolve(*find_dispatch_key(key_name));
        Json& row = rows[std::string(key_name)];
        if (r.rule == ResolutionRule::AmbiguousAutogradOther)
          row = {"ambiguous_autogradother", std::string(to_string(r.rule))};
        else if (r.kernel)
          row = {label_of(*r.kernel), std::string(to_string(r.rule))};
      }
      return 0;
    });
    return rows;
  }

  Json kernels(const std::string& name) const {
    const OperatorEntry* const entry = find_entry(name);
    if (!entry) return nullptr;
    Json result = Json::object();
    dispatcher_.inspect([&] {
      for (DispatchKey key : entry->keys_with_kernels()) {
        Json labels = Json::array();
        for (const RegisteredKernel& kernel : entry->kernels_at(key))
          labels.insert(labels.begin(), label_of(kernel));
        result[std::string(canonical_name(key))] = labels;
      }
      return 0;
    });
    return result;
  }

  Json exists(const std::string& name) const {
    const OperatorEntry* const entry = find_entry(name);
    return !entry ? "nothing" : entry->has_schema() ? "schema" : "kernels only";
  }

  Json has_kernel(const std::string& name, DispatchKey key) const {
    const OperatorEntry* const entry = find_entry(name);
    return entry && dispatcher_.inspect([&] { return !entry->kernels_at(key).empty(); });
  }

  // The step's arguments, which are in the schema's order, keyword-only ones too.
  static Stack arguments(const OperatorHandle& op, const Json& step) {
    std::vector<IValue> positional;
    std::vector<std::pair<std::string, IValue>> keyword;
    size_t i = 0;
    for (const Json& json : step.at("args")) {
      IValue value = read_dispatch_argument(json);
      const std::vector<Argument>& declared = op.schema().arguments;
      if (i < declared.size() && declared[i].kwarg_only)
        keyword.emplace_back(declared[i].name, std::move(value));
      else
        positional.push_back(std::move(value));
      ++i;
    }
    return bind_arguments(op.schema(), std::move(positional), std::move(keyword));
  }

  Difference call(const Json& step) {
    log_ = Json::array();
    auto keys = [&](const char* field) {
      return step.contains(field) ? read_keys(step[field]) : DispatchKeySet();
    };
    std::optional<InferenceModeGuard> inference;
    if (step.value("inference_mode", false)) inference.emplace();
    IncludeKeysGuard include(keys("include"));
    ExcludeKeysGuard exclude(keys("exclude"));
    UnexcludeKeysGuard unexclude(keys("unexclude"));
    const OperatorHandle op = dispatcher_.find_op_or_throw(name_of(step));
    Stack stack = arguments(op, step);
    op.call_boxed(&stack);
    return expect_json(step.at("expect"), log_);
  }

  Difference redispatch(const Json& step) {
    log_ = Json::array();
    const OperatorHandle op = dispatcher_.find_op_or_throw(name_of(step));
    Stack stack = arguments(op, step);
    op.redispatch_boxed(read_keys(step.at("keys")), &stack);
    return expect_json(step.at("expect"), log_);
  }

  static Difference key_set(const Json& step) {
    const DispatchKeySet set = evaluate_key_set(step.at("expr"));
    Json members = step.at("expect").at("members");
    std::sort(members.begin(), members.end());
    if (auto d = expect_json(members, listed_members(set))) return str_cat("members: ", *d);
    if (!step["expect"].contains("highest")) return std::nullopt;
    const Json highest = std::string(canonical_name(set.highest_key()));
    if (auto d = expect_json(step["expect"]["highest"], highest)) return str_cat("highest: ", *d);
    return std::nullopt;
  }

  Dispatcher dispatcher_;
  std::vector<std::pair<std::string, std::unique_ptr<Library>>> libraries_;
  std::map<std::string, std::string> behaviours_;
  std::map<const KernelState*, std::string> labels_;
  std::vector<KernelFunction> made_;  // so that no state gets the address of an older one
  Json log_ = Json::array();
};

// The first difference of a step, errors included.
Difference run_step(World& world, const Json& step) {
  if (!step.contains("raises")) {
    try {
      return world.run(step);
    } catch (const Error& error) {
      return str_cat("raised ", error.kind(), ": ", error.what());
    }
  }
  const std::string expected = step["raises"].get<std::string>();
  try {
    if (auto d = world.run(step)) return d;
  } catch (const Error& error) {
    if (error.kind() != expected)
      return str_cat("wrong kind of error: expected ", expected, ", got ", error.kind(), ": ",
                     error.what());
    return step.contains("expect") ? expect_json(step["expect"], world.log()) : std::nullopt;
  }
  return str_cat("did not raise: expected ", expected, " (", step.value("message", ""), ")");
}

bool is_had(const std::string& need) { return need == "typed kernels" || need == "inference mode"; }

}  // namespace

Outcome run_dispatch_case(const Json& json) {
  try {
    if (json.contains("needs")) {
      for (const Json& need : json["needs"])
        if (!is_had(need.get<std::string>())) return Outcome::skipped("needs", need);
    }
    World world(json);
    size_t i = 0;
    for (const Json& step : json.at("steps")) {
      if (auto d = run_step(world, step))
        return Outcome::failed(str_cat(
            "step ", i, " (", step.at("do").get<std::string>(),
            step.contains("op") ? str_cat(" ", step["op"].get<std::string>()) : "", "): ", *d));
      ++i;
    }
    return Outcome::passed();
  } catch (const Error& error) {
    return Outcome::failed(
        str_cat("raised ", error.kind(), " outside of any step: ", error.what()));
  } catch (const std::exception& error) {
    return Outcome::failed(str_cat("malformed case: ", error.what()));
  }
}

}  // namespace sb::conformance
