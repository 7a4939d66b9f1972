// A convolution's input as its loops read it.
//
// It is copied into planes with the padding around them, and their columns and rows dealt out by
// stride, so that the inputs of consecutive outputs are consecutive for each element of the kernel.
// A kernel of one element without padding needs no copy. Channels lie one after the other, a
// channel's slices (along the first of three dimensions) within it, a slice's phases within it, and
// a phase's rows within it.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_PLANES_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_PLANES_H_

#include <cstdint>
#include <vector>

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

class ConvPlanes {
 public:
  // Padding may be negative: elements at the input's border that no output sees.
  explicit ConvPlanes(const ConvShape& shape);

  // Whether the input must be copied; else its own memory has this layout.
  bool is_copy() const { return is_copy_; }
  // In elements: from a row to the next one, from a slice to the next one that an output of the
  // next slice begins with, and of all channels of a group.
  int64_t pitch() const { return pitch_; }
  int64_t slice_step() const { return shape_.stride[0] * slice_size_; }
  int64_t size() const { return shape_.in_channels * channel_size_; }
  // For each of shape.depth() terms of a sum, a channel and an element of the kernel: where its
  // input for the first output is. That of the output in column x of row y of slice z is z *
  // slice_step() + y * pitch() + x behind it.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // The copy of a group's channels is made in so many steps, in any order and by any threads.
  int64_t copy_steps() const { return shape_.in_channels * rows_.count(); }
  void copy_step(int64_t step, const float* input, float* planes) const;

 private:
  // How one dimension is dealt out: element x + padding is element x / stride of phase x % stride.
  struct Dealt {
    std::vector<int64_t> phases;    // those that the kernel meets
    std::vector<int64_t> phase_of;  // for each element of the kernel, which of them
    std::vector<int64_t> shift_of;  // and where in it its input for output 0 is
    int64_t length = 0;             // elements of a phase

    Dealt(int64_t kernel, int64_t stride, int64_t dilation, int64_t output);
    int64_t count() const { return static_cast<int64_t>(phases.size()); }
  };
  struct Range {
    int64_t begin;
    int64_t end;
  };

  void add_offsets(int64_t channel);
  // The phases of one channel that hold the `index`th phase of rows, with zeros where the padding
  // is.
  void copy_phases(const float* from, size_t index, float* to) const;
  // Which elements of a phase lie in the input.
  Range inside(size_t d, int64_t phase, int64_t length) const;
  // Of a row of the input, in which column `first` is that of element 0.
  void copy_row(const float* row, int64_t first, Range columns, float* to) const;

  ConvShape shape_;
  Dealt rows_;
  Dealt columns_;
  bool is_copy_;
  int64_t pitch_;
  int64_t phase_size_;  // rows * pitch
  int64_t slice_size_;  // all phases
  int64_t slices_;
  int64_t channel_size_;
  std::vector<int64_t> offsets_;
};

// Rows are short: what memcpy costs to call is more than what they cost to copy.
void copy_floats(const float* from, int64_t n, float* to);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_PLANES_H_
