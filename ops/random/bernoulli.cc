#include "switchboard/ops/random/bernoulli.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/random/draw_kernels.h"
#include "switchboard/ops/random/random_fill.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using internal::draw_kernels;
using OptionalGenerator = std::optional<Generator>;

Tensor bernoulli_float_any(const Tensor& self, double p, const OptionalGenerator& generator) {
  check_filled("bernoulli_", self, is_any_real);
  SB_CHECK(p >= 0 && p <= 1, "bernoulli_: argument p: expected a number in [0, 1], got ", p);
  random_fill_counted<bool>("bernoulli_", self, generator,
                            [=](uint64_t seed, uint64_t first, bool* out, int64_t n) {
                              draw_kernels.get()->chances(seed, first, p, out, n);
                            });
  return self;
}

// `p` broadcasts to `self`, as expand does, so that expand makes the check.
Tensor bernoulli_tensor_any(const Tensor& self, const Tensor& p,
                            const OptionalGenerator& generator) {
  check_filled("bernoulli_", self, is_any_real);
  SB_CHECK(p.defined() && is_floating_point(p.dtype()),
           "bernoulli_: argument p: expected a floating-point tensor, got ", p.describe());
  const bool on_one = p.device() == self.device() || (p.is_cpu() && p.dim() == 0);
  SB_CHECK(on_one, "bernoulli_: argument p: expected a tensor on ", to_string(self.device()),
           ", got ", p.describe());
  const Tensor broadcast = expand(p, self.sym_sizes());
  if (self.is_meta() || self.numel() == 0) return self;
  const Tensor chances = cast_copy(broadcast, DType::Float64);
  const double* const chance = chances.data<double>();
  const int64_t n = self.numel();
  for (int64_t i = 0; i < n; ++i) {
    SB_CHECK(chance[i] >= 0 && chance[i] <= 1,
             "bernoulli_: argument p: expected numbers in [0, 1], got ", chance[i]);
  }
  const Tensor uniform = empty_on(DeviceType::CPU, self.sizes(), DType::Float64);
  random_fill_counted<double>("bernoulli_", uniform, generator,
                              [](uint64_t seed, uint64_t first, double* out, int64_t n) {
                                draw_kernels.get()->uniform(seed, first, 53, 0x1p-53, 0, out, n);
                              });
  double* const drawn = uniform.data<double>();
  for (int64_t i = 0; i < n; ++i) drawn[i] = drawn[i] < chance[i] ? 1 : 0;
  copy_elements(self, uniform);
  return self;
}

// A new tensor of self's shape: contiguous where PyTorch makes the result itself, and with self's
// strides where it draws in a clone of self.
Tensor drawn_like(const Tensor& self, MemoryFormat format) {
  SB_CHECK(self.defined(), "bernoulli: argument self: expected a tensor, got an undefined one");
  return empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, format);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  // In the order in which PyTorch's packets try them: a tensor of one element is also a float.
  define(m, bernoulli_Tensor_, Tag::nondeterministic_seeded);
  define(m, bernoulli_float_, Tag::nondeterministic_seeded);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(bernoulli_float_, key, bernoulli_float_any);
    m.impl(bernoulli_Tensor_, key, bernoulli_tensor_any);
  }
  define(m, bernoulli, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, const OptionalGenerator& generator) {
        const internal::BelowRecordingGuard fresh;
        return bernoulli_Tensor_(drawn_like(self, MemoryFormat::Contiguous), self, generator);
      })
      .out(bernoulli_out, kConvertedOut);
  define(m, bernoulli_p, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, double p, const OptionalGenerator& generator) {
        const internal::BelowRecordingGuard fresh;
        return bernoulli_float_(drawn_like(self, MemoryFormat::Contiguous), p, generator);
      });
  define(m, bernoulli_Tensor, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const Tensor& self, const Tensor& p, const OptionalGenerator& generator) {
            const internal::BelowRecordingGuard fresh;
            return bernoulli_Tensor_(drawn_like(self, MemoryFormat::Preserve), p, generator);
          })
      .out(bernoulli_Tensor_out);
  define(m, bernoulli_float_out, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, double p, const OptionalGenerator& generator,
                             const Tensor& out) {
        copy_result_to_out("bernoulli",
                           bernoulli_float_(drawn_like(self, MemoryFormat::Preserve), p, generator),
                           out);
        return out;
      });
}

}  // namespace
}  // namespace sb
