// How calls go on from factories: they make their memory by a call, and write to it.

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/call_path.h"

namespace sb {
namespace internal {
// A place in factories.cc, which registers zeros, full_like and their kin.
SourceLocation place_of_factories();
}  // namespace internal
namespace {

absl::Span<const IValue> values_of(const PathCall& c) {
  return absl::MakeConstSpan(c.arguments).last(c.op.schema().arguments.size());
}

// The operator by which a factory makes its memory; empty for out=, whose memory is there, and for
// those operators themselves.
std::string_view maker_of(const PathCall& c) {
  const OperatorName& name = c.op.name();
  if (!name.overload.empty() || name.name == "aten::empty_strided") return "";
  if (name.name == "aten::empty_like") {
    const IValue& format = values_of(c).back();
    return format.is_None() || format.to_memory_format() == MemoryFormat::Preserve
               ? "aten::empty_strided"
               : "aten::empty.memory_format";
  }
  if (name.name.ends_with("_like")) return "aten::empty_like";
  return name.name == "aten::new_empty_strided" || name.name == "aten::empty_permuted"
             ? "aten::empty_strided"
             : "aten::empty.memory_format";
}

// The arguments of its call: those of the same names, and the device of the factory's tensor where
// it was given none. A kernel at Meta sees fake tensors as ones on meta.
Stack arguments_of(const OperatorHandle& maker, const PathCall& c) {
  const std::vector<Argument>& given = c.op.schema().arguments;
  const absl::Span<const IValue> values = values_of(c);
  Stack stack;
  for (const Argument& argument : maker.schema().arguments) {
    const auto same = std::ranges::find(given, argument.name, &Argument::name);
    if (same != given.end())
      stack.push_back(values[static_cast<size_t>(same - given.begin())]);
    else
      stack.push_back(argument.default_value ? *argument.default_value : IValue());
    if (argument.name != "device") continue;
    if (c.keys.highest_key() == DispatchKey::Meta)
      stack.back() = Device(DeviceType::Meta);
    else if (stack.back().is_None() && values[0].is_Tensor())
      stack.back() = values[0].to_tensor().device();
  }
  return stack;
}

void explain(CallPath& path, const PathCall& c) {
  const std::string_view name = maker_of(c);
  if (name.empty()) return;
  const OperatorHandle maker = c.op.entry().dispatcher().find_op_or_throw(name);
  // Writes to a new tensor are not recorded.
  std::optional<internal::BelowRecordingGuard> fresh;
  if (c.op.name().name.find("empty") == std::string::npos) fresh.emplace();
  if (name == "aten::empty_like" && c.keys.highest_key() == DispatchKey::Meta)
    path.enter(maker, c.keys, arguments_of(maker, c));  // nor does that see a fake tensor
  else
    path.call(maker, arguments_of(maker, c));
}

const bool said = (explain_kernels(DispatchKey::CompositeExplicitAutograd, explain,
                                   internal::place_of_factories()),
                   true);

}  // namespace
}  // namespace sb
