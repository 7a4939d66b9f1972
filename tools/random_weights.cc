#include "switchboard/tools/random_weights.h"

#include <cmath>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/strided_elements.h"

namespace sb::tools {
namespace {

// SplitMix64: the standard library's distributions differ from one library to the next.
class Stream {
 public:
  // A stream of its own for each name, by FNV-1a.
  Stream(uint64_t seed, std::string_view name) : state_(seed) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    state_ = mix(state_) ^ hash;
  }
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // Uniform within [low, high), in steps of 2^-24 of the range.
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 40) * 0x1p-24;
  }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

struct Range {
  double low, high;
};

Range weight_range(std::string_view name, const Tensor& tensor) {
  if (tensor.dim() >= 2 && tensor.numel() > 0) {
    const double bound =
        std::sqrt(3.0 * static_cast<double>(tensor.size(0)) / static_cast<double>(tensor.numel()));
    return {-bound, bound};
  }
  const bool is_scale = name.ends_with("weight") || name.ends_with("var");
  return is_scale ? Range{0.5, 1.5} : Range{-0.1, 0.1};
}

Tensor empty_like_meta(std::string_view name, const io::TensorMeta& meta) {
  for (size_t i = 0; i < meta.sizes.size(); ++i)
    SB_CHECK(meta.sizes[i] <= 1 || meta.strides[i] > 0, io::quote(name),
             ": several elements lie at one place; no random values can be written");
  return empty_strided_on(DeviceType::CPU, meta.sizes, meta.strides, meta.dtype);
}

// Integers are drawn from [0, integers), bools from [0, min(integers, 2)).
void fill(const Tensor& tensor, Stream stream, Range floats, uint64_t integers) {
  visit_dtype(tensor.dtype(), [&]<class T>() {
    for_each_element<T>(tensor, [&](T& element) {
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(stream.next() % integers);
      } else if constexpr (is_complex(dtype_of<T>)) {
        using Part = typename T::value_type;
        const auto real = static_cast<Part>(stream.uniform(floats.low, floats.high));
        element = T(real, static_cast<Part>(stream.uniform(floats.low, floats.high)));
      } else {
        element = static_cast<T>(stream.uniform(floats.low, floats.high));
      }
    });
  });
}

}  // namespace

Tensor random_weight(uint64_t seed, std::string_view name, const io::TensorMeta& meta) {
  const Tensor tensor = empty_like_meta(name, meta);
  fill(tensor, Stream(seed, name), weight_range(name, tensor), 1);
  return tensor;
}

Tensor random_input(uint64_t seed, std::string_view name, const io::TensorMeta& meta) {
  const Tensor tensor = empty_like_meta(name, meta);
  fill(tensor, Stream(seed, name), {-1, 1}, 2);
  return tensor;
}

}  // namespace sb::tools
