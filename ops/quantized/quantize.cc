#include "switchboard/ops/quantized/quantize.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "Eigen/Core"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Calls f.template operator()<T>() with the type that elements of a quantized dtype are stored in.
template <class F>
decltype(auto) visit_stored(DType dtype, F&& f) {
  if (dtype == DType::QInt8) return f.template operator()<int8_t>();
  if (dtype == DType::QUInt8) return f.template operator()<uint8_t>();
  return f.template operator()<int32_t>();
}

DType stored_dtype(DType dtype) {
  return visit_stored(dtype, []<class T>() { return dtype_of<T>; });
}

void check_zero_point(const char* op, int64_t zero_point, DType dtype) {
  visit_stored(dtype, [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    SB_CHECK(zero_point >= Limits::min() && zero_point <= Limits::max(), op,
             ": argument zero_point: expected a number from ", int64_t{Limits::min()}, " to ",
             int64_t{Limits::max()}, ", which ", to_string(dtype), " holds, got ", zero_point);
  });
}

// A view of `base` with other keys and another dtype of the same size.
Tensor view_of_same_size(const Tensor& base, DType dtype, DispatchKeySet keys,
                         IntrusivePtr<Quantizer> quantizer) {
  Tensor view = alias_with_unchecked(base, base.sizes(), base.strides(), base.storage_offset());
  view.impl()->set_dtype(dtype);
  view.impl()->set_key_set(keys);
  view.impl()->set_quantizer(std::move(quantizer));
  return view;
}

// The elements of a quantized tensor as the plain integers that they are stored as. A view.
Tensor stored(const Tensor& quantized) {
  return view_of_same_size(
      quantized, stored_dtype(quantized.dtype()),
      tensor_key_set(quantized.device().type, quantized.impl()->is_inference()), nullptr);
}

// A quantized view of plain integers.
Tensor quantized_view(const Tensor& plain, DType dtype, IntrusivePtr<Quantizer> quantizer) {
  return view_of_same_size(plain, dtype,
                           quantized_key_set(plain.device().type, plain.impl()->is_inference()),
                           std::move(quantizer));
}

const IntrusivePtr<Quantizer>& quantizer_of(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(self.impl()->quantizer(), op, ": argument self: expected a quantized tensor, got ",
           self.describe());
  return self.impl()->quantizer();
}

void quantize_on_cpu(const Tensor& self, const Tensor& quantized) {
  quantize_elements(self.data<float>(), quantized.data_ptr(), self.numel(),
                    *quantized.impl()->quantizer(), quantized.dtype());
}
void quantize_on_meta(const Tensor&, const Tensor&) {}

constinit std::array<std::atomic<QuantizeKernel>, kNumDeviceTypes> quantize_kernels{};

Tensor quantize_tensor_qparams(const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                               DType dtype) {
  check_defined("quantize_per_tensor: argument scale", scale);
  check_defined("quantize_per_tensor: argument zero_point", zero_point);
  return quantize_per_tensor(self, item(scale).to<double>(), item(zero_point).to<int64_t>(), dtype);
}

std::vector<Tensor> quantize_tensors(TensorList tensors, const Tensor& scales,
                                     const Tensor& zero_points, DType dtype) {
  check_defined("quantize_per_tensor: argument scales", scales);
  check_defined("quantize_per_tensor: argument zero_points", zero_points);
  const auto count = static_cast<int64_t>(tensors.size());
  SB_CHECK(scales.dim() == 1 && zero_points.dim() == 1 && scales.size(0) == count &&
               zero_points.size(0) == count,
           "quantize_per_tensor: arguments scales, zero_points: expected a number for each of ",
           count, " tensors, got ", scales.describe(), " and ", zero_points.describe());
  std::vector<Tensor> results;
  for (int64_t i = 0; i < count; ++i) {
    results.push_back(quantize_per_tensor_tensor_qparams(
        tensors[static_cast<size_t>(i)], select(scales, 0, i), select(zero_points, 0, i), dtype));
  }
  return results;
}

Tensor dequantize_any(const Tensor& self) {
  check_defined("dequantize: argument self", self);
  const IntrusivePtr<Quantizer>& quantizer = self.impl()->quantizer();
  if (!quantizer) return to_dtype(self, DType::Float32);
  // Through float64, where int32 less a zero point is exact.
  const Tensor steps = sub_Scalar(to_dtype(stored(self), DType::Float64), quantizer->zero_point);
  return to_dtype(mul_Scalar(steps, quantizer->scale), DType::Float32);
}

std::vector<Tensor> dequantize_each(TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) results.push_back(dequantize(t));
  return results;
}

Tensor int_repr_any(const Tensor& self) {
  quantizer_of("int_repr", self);
  return clone(stored(self));
}

double q_scale_any(const Tensor& self) { return quantizer_of("q_scale", self)->scale; }
int64_t q_zero_point_any(const Tensor& self) {
  return quantizer_of("q_zero_point", self)->zero_point;
}

Tensor make_quantized(const Tensor& self, double scale, int64_t zero_point) {
  constexpr const char* kName = "_make_per_tensor_quantized_tensor";
  check_defined(kName, self);
  for (DType dtype : {DType::QInt8, DType::QUInt8, DType::QInt32}) {
    if (stored_dtype(dtype) != self.dtype()) continue;
    check_zero_point(kName, zero_point, dtype);
    return quantized_view(contiguous(self).is_same(self) ? clone(self) : contiguous(self), dtype,
                          make_intrusive<Quantizer>(scale, zero_point));
  }
  SB_THROW(RuntimeError, kName, ": argument self: expected int8, uint8 or int32, got ",
           self.describe());
}

Tensor clone_quantized(const Tensor& self, std::optional<MemoryFormat> format) {
  return quantized_view(clone(stored(self), format), self.dtype(), quantizer_of("clone", self));
}

}  // namespace

void quantize_elements(const float* from, void* to, int64_t n, const Quantizer& quantizer,
                       DType dtype) {
  visit_stored(dtype, [&]<class T>() {
    // The product is rounded as float32, as PyTorch's; float64 holds every step that fits.
    const float per_step = 1.0f / static_cast<float>(quantizer.scale);
    const double zero_point = static_cast<double>(quantizer.zero_point);
    constexpr double kMin = std::numeric_limits<T>::min();
    constexpr double kMax = std::numeric_limits<T>::max();
    const Eigen::Map<const Eigen::ArrayXf> x(from, n);
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(static_cast<T*>(to), n) =
        (x * per_step).rint().cast<double>().unaryExpr([=](double steps) {
          const double q = steps + zero_point;
          return static_cast<T>(q > kMin ? (q < kMax ? q : kMax) : kMin);  // NaN is not above kMin
        });
  });
}

void register_quantize_kernel(DeviceType device, QuantizeKernel kernel) {
  SB_CHECK_VALUE(device != DeviceType::CPU && device != DeviceType::Meta,
                 "register_quantize_kernel: ", to_string(device), " has the kernel of the library");
  QuantizeKernel none = nullptr;
  SB_CHECK(quantize_kernels[static_cast<size_t>(device)].compare_exchange_strong(none, kernel),
           "register_quantize_kernel: ", to_string(device), " has a kernel already");
}

Tensor quantize_per_tensor_on_device(const Tensor& self, double scale, int64_t zero_point,
                                     DType dtype) {
  check_defined("quantize_per_tensor: argument self", self);
  SB_CHECK(self.dtype() == DType::Float32,
           "quantize_per_tensor: argument self: expected float32, got ", self.describe());
  SB_CHECK(is_quantized(dtype),
           "quantize_per_tensor: argument dtype: expected qint8, quint8 or qint32, got ",
           to_string(dtype));
  check_zero_point("quantize_per_tensor", zero_point, dtype);
  const DeviceType device = self.device().type;
  const QuantizeKernel kernel = device == DeviceType::CPU ? quantize_on_cpu
                                : device == DeviceType::Meta
                                    ? quantize_on_meta
                                    : quantize_kernels[static_cast<size_t>(device)].load();
  SB_CHECK_NOT_IMPLEMENTED(kernel, "quantize_per_tensor: ", to_string(self.device()),
                           " has no kernel: see register_quantize_kernel");
  const MemoryFormat format = suggest_memory_format(self);
  const Tensor source = contiguous(self, format);
  const Tensor result = quantized_view(
      empty(self.sizes(), stored_dtype(dtype), std::nullopt, self.device(), std::nullopt, format),
      dtype, make_intrusive<Quantizer>(scale, zero_point));
  kernel(source, result);
  return result;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, quantize_per_tensor).cpu_and_meta(quantize_per_tensor_on_device);
  define(m, quantize_per_tensor_tensor_qparams, Tag::data_dependent_output)
      .composite_explicit(quantize_tensor_qparams);
  define(m, quantize_per_tensor_tensors, Tag::data_dependent_output)
      .composite_explicit(quantize_tensors);
  define(m, dequantize, {Tag::derived_through, Tag::maybe_aliasing_or_mutating})
      .composite_explicit(dequantize_any);
  define(m, dequantize_tensors, {Tag::derived_through, Tag::maybe_aliasing_or_mutating})
      .composite_explicit(dequantize_each);
  define(m, int_repr).composite_explicit(int_repr_any);
  define(m, q_scale).composite_explicit(q_scale_any);
  define(m, q_zero_point).composite_explicit(q_zero_point_any);
  define(m, _make_per_tensor_quantized_tensor).composite_explicit(make_quantized);
  for (DispatchKey key : {DispatchKey::QuantizedCPU, DispatchKey::QuantizedMeta}) {
    m.impl(clone, key, clone_quantized);
  }
}

}  // namespace sb
