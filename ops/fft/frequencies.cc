#include <optional>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/fft/spectra.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/factory_parameters.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// By half of each size, of which the larger half is what comes back.
Tensor shifted(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool back) {
  check_defined(op, self);
  DimVector dims;
  SymDimVector shifts;
  if (dim) {
    for (int64_t d : *dim) {
      SB_CHECK_INDEX(self.dim() > 0, op, ": dim: ", d, " of a tensor without dimensions");
      dims.push_back(wrap_dim(op, d, self.dim()));
    }
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  for (int64_t d : dims) shifts.push_back((self.sym_size(d) + (back ? 1 : 0)) / 2);
  return roll(self, SymIntArrayRef(shifts), dims);
}

void check_frequencies(const char* op, DType dtype) {
  SB_CHECK(is_floating_point(dtype), op, ": expected a floating-point dtype, got ",
           to_string(dtype));
}

// 0, 1, ..., and from the middle on -n / 2, ..., -1, in steps of 1 / (n d).
Tensor fftfreq_to(int64_t n, double d, const Tensor& out) {
  check_defined("fft_fftfreq", out);
  check_frequencies("fft_fftfreq", out.dtype());
  // arange would leave another shape of as many elements as it is.
  SB_CHECK_INDEX(out.dim() == 1 || out.numel() != n, "fft_fftfreq: out: expected a vector, got ",
                 out.describe());
  arange_out(n, out);
  arange_start_out(-(n / 2), 0, 1, slice(out, 0, n - n / 2, n));
  return mul_Scalar_(out, 1 / (static_cast<double>(n) * d));
}
Tensor rfftfreq_to(int64_t n, double d, const Tensor& out) {
  check_defined("fft_rfftfreq", out);
  check_frequencies("fft_rfftfreq", out.dtype());
  arange_out(n / 2 + 1, out);
  return mul_Scalar_(out, 1 / (static_cast<double>(n) * d));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, fft_fftshift).composed([](const Tensor& self, OptionalIntArrayRef dim) {
    return shifted("fft_fftshift", self, dim, false);
  });
  define(m, fft_ifftshift).composed([](const Tensor& self, OptionalIntArrayRef dim) {
    return shifted("fft_ifftshift", self, dim, true);
  });

  define(m, fft_fftfreq)
      .composite_explicit([](int64_t n, double d, SB_TENSOR_OPTIONS) {
        check_frequencies("fft_fftfreq", dtype.value_or(default_dtype()));
        return fft_fftfreq_out(n, d, empty({n}, dtype, layout, device, pin_memory, std::nullopt));
      })
      .out(fft_fftfreq_out, fftfreq_to);
  define(m, fft_rfftfreq)
      .composite_explicit([](int64_t n, double d, SB_TENSOR_OPTIONS) {
        check_frequencies("fft_rfftfreq", dtype.value_or(default_dtype()));
        return fft_rfftfreq_out(
            n, d, empty({n / 2 + 1}, dtype, layout, device, pin_memory, std::nullopt));
      })
      .out(fft_rfftfreq_out, rfftfreq_to);
}

}  // namespace sb
