// The innermost loops of a float32 convolution: a panel of sums, and a plane of them where each
// output channel has one input channel.
//
// A panel is a few vectors of consecutive outputs, for some output channels. Each output is a sum
// over `depth` terms, a weight times an input element, and the inputs of term k lie as their
// outputs do, one after the other, from `input + offsets[k]`.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

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

// `rows` rows of at least `lanes` outputs. The terms come in chains of elements of the kernel,
// whose inputs are a row, `pitch` elements, apart: a row that is read serves all elements of a
// chain.
struct ConvPlane {
  const float* input;
  int64_t pitch;
  const int64_t* offsets;  // where each chain begins
  int64_t chains;
  int chain_length;     // one that has_chain_length
  const float* weight;  // [chain_length, chains], contiguous
  float bias;
  float* output;  // [rows, columns], contiguous
  int64_t rows;
  int64_t columns;
};
constexpr bool has_chain_length(int64_t n) { return n == 1 || n == 3 || n == 5 || n == 7; }

struct ConvKernels {
  int lanes;
  int max_vectors;
  void (*sum_panel)(const ConvPanel& panel);
  void (*sum_plane)(const ConvPlane& plane);
};
extern const CpuKernel<ConvKernels> conv_kernels;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_KERNELS_H_
