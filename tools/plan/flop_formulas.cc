#include "switchboard/tools/plan/flop_formulas.h"

#include <optional>

#include "absl/strings/str_split.h"
#include "switchboard/core/str_cat.h"

namespace sb::plan::internal {
namespace {

Count elements(const IValue& value) {
  Count count;
  value.for_each_tensor([&](const Tensor& t) { count += t.sym_numel(); });
  return count;
}

Count nothing(const OpCall&) { return {}; }

// The first result's elements; of an operator without results, those of its first argument.
template <uint64_t factor>
Count per_result(const OpCall& call) {
  return factor * elements(call.results.empty() ? call.arguments.at(0) : call.results.at(0));
}

template <uint64_t factor, size_t argument = 0>
Count per_input(const OpCall& call) {
  return factor * elements(call.arguments.at(argument));
}

// 2mkn for each matrix of a batch, where argument `a` is (m, k) or (b, m, k) and the next one ends
// in n columns; a vector there is one column.
template <size_t a>
Count matmul(const OpCall& call) {
  const Tensor& right = call.tensor(a + 1);
  const Count columns = right.dim() < 2 ? 1 : right.sym_size(-1);
  return 2 * (call.tensor(a).sym_numel() * columns);
}

// Every weight meets every position of the output once, in each sample; if transposed, every
// position of the input.
Count convolution_pass(const Tensor& input, const Tensor& output, const Tensor& weight,
                       bool transposed) {
  const Tensor& positions = transposed ? input : output;
  Count flops = 2 * Count(weight.sym_numel());
  // Dimensions are (sample, channel, positions...); an input without samples lacks the first.
  const int64_t channel = positions.dim() - (weight.dim() - 2) - 1;
  for (int64_t i = 0; i < positions.dim(); ++i)
    if (i != channel) flops *= positions.sym_size(i);
  return flops;
}

Count convolution(const OpCall& call) {
  return convolution_pass(call.tensor(0), call.results.at(0).to_tensor(), call.tensor(1),
                          call.arguments.at(6).to_bool());
}

// One pass for the gradient of the input and one for that of the weight, where they are asked for.
Count convolution_backward(const OpCall& call) {
  const Count pass = convolution_pass(call.tensor(1), call.tensor(0), call.tensor(2),
                                      call.arguments.at(7).to_bool());
  const std::vector<bool>& wanted = call.arguments.at(10).to_bool_list();
  return pass * (int{wanted.at(0)} + int{wanted.at(1)});
}

// 2 * query's rows * keys * (key_passes * e + value_passes * v), for query (*, l, e), key (*, s, e)
// and value (*, s, v), the first of which is argument `query`. A mask, causal too, spares nothing
// here, as in PyTorch.
template <size_t query, uint64_t key_passes, uint64_t value_passes>
Count attention(const OpCall& call) {
  const Tensor& q = call.tensor(query);
  Count rows = 1;
  for (int64_t i = 0; i < q.dim() - 1; ++i) rows *= q.sym_size(i);
  const Count width = key_passes * Count(q.sym_size(-1)) +
                      value_passes * Count(call.tensor(query + 2).sym_size(-1));
  return 2 * (rows * call.tensor(query + 1).sym_size(-2) * width);
}

// Each element of the result looks at a window of `dims` dimensions; argument 1 is its size.
template <size_t dims>
Count pool(const OpCall& call) {
  const IntArrayRef kernel = call.arguments.at(1).to_int_list();
  Count flops = elements(call.results.at(0));
  for (size_t i = 0; i < dims && !kernel.empty(); ++i) flops *= kernel[kernel.size() == 1 ? 0 : i];
  return flops;
}

// Of each element: mean 1, variance 3, then difference, quotient, weight and bias 4. With
// statistics that are given, as in a batch norm that does not train, only these 4.
constexpr uint64_t kNormalise = 4, kWithStatistics = 8;

Count batch_norm(const OpCall& call) {
  const std::optional<size_t> training = call.schema.find_argument("training");
  const bool given = training && !call.arguments.at(*training).to_bool();
  return (given ? kNormalise : kWithStatistics) * elements(call.arguments.at(0));
}

// The rows of the table: a formula, what is moved, and the operators that have both.
struct Row {
  FlopFormula flops;
  Traffic traffic;
  const char* ops;
};

constexpr Row kRows[] = {
    // Products.
    {matmul<0>, Traffic::Usual, "mm bmm mv dot vdot"},
    {matmul<1>, Traffic::Usual, "addmm addmv baddbmm addbmm"},
    {per_result<2>, Traffic::Usual, "addr"},
    {convolution, Traffic::Usual, "convolution _convolution convolution_overrideable"},
    {convolution_backward, Traffic::Usual,
     "convolution_backward convolution_backward_overrideable"},

    // Attention: scores and weighted values; the backward computes the scores anew, and then the
    // gradients of the weights, of value, of query and of key.
    {attention<0, 1, 1>, Traffic::Usual,
     "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
     "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
     "_scaled_dot_product_fused_attention_overrideable"},
    {attention<1, 3, 2>, Traffic::Usual,
     "_scaled_dot_product_flash_attention_backward "
     "_scaled_dot_product_flash_attention_for_cpu_backward "
     "_scaled_dot_product_efficient_attention_backward "
     "_scaled_dot_product_cudnn_attention_backward"},

    // Softmax: largest, difference, exp, sum, quotient. Its backward: product, sum, product,
    // difference.
    {per_input<5>, Traffic::Usual, "_softmax _log_softmax logsumexp _logcumsumexp logcumsumexp"},
    {per_input<4>, Traffic::Usual, "_softmax_backward_data _log_softmax_backward_data"},
    // Normalisations; the backward is twice the forward.
    {per_input<kWithStatistics>, Traffic::Usual, "native_layer_norm native_group_norm"},
    {batch_norm, Traffic::Usual,
     "native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional"},
    {per_input<kNormalise>, Traffic::Usual, "_native_batch_norm_legit_no_training"},
    {per_input<2 * kWithStatistics>, Traffic::Usual,
     "native_layer_norm_backward native_group_norm_backward native_batch_norm_backward"},

    // Pooling.
    {pool<2>, Traffic::Usual, "avg_pool2d max_pool2d_with_indices"},
    {pool<3>, Traffic::Usual, "avg_pool3d max_pool3d_with_indices"},
    {per_input<1>, Traffic::Usual,
     "_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d "
     "adaptive_max_pool2d adaptive_max_pool3d _adaptive_avg_pool2d_backward "
     "_adaptive_avg_pool3d_backward max_pool2d_with_indices_backward "
     "max_pool3d_with_indices_backward"},

    // Reductions and scans: 1 for each element of the input.
    {per_input<1>, Traffic::Usual,
     "sum nansum mean prod amax amin aminmax _aminmax max min argmax argmin all any count_nonzero "
     "norm linalg_vector_norm frobenius_norm trace cumsum cumprod cummax cummin equal allclose"},
    // The mean, then difference, square and sum.
    {per_input<4>, Traffic::Usual, "var std var_mean std_mean"},
    {per_input<1>, Traffic::Usual,
     "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
     "binary_cross_entropy_with_logits soft_margin_loss embedding_dense_backward"},
    {per_input<1, 1>, Traffic::Usual, "nll_loss_forward nll_loss2d_forward"},

    // Elementwise: 1 for each element of the result.
    {per_result<1>, Traffic::Usual,
     "abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and "
     "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp "
     "clamp_max clamp_min complex conj_physical _conj_physical copysign cos cosh deg2rad digamma "
     "div elu eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmax fmin fmod frac gcd ge "
     "gelu glu gt hardshrink hardsigmoid hardswish hardtanh heaviside hypot i0 igamma igammac "
     "isfinite isinf isnan isneginf isposinf lcm le leaky_relu lerp lgamma log log10 log1p log2 "
     "log_sigmoid_forward logaddexp logaddexp2 logical_and logical_not logical_or logical_xor "
     "logit lt masked_fill maximum minimum mish mul nan_to_num native_dropout ne neg nextafter "
     "polar polygamma pow prelu _prelu_kernel rad2deg reciprocal relu remainder round rsqrt rsub "
     "sgn sigmoid sign signbit silu sin sinc sinh softplus softshrink sqrt sub tan tanh threshold "
     "trunc where xlogy special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
     "special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr "
     "special_ndtr special_ndtri special_xlog1py special_zeta"},
    {per_result<1>, Traffic::Usual,
     "elu_backward gelu_backward glu_backward hardshrink_backward hardsigmoid_backward "
     "hardswish_backward hardtanh_backward leaky_relu_backward log_sigmoid_backward "
     "logit_backward mish_backward native_dropout_backward _prelu_kernel_backward prelu_backward "
     "sigmoid_backward silu_backward softplus_backward softshrink_backward tanh_backward "
     "threshold_backward mse_loss_backward smooth_l1_loss_backward huber_loss_backward "
     "binary_cross_entropy_backward soft_margin_loss_backward nll_loss_backward "
     "nll_loss2d_backward"},
    {per_result<1>, Traffic::Scatters, "index_add scatter_add scatter_reduce index_reduce"},

    // Data that only moves.
    {nothing, Traffic::Usual,
     "_to_copy clone copy cat _stack constant_pad_nd flip repeat roll rot90 tril triu diag "
     "diag_embed diagonal_backward diagonal_scatter as_strided_scatter select_backward "
     "select_scatter slice_backward slice_scatter unfold_backward arange linspace eye full "
     "full_like new_full new_ones new_zeros ones ones_like zeros zeros_like scalar_tensor "
     "lift lift_fresh fill zero reflection_pad1d reflection_pad2d reflection_pad3d "
     "replication_pad1d "
     "replication_pad2d replication_pad3d pixel_shuffle pixel_unshuffle im2col block_diag "
     "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy "
     "slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy "
     "unfold_copy unsqueeze_copy view_copy unsafe_split unsafe_split_with_sizes narrow_copy"},
    {nothing, Traffic::Gathers, "embedding gather index index_select take take_along_dim"},
    {nothing, Traffic::Scatters, "index_copy index_put _index_put_impl put scatter masked_scatter"},
    {nothing, Traffic::Overwrites, "copy_ fill_ zero_"},
    {nothing, Traffic::None,
     "empty empty_like empty_strided new_empty new_empty_strided resize_ resize_as_ set_ "
     "transpose_ t_ squeeze_ unsqueeze_ as_strided_ detach_ swapaxes_ swapdims_ "
     "empty_permuted _fused_sdp_choice is_pinned is_same_size _has_same_storage_numel "
     "_assert_tensor_metadata _assert_scalar _assert_async sym_constrain_range "
     "sym_constrain_range_for_size"},
};

}  // namespace

CostTable make_standard_costs() {
  CostTable table;
  for (const Row& row : kRows)
    for (const absl::string_view op : absl::StrSplit(row.ops, ' '))
      table.set("aten::" + std::string(op), {row.flops, row.traffic});
  // Random numbers have no formula, but in place they are only written.
  for (const char* op : {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_",
                         "normal_", "random_", "uniform_"})
    table.set(str_cat("aten::", op), {nullptr, Traffic::Overwrites});
  return table;
}

}  // namespace sb::plan::internal
