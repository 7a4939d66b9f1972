// Assertions about fake tensors and symbols: a fake tensor's device is the one that it stands for,
// and what is said of a symbol's range is kept by its environment.

#include "switchboard/ops/assertions/assertions.h"

#include <optional>

#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::internal {
namespace {

OptionalSymIntArrayRef list_of(const IValue& value) {
  return value.is_None() ? OptionalSymIntArrayRef()
                         : OptionalSymIntArrayRef(value.to_sym_int_list());
}

bool tensor_metadata_rule(FakeCall& call) {
  const IValue dtype = call.argument("dtype"), device = call.argument("device"),
               layout = call.argument("layout");
  check_tensor_metadata(call.tensor("a"), list_of(call.argument("size")),
                        list_of(call.argument("stride")),
                        dtype.is_None() ? std::nullopt : std::optional(dtype.to_dtype()),
                        device.is_None() ? std::nullopt : std::optional(device.to_device()),
                        layout.is_None() ? std::nullopt : std::optional(layout.to_layout()));
  call.give({});
  return true;
}

// Of plain numbers the kernels know as much.
template <auto constrain>
bool range_rule(FakeCall& call) {
  const IValue& size = call.argument("size");
  if (!size.is_SymInt()) return false;
  const auto bound = [&](const char* name) {
    const IValue& value = call.argument(name);
    return value.is_None() ? std::nullopt : std::optional(value.to_int());
  };
  constrain(size.to_sym_int(), bound("min"), bound("max"), SourceLocation::current());
  call.give({});
  return true;
}

[[maybe_unused]] const bool assertions_registered = [] {
  register_fake_rule("aten::_assert_tensor_metadata", tensor_metadata_rule).release();
  register_fake_rule("aten::sym_constrain_range", range_rule<constrain_range>).release();
  register_fake_rule("aten::sym_constrain_range_for_size", range_rule<constrain_range_for_size>)
      .release();
  return true;
}();

}  // namespace
}  // namespace sb::internal
