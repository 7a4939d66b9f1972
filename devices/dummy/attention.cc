// Attention of the device's own, and the choice of it: what a device registers to override
// scaled_dot_product_attention.

#include "switchboard/ops/attention/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/shape/memory_format.h"

namespace sb::dummy {
namespace {

constexpr const char* kForward = "aten::_scaled_dot_product_fused_attention_overrideable";
constexpr const char* kBackward = "aten::_scaled_dot_product_fused_attention_overrideable_backward";

bool is_given(const std::optional<Tensor>& t) { return t && t->defined(); }

// Whether the sizes are (b, h, l, e), (b, h, s, e) and (b, h, s, v), of one float dtype and device,
// without a 0.
// With `share_heads`, keys may have fewer, which the caller repeats.
bool are_served(const Tensor& query, const Tensor& key, const Tensor& value,
                bool share_heads = false) {
  for (const Tensor* t : {&query, &key, &value}) {
    if (!t->defined() || t->dim() != 4 || t->numel() == 0 || t->dtype() != query.dtype() ||
        t->device().type != DeviceType::PrivateUse1 || t->device() != query.device())
      return false;
    if (t->size(0) != query.size(0)) return false;
    if (t->size(1) != query.size(1) && !(share_heads && query.size(1) % t->size(1) == 0))
      return false;
  }
  return (query.dtype() == DType::Float32 || query.dtype() == DType::Float64) &&
         key.size(3) == query.size(3) && value.size(2) == key.size(2);
}

using Sizes = std::array<int64_t, 4>;
Sizes weights_sizes(const Tensor& query, const Tensor& key) {
  return {query.size(0), query.size(1), query.size(2), key.size(2)};
}

// Whether a bias broadcasts to (b, h, l, s).
bool bias_fits(const Tensor& bias, const Tensor& query, const Tensor& key) {
  if (bias.dim() > 4 || bias.device() != query.device() || bias.dtype() != query.dtype())
    return false;
  const Sizes sizes = weights_sizes(query, key);
  for (int64_t d = 1; d <= bias.dim(); ++d) {
    const int64_t size = bias.size(-d);
    if (size != 1 && size != sizes[static_cast<size_t>(4 - d)]) return false;
  }
  return true;
}
// A view of it in that shape.
Tensor expanded_bias(const Tensor& bias, const Tensor& query, const Tensor& key) {
  const Sizes sizes = weights_sizes(query, key);
  Sizes strides{};
  for (int64_t d = 1; d <= bias.dim(); ++d)
    if (bias.size(-d) != 1) strides[static_cast<size_t>(4 - d)] = bias.stride(-d);
  return alias_with(bias, sizes, strides, bias.storage_offset());
}

// What the forward and the backward share.
void check_call(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                const Tensor& bias, double dropout_p, bool is_causal) {
  SB_CHECK(are_served(query, key, value), op,
           ": expected query (b, h, l, e), key (b, h, s, e) and ",
           "value (b, h, s, v) of float32 or float64 on one device, with elements, got ",
           query.describe(), ", ", key.describe(), " and ", value.describe());
  SB_CHECK(!bias.defined() || bias_fits(bias, query, key), op,
           ": argument 'attn_bias': ", "expected what broadcasts to the weights of ",
           query.describe(), " and ", key.describe(), ", got ", bias.describe());
  SB_CHECK(!bias.defined() || !is_causal, op, ": is_causal goes without attn_bias");
  SB_CHECK_NOT_IMPLEMENTED(dropout_p == 0, op, ": argument 'dropout_p': dropout is not supported");
}

Tensor empty_here(const Tensor& like, IntArrayRef sizes) {
  DeviceGuard guard(like.device());
  return empty_on(like.device(), sizes, like.dtype());
}
// Laid out as the query, as the CPU's.
Tensor output_like(const Tensor& query, int64_t width) {
  const int64_t sizes[] = {query.size(0), query.size(1), query.size(2), width};
  DeviceGuard guard(query.device());
  return empty_strided_on(query.device(), sizes, infer_dense_strides(sizes, query.strides()),
                          query.dtype());
}
Tensor number_on_cpu() {
  const Tensor number = empty_on(DeviceType::CPU, {}, DType::Int64);
  *number.data<int64_t>() = 0;
  return number;
}

struct Parameters {
  double scale;
  bool is_causal;
};
Parameters parameters(const Tensor& query, bool is_causal, std::optional<double> scale) {
  return {scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3)))), is_causal};
}

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
// One head of (b, h, rows, columns), with any strides.
template <class T>
auto head(const Tensor& t, int64_t b, int64_t h) {
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<Matrix<T>, 0, Strides>(t.data<T>() + b * t.stride(0) + h * t.stride(1),
                                           t.size(2), t.size(3), Strides(t.stride(2), t.stride(3)));
}

// What the softmax is taken of. `bias` may be undefined.
template <class T>
Matrix<T> scores_of(const Tensor& query, const Tensor& key, const Tensor& bias,
                    const Parameters& with, int64_t b, int64_t h) {
  Matrix<T> scores = head<T>(query, b, h) * head<T>(key, b, h).transpose();
  scores *= static_cast<T>(with.scale);
  if (bias.defined()) scores += head<T>(bias, b, h);
  if (with.is_causal) {
    for (int64_t i = 0; i < scores.rows(); ++i)
      for (int64_t j = i + 1; j < scores.cols(); ++j)
        scores(i, j) = -std::numeric_limits<T>::infinity();
  }
  return scores;
}

template <class F>
void for_each_head(const Tensor& query, F&& f) {
  for (int64_t b = 0; b < query.size(0); ++b)
    for (int64_t h = 0; h < query.size(1); ++h) f(b, h);
}

// A query that may look at nothing gets zeros, and -infinity for its logsumexp.
template <class T>
void attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
            const Tensor& output, const Tensor& logsumexp, const Tensor& weights,
            const Parameters& with) {
  for_each_head(query, [&](int64_t b, int64_t h) {
    Matrix<T> scores = scores_of<T>(query, key, bias, with, b, h);
    T* const sums = logsumexp.data<T>() + b * logsumexp.stride(0) + h * logsumexp.stride(1);
    for (int64_t i = 0; i < scores.rows(); ++i) {
      auto row = scores.row(i).array();
      const T largest = row.template maxCoeff<Eigen::PropagateNaN>();
      sums[i] = largest;
      if (largest == -std::numeric_limits<T>::infinity()) {
        row.setZero();
        continue;
      }
      row = (row - largest).exp();
      const T sum = row.sum();
      row /= sum;
      sums[i] += std::log(sum);
    }
    head<T>(output, b, h).noalias() = scores * head<T>(value, b, h);
    if (weights.defined()) head<T>(weights, b, h) = scores;
  });
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t, Tensor, Tensor, Tensor> forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const std::optional<Tensor>& attn_bias, double dropout_p, bool is_causal,
    bool return_debug_mask, std::optional<double> scale) {
  const Tensor bias = is_given(attn_bias) ? *attn_bias : Tensor();
  check_call(kForward, query, key, value, bias, dropout_p, is_causal);
  internal::count_kernel(kForward);
  const Sizes sizes = weights_sizes(query, key);
  const Tensor output = output_like(query, value.size(3));
  const Tensor logsumexp = empty_here(query, {sizes[0], sizes[1], sizes[2]});
  const Tensor weights =
      return_debug_mask ? empty_here(query, sizes) : empty_here(query, {int64_t{0}});
  std::vector<Tensor> tensors = {query, key, value, output, logsumexp, weights};
  if (bias.defined()) tensors.push_back(expanded_bias(bias, query, key));
  launch(kForward, tensors,
         [with = parameters(query, is_causal, scale), return_debug_mask](HostTensors t) {
           const Tensor bias = t.size() > 6 ? t[6] : Tensor();
           const Tensor weights = return_debug_mask ? t[5] : Tensor();
           const auto run = t[0].dtype() == DType::Float32 ? attend<float> : attend<double>;
           run(t[0], t[1], t[2], bias, t[3], t[4], weights, with);
         });
  return {output,   logsumexp,       Tensor(),        Tensor(), sizes[2],
          sizes[3], number_on_cpu(), number_on_cpu(), weights};
}

// The weights are computed anew from logsumexp. Gradients that are undefined are not wanted.
template <class T>
void propagate(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
               const Tensor& bias, const Tensor& output, const Tensor& logsumexp,
               const std::array<Tensor, 4>& grads, const Parameters& with) {
  if (grads[3].defined())
    for_each_head(query, [&](int64_t b, int64_t h) {
      auto g = head<T>(grads[3], b, h);
      for (int64_t i = 0; i < g.rows(); ++i)
        for (int64_t j = 0; j < g.cols(); ++j) g(i, j) = 0;
    });
  for_each_head(query, [&](int64_t b, int64_t h) {
    Matrix<T> weights = scores_of<T>(query, key, bias, with, b, h);
    const T* const sums = logsumexp.data<T>() + b * logsumexp.stride(0) + h * logsumexp.stride(1);
    for (int64_t i = 0; i < weights.rows(); ++i) {
      const T sum = sums[i * logsumexp.stride(2)];
      auto row = weights.row(i).array();
      if (sum == -std::numeric_limits<T>::infinity())
        row.setZero();
      else
        row = (row - sum).exp();
    }
    const auto by_output = head<T>(grad, b, h);
    if (grads[2].defined()) head<T>(grads[2], b, h).noalias() = weights.transpose() * by_output;
    const Eigen::Matrix<T, Eigen::Dynamic, 1> mean =
        by_output.cwiseProduct(head<T>(output, b, h)).rowwise().sum();
    Matrix<T> by_scores = by_output * head<T>(value, b, h).transpose();
    by_scores.colwise() -= mean;
    by_scores = by_scores.cwiseProduct(weights).eval();
    if (grads[3].defined()) {
      // Where the bias was broadcast, several weights have one place.
      auto g = head<T>(grads[3], b, h);
      for (int64_t i = 0; i < g.rows(); ++i)
        for (int64_t j = 0; j < g.cols(); ++j) g(i, j) += by_scores(i, j);
    }
    by_scores *= static_cast<T>(with.scale);
    if (grads[0].defined()) head<T>(grads[0], b, h).noalias() = by_scores * head<T>(key, b, h);
    if (grads[1].defined())
      head<T>(grads[1], b, h).noalias() = by_scores.transpose() * head<T>(query, b, h);
  });
}

std::tuple<Tensor, Tensor, Tensor, Tensor> backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_bias, absl::Span<const bool> grad_input_mask, const Tensor& out,
    const Tensor& logsumexp, const Tensor&, const Tensor&, int64_t, int64_t, double dropout_p,
    bool is_causal, const Tensor&, const Tensor&, std::optional<double> scale) {
  check_call(kBackward, query, key, value, attn_bias, dropout_p, is_causal);
  const Sizes sizes = weights_sizes(query, key);
  const Sizes output_sizes = {sizes[0], sizes[1], sizes[2], value.size(3)};
  for (const Tensor* t : {&grad_out, &out})
    SB_CHECK(t->defined() && t->sizes() == IntArrayRef(output_sizes) &&
                 t->dtype() == query.dtype() && t->device() == query.device(),
             kBackward, ": argument '", t == &out ? "out" : "grad_out",
             "': expected the shape, dtype and device of the output for ", query.describe(),
             ", got ", t->describe());
  SB_CHECK(logsumexp.defined() && logsumexp.dim() == 3 &&
               logsumexp.sizes() == IntArrayRef(sizes).first(3) &&
               logsumexp.dtype() == query.dtype() && logsumexp.device() == query.device(),
           kBackward, ": argument 'logsumexp': expected one number for each query of ",
           query.describe(), ", got ", logsumexp.describe());
  internal::count_kernel(kBackward);
  SB_CHECK(grad_input_mask.size() == 4, kBackward, ": argument 'grad_input_mask': expected 4, got ",
           grad_input_mask.size());
  std::array<bool, 4> wanted;
  std::copy(grad_input_mask.begin(), grad_input_mask.end(), wanted.begin());
  wanted[3] = wanted[3] && attn_bias.defined();

  std::array<Tensor, 4> grads;
  const Tensor* const inputs[] = {&query, &key, &value, &attn_bias};
  std::vector<Tensor> tensors = {grad_out, query, key, value, out, logsumexp};
  if (attn_bias.defined()) tensors.push_back(expanded_bias(attn_bias, query, key));
  for (size_t i = 0; i < 4; ++i) {
    if (!wanted[i]) continue;
    grads[i] = empty_here(query, inputs[i]->sizes());
    tensors.push_back(i == 3 ? expanded_bias(grads[i], query, key) : grads[i]);
  }
  launch(kBackward, tensors,
         [wanted, has_bias = attn_bias.defined(),
          with = parameters(query, is_causal, scale)](HostTensors t) {
           size_t next = 6;
           const Tensor bias = has_bias ? t[next++] : Tensor();
           std::array<Tensor, 4> grads;
           for (size_t i = 0; i < 4; ++i)
             if (wanted[i]) grads[i] = t[next++];
           const auto run = t[1].dtype() == DType::Float32 ? propagate<float> : propagate<double>;
           run(t[0], t[1], t[2], t[3], bias, t[4], t[5], grads, with);
         });
  return {grads[0], grads[1], grads[2], grads[3]};
}

// The device's own where it would be the CPU's fused form; otherwise as the CPU, so that results
// have the strides that they have there.
int64_t choose(const Tensor& query, const Tensor& key, const Tensor& value,
               const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
               std::optional<double> scale, bool enable_gqa) {
  internal::count_kernel(_fused_sdp_choice.name());
  const int64_t choice =
      _fused_sdp_choice.redispatch(DispatchKeySet(DispatchKey::CPU), query, key, value, attn_mask,
                                   dropout_p, is_causal, scale, enable_gqa);
  const bool mask_fits =
      !is_given(attn_mask) || attn_mask->dtype() == DType::Bool ||
      (attn_mask->device() == query.device() && attn_mask->dtype() == query.dtype());
  return choice == static_cast<int64_t>(SdpBackend::Flash) &&
                 are_served(query, key, value, enable_gqa) && mask_fits
             ? static_cast<int64_t>(SdpBackend::Overrideable)
             : choice;
}

}  // namespace

// The CPU is asked for its choice first.
const ExplainKernels explain_choice(DispatchKey::PrivateUse1,
                                    [](CallPath& path, const PathCall& c) {
                                      if (c.op == sb::_fused_sdp_choice.handle())
                                        path.enter(c.op, DispatchKey::CPU, c.arguments);
                                    });

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::_fused_sdp_choice, choose);
  m.impl(kForward, DispatchKey::PrivateUse1, forward);
  m.impl(kBackward, DispatchKey::PrivateUse1, backward);
}

}  // namespace sb::dummy
