// The numbers that PyTorch's schema strings print dtypes as: `ScalarType? dtype=4` is int64.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_SCALAR_TYPE_NUMBER_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_SCALAR_TYPE_NUMBER_H_

#include <cstdint>
#include <iterator>
#include <optional>

#include "switchboard/core/dtype.h"

namespace sb::internal {

// As the enumerators of `c10::ScalarType`, in the order of SB_FORALL_DTYPES.
inline constexpr int64_t kScalarTypeNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 12, 13, 14};
static_assert(std::size(kScalarTypeNumbers) == kNumDTypes);

constexpr int64_t scalar_type_number(DType t) { return kScalarTypeNumbers[static_cast<int>(t)]; }

constexpr std::optional<DType> dtype_of_scalar_type_number(int64_t number) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (kScalarTypeNumbers[i] == number) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_SCALAR_TYPE_NUMBER_H_
