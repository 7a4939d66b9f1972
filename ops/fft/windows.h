// Windows for pieces of a signal: 1-d tensors that fall towards both ends. As `torch.hann_window`
// and its like.
//
// A periodic window, the default, is one of an element more without its last. dtype is floating
// point, by default the default dtype. The operators have out= forms, and overloads that take what
// is in brackets:
//
//   bartlett_window[.periodic]                 a triangle
//   hann_window[.periodic]                     0.5 - 0.5 cos
//   hamming_window[.periodic[_alpha[_beta]]]   alpha - beta cos, of 0.54 and 0.46
//   blackman_window[.periodic]                 0.42 - 0.5 cos + 0.08 cos of twice the angle
//   kaiser_window[.periodic, .beta]            I0(beta * root) / I0(beta), of 12

#ifndef SWITCHBOARD_OPS_FFT_WINDOWS_H_
#define SWITCHBOARD_OPS_FFT_WINDOWS_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

#define SB_WINDOW(handle, overload, arguments)                                                  \
  SB_OP(handle, "aten::" overload "(int window_length" arguments                                \
                ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
                "pin_memory=None) -> Tensor")

SB_WINDOW(bartlett_window, "bartlett_window", "");
SB_WINDOW(bartlett_window_periodic, "bartlett_window.periodic", ", bool periodic");
SB_WINDOW(hann_window, "hann_window", "");
SB_WINDOW(hann_window_periodic, "hann_window.periodic", ", bool periodic");
SB_WINDOW(hamming_window, "hamming_window", "");
SB_WINDOW(hamming_window_periodic, "hamming_window.periodic", ", bool periodic");
SB_WINDOW(hamming_window_periodic_alpha, "hamming_window.periodic_alpha",
          ", bool periodic, float alpha");
SB_WINDOW(hamming_window_periodic_alpha_beta, "hamming_window.periodic_alpha_beta",
          ", bool periodic, float alpha, float beta");
SB_WINDOW(blackman_window, "blackman_window", "");
SB_WINDOW(blackman_window_periodic, "blackman_window.periodic", ", bool periodic");
SB_WINDOW(kaiser_window, "kaiser_window", "");
SB_WINDOW(kaiser_window_periodic, "kaiser_window.periodic", ", bool periodic");
SB_WINDOW(kaiser_window_beta, "kaiser_window.beta", ", bool periodic, float beta");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_WINDOWS_H_
