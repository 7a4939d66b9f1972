#include "switchboard/ops/fft/spectra.h"

#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/fft/transforms.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using NormName = std::optional<std::string_view>;

int64_t norm_of(const char* op, const NormName& name, bool forward) {
  FftNorm norm = FftNorm::ByRootN;
  if (!name || *name == "backward") {
    norm = forward ? FftNorm::None : FftNorm::ByN;
  } else if (*name == "forward") {
    norm = forward ? FftNorm::ByN : FftNorm::None;
  } else {
    SB_CHECK(*name == "ortho", op,
             ": norm: expected \"backward\", \"ortho\" or \"forward\", got \"", *name, "\"");
  }
  return static_cast<int64_t>(norm);
}

// The dimensions that are transformed, and how many numbers each is to have.
struct Axes {
  DimVector dims;
  SymDimVector sizes;
  bool last_size_given = false;

  IntArrayRef but_last() const { return IntArrayRef(dims).first(dims.size() - 1); }
};

void check_sizes(const char* op, const Axes& axes) {
  for (const SymInt& n : axes.sizes)
    SB_CHECK(n >= 1, op, ": expected at least 1 data point, got ", n.to_string());
}

Axes one_axis(const char* op, const Tensor& self, const std::optional<SymInt>& n, int64_t dim) {
  check_defined(op, self);
  dim = wrap_dim(op, dim, self.dim());
  SB_CHECK_INDEX(self.dim() > 0, op, ": self: expected at least 1 dimension, got ",
                 self.describe());
  Axes axes{{dim}, {n ? *n : self.sym_size(dim)}, n.has_value()};
  check_sizes(op, axes);
  return axes;
}

Axes many_axes(const char* op, const Tensor& self, const OptionalSymIntArrayRef& s,
               OptionalIntArrayRef dim) {
  check_defined(op, self);
  const int64_t rank = self.dim();
  Axes axes;
  if (dim) {
    for (int64_t d : *dim) axes.dims.push_back(wrap_dim(op, d, rank));
    SB_CHECK_INDEX(rank > 0 || dim->empty(), op, ": self: expected at least 1 dimension, got ",
                   self.describe());
    dim_set(op, *dim, rank);  // none twice
    SB_CHECK(!s || s->size() == dim->size(), op, ": s: expected as many lengths as dimensions, ",
             dim->size(), ", got ", s ? s->size() : 0);
  } else {
    const int64_t count = s ? static_cast<int64_t>(s->size()) : rank;
    SB_CHECK(count <= rank, op, ": s: expected at most ", rank,
             " lengths, one for each dimension, ", "got ", count);
    axes.dims.resize(static_cast<size_t>(count));
    std::iota(axes.dims.begin(), axes.dims.end(), rank - count);
  }
  for (size_t i = 0; i < axes.dims.size(); ++i) {
    const bool given = s && !known((*s)[i] == -1);
    axes.sizes.push_back(given ? (*s)[i] : self.sym_size(axes.dims[i]));
    axes.last_size_given = given;
  }
  check_sizes(op, axes);
  return axes;
}

// self in a dtype that transforms take, cut and filled up to the sizes.
Tensor prepared(const char* op, Tensor x, const Axes& axes, bool complex) {
  DType dtype = x.dtype();
  if (!is_floating_point(dtype) && !is_complex(dtype)) dtype = default_dtype();
  SB_CHECK_NOT_IMPLEMENTED(is_complex(dtype) || dtype == DType::Float32 || dtype == DType::Float64,
                           op, ": not implemented for ", to_string(dtype));
  if (complex) dtype = to_complex(dtype);
  if (dtype != x.dtype()) x = to_dtype(x, dtype);
  const auto rank = static_cast<size_t>(x.dim());
  SymDimVector missing(2 * rank, 0);
  bool fill = false;
  std::vector<size_t> cut;
  for (size_t i = 0; i < axes.dims.size(); ++i) {
    const int64_t d = axes.dims[i];
    const SymInt &size = axes.sizes[i], own = x.sym_size(d);
    if (known(own == size)) continue;
    if (known(own >= size)) {
      x = narrow(x, d, 0, size);
      continue;
    }
    // Symbols that may be either are filled up and then cut, which asks nothing.
    const bool is_short = known(own <= size);
    missing[2 * (rank - static_cast<size_t>(d)) - 1] =
        is_short ? size - own : sym_max(size - own, SymInt(0));
    if (!is_short) cut.push_back(i);
    fill = true;
  }
  if (fill) x = constant_pad_nd(x, SymIntArrayRef(missing), 0);
  for (const size_t i : cut) x = narrow(x, axes.dims[i], 0, axes.sizes[i]);
  return x;
}

void check_real(const char* op, const Tensor& self) {
  SB_CHECK_TYPE(!is_complex(self.dtype()), op, ": self: expected real numbers, got ",
                self.describe());
}
void check_some(const char* op, const Axes& axes) {
  SB_CHECK(!axes.dims.empty(), op, ": expected at least one dimension to transform, got none");
}

// The ways from a signal to a spectrum and back. "forward" is the sign of the exponent: a symmetric
// signal's spectrum is that of a half spectrum's conjugates.

Tensor complex_to_complex(const char* op, const Tensor& self, const Axes& axes,
                          const NormName& norm, bool forward) {
  return _fft_c2c(prepared(op, self, axes, true), axes.dims, norm_of(op, norm, forward), forward);
}

Tensor any_to_complex(const char* op, const Tensor& self, const Axes& axes, const NormName& norm,
                      bool forward) {
  if (is_complex(self.dtype())) return complex_to_complex(op, self, axes, norm, forward);
  const Tensor spectrum =
      _fft_r2c(prepared(op, self, axes, false), axes.dims, norm_of(op, norm, forward), false);
  return forward ? spectrum : conj(spectrum);
}

Tensor real_to_half(const char* op, const Tensor& self, const Axes& axes, const NormName& norm,
                    bool forward) {
  check_real(op, self);
  check_some(op, axes);
  const Tensor x = prepared(op, self, axes, false);
  const int64_t mode = norm_of(op, norm, forward);
  if (forward) return _fft_r2c(x, axes.dims, mode, true);
  const Tensor half = _fft_r2c(x, {axes.dims.back()}, mode, true);
  if (axes.dims.size() == 1) return conj(half);
  return _fft_c2c(conj_physical(half), axes.but_last(), mode, false);
}

Tensor half_to_real(const char* op, const Tensor& self, Axes axes, const NormName& norm,
                    bool forward) {
  check_some(op, axes);
  SymInt& given = axes.sizes.back();
  const SymInt points = axes.last_size_given ? given : 2 * (given - 1);
  SB_CHECK(points >= 1, op, ": expected at least 1 data point, got ", points.to_string());
  given = points / 2 + 1;
  Tensor x = prepared(op, self, axes, true);
  const int64_t mode = norm_of(op, norm, forward);
  if (!forward) return _fft_c2r(x, axes.dims, mode, points);
  if (axes.dims.size() > 1) x = _fft_c2c(x, axes.but_last(), mode, true);
  return _fft_c2r(conj(x), {axes.dims.back()}, mode, points);
}

// As conj_physical.out, which gives an inverse to an out, a conjugate is not converted.
void check_complex_out(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined() && is_complex(out.dtype()), op, ": out: expected a complex tensor, got ",
           out.defined() ? out.describe() : "an undefined one");
  SB_CHECK(!result.key_set().has(DispatchKey::Conjugate) || out.dtype() == result.dtype(), op,
           ": expected out tensor to have dtype ", to_string(result.dtype()), ", but got ",
           to_string(out.dtype()));
}
void check_real_out(std::string_view op, const Tensor&, const Tensor& out) {
  SB_CHECK(out.defined() && is_floating_point(out.dtype()), op,
           ": out: expected a floating-point tensor, got ",
           out.defined() ? out.describe() : "an undefined one");
}

template <auto& one, auto& two, auto& many, auto way, bool forward, auto check, auto one_way = way>
void define_family(Library& m) {
  define(m, one)
      .composed([](const Tensor& self, const std::optional<SymInt>& n, int64_t dim, NormName norm) {
        const std::string op(one.name());
        return one_way(op.c_str(), self, one_axis(op.c_str(), self, n, dim), norm, forward);
      })
      .out({.check = check});
  define(m, two)
      .composed(
          [](const Tensor& self, const OptionalSymIntArrayRef& s, IntArrayRef dim, NormName norm) {
            const std::string op(two.name());
            return way(op.c_str(), self, many_axes(op.c_str(), self, s, dim), norm, forward);
          })
      .out({.check = check});
  define(m, many)
      .composed([](const Tensor& self, const OptionalSymIntArrayRef& s, OptionalIntArrayRef dim,
                   NormName norm) {
        const std::string op(many.name());
        return way(op.c_str(), self, many_axes(op.c_str(), self, s, dim), norm, forward);
      })
      .out({.check = check});
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_family<fft_fft, fft_fft2, fft_fftn, complex_to_complex, true, check_complex_out,
                any_to_complex>(m);
  define_family<fft_ifft, fft_ifft2, fft_ifftn, complex_to_complex, false, check_complex_out,
                any_to_complex>(m);
  define_family<fft_rfft, fft_rfft2, fft_rfftn, real_to_half, true, check_complex_out>(m);
  define_family<fft_ihfft, fft_ihfft2, fft_ihfftn, real_to_half, false, check_complex_out>(m);
  define_family<fft_irfft, fft_irfft2, fft_irfftn, half_to_real, false, check_real_out>(m);
  define_family<fft_hfft, fft_hfft2, fft_hfftn, half_to_real, true, check_real_out>(m);
}

}  // namespace sb
