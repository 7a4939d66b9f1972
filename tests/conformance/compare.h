// Comparing what came with what was recorded. Every function gives the first difference, or
// nullopt.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_COMPARE_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_COMPARE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

// Applies to floating-point and complex elements; others are exact.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// Whether one element is as expected: within `absolute + relative * |expected|`, NaN equal to NaN.
bool elements_agree(DType dtype, const std::byte* expected, const std::byte* actual,
                    Tolerance tolerance);

// A tensor at one moment. `bytes` is its whole storage, null in places without data.
struct TensorState {
  DType dtype = DType::Float32;
  Device device;
  DispatchKeySet keys;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  Storage storage;
  size_t storage_bytes = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};
TensorState state_of(const Tensor& tensor, Place& place);

Difference compare_dtype_and_shape(const TensorSpec& expected, const TensorState& actual);
// dtype, shape and stride; and the offset for a view, where it is not free.
Difference compare_metadata(const TensorSpec& expected, const TensorState& actual,
                            bool with_offset);
// The elements that the tensor shows, lazy bits resolved on both sides. dtype and shape agree.
Difference compare_elements(const TensorSpec& expected, const TensorState& actual,
                            Tolerance tolerance);
// Every determined element of the storage, as it lies in memory.
Difference compare_storage(const TensorSpec& expected, const TensorState& actual,
                           Tolerance tolerance);
// Everything, bit for bit. `with_contents` is false where a view of the storage may be written to.
Difference compare_unchanged(const TensorState& before, const TensorState& after,
                             bool with_contents);

// A value that is not a tensor: of the same kind, and equal within the tolerance.
Difference compare_value(const IValue& expected, const IValue& actual, Tolerance tolerance);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_COMPARE_H_
