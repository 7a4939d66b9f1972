// The innermost loop of a float32 convolution: a panel of sums.
//
// A panel is a few vectors of consecutive outputs, for some output channels. Each output is a sum
// over `depth` terms, a weight times an input element, and the inputs of term k lie as their
// outputs do, one after the other, from `input + offsets[k]`.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu_kernel.h"

namespace sb::spatial {

struct ConvPanel {
  const float* input;
  const int64_t* offsets;
  int64_t depth;
  const float* weight;  // [channels, depth], contiguous
  const float* bias;    // one for each channel, or nullptr
  int64_t channels;
  int vectors;  // of `lanes` outputs; 1 to max_vectors
  float* sums;  // [channels, vectors * lanes], rows sums_stride apart
  int64_t sums_stride;
};

struct ConvKernels {
  int lanes;
  int max_vectors;
  void (*sum_panel)(const ConvPanel& panel);
};
extern const CpuKernel<ConvKernels> conv_kernels;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_
