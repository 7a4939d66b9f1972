// The gradients of fused attention, composed of other operators.

#include "switchboard/ops/attention/flash_backward.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/attention/shared_heads.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

// What a query does not look at gets a score of -infinity.
Tensor masked_scores(const Tensor& scores, const std::optional<Tensor>& mask, bool is_causal) {
  if (is_causal) {
    const Tensor seen = tril(ones({scores.sym_size(-2), scores.sym_size(-1)}, DType::Bool,
                                  std::nullopt, scores.device()));
    return masked_fill(scores, logical_not(seen), kUnseen);
  }
  if (!is_given(mask)) return scores;
  if (mask->dtype() == DType::Bool) return masked_fill(scores, logical_not(*mask), kUnseen);
  return add(scores, *mask);
}

// What the weights are exponentials of, in the dtype of logsumexp.
Tensor scores_of(const Tensor& query, const Tensor& key, bool is_causal,
                 const std::optional<Tensor>& mask, const Scalar& factor) {
  const Tensor scores = mul_Scalar(matmul(query, transpose(key, -2, -1)), factor);
  return masked_scores(scores, mask, is_causal);
}
// A symbol where the last size of query is one.
Scalar factor_of(const Tensor& query, std::optional<double> scale) {
  if (scale) return *scale;
  return SymFloat(1.0) / sym_sqrt(sym_float(query.sym_size(-1)));
}
// -infinity for a query that may look at nothing: its weights are 0 by any other number.
Tensor finite_logsumexp(const Tensor& logsumexp) {
  return masked_fill(logsumexp, eq_Scalar(logsumexp, kUnseen), 0);
}

// Converted, and laid out as (b, l, h, e).
Tensor as_gradient(const Tensor& t, DType dtype) {
  const Tensor rows = contiguous(transpose(t, 1, 2));
  return transpose(rows.dtype() == dtype ? rows : to_dtype(rows, dtype), 1, 2);
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(const Tensor& grad_out, const Tensor& query_given,
                                                  const Tensor& key_given,
                                                  const Tensor& value_given, const Tensor& out,
                                                  const Tensor& logsumexp, double dropout_p,
                                                  bool is_causal, const std::optional<Tensor>& mask,
                                                  std::optional<double> scale) {
  constexpr const char* kOp = "_scaled_dot_product_flash_attention_for_cpu_backward";
  for (const Tensor* t : {&grad_out, &query_given, &key_given, &value_given, &out, &logsumexp})
    check_defined(kOp, *t);
  for (const Tensor* t : {&grad_out, &query_given, &key_given, &value_given, &out}) {
    SB_CHECK(t->dim() == 4, kOp, ": expected tensors of 4 dimensions, got ", t->describe());
  }
  SB_CHECK(logsumexp.dim() == 3 || logsumexp.dim() == 4, kOp,
           ": argument logsumexp: expected 3 dimensions, got ", logsumexp.describe());
  // Programs whose forward was decomposed into products give the weights themselves. (PyTorch reads
  // them as if they were logsumexp, and gives other gradients than those of the program.)
  const bool has_weights = logsumexp.dim() == 4;
  SB_CHECK(dropout_p == 0, kOp, ": argument dropout_p: dropout is not supported, got ", dropout_p);
  const DType dtype = logsumexp.dtype();
  const auto wide = [&](const Tensor& t) { return t.dtype() == dtype ? t : to_dtype(t, dtype); };
  const Tensor query = wide(query_given), grad = wide(grad_out);
  const Tensor key = internal::repeat_heads(wide(key_given), query);
  const Tensor value = internal::repeat_heads(wide(value_given), query);
  const Scalar factor = factor_of(query, scale);
  const Tensor weights = has_weights ? logsumexp
                                     : exp(sub(scores_of(query, key, is_causal, mask, factor),
                                               unsqueeze(finite_logsumexp(logsumexp), -1)));
  const Tensor by_weights =
      sub(matmul(grad, transpose(value, -2, -1)), sum(mul(grad, wide(out)), {-1}, true));
  const Tensor by_scores = mul_Scalar(mul(weights, by_weights), factor);

  const auto of_shared = [&](const Tensor& gradient, const Tensor& given) {
    return as_gradient(internal::sum_repeated_heads(gradient, given), given.dtype());
  };
  return {as_gradient(matmul(by_scores, key), query_given.dtype()),
          of_shared(matmul(transpose(by_scores, -2, -1), query), key_given),
          of_shared(matmul(transpose(weights, -2, -1), grad), value_given)};
}

}  // namespace

namespace internal {

Tensor traceable_logsumexp(const Tensor& query_given, const Tensor& key, bool is_causal,
                           const std::optional<Tensor>& mask, std::optional<double> scale,
                           const Tensor& logsumexp) {
  const auto wide = [&](const Tensor& t) {
    return t.dtype() == logsumexp.dtype() ? t : to_dtype(t, logsumexp.dtype());
  };
  const Tensor query = wide(query_given);
  const Tensor known = finite_logsumexp(logsumexp);
  const Tensor scores =
      scores_of(query, repeat_heads(wide(key), query), is_causal, mask, factor_of(query, scale));
  // 1 but for what rounding left, or 0.
  const Tensor rest = sum(exp(sub(scores, unsqueeze(known, -1))), {-1});
  return add(log(masked_fill(rest, eq_Scalar(rest, 0), 1)), known);
}

}  // namespace internal

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _scaled_dot_product_flash_attention_for_cpu_backward, Tag::derived_through)
      .composite_explicit(flash_backward);
}

}  // namespace sb
