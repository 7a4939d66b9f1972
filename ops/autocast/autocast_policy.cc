#include "switchboard/ops/autocast/autocast_policy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

constexpr std::string_view kAten = "aten::";

// In the order of their names.
constexpr std::string_view kLowerPrecision[] = {
    "_addmm_activation",
    "_convolution",
    "_native_multi_head_attention",
    "addbmm",
    "addmm",
    "baddbmm",
    "bmm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mkldnn_rnn_layer",
    "mm",
    "prelu",
    "scaled_dot_product_attention",
};
constexpr std::string_view kPromote[] = {
    "cat",
    "index_copy",
    "stack",
};
constexpr std::string_view kFloat32[] = {
    "_grid_sampler_2d_cpu_fallback",
    "_lu_with_info",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cholesky_inverse",
    "cholesky_solve",
    "cosine_embedding_loss",
    "cross_entropy_loss",
    "ctc_loss",
    "fake_quantize_per_tensor_affine",
    "fft_fft",
    "fft_fft2",
    "fft_fftn",
    "fft_hfft",
    "fft_ifft",
    "fft_ifft2",
    "fft_ifftn",
    "fft_ihfft",
    "fft_irfft",
    "fft_irfft2",
    "fft_irfftn",
    "fft_rfft",
    "fft_rfft2",
    "fft_rfftn",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "geqrf",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "hinge_embedding_loss",
    "huber_loss",
    "inverse",
    "kl_div",
    "l1_loss",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lstsq",
    "linalg_matrix_rank",
    "linalg_matrix_sqrth",
    "linalg_qr",
    "linalg_solve",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "margin_ranking_loss",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_margin_loss_forward",
    "nanquantile",
    "nll_loss",
    "nll_loss2d",
    "orgqr",
    "ormqr",
    "pinverse",
    "poisson_nll_loss",
    "polar",
    "prod",
    "quantile",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "smooth_l1_loss",
    "soft_margin_loss",
    "stft",
    "svd",
    "trace",
    "triangular_solve",
    "triplet_margin_loss",
    "view_as_complex",
};

// Those that have a policy on other devices alone.
constexpr std::string_view kElsewhere[] = {
    "_cudnn_rnn",
    "_scaled_dot_product_flash_attention",
    "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell",
    "_upsample_bicubic2d_aa",
    "_upsample_bilinear2d_aa",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "acos",
    "addcdiv",
    "addcmul",
    "addmv",
    "addr",
    "asin",
    "atan2",
    "bilinear",
    "chain_matmul",
    "convolution",
    "cosh",
    "cosine_similarity",
    "cross",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
    "cumprod",
    "cumsum",
    "dist",
    "dot",
    "einsum",
    "erfinv",
    "exp",
    "expm1",
    "frobenius_norm",
    "group_norm",
    "gru_cell",
    "index_put",
    "layer_norm",
    "linalg_matrix_norm",
    "linalg_multi_dot",
    "linalg_vector_norm",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logsumexp",
    "lstm_cell",
    "mv",
    "native_layer_norm",
    "norm",
    "nuclear_norm",
    "pdist",
    "pow",
    "reciprocal",
    "renorm",
    "rms_norm",
    "rnn_relu_cell",
    "rnn_tanh_cell",
    "rsqrt",
    "scatter_add",
    "sinh",
    "softmax",
    "softplus",
    "sum",
    "tan",
    "tensordot",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
    "vdot",
};

template <size_t N>
bool has(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::binary_search(names, name);
}

bool is_eligible(const Tensor& tensor) {
  return tensor.defined() && is_floating_point(tensor.dtype()) && tensor.dtype() != DType::Float64;
}

Tensor cast(const Tensor& tensor, DType dtype) {
  if (!is_eligible(tensor) || tensor.dtype() == dtype) return tensor;
  return default_dispatcher()
      .find_op_or_throw("aten::to.dtype")
      .call({tensor, dtype})
      .at(0)
      .to_tensor();
}

}  // namespace

AutocastPolicy autocast_policy(std::string_view op) {
  if (!op.starts_with(kAten)) return AutocastPolicy::None;
  op.remove_prefix(kAten.size());
  if (has(kLowerPrecision, op)) return AutocastPolicy::LowerPrecision;
  if (has(kFloat32, op)) return AutocastPolicy::Float32;
  return has(kPromote, op) ? AutocastPolicy::Promote : AutocastPolicy::None;
}

bool has_autocast_policy_somewhere(std::string_view op) {
  return autocast_policy(op) != AutocastPolicy::None ||
         (op.starts_with(kAten) && has(kElsewhere, op.substr(kAten.size())));
}

void cast_arguments(AutocastPolicy policy, DType dtype, Stack* arguments) {
  if (policy == AutocastPolicy::None) return;
  if (policy == AutocastPolicy::Float32) dtype = DType::Float32;
  if (policy == AutocastPolicy::Promote)
    for (const IValue& argument : *arguments)
      argument.for_each_tensor([&](const Tensor& tensor) {
        if (is_eligible(tensor) && itemsize(tensor.dtype()) > itemsize(dtype))
          dtype = tensor.dtype();
      });
  for (IValue& argument : *arguments) {
    if (argument.is_Tensor()) {
      argument = cast(argument.to_tensor(), dtype);
    } else if (argument.is_TensorList()) {
      std::vector<Tensor> tensors;
      for (const Tensor& tensor : argument.to_tensor_list()) tensors.push_back(cast(tensor, dtype));
      argument = std::move(tensors);
    } else if (argument.is_OptionalTensorList()) {
      std::vector<std::optional<Tensor>> tensors;
      for (const std::optional<Tensor>& tensor : argument.to_optional_tensor_list())
        tensors.push_back(tensor ? std::optional<Tensor>(cast(*tensor, dtype)) : std::nullopt);
      argument = std::move(tensors);
    }
  }
}

}  // namespace sb
