#include "switchboard/ops/spatial/conv_planes.h"

#include <algorithm>
#include <cstring>

namespace sb::spatial {
namespace {

// Every `stride`th element.
void copy_strided(const float* from, int64_t stride, int64_t n, float* to) {
  int64_t i = 0;
  if (stride == 2) {
    using Four [[gnu::vector_size(16)]] = float;
    for (; i + 4 < n; i += 4) {  // reads one element behind those it takes
      Four a, b;
      std::memcpy(&a, from + 2 * i, sizeof(a));
      std::memcpy(&b, from + 2 * i + 4, sizeof(b));
      const Four even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
      std::memcpy(to + i, &even, sizeof(even));
    }
  }
  for (; i < n; ++i) to[i] = from[i * stride];
}

}  // namespace

void copy_floats(const float* from, int64_t n, float* to) {
  if (n > 64) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  } else if (n >= 4) {
    // The last four overlap those before them.
    for (int64_t i = 0; i + 4 < n; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(float));
    std::memcpy(to + n - 4, from + n - 4, 4 * sizeof(float));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

ConvPlanes::Dealt::Dealt(int64_t kernel, int64_t stride, int64_t dilation, int64_t output) {
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t phase = k * dilation % stride;
    const auto found = std::find(phases.begin(), phases.end(), phase);
    phase_of.push_back(found - phases.begin());
    if (found == phases.end()) phases.push_back(phase);
    shift_of.push_back(k * dilation / stride);
  }
  length = output + shift_of.back();
}

ConvPlanes::ConvPlanes(const ConvShape& shape)
    : shape_(shape),
      rows_(shape.kernel[1], shape.stride[1], shape.dilation[1], shape.output[1]),
      columns_(shape.kernel[2], shape.stride[2], shape.dilation[2], shape.output[2]) {
  is_copy_ = volume(shape.kernel) != 1 || shape.stride != Size3{1, 1, 1} ||
             shape.padding != Size3{0, 0, 0} || shape.input != shape.output;
  pitch_ = columns_.length;
  phase_size_ = rows_.length * pitch_;
  slice_size_ = rows_.count() * columns_.count() * phase_size_;
  slices_ = (shape.output[0] - 1) * shape.stride[0] + (shape.kernel[0] - 1) * shape.dilation[0] + 1;
  channel_size_ = slices_ * slice_size_;
  for (int64_t c = 0; c < shape.in_channels; ++c) add_offsets(c * channel_size_);
}

void ConvPlanes::copy_step(int64_t step, const float* input, float* planes) const {
  const int64_t phases = rows_.count();
  copy_phases(input + step / phases * volume(shape_.input), static_cast<size_t>(step % phases),
              planes + step / phases * channel_size_);
}

void ConvPlanes::add_offsets(int64_t channel) {
  for (int64_t kd = 0; kd < shape_.kernel[0]; ++kd) {
    for (size_t kh = 0; kh < rows_.phase_of.size(); ++kh) {
      for (size_t kw = 0; kw < columns_.phase_of.size(); ++kw) {
        const int64_t phase = rows_.phase_of[kh] * columns_.count() + columns_.phase_of[kw];
        offsets_.push_back(channel + kd * shape_.dilation[0] * slice_size_ + phase * phase_size_ +
                           rows_.shift_of[kh] * pitch_ + columns_.shift_of[kw]);
      }
    }
  }
}

void ConvPlanes::copy_phases(const float* from, size_t index, float* to) const {
  const int64_t row_phase = rows_.phases[index];
  const Range rows = inside(1, row_phase, rows_.length);
  const int64_t size = columns_.count() * phase_size_;
  for (int64_t z = 0; z < slices_; ++z) {
    const int64_t d = z - shape_.padding[0];
    float* phase = to + z * slice_size_ + static_cast<int64_t>(index) * size;
    std::fill_n(phase, size, 0.0f);
    if (d < 0 || d >= shape_.input[0]) continue;
    const float* const slice = from + d * shape_.input[1] * shape_.input[2];
    for (const int64_t column_phase : columns_.phases) {
      const Range columns = inside(2, column_phase, pitch_);
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        const int64_t h = y * shape_.stride[1] + row_phase - shape_.padding[1];
        copy_row(slice + h * shape_.input[2], column_phase - shape_.padding[2], columns,
                 phase + y * pitch_);
      }
      phase += phase_size_;
    }
  }
}

ConvPlanes::Range ConvPlanes::inside(size_t d, int64_t phase, int64_t length) const {
  const int64_t stride = shape_.stride[d], before = std::max<int64_t>(0, shape_.padding[d] - phase);
  const int64_t behind = shape_.input[d] + shape_.padding[d] - phase;  // where the input ends
  // How many steps end at or behind a place. A stride may be as large as there are numbers.
  const auto steps = [stride](int64_t place) { return place <= 0 ? 0 : (place - 1) / stride + 1; };
  const int64_t end = std::min(steps(behind), length);
  return {std::min(steps(before), end), end};
}

void ConvPlanes::copy_row(const float* row, int64_t first, Range columns, float* to) const {
  if (columns.begin >= columns.end) return;
  const int64_t stride = shape_.stride[2], n = columns.end - columns.begin;
  const float* const from = row + (first + columns.begin * stride);
  if (stride == 1) {
    copy_floats(from, n, to + columns.begin);
  } else {
    copy_strided(from, stride, n, to + columns.begin);
  }
}

}  // namespace sb::spatial
