#include "switchboard/ops/normalization/softmax.h"

#include <algorithm>
#include <limits>

#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/normalization/compute_tensors.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using internal::NormKernels;

template <SizeType Int>
BasicTensorMeta<Int> meta_like(const Tensor& t) {
  return {size_vector<Int>(t), t.dtype()};
}

// The runs along `dim` of a contiguous tensor: run(offset) for each where its elements are
// adjacent, else columns(offset, count) for so many adjacent columns.
struct Runs {
  int64_t size = 1;
  int64_t inner = 1;
  int64_t outer = 1;

  Runs(const Tensor& t, int64_t dim) {
    if (t.dim() == 0) return;
    const size_t at = static_cast<size_t>(dim < 0 ? dim + t.dim() : dim);
    size = t.sizes()[at];
    for (size_t d = 0; d < at; ++d) outer *= t.sizes()[d];
    for (size_t d = at + 1; d < t.sizes().size(); ++d) inner *= t.sizes()[d];
  }

  template <class Run, class Columns>
  void for_each(const Run& run, const Columns& columns) const {
    if (inner == 1) {
      parallel_for(0, outer, std::max<int64_t>(1, kElementGrain / size),
                   [&](int64_t from, int64_t to) {
                     for (int64_t i = from; i < to; ++i) run(i * size);
                   });
      return;
    }
    const int64_t width = std::min(inner, internal::kNormColumns);
    const int64_t blocks = (inner + width - 1) / width;
    const int64_t grain = std::max<int64_t>(1, kElementGrain / (size * width));
    parallel_for(0, outer * blocks, grain, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t column = i % blocks * width;
        columns(i / blocks * size * inner + column, std::min(width, inner - column));
      }
    });
  }
};

template <bool log>
struct Softmax {
  static constexpr const char* op = log ? "log_softmax" : "softmax";
  static constexpr const char* backward_op =
      log ? "_log_softmax_backward_data" : "_softmax_backward_data";

  template <SizeType Int>
  static BasicTensorMeta<Int> rule(const Tensor& self, int64_t dim, bool half_to_float) {
    wrap_dim(op, dim, self.dim());
    SB_CHECK(!half_to_float, op,
             ": conversion from half to float is not supported on CPU, got half_to_float=true");
    SB_CHECK_NOT_IMPLEMENTED(
        is_floating_point(self.dtype()) || same_size(self.sym_numel(), SymInt(0)), op,
        ": not implemented for ", to_string(self.dtype()));
    return meta_like<Int>(self);
  }
  static void kernel(const Tensor& self, int64_t dim, bool, const Tensor& out) {
    if (out.numel() == 0) return;
    const DType dtype = compute_dtype(self.dtype());
    const internal::ComputeInput input(self, dtype);
    const internal::ComputeOutput output(out, dtype);
    internal::visit_compute(dtype, [&]<class T>() {
      const NormKernels<T>& kernels = internal::norm_kernels<T>();
      const Runs runs(self, dim);
      const T* const x = input.template data<T>();
      T* const y = output.template data<T>();
      runs.for_each([&](int64_t at) { kernels.softmax(y + at, x + at, runs.size, log); },
                    [&](int64_t at, int64_t columns) {
                      kernels.softmax_columns(y + at, x + at, runs.size, columns, runs.inner, log);
                    });
    });
    output.finish();
  }

  template <SizeType Int>
  static BasicTensorMeta<Int> backward_rule(const Tensor& grad, const Tensor& output, int64_t dim,
                                            DType input_dtype) {
    wrap_dim(backward_op, dim, grad.dim());
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(grad), sizes_of<Int>(output)), backward_op,
             ": expected grad_output and output of equal size, got ", grad.describe(), " and ",
             output.describe());
    // The input was of the gradient's dtype, whatever is said, but for float16 raised to float32.
    SB_CHECK(grad.dtype() == output.dtype() &&
                 !(grad.dtype() == DType::Float32 && input_dtype == DType::Float16),
             backward_op, ": expected tensors of ", to_string(input_dtype), ", got ",
             grad.describe(), " and ", output.describe());
    SB_CHECK_NOT_IMPLEMENTED(is_floating_point(grad.dtype()), backward_op, ": not implemented for ",
                             to_string(grad.dtype()));
    return meta_like<Int>(grad);
  }
  static void backward_kernel(const Tensor& grad, const Tensor& output, int64_t dim, DType,
                              const Tensor& out) {
    if (out.numel() == 0) return;
    const DType dtype = compute_dtype(grad.dtype());
    const internal::ComputeInput grads(grad, dtype);
    const internal::ComputeInput outputs(output, dtype);
    const internal::ComputeOutput result(out, dtype);
    internal::visit_compute(dtype, [&]<class T>() {
      const NormKernels<T>& kernels = internal::norm_kernels<T>();
      const Runs runs(grad, dim);
      const T* const g = grads.template data<T>();
      const T* const y = outputs.template data<T>();
      T* const to = result.template data<T>();
      runs.for_each(
          [&](int64_t at) { kernels.softmax_backward(to + at, g + at, y + at, runs.size, log); },
          [&](int64_t at, int64_t columns) {
            kernels.softmax_backward_columns(to + at, g + at, y + at, runs.size, columns,
                                             runs.inner, log);
          });
    });
    result.finish();
  }

  // Calls f with self as dtype. PyTorch converts in the operator below where that is faster; here
  // it is not.
  template <class F>
  static Tensor with_input(const Tensor& self, std::optional<DType> dtype, const F& f) {
    check_defined(op, self);
    return dtype && *dtype != self.dtype() ? f(to_dtype(self, *dtype)) : f(self);
  }
  static Tensor composite(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
    return with_input(self, dtype, [&](const Tensor& input) {
      return log ? _log_softmax(input, dim, false) : _softmax(input, dim, false);
    });
  }
  static Tensor composite_out(const Tensor& self, int64_t dim, std::optional<DType> dtype,
                              const Tensor& out) {
    return with_input(self, dtype, [&](const Tensor& input) {
      return log ? _log_softmax_out(input, dim, false, out) : _softmax_out(input, dim, false, out);
    });
  }
};

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  using Plain = Softmax<false>;
  using Log = Softmax<true>;
  define(m, _softmax)
      .structured<by_size_rule<Plain::rule<int64_t>, Plain::rule<SymInt>>, Plain::kernel>()
      .out(_softmax_out);
  define(m, _log_softmax)
      .structured<by_size_rule<Log::rule<int64_t>, Log::rule<SymInt>>, Log::kernel>()
      .out(_log_softmax_out);
  define(m, _log_softmax_backward_data)
      .structured<by_size_rule<Log::backward_rule<int64_t>, Log::backward_rule<SymInt>>,
                  Log::backward_kernel>()
      .out(_log_softmax_backward_data_out);
  define(m, _softmax_backward_data)
      .structured<by_size_rule<Plain::backward_rule<int64_t>, Plain::backward_rule<SymInt>>,
                  Plain::backward_kernel>()
      .out(_softmax_backward_data_out);

  define(m, softmax).composed(Plain::composite);
  define(m, log_softmax).composed(Log::composite);
  define(m, softmax_out).composite_explicit(Plain::composite_out);
  define(m, log_softmax_out).composite_explicit(Log::composite_out);
  define(m, _safe_softmax)
      .composite_explicit([](const Tensor& self, int64_t dim, std::optional<DType> dtype) {
        const Tensor weights = softmax(self, dim, dtype);
        const Tensor unseen = eq_Scalar(self, Scalar(-std::numeric_limits<double>::infinity()));
        return masked_fill(weights, all_dim(unseen, dim, true), 0);
      });
  define(m, special_softmax).composed(Plain::composite);
  define(m, special_log_softmax).composed(Log::composite);
}

}  // namespace sb
