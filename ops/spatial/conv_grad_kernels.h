// The innermost loops of the gradient of a float32 convolution's weight: sums over outputs of a
// term's input, times the gradient of the output.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::spatial {

// Some rows of one slice of outputs. The input of term k for the output in column x of row y is
// input[offsets[k] + y * pitch + x].
struct ConvOutputs {
  const float* input;
  int64_t pitch;
  const int64_t* offsets;
  int64_t terms;
  int64_t rows;
  int64_t columns;
};

// For a few vectors of output channels that lie next to each other.
struct ConvGradPanel {
  ConvOutputs outputs;
  const float* grads;  // [rows, columns, vectors * lanes], the columns grads_stride apart, the rows
                       // without gaps
  int64_t grads_stride;
  int vectors;  // of `lanes` channels; 1 to max_vectors
  float* sums;  // [terms, vectors * lanes], rows sums_stride apart; the sums are added
  int64_t sums_stride;
};

// For one output channel.
struct ConvGradChannel {
  ConvOutputs outputs;
  const float* grads;  // [rows, columns], contiguous
  float* sums;         // [terms], contiguous; the sums are added
};

struct ConvGradKernels {
  int lanes;
  int max_vectors;
  void (*sum_panel)(const ConvGradPanel& panel);
  void (*sum_channel)(const ConvGradChannel& channel);
};
extern const CpuKernel<ConvGradKernels> conv_grad_kernels;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_KERNELS_H_
