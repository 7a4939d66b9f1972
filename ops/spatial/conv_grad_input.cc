#include "switchboard/ops/spatial/conv_grad_input.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/conv_direct.h"

namespace sb::spatial {
namespace {

// Elements first, first + step, ... of the kernel along a dimension.
struct Elements {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// Along one dimension: the elements h of the input with (h + padding) % stride == phase.
struct Phase {
  int64_t first;  // the first of them
  int64_t count;
  Elements elements;  // those that meet them
  int64_t dilation;
  int64_t padding;

  Phase(int64_t phase, int64_t input, int64_t kernel, int64_t stride, int64_t padding_before,
        int64_t dilated) {
    const int64_t skipped = std::max<int64_t>(0, (padding_before - phase + stride - 1) / stride);
    first = skipped * stride + phase - padding_before;
    count = std::max<int64_t>(0, (input - first + stride - 1) / stride);
    const int64_t common = std::gcd(stride, dilated);
    elements.step = stride / common;
    dilation = dilated / common;
    while (elements.first < kernel && elements.first * dilated % stride != phase) ++elements.first;
    if (elements.first < kernel) elements.count = (kernel - 1 - elements.first) / elements.step + 1;
    // The last element comes first, and meets the output at index 0 where its own shift says.
    const int64_t last = elements.first + (elements.count - 1) * elements.step;
    padding = (last * dilated - phase) / stride - skipped;
  }
  bool is_empty() const { return count == 0 || elements.count == 0; }
};
using Phases = std::array<const Phase*, 3>;

ConvShape shape_of(const ConvShape& s, const Phases& phases) {
  ConvShape result{s.batch, s.groups, s.out_channels, s.in_channels, s.output, {}, {1, 1, 1}, {},
                   {},      {}};
  for (size_t d = 0; d < 3; ++d) {
    result.kernel[d] = phases[d]->elements.count;
    result.padding[d] = phases[d]->padding;
    result.dilation[d] = phases[d]->dilation;
    result.output[d] = phases[d]->count;
  }
  return result;
}

// Of weight (groups * out_channels, in_channels, kernel), the phases' elements in reverse:
// (groups * in_channels, out_channels, kernel).
Tensor reversed(const ConvShape& s, const Phases& phases, const ConvShape& as,
                const Tensor& weight) {
  const Tensor result =
      empty_on(Device{DeviceType::CPU},
               {s.groups * as.out_channels, as.in_channels, volume(as.kernel)}, DType::Float32);
  std::vector<int64_t> elements;
  const auto place = [&](size_t d, int64_t i) {
    const Elements& e = phases[d]->elements;
    return e.first + (e.count - 1 - i) * e.step;
  };
  for (int64_t i = 0; i < as.kernel[0]; ++i) {
    for (int64_t j = 0; j < as.kernel[1]; ++j) {
      for (int64_t k = 0; k < as.kernel[2]; ++k) {
        elements.push_back((place(0, i) * s.kernel[1] + place(1, j)) * s.kernel[2] + place(2, k));
      }
    }
  }
  const int64_t n = static_cast<int64_t>(elements.size());
  parallel_for(0, s.groups * s.in_channels, grain_for(s.out_channels * n),
               [&](int64_t from, int64_t to) {
                 for (int64_t i = from; i < to; ++i) {
                   const int64_t group = i / s.in_channels, in = i % s.in_channels;
                   float* out = result.data<float>() + i * s.out_channels * n;
                   for (int64_t o = 0; o < s.out_channels; ++o) {
                     const float* const kernel =
                         weight.data<float>() +
                         ((group * s.out_channels + o) * s.in_channels + in) * volume(s.kernel);
                     for (const int64_t element : elements) *out++ = kernel[element];
                   }
                 }
               });
  return result;
}

// Puts the planes of a phase where they belong in the input's.
void spread(const ConvShape& s, const Phases& phases, const Tensor& dense,
            const Tensor& grad_input) {
  const Phase& depth = *phases[0];
  const Phase& height = *phases[1];
  const Phase& width = *phases[2];
  const int64_t plane = depth.count * height.count * width.count;
  parallel_for(
      0, s.batch * s.groups * s.in_channels, grain_for(plane), [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) {
          const float* row = dense.data<float>() + i * plane;
          float* const out = grad_input.data<float>() + i * volume(s.input);
          for (int64_t z = 0; z < depth.count; ++z) {
            for (int64_t y = 0; y < height.count; ++y, row += width.count) {
              float* const to_row =
                  out +
                  ((depth.first + z * s.stride[0]) * s.input[1] + height.first + y * s.stride[1]) *
                      s.input[2] +
                  width.first;
              for (int64_t x = 0; x < width.count; ++x) to_row[x * s.stride[2]] = row[x];
            }
          }
        }
      });
}

}  // namespace

bool convolve_grad_input_directly(const ConvShape& s, const Tensor& grad_output,
                                  const Tensor& weight, const Tensor& grad_input) {
  // Each phase is a convolution. In double, where nothing overflows.
  double phase_count = 1;
  for (const int64_t stride : s.stride) phase_count *= static_cast<double>(stride);
  if (phase_count > 16 || !suits_direct(s)) return false;
  std::array<std::vector<Phase>, 3> all;
  for (size_t d = 0; d < 3; ++d) {
    for (int64_t phase = 0; phase < s.stride[d]; ++phase) {
      all[d].emplace_back(phase, s.input[d], s.kernel[d], s.stride[d], s.padding[d], s.dilation[d]);
    }
  }
  std::vector<Phases> phases;
  for (const Phase& depth : all[0]) {
    for (const Phase& height : all[1]) {
      for (const Phase& width : all[2]) {
        if (depth.is_empty() || height.is_empty() || width.is_empty()) continue;
        phases.push_back({&depth, &height, &width});
        if (!suits_direct(shape_of(s, phases.back()))) return false;
      }
    }
  }
  if (phases.size() == 1 && volume(s.stride) == 1) {
    const ConvShape shape = shape_of(s, phases[0]);
    convolve_directly(shape, grad_output, reversed(s, phases[0], shape, weight), Tensor(),
                      grad_input);
    return true;
  }
  std::memset(grad_input.data_ptr(), 0, grad_input.nbytes());  // elements that no output has seen
  for (const Phases& p : phases) {
    const ConvShape shape = shape_of(s, p);
    const Tensor dense =
        empty_on(Device{DeviceType::CPU}, {s.batch, s.groups * s.in_channels, volume(shape.output)},
                 DType::Float32);
    convolve_directly(shape, grad_output, reversed(s, p, shape, weight), Tensor(), dense);
    spread(s, p, dense, grad_input);
  }
  return true;
}

}  // namespace sb::spatial
