#include "switchboard/ops/sorting/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

// The weights are float or double, the counts int64.
template <class T>
void add_up(const Tensor& values, const T* weights, const Tensor& out) {
  T* const to = out.data<T>();
  std::fill_n(to, out.numel(), T(0));
  const int64_t* const at = values.data<int64_t>();
  for (int64_t i = 0; i < values.numel(); ++i) to[at[i]] += weights ? weights[i] : T(1);
}

Tensor bincount_kernel(const Tensor& self, const std::optional<Tensor>& weights,
                       const SymInt& symbolic_minlength) {
  const int64_t minlength = symbolic_minlength.guard_int();
  check_defined("bincount", self);
  SB_CHECK_NOT_IMPLEMENTED(is_integral(self.dtype()), "bincount: not implemented for ",
                           to_string(self.dtype()));
  SB_CHECK(minlength >= 0, "bincount: minlength: expected 0 or more, got ", minlength);
  SB_CHECK(self.dim() == 1, "bincount: expected one dimension, got ", self.describe());
  const Device device = self.device();
  const Tensor values = cast_copy(self, DType::Int64);
  const int64_t* const begin = values.data<int64_t>();
  int64_t length = minlength;
  for (int64_t i = 0; i < values.numel(); ++i) {
    SB_CHECK(begin[i] >= 0, "bincount: expected elements that are not negative, got ", begin[i]);
    length = std::max(length, checked_add(begin[i], 1));
  }
  if (values.numel() == 0 || !weights || !weights->defined()) {
    const Tensor result = empty_on(device, {length}, DType::Int64);
    add_up<int64_t>(values, nullptr, result);
    return result;
  }
  SB_CHECK(weights->sizes() == self.sizes(), "bincount: weights: expected the shape of ",
           self.describe(), ", got ", weights->describe());
  const bool single = weights->dtype() == DType::Float32;
  const Tensor result = empty_on(device, {length}, single ? DType::Float32 : DType::Float64);
  const Tensor numbers = cast_copy(*weights, result.dtype());
  if (single) {
    add_up(values, numbers.data<float>(), result);
  } else {
    add_up(values, numbers.data<double>(), result);
  }
  return result;
}

TensorMeta histc_rule(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), "histc: not implemented for ",
                           to_string(self.dtype()));
  SB_CHECK(bins > 0, "histc: bins: expected at least 1, got ", bins);
  const double low = min.to<double>();
  const double high = max.to<double>();
  if (low != high) {
    SB_CHECK(std::isfinite(low) && std::isfinite(high), "histc: the range from ", low, " to ", high,
             " is not finite");
    SB_CHECK(low < high, "histc: max: expected more than min, ", low, ", got ", high);
  }
  return {{bins}, self.dtype()};
}

// Computes as PyTorch in T, float for bfloat16.
template <class T>
void histogram(const Tensor& elements, int64_t bins, double min, double max, int64_t* counts) {
  const T* const begin = elements.data<T>();
  const T* const end = begin + elements.numel();
  if (min == max && begin != end) {
    min = max = static_cast<double>(*begin);
    for (const T* x = begin; x != end; ++x) {
      SB_CHECK(std::isfinite(*x), "histc: the range of elements with ", *x, " is not finite");
      min = std::min(min, static_cast<double>(*x));
      max = std::max(max, static_cast<double>(*x));
    }
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  const T low = static_cast<T>(min);
  const T high = static_cast<T>(max);
  for (const T* x = begin; x != end; ++x) {
    if (!(*x >= low && *x <= high)) continue;
    // NaN where the range or a product leaves T.
    const T position = (*x - low) * static_cast<T>(bins) / (high - low);
    const bool inside = position > 0 && position < static_cast<T>(bins);
    const int64_t bin = inside ? static_cast<int64_t>(position) : position > 0 ? bins - 1 : 0;
    ++counts[std::min(bin, bins - 1)];
  }
}

void histc_kernel(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max,
                  const Tensor& out) {
  const Tensor counts = empty_on(self.device(), {bins}, DType::Int64);
  int64_t* const to = counts.data<int64_t>();
  std::fill_n(to, bins, 0);
  if (self.dtype() == DType::Float64) {
    histogram<double>(cast_copy(self, DType::Float64), bins, min.to<double>(), max.to<double>(),
                      to);
  } else {
    histogram<float>(cast_copy(self, DType::Float32), bins, min.to<double>(), max.to<double>(), to);
  }
  copy_elements(out, counts);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, bincount, Tag::dynamic_output_shape).cpu(bincount_kernel).out("out");
  define(m, histc).structured<histc_rule, histc_kernel>().out(histc_out);
}

}  // namespace sb
