#include "switchboard/ops/spatial/conv_direct.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/conv_kernels.h"
#include "switchboard/ops/spatial/conv_planes.h"

namespace sb::spatial {
namespace {

// Kernels read whole vectors, past the last element.
constexpr int64_t kSlack = 64;

// Steps that are to be done before others, by whichever threads come: each helps, then waits for
// the rest. In one parallel_for with what needs them, as waking threads twice takes too long.
class Preparation {
 public:
  explicit Preparation(int64_t steps) : steps_(steps) {}
  template <class F>
  void finish(const F& step) {
    for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < steps_;) {
      step(i);
      done_.fetch_add(1, std::memory_order_release);
    }
    while (done_.load(std::memory_order_acquire) != steps_) std::this_thread::yield();
  }

 private:
  const int64_t steps_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int64_t> done_ = 0;
};

class DirectConvolution {
 public:
  explicit DirectConvolution(const ConvShape& shape) : s_(shape), planes_(shape) {
    positions_ = (s_.output[1] - 1) * planes_.pitch() + s_.output[2];
    by_planes_ = s_.in_channels == 1 && s_.out_channels <= 2 && s_.kernel[0] == 1 &&
                 s_.output[0] == 1 && s_.output[2] >= (*conv_kernels).lanes;
    if (by_planes_) {
      const bool chained = s_.stride[1] == 1 && s_.dilation[1] == 1;
      chain_length_ =
          chained && has_chain_length(s_.kernel[1]) ? static_cast<int>(s_.kernel[1]) : 1;
    } else {
      make_panels();
    }
  }

  void run(const float* input, const float* weight, const float* bias, float* output) const {
    const int64_t in = s_.in_channels * volume(s_.input);
    const int64_t out = s_.out_channels * volume(s_.output);
    const auto run_part = [&](int64_t part, Scratch* scratch) {
      const int64_t group = part % s_.groups;
      run_one(input + part * in, weight + group * s_.out_channels * s_.depth(),
              bias ? bias + group * s_.out_channels : nullptr, output + part * out, scratch);
    };
    const int64_t parts = s_.batch * s_.groups;
    if (parts == 1) {
      Scratch scratch;
      return run_part(0, &scratch);
    }
    parallel_for(0, parts, grain_for(s_.depth() * out / 8), [&](int64_t from, int64_t to) {
      Scratch scratch;
      for (int64_t part = from; part < to; ++part) run_part(part, &scratch);
    });
  }

 private:
  struct Panel {
    int64_t position;
    int vectors;
  };
  struct Scratch {
    float* planes = nullptr;
    std::vector<float> sums;
    std::vector<float> own_planes;  // where they are too many to keep
  };

  const std::vector<int64_t>& offsets() const { return planes_.offsets(); }

  // Panels of three vectors, or wide ones where there are few channels to sum at the same time.
  void make_panels() {
    const int64_t lanes = (*conv_kernels).lanes;
    const bool narrow = s_.out_channels > 2;
    const int64_t usual = narrow ? 3 : (*conv_kernels).max_vectors;
    const int64_t last = narrow ? 4 : usual;
    int64_t left = (positions_ + lanes - 1) / lanes;
    for (int64_t at = 0; left > 0;) {
      const int64_t vectors = left <= last ? left : usual;
      panels_.push_back({at * lanes, static_cast<int>(vectors)});
      at += vectors;
      left -= vectors;
    }
  }

  // One item and group.
  void run_one(const float* input, const float* weight, const float* bias, float* output,
               Scratch* scratch) const {
    const float* const original = input;
    float* planes = nullptr;
    if (planes_.is_copy()) {
      if (!scratch->planes) scratch->planes = make_planes(&scratch->own_planes);
      input = planes = scratch->planes;
    }
    Preparation copies(planes_.is_copy() ? planes_.copy_steps() : 0);
    const auto copy = [&](int64_t i) { planes_.copy_step(i, original, planes); };
    if (by_planes_) {
      copies.finish(copy);
      return run_planes(input, weight, bias, output);
    }
    // Pieces: panels in a row, for some of the channels. Few panels make more pieces by channels.
    const int64_t panels = static_cast<int64_t>(panels_.size());
    const int64_t per_piece = panels >= 16 ? (panels + 15) / 16 : panels;
    const int64_t stretches = (panels + per_piece - 1) / per_piece;
    const int64_t blocks = panels >= 16 ? 1 : std::clamp<int64_t>(s_.out_channels / 48, 1, 4);
    const int64_t block = (s_.out_channels + blocks - 1) / blocks;
    const auto run_pieces = [&](int64_t from, int64_t to, std::vector<float>* sums) {
      copies.finish(copy);
      for (int64_t i = from; i < to; ++i) {
        const int64_t first = i / blocks % stretches * per_piece;
        const int64_t c = i % blocks * block;
        run_piece(input, weight, bias, output, i / blocks / stretches, first,
                  std::min(first + per_piece, panels), c, std::min(c + block, s_.out_channels),
                  sums);
      }
    };
    const int64_t pieces = s_.output[0] * stretches * blocks;
    if (in_parallel_region()) return run_pieces(0, pieces, &scratch->sums);
    parallel_for(0, pieces, grain_for(s_.depth() * block * per_piece * 4),
                 [&](int64_t from, int64_t to) {
                   std::vector<float> sums;
                   run_pieces(from, to, &sums);
                 });
  }

  // For each output channel of a single input channel.
  void run_planes(const float* input, const float* weight, const float* bias, float* output) const {
    ConvPlane p{input,
                planes_.pitch(),
                offsets().data(),
                s_.depth() / chain_length_,
                chain_length_,
                weight,
                0,
                output,
                s_.output[1],
                s_.output[2]};
    for (int64_t c = 0; c < s_.out_channels; ++c) {
      p.weight = weight + c * s_.depth();
      p.bias = bias ? bias[c] : 0.0f;
      p.output = output + c * volume(s_.output);
      (*conv_kernels).sum_plane(p);
    }
  }

  // Memory for the planes. What is new to the process costs more than the convolution of a small
  // image, so that a thread keeps some.
  float* make_planes(std::vector<float>* own) const {
    constexpr int64_t kKept = 1 << 20;
    thread_local std::vector<float> kept;
    const int64_t size = planes_.size() + kSlack;
    std::vector<float>* const planes = size <= kKept ? &kept : own;
    if (planes->size() < static_cast<size_t>(size)) planes->resize(static_cast<size_t>(size));
    std::fill_n(planes->data() + size - kSlack, kSlack, 0.0f);
    return planes->data();
  }

  void run_piece(const float* input, const float* weight, const float* bias, float* output,
                 int64_t slice, int64_t first_panel, int64_t last_panel, int64_t first_channel,
                 int64_t last_channel, std::vector<float>* scratch) const {
    const int64_t lanes = (*conv_kernels).lanes, plane = volume(s_.output);
    const int64_t channels = last_channel - first_channel;
    float* const out = output + first_channel * plane + slice * s_.output[1] * s_.output[2];
    input += slice * planes_.slice_step();
    ConvPanel p{input,
                offsets().data(),
                s_.depth(),
                weight + first_channel * s_.depth(),
                bias ? bias + first_channel : nullptr,
                channels,
                0,
                nullptr,
                0};
    for (int64_t i = first_panel; i < last_panel; ++i) {
      const Panel& panel = panels_[static_cast<size_t>(i)];
      const int64_t width = panel.vectors * lanes;
      const int64_t count = std::min(width, positions_ - panel.position);
      p.vectors = panel.vectors;
      p.input = input + panel.position;
      std::vector<float> tail;
      std::vector<int64_t> tail_offsets;
      if (!planes_.is_copy() && count < width) {
        // Nothing may be read behind the input.
        tail.resize(static_cast<size_t>(s_.depth() * width));
        for (int64_t k = 0; k < s_.depth(); ++k) {
          tail_offsets.push_back(k * width);
          std::copy_n(p.input + offsets()[static_cast<size_t>(k)], count,
                      &tail[static_cast<size_t>(k * width)]);
        }
        p.input = tail.data();
        p.offsets = tail_offsets.data();
      }
      const bool in_place = planes_.pitch() == s_.output[2] && count == width;
      if (in_place) {
        p.sums = out + panel.position;
        p.sums_stride = plane;
      } else {
        scratch->resize(std::max(scratch->size(), static_cast<size_t>(channels * width)));
        p.sums = scratch->data();
        p.sums_stride = width;
      }
      (*conv_kernels).sum_panel(p);
      if (!in_place) store(p, panel.position, count, out);
    }
  }

  // Moves a panel's sums to the outputs' rows, and drops those between them.
  void store(const ConvPanel& p, int64_t position, int64_t count, float* out) const {
    const int64_t plane = volume(s_.output);
    int64_t row = position / planes_.pitch(), column = position % planes_.pitch();
    for (int64_t at = 0; at < count; ++row) {
      const int64_t n = std::min(count - at, s_.output[2] - column);
      const float* from = p.sums + at;
      float* to = out + row * s_.output[2] + column;
      for (int64_t c = 0; n > 0 && c < p.channels; ++c) {
        copy_floats(from + c * p.sums_stride, n, to + c * plane);
      }
      at += planes_.pitch() - column;
      column = 0;
    }
  }

  ConvShape s_;
  ConvPlanes planes_;
  bool by_planes_;  // rather than by panels
  int chain_length_ = 1;
  int64_t positions_;  // from the first output of a slice to the last, at the planes' pitch
  std::vector<Panel> panels_;
};

}  // namespace

bool suits_direct(const ConvShape& s) {
  if (s.output[1] * s.output[2] < 8) return false;
  // The padded copy of the input must be about as large as the tensors themselves, which huge
  // paddings, strides and dilations make untrue. In double, where nothing overflows.
  double padded = static_cast<double>(s.in_channels), tensors = padded;
  for (size_t d = 0; d < 3; ++d) {
    const double reach = static_cast<double>(s.output[d] - 1) * static_cast<double>(s.stride[d]) +
                         static_cast<double>(s.kernel[d] - 1) * static_cast<double>(s.dilation[d]);
    padded *= reach + static_cast<double>(s.stride[d]) + 1;
    // Rows and columns are dealt out by stride; slices between those that are read are copied, too.
    const double outputs =
        static_cast<double>(s.output[d]) * (d == 0 ? 1 : static_cast<double>(s.stride[d]));
    tensors *=
        std::max(static_cast<double>(s.input[d]), outputs) + static_cast<double>(s.kernel[d]);
  }
  return padded <= 8 * tensors + 65536;
}

void convolve_directly(const ConvShape& s, const Tensor& input, const Tensor& weight,
                       const Tensor& bias, const Tensor& output) {
  DirectConvolution(s).run(input.data<float>(), weight.data<float>(),
                           bias.defined() ? bias.data<float>() : nullptr, output.data<float>());
}

}  // namespace sb::spatial
