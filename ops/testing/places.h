// For tests: the places that a tensor can live in, and tensors made of a few numbers.

#ifndef SWITCHBOARD_OPS_TESTING_PLACES_H_
#define SWITCHBOARD_OPS_TESTING_PLACES_H_

#include <cstring>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"

namespace sb::test {

// The devices that every operator runs on here. Use: `auto place = GENERATE(from_range(places()))`.
inline std::vector<Device> places() { return {DeviceType::CPU, DeviceType::Meta}; }

// A contiguous tensor of these elements; without them where the place has no data.
inline Tensor tensor_of(std::vector<int64_t> sizes, const std::vector<double>& values,
                        DType dtype = DType::Float32, Device place = DeviceType::CPU) {
  Tensor t = empty_on(place, sizes, dtype);
  if (!place.is_cpu()) return t;
  char* p = static_cast<char*>(t.data_ptr());
  for (double v : values) {
    store_scalar(v, dtype, p);
    p += t.itemsize();
  }
  return t;
}

// The elements in the order of the indices, whatever the strides.
inline std::vector<double> values_of(const Tensor& t) {
  const Tensor doubles = cast_copy(t, DType::Float64);
  const double* const p = doubles.numel() ? doubles.data<double>() : nullptr;
  return std::vector<double>(p, p + doubles.numel());
}

// Whether t holds these elements; true where the place has no data.
inline bool holds(const Tensor& t, const std::vector<double>& values) {
  return !t.is_cpu() || values_of(t) == values;
}

using Sizes = std::vector<int64_t>;
inline Sizes sizes_of(const Tensor& t) { return Sizes(t.sizes().begin(), t.sizes().end()); }
inline Sizes strides_of(const Tensor& t) { return Sizes(t.strides().begin(), t.strides().end()); }

}  // namespace sb::test

#endif  // SWITCHBOARD_OPS_TESTING_PLACES_H_
