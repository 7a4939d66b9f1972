// Short-time Fourier transforms: spectra of the windows of a signal, as `torch.stft`.

#ifndef SWITCHBOARD_OPS_FFT_SHORT_TIME_H_
#define SWITCHBOARD_OPS_FFT_SHORT_TIME_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The spectra of n_fft points each that begin hop_length (n_fft / 4) points apart, multiplied by
// `window`, of win_length (n_fft) numbers, with zeros around: (batch, frequencies, frames) of a
// signal (batch, points), either without the batch. The first n_fft / 2 + 1 frequencies if
// onesided, as real signals are unless told otherwise. Not return_complex, which only complex
// numbers have by default: a last dimension of 2. normalized: divided by the root of n_fft.
// align_to_window: the first window, not the first n_fft points, begins at the signal's first
// point; not with center. RuntimeError for integers and for lengths that do not fit.
SB_OP(stft,
      "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
      "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
      "align_to_window=None) -> Tensor");
// The same with the signal padded by n_fft / 2 at both ends if `center`: see `pad` for the mode.
SB_OP(
    stft_center,
    "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
    "window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? "
    "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor");
// The signal back from that, complex or in a last dimension of 2: what windows have for a point is
// added up and divided by what they weigh there; RuntimeError where that is nothing. onesided:
// unless self has n_fft frequencies. `length` points, zeros behind what there are. return_complex:
// a complex signal.
SB_OP(
    istft,
    "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
    "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, "
    "bool return_complex=False) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_SHORT_TIME_H_
