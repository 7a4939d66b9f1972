#include "switchboard/ops/fft/short_time.h"

#include <optional>
#include <string_view>

#include "switchboard/core/checked_math.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/fft/transforms.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reduction_plan.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/spatial/columns.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OptionalInt = std::optional<int64_t>;
using OptionalTensor = std::optional<Tensor>;

void check_window(const char* op, const Tensor& self, const OptionalTensor& window, int64_t n_fft,
                  int64_t win_length) {
  SB_CHECK(0 < win_length && win_length <= n_fft, op,
           ": win_length: expected from 1 to n_fft = ", n_fft, ", got ", win_length);
  if (!is_given(window)) return;
  SB_CHECK(window->device() == self.device(), op, ": window: expected a tensor on ",
           "the device of self = ", self.describe(), ", got ", window->describe());
  SB_CHECK(window->dim() == 1, op, ": window: expected one dimension, got ", window->describe());
  SB_CHECK(window->sym_size(0) == win_length, op, ": window: expected shape [", win_length,
           "], got ", window->describe());
}

// A window of win_length with zeros around.
Tensor centered(const Tensor& window, int64_t win_length, int64_t n_fft) {
  const int64_t missing = n_fft - win_length;
  return missing == 0 ? window : constant_pad_nd(window, {missing / 2, missing - missing / 2}, 0);
}

Tensor stft_of(const Tensor& self, int64_t n_fft, OptionalInt hop, OptionalInt win,
               const OptionalTensor& window, bool center, std::string_view pad_mode,
               bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
               std::optional<bool> align_to_window) {
  const char* const op = "stft";
  check_defined(op, self);
  SB_CHECK(is_floating_point(self.dtype()) || is_complex(self.dtype()), op,
           ": self: expected floating-point or complex numbers, got ", self.describe());
  SB_CHECK(self.dim() == 1 || self.dim() == 2, op, ": self: expected 1 or 2 dimensions, got ",
           self.describe());
  const int64_t hop_length = hop.value_or(n_fft >> 2), win_length = win.value_or(n_fft);
  SB_CHECK(n_fft > 0, op, ": n_fft: expected a positive number, got ", n_fft);
  SB_CHECK(hop_length > 0, op, ": hop_length: expected a positive number, got ", hop_length);
  check_window(op, self, window, n_fft, win_length);

  SB_CHECK(!center || !align_to_window, op,
           ": align_to_window: expected none where center is true");

  Tensor x = self.dim() == 1 ? unsqueeze(self, 0) : self;
  if (align_to_window.value_or(false)) {
    const int64_t missing = n_fft - win_length;
    x = constant_pad_nd(x, {missing / 2, missing - missing / 2}, 0);
  }
  if (center) x = squeeze_dim(pad(unsqueeze(x, 0), {n_fft / 2, n_fft / 2}, pad_mode, {}), 0);
  const SymInt points = x.sym_size(1);
  SB_CHECK(points >= n_fft, op, ": n_fft: expected at most ", points.to_string(),
           ", the points of the signal", center ? " with its padding" : "", ", got ", n_fft);
  const SymInt frames = (points - n_fft) / hop_length + 1;
  const SymInt step = x.sym_strides()[1];
  x = as_strided(
      x, SymIntArrayRef{x.sym_size(0), frames, n_fft},
      SymIntArrayRef{x.sym_strides()[0], known(frames == 1) ? step : step * hop_length, step},
      std::nullopt);
  if (is_given(window)) {
    x = mul(x, centered(*window, win_length, n_fft));
  } else if (win_length < n_fft) {
    x = mul(x, centered(new_ones(self, {win_length}, {}, {}, {}, {}), win_length, n_fft));
  }

  const bool complex = is_complex(x.dtype());
  SB_CHECK(!complex || !onesided.value_or(false), op,
           ": onesided: expected a real signal and window, got complex numbers");
  const auto norm = static_cast<int64_t>(normalized ? FftNorm::ByRootN : FftNorm::None);
  Tensor result = complex ? _fft_c2c(x, {2}, norm, /*forward=*/true)
                          : _fft_r2c(x, {2}, norm, onesided.value_or(true));
  result = transpose(result, 1, 2);
  if (self.dim() == 1) result = squeeze_dim(result, 0);
  const bool as_complex = return_complex.value_or(
      is_complex(self.dtype()) || (is_given(window) && is_complex(window->dtype())));
  return as_complex ? result : view_as_real(result);
}

// Sums of what frames, (batch, frames, points), have for the points of a signal.
Tensor overlap_added(const Tensor& frames, const SymInt& length, int64_t n_fft,
                     int64_t hop_length) {
  const Tensor sums = col2im(transpose(frames, 1, 2), SymIntArrayRef{1, length}, {1, n_fft}, {1, 1},
                             {0, 0}, {1, hop_length});
  return squeeze_dim(squeeze_dim(sums, 2), 1);
}

Tensor istft_of(const Tensor& self, int64_t n_fft, OptionalInt hop, OptionalInt win,
                const OptionalTensor& window, bool center, bool normalized,
                std::optional<bool> onesided_or_not, OptionalInt length, bool return_complex) {
  const char* const op = "istft";
  check_defined(op, self);
  const bool complex = is_complex(self.dtype());
  const int64_t rank = complex ? self.dim() : self.dim() - 1;
  SB_CHECK_INDEX(rank >= 2, op, ": self: expected 2 or 3 dimensions of complex numbers, got ",
                 self.describe());
  SB_CHECK(rank <= 3 && (complex || guard_bool(self.sym_size(-1) == 2)), op,
           ": self: expected 2 or 3 dimensions of complex numbers, got ", self.describe());
  SB_CHECK(self.sym_numel() != 0, op, ": self: expected elements, got ", self.describe());
  // A copy can be viewed so, whatever self's strides.
  Tensor x = complex ? self : view_as_complex(clone(self, MemoryFormat::Contiguous));
  const SymInt frames = x.sym_size(-1), frequencies = x.sym_size(-2);
  const bool onesided = onesided_or_not ? *onesided_or_not : guard_bool(frequencies != n_fft);
  const int64_t expected = onesided ? n_fft / 2 + 1 : n_fft;
  SB_CHECK(n_fft > 0, op, ": n_fft: expected a positive number, got ", n_fft);
  SB_CHECK(frequencies == expected, op, ": self: expected ", expected, " frequencies, got ",
           frequencies.to_string());
  const int64_t hop_length = hop.value_or(n_fft >> 2), win_length = win.value_or(n_fft);
  SB_CHECK(0 < hop_length && hop_length <= win_length, op,
           ": hop_length: expected from 1 to win_length = ", win_length, ", got ", hop_length);
  check_window(op, self, window, n_fft, win_length);
  const bool complex_window = is_given(window) && is_complex(window->dtype());
  SB_CHECK(!return_complex || !onesided, op,
           ": return_complex: a onesided spectrum is that of a real signal");
  SB_CHECK(return_complex || !complex_window, op, ": window: expected real numbers for a real ",
           "signal, got ", window ? window->describe() : "");

  x = transpose(rank == 2 ? unsqueeze(x, 0) : x, 1, 2);
  const auto norm = static_cast<int64_t>(normalized ? FftNorm::ByRootN : FftNorm::ByN);
  x = return_complex ? _fft_c2c(x, {2}, norm, /*forward=*/false) : _fft_c2r(x, {2}, norm, n_fft);

  const Tensor weights = centered(
      is_given(window) ? *window : new_ones(self, {win_length}, to_real(x.dtype()), {}, {}, {}),
      win_length, n_fft);
  const SymInt whole = (frames - 1) * hop_length + n_fft;
  const int64_t start = center ? n_fft / 2 : 0;
  const SymInt end = length   ? SymInt(checked_add(start, *length))
                     : center ? SymInt(-(n_fft / 2))
                              : whole;
  const auto between = [&](const Tensor& t) {
    return slice(overlap_added(t, whole, n_fft, hop_length), 1, start, end);
  };
  const Tensor signal = between(mul(x, weights));
  const Tensor weight = between(expand(mul(weights, weights), SymIntArrayRef{1, frames, n_fft}));
  SB_CHECK(weight.sym_numel() != 0, op, ": expected at least one point between ", start, " and ",
           end.to_string(), " of ", whole.to_string());
  SB_CHECK(!has_data(weight) || !(item(min_all(abs(weight))).to<double>() < 1e-11), op,
           ": the windows weigh nothing at some point of the signal");

  Tensor result = div(signal, weight);
  if (rank == 2) result = squeeze_dim(result, 0);
  const bool lacks_points = length && asked_or_false(end > whole);
  return lacks_points ? constant_pad_nd(result, SymIntArrayRef{0, end - whole}, 0) : result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, stft).composed([](const Tensor& self, int64_t n_fft, OptionalInt hop_length,
                              OptionalInt win_length, const OptionalTensor& window, bool normalized,
                              std::optional<bool> onesided, std::optional<bool> return_complex,
                              std::optional<bool> align_to_window) {
    return stft_center(self, n_fft, hop_length, win_length, window, /*center=*/false, "constant",
                       normalized, onesided, return_complex, align_to_window);
  });
  define(m, stft_center).composed(stft_of);
  define(m, istft).composed(istft_of);
}

}  // namespace sb
