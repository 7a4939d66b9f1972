// Between floating-point tensors and quantized ones.

#ifndef SWITCHBOARD_OPS_QUANTIZED_QUANTIZE_H_
#define SWITCHBOARD_OPS_QUANTIZED_QUANTIZE_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// A tensor of `dtype` (qint8, quint8, qint32) with the nearest elements that self, float32, has in
// steps of `scale` around `zero_point`. Same shape; contiguous, or channels-last as self is.
// RuntimeError for another dtype of either, and for a zero point that `dtype` cannot hold.
SB_OP(quantize_per_tensor,
      "aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> "
      "Tensor");
// With scale and zero point in tensors of one element: their data is read.
SB_OP(quantize_per_tensor_tensor_qparams,
      "aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
      "ScalarType dtype) -> Tensor");
// Each tensor with the scale and zero point at its place.
SB_OP(quantize_per_tensor_tensors,
      "aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, "
      "ScalarType dtype) -> Tensor[]");

// (q - zero_point) * scale as float32. A plain tensor is only converted to float32.
SB_OP(dequantize, "aten::dequantize.self(Tensor self) -> Tensor");
SB_OP(dequantize_tensors, "aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]");

// A copy of the elements as they are stored: int8, uint8 or int32. RuntimeError, here and below,
// for a tensor that is not quantized.
SB_OP(int_repr, "aten::int_repr(Tensor self) -> Tensor");
SB_OP(q_scale, "aten::q_scale(Tensor self) -> float");
SB_OP(q_zero_point, "aten::q_zero_point(Tensor self) -> int");
// The opposite of int_repr: a quantized copy of int8, uint8 or int32 elements.
SB_OP(
    _make_per_tensor_quantized_tensor,
    "aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor");

// A device's arithmetic of quantize_per_tensor: writes all elements of `quantized`, which has its
// Quantizer, and self's shape and strides; both are dense and on the device. As
// `quantize_tensor_per_tensor_affine_stub`.
using QuantizeKernel = void (*)(const Tensor& self, const Tensor& quantized);
// Thread-safe. ValueError for CPU and Meta; RuntimeError where the device has one already.
void register_quantize_kernel(DeviceType device, QuantizeKernel kernel);
// The kernel of quantize_per_tensor for every device: checks, makes the result, calls the device's
// arithmetic. Devices register it at their key. NotImplementedError on one without arithmetic.
Tensor quantize_per_tensor_on_device(const Tensor& self, double scale, int64_t zero_point,
                                     DType dtype);
// The arithmetic itself, on n elements in memory of the host.
void quantize_elements(const float* from, void* to, int64_t n, const Quantizer& quantizer,
                       DType dtype);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_QUANTIZED_QUANTIZE_H_
