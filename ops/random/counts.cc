// Draws that take as many random bits as it takes.

#include "switchboard/ops/random/counts.h"

#include <limits>
#include <random>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/random/random_fill.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalGenerator = std::optional<Generator>;

void check_parameter(const char* op, const char* name, const Tensor& t) {
  SB_CHECK(t.defined(), op, ": argument ", name, ": expected a tensor, got an undefined one");
  SB_CHECK(is_floating_point(t.dtype()), op, ": argument ", name,
           ": expected a floating-point tensor, got ", t.describe());
}

// Draws an element of `result`, contiguous float64, from f(bits, index).
template <class F>
void draw_each(const char* op, const Tensor& result, const OptionalGenerator& generator,
               const F& f) {
  double* const out = result.data<double>();
  const int64_t n = result.numel();
  const PhiloxState state = take_counters(op, generator, static_cast<uint64_t>(n));
  parallel_for(0, n, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ElementBits bits(state, static_cast<uint64_t>(i));
      out[i] = f(bits, i);
    }
  });
}

double draw_gamma(ElementBits& bits, double shape) {
  return shape == 0 ? 0 : std::gamma_distribution<double>(shape)(bits);
}

// A result of the dtype of `like`, from the parameters as float64; `draw` gives the float64 result.
template <class Draw>
Tensor sample(const Tensor& like, SymIntArrayRef all_sizes, const Draw& draw) {
  if (any_symbolic(all_sizes)) return empty_with_symbols(all_sizes, {}, like.dtype());
  const IntArrayRef sizes = all_sizes.expect_ints();
  const Tensor result = empty_on(like.device(), sizes, like.dtype());
  if (like.is_meta() || result.numel() == 0) return result;
  const Tensor drawn = empty_on(DeviceType::CPU, sizes, DType::Float64);
  draw(drawn);
  copy_elements(result, drawn);
  return result;
}

Tensor poisson_any(const Tensor& self, const OptionalGenerator& generator) {
  check_parameter("poisson", "self", self);
  return sample(self, self.sym_sizes(), [&](const Tensor& drawn) {
    const Tensor rates = cast_copy(self, DType::Float64);
    const double* const rate = rates.data<double>();
    for (int64_t i = 0; i < rates.numel(); ++i) {
      // Beyond 2^62 the standard library's counts overflow.
      SB_CHECK(rate[i] >= 0 && rate[i] < 0x1p62,
               "poisson: argument self: expected rates of at least 0, got ", rate[i]);
    }
    draw_each("poisson", drawn, generator, [&](ElementBits& bits, int64_t i) {
      if (rate[i] == 0) return 0.0;
      return static_cast<double>(std::poisson_distribution<int64_t>(rate[i])(bits));
    });
  });
}

Tensor binomial_any(const Tensor& count, const Tensor& prob, const OptionalGenerator& generator) {
  check_parameter("binomial", "count", count);
  check_parameter("binomial", "prob", prob);
  SB_CHECK(count.dtype() == prob.dtype() && count.device() == prob.device(),
           "binomial: expected count and prob of one dtype and device, got ", count.describe(),
           " and ", prob.describe());
  const SymDimVector sizes = broadcast_sizes<SymInt>(count.sym_sizes(), prob.sym_sizes());
  return sample(count, sizes, [&](const Tensor& drawn) {
    const Tensor counts = empty_on(DeviceType::CPU, drawn.sizes(), DType::Float64);
    const Tensor probs = empty_on(DeviceType::CPU, drawn.sizes(), DType::Float64);
    copy_elements(counts, count);
    copy_elements(probs, prob);
    const double *const n = counts.data<double>(), *const p = probs.data<double>();
    for (int64_t i = 0; i < counts.numel(); ++i) {
      SB_CHECK(n[i] >= 0 && n[i] < 0x1p62,
               "binomial: argument count: expected numbers of at least 0, got ", n[i]);
      SB_CHECK(p[i] >= 0 && p[i] <= 1, "binomial: argument prob: expected numbers in [0, 1], got ",
               p[i]);
    }
    draw_each("binomial", drawn, generator, [&](ElementBits& bits, int64_t i) {
      const int64_t trials = static_cast<int64_t>(n[i]);
      return static_cast<double>(std::binomial_distribution<int64_t>(trials, p[i])(bits));
    });
  });
}

Tensor gammas(const char* op, const Tensor& self, const OptionalGenerator& generator,
              const Tensor& drawn) {
  const Tensor shapes = cast_copy(self, DType::Float64);
  const double* const shape = shapes.data<double>();
  for (int64_t i = 0; i < shapes.numel(); ++i) {
    SB_CHECK(shape[i] >= 0 && shape[i] < std::numeric_limits<double>::infinity(), op,
             ": argument self: expected finite numbers of at least 0, got ", shape[i]);
  }
  draw_each(op, drawn, generator,
            [&](ElementBits& bits, int64_t i) { return draw_gamma(bits, shape[i]); });
  return drawn;
}

Tensor gamma_any(const Tensor& self, const OptionalGenerator& generator) {
  check_parameter("_standard_gamma", "self", self);
  return sample(self, self.sym_sizes(),
                [&](const Tensor& drawn) { gammas("_standard_gamma", self, generator, drawn); });
}

// Gamma draws whose last dimension is scaled to a sum of 1.
Tensor dirichlet_any(const Tensor& self, const OptionalGenerator& generator) {
  check_parameter("_sample_dirichlet", "self", self);
  SB_CHECK(self.dim() > 0, "_sample_dirichlet: argument self: expected dimensions, got ",
           self.describe());
  return sample(self, self.sym_sizes(), [&](const Tensor& drawn) {
    gammas("_sample_dirichlet", self, generator, drawn);
    const int64_t n = self.size(-1);
    double* const out = drawn.data<double>();
    for (int64_t begin = 0; begin < drawn.numel(); begin += n) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += out[begin + i];
      for (int64_t i = 0; i < n; ++i) out[begin + i] /= sum;
    }
  });
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, poisson, Tag::nondeterministic_seeded).cpu_and_meta(poisson_any).out("out");
  define(m, binomial, Tag::nondeterministic_seeded).cpu_and_meta(binomial_any).out("out");
  define(m, _standard_gamma, Tag::nondeterministic_seeded).cpu_and_meta(gamma_any).out("out");
  define(m, _sample_dirichlet, Tag::nondeterministic_seeded).cpu_and_meta(dirichlet_any).out("out");
}

}  // namespace
}  // namespace sb
