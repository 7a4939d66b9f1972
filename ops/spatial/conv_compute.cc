#include "switchboard/ops/spatial/conv_compute.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cpu/gemm.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/spatial/conv_direct.h"
#include "switchboard/ops/spatial/conv_grad_input.h"
#include "switchboard/ops/spatial/conv_grad_weight.h"
#include "switchboard/ops/spatial/im2col.h"

namespace sb::spatial {
namespace {

// Columns stay in a core's cache between being written and being read.
constexpr int64_t kColumnBytes = 1 << 18;

// The tensors of a convolution, taken apart by batch item and group.
class Parts {
 public:
  Parts(const ConvShape& shape, DType dtype) : s_(shape), dtype_(dtype) {}

  int64_t input_size() const { return s_.in_channels * volume(s_.input); }
  int64_t outputs() const { return volume(s_.output); }
  char* input(const Tensor& t, int64_t part) const { return at(t, part * input_size()); }
  MatrixRef output(const Tensor& t, int64_t part, Stretch p) const {
    return {at(t, part * s_.out_channels * outputs() + p.begin), s_.out_channels, p.end - p.begin,
            outputs(), 1};
  }
  MatrixRef weight(const Tensor& t, int64_t group) const {
    return {at(t, group * s_.out_channels * s_.depth()), s_.out_channels, s_.depth(), s_.depth(),
            1};
  }
  // How many outputs' columns are made at a time.
  int64_t stretch() const {
    const int64_t column = std::max<int64_t>(1, s_.depth() * size());
    return std::clamp<int64_t>(kColumnBytes / column, 16, 1024);
  }
  Tensor new_columns() const {
    return empty_on(Device{DeviceType::CPU}, {s_.depth(), std::min(stretch(), outputs())}, dtype_);
  }
  MatrixRef columns(const Tensor& t, Stretch p) const {
    return {t.data_ptr(), s_.depth(), p.end - p.begin, p.end - p.begin, 1};
  }

 private:
  int64_t size() const { return static_cast<int64_t>(itemsize(dtype_)); }
  char* at(const Tensor& t, int64_t offset) const {
    return static_cast<char*>(t.data_ptr()) + offset * size();
  }

  const ConvShape& s_;
  DType dtype_;
};

// Integers are added as unsigned ones: sums wrap.
template <class T>
using Addable = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
template <class T>
Addable<T>* addable(const Tensor& t) {
  return reinterpret_cast<Addable<T>*>(t.data<T>());
}

void fill_zero(const Tensor& t) {
  if (t.numel() != 0) std::memset(t.data_ptr(), 0, t.nbytes());
}

}  // namespace

void convolve(const ConvShape& s, const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Tensor& output) {
  if (output.numel() == 0) return;
  const DType dtype = output.dtype();
  if (dtype == DType::Float32 && suits_direct(s)) {
    return convolve_directly(s, input, weight, bias, output);
  }
  const Parts parts(s, dtype);
  const int64_t stretch = parts.stretch(), outputs = parts.outputs();
  const int64_t stretches = (outputs + stretch - 1) / stretch;
  parallel_for(0, s.batch * s.groups * stretches, 1, [&](int64_t from, int64_t to) {
    const Tensor columns = parts.new_columns();
    for (int64_t i = from; i < to; ++i) {
      const int64_t part = i / stretches, begin = i % stretches * stretch;
      const Stretch p{begin, std::min(begin + stretch, outputs)};
      const MatrixRef matrix = parts.columns(columns, p);
      planes_to_columns(s, dtype, parts.input(input, part), p, matrix.data, matrix.row_stride);
      gemm(dtype, 1, parts.weight(weight, part % s.groups), matrix, 0,
           parts.output(output, part, p));
    }
  });
  if (bias.defined()) add_bias(bias, output);
}

void convolve_grad_input(const ConvShape& s, const Tensor& grad_output, const Tensor& weight,
                         const Tensor& grad_input) {
  const DType dtype = grad_input.dtype();
  const bool is_zero = grad_output.numel() == 0 || grad_input.numel() == 0;
  if (!is_zero && dtype == DType::Float32 &&
      convolve_grad_input_directly(s, grad_output, weight, grad_input))
    return;
  fill_zero(grad_input);
  if (is_zero) return;
  const Parts parts(s, dtype);
  const int64_t stretch = parts.stretch(), outputs = parts.outputs();
  // Stretches overlap in the input: of one item and group, they come one after the other.
  parallel_for(0, s.batch * s.groups, 1, [&](int64_t from, int64_t to) {
    const Tensor columns = parts.new_columns();
    for (int64_t part = from; part < to; ++part) {
      for (int64_t begin = 0; begin < outputs; begin += stretch) {
        const Stretch p{begin, std::min(begin + stretch, outputs)};
        const MatrixRef matrix = parts.columns(columns, p);
        gemm(dtype, 1, parts.weight(weight, part % s.groups).transposed(),
             parts.output(grad_output, part, p), 0, matrix);
        add_columns_to_planes(s, dtype, matrix.data, matrix.row_stride, p,
                              parts.input(grad_input, part));
      }
    }
  });
}

void convolve_grad_weight(const ConvShape& s, const Tensor& input, const Tensor& grad_output,
                          const Tensor& grad_weight) {
  fill_zero(grad_weight);
  if (grad_output.numel() == 0 || grad_weight.numel() == 0) return;
  const DType dtype = grad_weight.dtype();
  if (dtype == DType::Float32 && suits_direct(s)) {
    return convolve_grad_weight_directly(s, input, grad_output, grad_weight);
  }
  const Parts parts(s, dtype);
  const int64_t stretch = parts.stretch(), outputs = parts.outputs();
  // All items add to one weight.
  parallel_for(0, s.groups, 1, [&](int64_t from, int64_t to) {
    const Tensor columns = parts.new_columns();
    for (int64_t group = from; group < to; ++group) {
      for (int64_t part = group; part < s.batch * s.groups; part += s.groups) {
        for (int64_t begin = 0; begin < outputs; begin += stretch) {
          const Stretch p{begin, std::min(begin + stretch, outputs)};
          const MatrixRef matrix = parts.columns(columns, p);
          planes_to_columns(s, dtype, parts.input(input, part), p, matrix.data, matrix.row_stride);
          gemm(dtype, 1, parts.output(grad_output, part, p), matrix.transposed(), 1,
               parts.weight(grad_weight, group));
        }
      }
    }
  });
}

void add_bias(const Tensor& bias, const Tensor& output) {
  if (output.numel() == 0) return;
  const int64_t channels = output.sizes()[1];
  const int64_t plane = output.numel() / output.sizes()[0] / channels;
  visit_number(output.dtype(), [&]<class T>(T) {
    const Addable<T>* b = addable<T>(bias);
    parallel_for(0, output.sizes()[0] * channels, grain_for(plane), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        Eigen::Map<Eigen::Array<Addable<T>, Eigen::Dynamic, 1>> out(addable<T>(output) + i * plane,
                                                                    plane);
        out += b[i % channels];
      }
    });
  });
}

void sum_channels(const Tensor& grad_output, const Tensor& grad_bias) {
  fill_zero(grad_bias);
  if (grad_output.numel() == 0) return;
  const int64_t channels = grad_output.sizes()[1];
  const int64_t plane = grad_output.numel() / grad_output.sizes()[0] / channels;
  visit_number(grad_bias.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < grad_output.sizes()[0] * channels; ++i) {
      const Eigen::Map<const Eigen::Array<Addable<T>, Eigen::Dynamic, 1>> values(
          addable<T>(grad_output) + i * plane, plane);
      addable<T>(grad_bias)[i % channels] += values.sum();
    }
  });
}

}  // namespace sb::spatial
