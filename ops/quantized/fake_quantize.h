// What quantizing would leave of floating-point numbers: each rounded to a step of a scale around a
// zero point, and those beyond the range to its ends. As `torch.fake_quantize_per_tensor_affine`.
//
// The mask says which were in the range: the gradient passes there, and nowhere else. RuntimeError
// for an empty range and a zero point outside of it, NotImplementedError for other dtypes than
// floating-point ones.

#ifndef SWITCHBOARD_OPS_QUANTIZED_FAKE_QUANTIZE_H_
#define SWITCHBOARD_OPS_QUANTIZED_FAKE_QUANTIZE_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

SB_OP(fake_quantize_per_tensor_affine,
      "aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int "
      "quant_min, int quant_max) -> Tensor");
SB_OP(
    fake_quantize_per_tensor_affine_cachemask,
    "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int "
    "quant_min, int quant_max) -> (Tensor output, Tensor mask)");
// With a scale and a zero point, an integer, for each index along `axis`.
SB_OP(fake_quantize_per_channel_affine,
      "aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
      "axis, "
      "int quant_min, int quant_max) -> Tensor");
SB_OP(fake_quantize_per_channel_affine_cachemask,
      "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor "
      "zero_point, "
      "int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_QUANTIZED_FAKE_QUANTIZE_H_
