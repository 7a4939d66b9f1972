// Spectra of signals, as `torch.fft`.
//
// n and s are lengths, to which a signal is cut or filled up with zeros along its dimensions;
// without them it stays as it is. norm: "backward" (or none) divides inverse transforms by the
// number of points, "forward" the others, "ortho" both by its root. Numbers become complex, and
// integers the default dtype; RuntimeError for float16 and bfloat16, a length below 1, an unknown
// norm, and a dimension named twice; IndexError for a dimension out of range. Outs are complex, or
// floating-point where results are real, of any such dtype.

#ifndef SWITCHBOARD_OPS_FFT_SPECTRA_H_
#define SWITCHBOARD_OPS_FFT_SPECTRA_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Along one dimension. fft and ifft: complex to complex, a real signal's inverse a conjugate view.
// rfft and irfft: a real signal, and the first half of its spectrum; irfft gives 2 (m - 1) numbers
// from m if not told. hfft and ihfft: the same of a signal that is symmetric, and its real
// spectrum.
#define SB_FFT(name)                                                                               \
  SB_OP(fft_##name,                                                                                \
        "aten::fft_" #name "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"); \
  SB_OP(fft_##name##_out, out_of(fft_##name, "out"))
SB_FFT(fft);
SB_FFT(ifft);
SB_FFT(rfft);
SB_FFT(irfft);
SB_FFT(hfft);
SB_FFT(ihfft);
#undef SB_FFT

// Along several, without dim the last ones, as many as s has, or all. What is half is so in the
// last of the dimensions, of which there is one at least.
#define SB_FFTN(name)                                                          \
  SB_OP(fft_##name, "aten::fft_" #name                                         \
                    "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? " \
                    "norm=None) -> Tensor");                                   \
  SB_OP(fft_##name##_out, out_of(fft_##name, "out"))
SB_FFTN(fftn);
SB_FFTN(ifftn);
SB_FFTN(rfftn);
SB_FFTN(irfftn);
SB_FFTN(hfftn);
SB_FFTN(ihfftn);
#undef SB_FFTN

// Along two, unless told otherwise.
#define SB_FFT2(name)                                                             \
  SB_OP(fft_##name, "aten::fft_" #name                                            \
                    "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? " \
                    "norm=None) -> Tensor");                                      \
  SB_OP(fft_##name##_out, out_of(fft_##name, "out"))
SB_FFT2(fft2);
SB_FFT2(ifft2);
SB_FFT2(rfft2);
SB_FFT2(irfft2);
SB_FFT2(hfft2);
SB_FFT2(ihfft2);
#undef SB_FFT2

// A copy with the frequency 0 moved from the beginning of dimensions (all, if none are given) to
// their middle, and back.
SB_OP(fft_fftshift, "aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor");
SB_OP(fft_ifftshift, "aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor");

// The frequencies of the numbers that fft gives of n points at a distance d; those of rfft. Of a
// floating-point dtype: RuntimeError for others.
SB_OP(
    fft_fftfreq,
    "aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None, bool? pin_memory=None) -> Tensor");
SB_OP(fft_fftfreq_out, "aten::fft_fftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(fft_rfftfreq,
      "aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(fft_rfftfreq_out,
      "aten::fft_rfftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_SPECTRA_H_
