#include "switchboard/ops/fft/transforms.h"

#include <algorithm>
#include <cmath>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/fft/spectrum_layout.h"
#include "switchboard/ops/fft/transform_lines.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

void check_complex(const char* op, const Tensor& self) {
  const DType dtype = self.dtype();
  SB_CHECK(dtype == DType::Complex64 || dtype == DType::Complex128, op,
           ": self: expected complex64 or complex128, got ", self.describe());
}
void check_real(const char* op, const Tensor& self) {
  SB_CHECK_TYPE(is_floating_point(self.dtype()), op,
                ": self: expected a floating-point tensor, got ", self.describe());
  SB_CHECK_NOT_IMPLEMENTED(self.dtype() == DType::Float32 || self.dtype() == DType::Float64, op,
                           ": not implemented for ", to_string(self.dtype()));
}
void check_dims(const char* op, const Tensor& self, IntArrayRef dims) {
  SB_CHECK(self.dim() >= 1, op, ": self: expected at least 1 dimension, got ", self.describe());
  for (size_t i = 0; i < dims.size(); ++i) {
    SB_CHECK(dims[i] >= 0 && dims[i] < self.dim(), op, ": dim: expected from 0 to ", self.dim() - 1,
             ", got ", dims[i]);
    SB_CHECK(std::find(dims.begin(), dims.begin() + i, dims[i]) == dims.begin() + i, op,
             ": dim: ", dims[i], " is named twice");
  }
}

// 1 / what the numbers are divided by; `sizes` are those of the signal.
double scale_of(IntArrayRef sizes, IntArrayRef dims, int64_t normalization) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(sizes[static_cast<size_t>(d)]);
  switch (static_cast<FftNorm>(normalization)) {
    case FftNorm::None:
      return 1;
    case FftNorm::ByRootN:
      return 1 / std::sqrt(n);
    default:  // of any other number, too
      return 1 / n;
  }
}

// Dimensions are numbers, whatever the schema says.
DimVector numbers(SymIntArrayRef dims) {
  DimVector result;
  for (const SymInt& d : dims) result.push_back(d.guard_int());
  return result;
}

// Complex to complex along several dimensions, of which there is one at least.
void transform_all(const Tensor& from, const Tensor& to, IntArrayRef dims, bool forward,
                   double scale) {
  const Tensor* source = &from;
  for (int64_t d : dims) {
    transform_lines(*source, to, d, to.size(d), forward, scale);
    source = &to;
    scale = 1;
  }
}

template <SizeType Int>
BasicTensorMeta<Int> c2c_rule(const Tensor& self, SymIntArrayRef symbolic_dims, int64_t, bool) {
  const DimVector dims = numbers(symbolic_dims);
  check_complex("_fft_c2c", self);
  BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  if (dims.empty()) return meta;
  check_dims("_fft_c2c", self, dims);
  SpectrumLayout layout(self);
  layout.transform(dims, dims.size());
  layout.set_strides(&meta);
  return meta;
}
void c2c_kernel(const Tensor& self, SymIntArrayRef symbolic_dims, int64_t normalization,
                bool forward, const Tensor& out) {
  const DimVector dims = numbers(symbolic_dims);
  if (out.numel() == 0) return;
  if (dims.empty()) return copy_elements(out, self);
  transform_all(self, out, dims, forward, scale_of(self.sizes(), dims, normalization));
}

template <SizeType Int>
BasicTensorMeta<Int> r2c_rule(const Tensor& self, IntArrayRef dims, int64_t, bool onesided) {
  check_real("_fft_r2c", self);
  check_dims("_fft_r2c", self, dims);
  SB_CHECK(!dims.empty(), "_fft_r2c: dim: expected at least one dimension, got none");
  BasicTensorMeta<Int> meta{size_vector<Int>(self), to_complex(self.dtype())};
  Int& last = meta.sizes[static_cast<size_t>(dims.back())];
  if (onesided) last = last / 2 + 1;
  SpectrumLayout layout(self);
  layout.transform(dims, dims.size() - 1);
  layout.set_strides(&meta);
  return meta;
}
void r2c_kernel(const Tensor& self, IntArrayRef dims, int64_t normalization, bool,
                const Tensor& out) {
  if (out.numel() == 0) return;
  if (self.numel() == 0) {  // sums of nothing
    std::fill_n(static_cast<char*>(out.data_ptr()),
                static_cast<size_t>(out.numel()) * out.itemsize(), 0);
    return;
  }
  const int64_t last = dims.back();
  transform_lines(self, out, last, self.size(last), true,
                  scale_of(self.sizes(), dims, normalization));
  transform_all(out, out, dims.first(dims.size() - 1), true, 1);
}

template <SizeType Int>
BasicTensorMeta<Int> c2r_rule(const Tensor& self, IntArrayRef dims, int64_t,
                              const SymInt& last_dim_size) {
  check_complex("_fft_c2r", self);
  check_dims("_fft_c2r", self, dims);
  SB_CHECK(!dims.empty(), "_fft_c2r: dim: expected at least one dimension, got none");
  const Int points = size_as<Int>(last_dim_size);
  SB_CHECK(points >= 0, "_fft_c2r: last_dim_size: expected 0 or more, got ", size_text(points));
  const size_t last = static_cast<size_t>(dims.back());
  if (!same_size(points, Int(0))) {
    SB_CHECK(sizes_of<Int>(self)[last] > points / 2, "_fft_c2r: self: expected at least ",
             size_text(Int(points / 2 + 1)), " numbers in dimension ", last,
             " for a last_dim_size of ", size_text(points), ", got ", self.describe());
  }
  BasicTensorMeta<Int> meta{size_vector<Int>(self), to_real(self.dtype())};
  meta.sizes[last] = points;
  SpectrumLayout layout(self);
  const IntArrayRef others = dims.first(dims.size() - 1);
  if (!others.empty()) layout.transform(others, others.size());
  layout.transform(dims.last(1), 0);
  layout.set_strides(&meta);
  return meta;
}
void c2r_kernel(const Tensor& self, IntArrayRef dims, int64_t normalization, const SymInt& points,
                const Tensor& out) {
  const int64_t last_dim_size = points.expect_int();
  if (out.numel() == 0) return;
  const int64_t last = dims.back();
  const IntArrayRef others = dims.first(dims.size() - 1);
  DimVector half(self.sizes().begin(), self.sizes().end());
  half[static_cast<size_t>(last)] = last_dim_size / 2 + 1;
  const Tensor given = alias_with_unchecked(self, half, self.strides(), self.storage_offset());
  Tensor lines = given;
  if (!others.empty()) {
    lines = empty_on(self.device(), half, self.dtype());
    transform_all(given, lines, others, false, 1);
  }
  transform_lines(lines, out, last, last_dim_size, false,
                  scale_of(out.sizes(), dims, normalization));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _fft_c2c)
      .structured<by_size_rule<c2c_rule<int64_t>, c2c_rule<SymInt>>, c2c_kernel>()
      .out(_fft_c2c_out, kConvertedOut);
  define(m, _fft_r2c)
      .structured<by_size_rule<r2c_rule<int64_t>, r2c_rule<SymInt>>, r2c_kernel>()
      .out(_fft_r2c_out, kConvertedOut);
  define(m, _fft_c2r)
      .structured<by_size_rule<c2r_rule<int64_t>, c2r_rule<SymInt>>, c2r_kernel>()
      .out(_fft_c2r_out, kConvertedOut);
}

}  // namespace sb
