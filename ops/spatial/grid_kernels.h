// What many places of a grid read of an input, in vector registers.

#ifndef SWITCHBOARD_OPS_SPATIAL_GRID_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_GRID_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"
#include "switchboard/ops/spatial/grid_places.h"

namespace sb::spatial {

// Places of one batch, and the planes that they read, one a channel.
template <class T>
struct GridPiece {
  GridModes modes;
  int rank;              // 2 or 3
  const int64_t* sizes;  // of a plane, which has less than 2^31 elements
  const T* coordinates;  // `rank` of each place, that along the last dimension first
  int64_t places;
  int64_t channels;
  // From a channel to the next, in elements: of the input, and of what is read.
  int64_t input_step, output_step;
};

// A place adds up in the order of channels, then of the elements that it reads, last dimension
// fastest. What is outside of a plane is not read, and counts as zero.
template <class T>
struct GridKernels {
  // output[c, p]: what place p reads of channel c.
  void (*read)(const GridPiece<T>&, const T* input, T* output);
  // Adds to input[c] its gradient, of which output[c, p] is given.
  void (*spread)(const GridPiece<T>&, const T* output, T* input);
  // The coordinates' gradients, laid out as they are.
  void (*change)(const GridPiece<T>&, const T* output, const T* input, T* coordinates);
};
extern const CpuKernel<GridKernels<float>> grid_kernels_float;
extern const CpuKernel<GridKernels<double>> grid_kernels_double;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_GRID_KERNELS_H_
