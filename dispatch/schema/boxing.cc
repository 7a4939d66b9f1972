#include "switchboard/dispatch/schema/boxing.h"

namespace sb::internal {

Unboxed<absl::Span<const bool>>::Unboxed(const IValue& v)
    : value(v.to_bool_list().begin(), v.to_bool_list().end()) {}

Unboxed<absl::Span<const Scalar>>::Unboxed(const IValue& v) {
  for (const IValue& item : v.to_list()) value.push_back(item.to_scalar());
}

IValue box(IntArrayRef v) { return std::vector<int64_t>(v.begin(), v.end()); }
IValue box(SymIntArrayRef v) { return std::vector<SymInt>(v.begin(), v.end()); }
IValue box(absl::Span<const double> v) { return std::vector<double>(v.begin(), v.end()); }
IValue box(absl::Span<const bool> v) { return std::vector<bool>(v.begin(), v.end()); }
IValue box(TensorList v) { return std::vector<Tensor>(v.begin(), v.end()); }
IValue box(OptionalTensorList v) { return std::vector<std::optional<Tensor>>(v.begin(), v.end()); }
IValue box(absl::Span<const Scalar> v) { return std::vector<IValue>(v.begin(), v.end()); }
IValue box(const std::vector<Scalar>& v) { return box(absl::Span<const Scalar>(v)); }

}  // namespace sb::internal
