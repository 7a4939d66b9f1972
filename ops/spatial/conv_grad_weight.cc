#include "switchboard/ops/spatial/conv_grad_weight.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/transpose.h"
#include "switchboard/ops/spatial/conv_grad_kernels.h"
#include "switchboard/ops/spatial/conv_planes.h"

namespace sb::spatial {
namespace {

// How many numbers are copied at a time, unless one item has more.
constexpr int64_t kCopied = int64_t{1} << 20;
// Outputs whose gradients, of a panel of channels, stay in the first cache for all terms.
constexpr int64_t kOutputsAtOnce = 128;

class GradWeight {
 public:
  GradWeight(const ConvShape& shape, const float* input, const float* grads)
      : s_(shape),
        input_(input),
        grads_(grads),
        planes_(shape),
        outputs_(volume(shape.output)),
        lanes_((*conv_grad_kernels).lanes),
        // Below, too much of a vector of channels would be padding.
        by_channels_(2 * shape.out_channels > lanes_ || shape.output[2] < 4),
        padded_channels_((shape.out_channels + lanes_ - 1) / lanes_ * lanes_) {}

  void run(float* grad_weight) {
    const int64_t size = part_size();
    const int64_t at_once =
        size == 0 ? s_.batch : std::clamp<int64_t>(kCopied / (size * s_.groups), 1, s_.batch);
    if (size != 0) {
      copies_ =
          std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size * s_.groups * at_once));
    }
    const int64_t depth = s_.depth();
    const int64_t row = by_channels_ ? padded_channels_ : 1;  // of sums for a term
    const int64_t sums = by_channels_ ? depth * row : s_.out_channels * depth;  // of a group
    sums_.assign(static_cast<size_t>(s_.groups * sums), 0.0f);
    // Pieces: some terms of a group, for all its channels.
    const int64_t blocks = by_channels_ ? std::clamp<int64_t>(depth / 24, 1, 16) : 1;
    const int64_t block = (depth + blocks - 1) / blocks;
    for (int64_t first = 0; first < s_.batch; first += at_once) {
      const int64_t items = std::min(at_once, s_.batch - first);
      if (size != 0) {
        parallel_for(0, items * s_.groups, grain_for(size), [&](int64_t from, int64_t to) {
          for (int64_t i = from; i < to; ++i)
            copy_part(first * s_.groups + i, &copies_[static_cast<size_t>(i * size)]);
        });
      }
      parallel_for(0, s_.groups * blocks, grain_for(items * outputs_ * s_.out_channels * block / 4),
                   [&](int64_t from, int64_t to) {
                     for (int64_t i = from; i < to; ++i) {
                       const int64_t group = i / blocks, term = i % blocks * block;
                       for (int64_t item = 0; item < items; ++item) {
                         add_part((first + item) * s_.groups + group, item * s_.groups + group,
                                  term, std::min(block, depth - term),
                                  &sums_[static_cast<size_t>(group * sums)]);
                       }
                     }
                   });
    }
    if (!by_channels_) {
      std::copy(sums_.begin(), sums_.end(), grad_weight);
      return;
    }
    parallel_for(0, s_.groups, grain_for(s_.out_channels * depth), [&](int64_t from, int64_t to) {
      for (int64_t group = from; group < to; ++group) {
        const float* const of = &sums_[static_cast<size_t>(group * sums)];
        for (int64_t c = 0; c < s_.out_channels; ++c) {
          float* const out = grad_weight + (group * s_.out_channels + c) * depth;
          for (int64_t k = 0; k < depth; ++k) out[k] = of[k * row + c];
        }
      }
    });
  }

 private:
  // Of an item's group: its planes, and its gradients with the channels next to each other.
  int64_t planes_size() const { return planes_.is_copy() ? planes_.size() : 0; }
  int64_t part_size() const {
    return planes_size() + (by_channels_ ? outputs_ * padded_channels_ : 0);
  }

  const float* input_of(int64_t part) const {
    return input_ + part * s_.in_channels * volume(s_.input);
  }
  const float* grads_of(int64_t part) const { return grads_ + part * s_.out_channels * outputs_; }

  void copy_part(int64_t part, float* to) const {
    if (planes_.is_copy()) {
      for (int64_t i = 0; i < planes_.copy_steps(); ++i) planes_.copy_step(i, input_of(part), to);
    }
    if (!by_channels_) return;
    float* const grads = to + planes_size();
    if (padded_channels_ != s_.out_channels) std::fill_n(grads, outputs_ * padded_channels_, 0.0f);
    const auto bytes = [](int64_t floats) { return floats * static_cast<int64_t>(sizeof(float)); };
    constexpr size_t kFourBytes = 2;
    for_each_panel([&](int64_t channel, int64_t width) {
      (*transpose_kernel)[kFourBytes](
          {reinterpret_cast<char*>(grads + channel * outputs_), bytes(width),
           reinterpret_cast<const char*>(grads_of(part) + channel * outputs_), bytes(outputs_),
           std::min(width, s_.out_channels - channel), outputs_, false});
    });
  }

  // Calls f(first channel, channels) for each panel: whole vectors of channels, as many in each as
  // may be.
  template <class F>
  void for_each_panel(const F& f) const {
    constexpr int64_t kVectors = 3;
    for (int64_t channel = 0; channel < padded_channels_;) {
      const int64_t left = (padded_channels_ - channel) / lanes_;
      const bool last = left > kVectors && left <= (*conv_grad_kernels).max_vectors;
      const int64_t panels = (left + kVectors - 1) / kVectors;
      const int64_t width = (last ? left : (left + panels - 1) / panels) * lanes_;
      f(channel, width);
      channel += width;
    }
  }

  // Adds to a group's sums for terms [term, term + terms) what an item's part gives.
  void add_part(int64_t part, int64_t copy, int64_t term, int64_t terms, float* sums) const {
    const float* const copied = copies_.get() + copy * part_size();
    const int64_t rows_at_once = std::max<int64_t>(1, kOutputsAtOnce / s_.output[2]);
    for (int64_t z = 0; z < s_.output[0]; ++z) {
      const float* const slice =
          (planes_.is_copy() ? copied : input_of(part)) + z * planes_.slice_step();
      if (!by_channels_) {
        const int64_t rows = s_.output[1];
        for (int64_t c = 0; c < s_.out_channels; ++c) {
          const float* const grads = grads_of(part) + (c * s_.output[0] + z) * rows * s_.output[2];
          (*conv_grad_kernels)
              .sum_channel(
                  {outputs(slice, 0, rows, term, terms), grads, sums + c * s_.depth() + term});
        }
        continue;
      }
      for (int64_t row = 0; row < s_.output[1]; row += rows_at_once) {
        const int64_t rows = std::min(rows_at_once, s_.output[1] - row);
        // A panel's outputs lie one after the other, which does not use a few sets of the cache
        // alone.
        for_each_panel([&](int64_t channel, int64_t width) {
          const float* const grads = copied + planes_size() + channel * outputs_ +
                                     (z * s_.output[1] + row) * s_.output[2] * width;
          (*conv_grad_kernels)
              .sum_panel({outputs(slice, row, rows, term, terms), grads, width,
                          static_cast<int>(width / lanes_),
                          sums + term * padded_channels_ + channel, padded_channels_});
        });
      }
    }
  }
  ConvOutputs outputs(const float* slice, int64_t row, int64_t rows, int64_t term,
                      int64_t terms) const {
    return {slice + row * planes_.pitch(),
            planes_.pitch(),
            planes_.offsets().data() + term,
            terms,
            rows,
            s_.output[2]};
  }

  const ConvShape& s_;
  const float* input_;
  const float* grads_;
  ConvPlanes planes_;
  int64_t outputs_;
  int64_t lanes_;
  bool by_channels_;
  int64_t padded_channels_;
  std::unique_ptr<float[]> copies_;
  std::vector<float> sums_;
};

}  // namespace

void convolve_grad_weight_directly(const ConvShape& shape, const Tensor& input,
                                   const Tensor& grad_output, const Tensor& grad_weight) {
  GradWeight(shape, input.data<float>(), grad_output.data<float>()).run(grad_weight.data<float>());
}

}  // namespace sb::spatial
