#include "switchboard/fake/fake_rule.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/fake/common_device.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fallback_kernel.h"

namespace sb {

IValue& FakeCall::argument(size_t index) const {
  const size_t n = op_.entry().num_arguments();
  SB_CHECK_INDEX(index < n, name(), ": no argument ", index, ", it has ", n);
  return (*stack_)[stack_->size() - n + index];
}

IValue& FakeCall::argument(std::string_view name) const {
  const std::vector<Argument>& arguments = op_.schema().arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return argument(i);
  const auto name_of = [](std::string* text, const Argument& a) { *text += a.name; };
  SB_THROW(ValueError, this->name(), ": no argument '", name, "'; arguments: ",
           arguments.empty() ? "(none)" : absl::StrJoin(arguments, ", ", name_of));
}

ShapeEnv* FakeCall::shape_env() const { return mode_.shape_env(); }
uint64_t FakeCall::epoch() const { return mode_.epoch(); }

Tensor FakeCall::empty(SymIntArrayRef sizes, DType dtype, Device device) const {
  return mode_.empty(sizes, {}, dtype, device);
}

Tensor FakeCall::view(const Tensor& base, SymIntArrayRef sizes, SymIntArrayRef strides,
                      const SymInt& storage_offset) const {
  return alias_with_symbols(base, sizes, strides, storage_offset);
}

void FakeCall::run_meta_kernel(std::optional<Device> device) const {
  const DispatchTable& table = op_.entry().resolved_table();
  SB_CHECK_KIND(UnsupportedOperatorError, table.slots[slot_of(DispatchKey::Meta)], name(),
                ": no shape rule for fake tensors; register a kernel for it at Meta");
  mode_.run_meta_kernel(op_, internal::fake_op(op_),
                        device ? device : internal::common_device(op_, *stack_), stack_);
}

void FakeCall::run_fallback_kernel() const {
  internal::run_fallback_kernel(mode_, op_, internal::fake_op(op_), stack_);
}

void FakeCall::give(std::vector<IValue> results) const {
  stack_->resize(stack_->size() - op_.entry().num_arguments());
  std::ranges::move(results, std::back_inserter(*stack_));
}

}  // namespace sb
