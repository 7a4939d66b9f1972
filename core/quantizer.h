// The scale and zero point that give the elements of a quantized tensor their meaning.

#ifndef SWITCHBOARD_CORE_QUANTIZER_H_
#define SWITCHBOARD_CORE_QUANTIZER_H_

#include <cstdint>

#include "switchboard/core/intrusive_ptr.h"

namespace sb {

// One scale and one zero point for the whole tensor: an element q stands for
// (q - zero_point) * scale. As `at::PerTensorAffineQuantizer`.
struct Quantizer : IntrusiveTarget {
  Quantizer(double scale, int64_t zero_point) : scale(scale), zero_point(zero_point) {}
  const double scale;
  const int64_t zero_point;
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_QUANTIZER_H_
