#include "switchboard/ops/fft/transforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/fft/fftw.h"
#include "switchboard/ops/fft/line_transform.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

void check_arguments(const char* op, const Tensor& self, IntArrayRef dims, int64_t normalization,
                     bool complex) {
  const DType dtype = self.dtype();
  SB_CHECK(complex ? dtype == DType::Complex64 || dtype == DType::Complex128
                   : dtype == DType::Float32 || dtype == DType::Float64,
           op, ": self: expected ", complex ? "complex64 or complex128" : "float32 or float64",
           ", got ", self.describe());
  SB_CHECK(self.dim() >= 1, op, ": self: expected at least 1 dimension, got ", self.describe());
  SB_CHECK(normalization >= 0 && normalization <= static_cast<int64_t>(FftNorm::ByN), op,
           ": normalization: expected 0, 1 or 2, got ", normalization);
  for (size_t i = 0; i < dims.size(); ++i) {
    SB_CHECK_VALUE(dims[i] >= 0 && dims[i] < self.dim(), op, ": dim: expected from 0 to ",
                   self.dim() - 1, ", got ", dims[i]);
    SB_CHECK_VALUE(std::find(dims.begin(), dims.begin() + i, dims[i]) == dims.begin() + i, op,
                   ": dim: ", dims[i], " is named twice");
  }
}

// 1 / what the numbers are divided by; `sizes` are those of the signal.
double scale_of(IntArrayRef sizes, IntArrayRef dims, int64_t normalization) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(sizes[static_cast<size_t>(d)]);
  switch (static_cast<FftNorm>(normalization)) {
    case FftNorm::ByN:
      return 1 / n;
    case FftNorm::ByRootN:
      return 1 / std::sqrt(n);
    default:
      return 1;
  }
}

// Dimensions are numbers, whatever the schema says.
DimVector numbers(SymIntArrayRef dims) {
  DimVector result;
  for (const SymInt& d : dims) result.push_back(d.guard_int());
  return result;
}

// The lines along one dimension of two tensors whose other sizes agree.
class Lines {
 public:
  // Where a line begins in both tensors, in elements.
  struct Position {
    DimVector index;
    int64_t from = 0, to = 0;
  };

  Lines(const Tensor& from, const Tensor& to, int64_t dim) {
    for (int64_t d = 0; d < from.dim(); ++d) {
      if (d == dim) continue;
      sizes_.push_back(from.size(d));
      from_.push_back(from.stride(d));
      to_.push_back(to.stride(d));
      count_ *= from.size(d);
    }
  }
  int64_t count() const { return count_; }

  Position at(int64_t line) const {
    Position p{DimVector(sizes_.size()), 0, 0};
    for (size_t d = sizes_.size(); d-- > 0; line /= sizes_[d]) {
      move(&p, d, p.index[d] = line % sizes_[d]);
    }
    return p;
  }
  void advance(Position* p) const {
    for (size_t d = sizes_.size(); d-- > 0;) {
      move(p, d, 1);
      if (++p->index[d] < sizes_[d]) return;
      move(p, d, -sizes_[d]);
      p->index[d] = 0;
    }
  }

 private:
  void move(Position* p, size_t d, int64_t steps) const {
    p->from += steps * from_[d];
    p->to += steps * to_[d];
  }

  DimVector sizes_, from_, to_;
  int64_t count_ = 1;
};

// A number as it is computed, and back.
template <class T>
plain::Real widened(T x) {
  return x;
}
template <class T>
std::complex<plain::Real> widened(const std::complex<T>& x) {
  return {x.real(), x.imag()};
}
template <class T>
void store(plain::Real x, T* to) {
  *to = static_cast<T>(static_cast<double>(x));
}
template <class T>
void store(const std::complex<plain::Real>& x, std::complex<T>* to) {
  *to = {static_cast<T>(static_cast<double>(x.real())),
         static_cast<T>(static_cast<double>(x.imag()))};
}
template <class T>
using Wide = decltype(widened(T()));

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
constexpr bool kIsReal = std::is_same_v<T, typename RealOf<T>::type>;

// Memory for n numbers, whatever is in it: lines that need no copy never touch it.
template <class T>
std::unique_ptr<std::byte[]> memory_for(int64_t n) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(n) * sizeof(T));
}

// The lines that FFTW takes in turn: what lies apart in memory is read and written in rows of so
// many numbers.
constexpr int64_t kBlock = 16;

// Transforms all lines along `dim` of `points` numbers by the plan, each as it would be alone. The
// two tensors may be one.
template <class From, class To>
class FftwRun {
 public:
  FftwRun(const internal::FftwLine<From, To>& plan, const Tensor& from, const Tensor& to,
          int64_t dim, int64_t points, double scale)
      : plan_(plan),
        lines_(from, to, dim),
        source_(from.data<From>()),
        target_(to.data<To>()),
        from_step_(from.stride(dim)),
        to_step_(to.stride(dim)),
        given_(kIsReal<To> ? points / 2 + 1 : points),
        made_(kIsReal<From> ? points / 2 + 1 : points),
        to_size_(to.size(dim)),
        scale_(static_cast<Real>(scale)) {}

  int64_t num_lines() const { return lines_.count(); }

  void run(int64_t begin, int64_t end) const {
    // Rows a power of two apart would share the lines of a cache.
    const int64_t from_pitch = (given_ | 7) + 9, to_pitch = (made_ | 7) + 9;
    const int64_t lines = std::min(kBlock, end - begin);
    const auto given_memory = memory_for<From>(lines * from_pitch);
    const auto made_memory = memory_for<To>(lines * to_pitch);
    auto* const given = reinterpret_cast<From*>(given_memory.get());
    auto* const made = reinterpret_cast<To*>(made_memory.get());
    Lines::Position at = lines_.at(begin);
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t n = std::min(kBlock, end - first);
      std::array<Ends, kBlock> ends;
      for (int64_t j = 0; j < n; ++j, lines_.advance(&at)) {
        Ends& line = ends[static_cast<size_t>(j)];
        line = {source_ + at.from, target_ + at.to, nullptr, nullptr};
        const bool same = static_cast<const void*>(line.source) == line.target;
        // A transform to real numbers spoils what it is given.
        line.from = from_step_ == 1 && !kIsReal<To> && !same && is_aligned(line.source)
                        ? const_cast<From*>(line.source)
                        : given + j * from_pitch;
        line.to = to_step_ == 1 && to_size_ == made_ && is_aligned(line.target) && !same
                      ? line.target
                      : made + j * to_pitch;
      }
      const absl::Span<const Ends> block(ends.data(), static_cast<size_t>(n));
      gather(block);
      if constexpr (kIsReal<To>) {
        for (const Ends& line : block) {
          line.from[0].imag(0);
          if (to_size_ % 2 == 0) line.from[to_size_ / 2].imag(0);
        }
      }
      for (const Ends& line : block) plan_.run(line.from, line.to);
      scatter(block);
    }
  }

 private:
  using Real = typename RealOf<From>::type;
  // Where a line lies, and where it is computed.
  struct Ends {
    const From* source;
    To* target;
    From* from;
    To* to;
  };

  static bool is_aligned(const void* p) {
    return reinterpret_cast<uintptr_t>(p) % internal::FftwLine<From, To>::kAlignment == 0;
  }

  void gather(absl::Span<const Ends> block) const {
    if (from_step_ == 1) {
      for (const Ends& line : block)
        if (line.from != line.source) std::copy_n(line.source, given_, line.from);
      return;
    }
    for (int64_t k = 0; k < given_; ++k)
      for (const Ends& line : block) line.from[k] = line.source[k * from_step_];
  }

  void scatter(absl::Span<const Ends> block) const {
    const int64_t n = std::min(made_, to_size_);
    if (to_step_ == 1) {
      for (const Ends& line : block)
        if (line.to != line.target || scale_ != 1)
          for (int64_t k = 0; k < n; ++k) line.target[k] = line.to[k] * scale_;
    } else {
      for (int64_t k = 0; k < n; ++k)
        for (const Ends& line : block) line.target[k * to_step_] = line.to[k] * scale_;
    }
    if constexpr (kIsReal<From>) {
      // The other half.
      for (const Ends& line : block)
        for (int64_t k = n; k < to_size_; ++k)
          line.target[k * to_step_] = std::conj(line.to[to_size_ - k] * scale_);
    }
  }

  const internal::FftwLine<From, To>& plan_;
  Lines lines_;
  const From* source_;
  To* target_;
  int64_t from_step_, to_step_;
  int64_t given_, made_;  // numbers of a line
  int64_t to_size_;
  Real scale_;
};

// A number takes some 8 steps.
int64_t grain_for(int64_t points) { return std::max<int64_t>(1, kElementGrain / 8 / points); }

// Transforms all lines along `dim`, of `points` numbers, each as a whole in buffers of its own: the
// two tensors may be one.
template <class From, class To>
void transform_lines(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                     bool forward, double scale) {
  check_points(points);
  if (const auto plan = internal::FftwLine<From, To>::get(points, forward)) {
    const FftwRun<From, To> run(*plan, from, to, dim, points, scale);
    parallel_for(0, run.num_lines(), grain_for(points),
                 [&](int64_t begin, int64_t end) { run.run(begin, end); });
    return;
  }
  const Lines lines(from, to, dim);
  const From* const source = from.data<From>();
  To* const target = to.data<To>();
  const int64_t from_step = from.stride(dim), to_step = to.stride(dim);
  const int64_t from_size = std::min(from.size(dim), points);
  const int64_t to_size = std::min(to.size(dim), points);
  const auto length = static_cast<size_t>(points);

  // The plan is made once, and copied for each piece.
  LineTransform plan(points, forward);
  {
    std::vector<Wide<From>> zeros(length);
    std::vector<Wide<To>> result(length);
    plan.run(zeros.data(), result.data());
  }
  parallel_for(0, lines.count(), grain_for(points), [&](int64_t begin, int64_t end) {
    LineTransform transform = plan;
    std::vector<Wide<From>> line(length);
    std::vector<Wide<To>> result(length);
    Lines::Position at = lines.at(begin);
    for (int64_t i = begin; i < end; ++i, lines.advance(&at)) {
      const From* const p = source + at.from;
      for (int64_t k = 0; k < from_size; ++k)
        line[static_cast<size_t>(k)] = widened(p[k * from_step]);
      transform.run(line.data(), result.data());
      To* const q = target + at.to;
      for (int64_t k = 0; k < to_size; ++k) {
        store(result[static_cast<size_t>(k)] * plain::Real(scale), q + k * to_step);
      }
    }
  });
}

template <class F>
void visit_real_type(DType dtype, const F& f) {
  if (dtype == DType::Float32 || dtype == DType::Complex64) {
    f.template operator()<float>();
  } else {
    f.template operator()<double>();
  }
}

// Complex to complex along several dimensions, of which there is one at least.
template <class T>
void transform_all(const Tensor& from, const Tensor& to, IntArrayRef dims, bool forward,
                   double scale) {
  const Tensor* source = &from;
  for (int64_t d : dims) {
    transform_lines<std::complex<T>, std::complex<T>>(*source, to, d, to.size(d), forward, scale);
    source = &to;
    scale = 1;
  }
}

template <SizeType Int>
bool is_empty(const SizeVector<Int>& sizes) {
  for (const Int& size : sizes)
    if (known(size == Int(0))) return true;
  return false;
}

// How PyTorch lays results out: the transformed dimensions lie innermost, the last of them the most
// so; the others around them in the order of the argument's strides.
class Layout {
 public:
  explicit Layout(const Tensor& self) {
    const auto rank = static_cast<size_t>(self.dim());
    for (size_t d = 0; d < rank; ++d) keys_.push_back(static_cast<int64_t>(rank - d));
    if (self.is_contiguous()) return;
    const IntArrayRef strides = self.impl()->hint_strides();
    keys_.assign(strides.begin(), strides.end());
  }

  // A transform along dims, of which the first `sorted` are taken in the order of strides.
  void transform(IntArrayRef dims, size_t sorted) {
    DimVector order;
    for (int64_t d = 0; d < std::ssize(keys_); ++d)
      if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
    const auto outer_first = [&](int64_t a, int64_t b) { return key(a) > key(b); };
    std::stable_sort(order.begin(), order.end(), outer_first);
    const auto inner = static_cast<std::ptrdiff_t>(order.size());
    order.insert(order.end(), dims.begin(), dims.end());
    std::stable_sort(order.begin() + inner,
                     order.begin() + inner + static_cast<std::ptrdiff_t>(sorted), outer_first);
    for (size_t i = 0; i < order.size(); ++i)
      keys_[static_cast<size_t>(order[i])] = static_cast<int64_t>(order.size() - i);
    order_ = std::move(order);
  }

  template <SizeType Int>
  void set_strides(BasicTensorMeta<Int>* meta) const {
    SizeVector<Int> strides(meta->sizes.size(), Int(1));
    Int step(1);
    for (size_t i = order_.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(order_[i]);
      strides[d] = step;
      step = product_of(step, meta->sizes[d]);
    }
    meta->strides = std::move(strides);
  }

 private:
  int64_t key(int64_t d) const { return keys_[static_cast<size_t>(d)]; }

  DimVector keys_;   // of each dimension: the larger, the further out it lies
  DimVector order_;  // from the outermost in
};

template <SizeType Int>
BasicTensorMeta<Int> c2c_rule(const Tensor& self, SymIntArrayRef symbolic_dims,
                              int64_t normalization, bool) {
  const DimVector dims = numbers(symbolic_dims);
  check_arguments("_fft_c2c", self, dims, normalization, /*complex=*/true);
  BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  if (dims.empty() || is_empty<Int>(meta.sizes)) return meta;
  Layout layout(self);
  layout.transform(dims, dims.size());
  layout.set_strides(&meta);
  return meta;
}
void c2c_kernel(const Tensor& self, SymIntArrayRef symbolic_dims, int64_t normalization,
                bool forward, const Tensor& out) {
  const DimVector dims = numbers(symbolic_dims);
  if (out.numel() == 0) return;
  if (dims.empty()) return copy_elements(out, self);
  visit_real_type(self.dtype(), [&]<class T>() {
    transform_all<T>(self, out, dims, forward, scale_of(self.sizes(), dims, normalization));
  });
}

template <SizeType Int>
BasicTensorMeta<Int> r2c_rule(const Tensor& self, IntArrayRef dims, int64_t normalization,
                              bool onesided) {
  check_arguments("_fft_r2c", self, dims, normalization, /*complex=*/false);
  SB_CHECK(!dims.empty(), "_fft_r2c: dim: expected at least one dimension, got none");
  BasicTensorMeta<Int> meta{size_vector<Int>(self), to_complex(self.dtype())};
  Int& last = meta.sizes[static_cast<size_t>(dims.back())];
  if (onesided) last = last / 2 + 1;
  if (is_empty<Int>(meta.sizes)) return meta;
  Layout layout(self);
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
  visit_real_type(self.dtype(), [&]<class T>() {
    transform_lines<T, std::complex<T>>(self, out, last, self.size(last), true,
                                        scale_of(self.sizes(), dims, normalization));
    transform_all<T>(out, out, dims.first(dims.size() - 1), true, 1);
  });
}

template <SizeType Int>
BasicTensorMeta<Int> c2r_rule(const Tensor& self, IntArrayRef dims, int64_t normalization,
                              const SymInt& last_dim_size) {
  check_arguments("_fft_c2r", self, dims, normalization, /*complex=*/true);
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
  if (is_empty<Int>(meta.sizes)) return meta;
  Layout layout(self);
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
  visit_real_type(self.dtype(), [&]<class T>() {
    Tensor lines = given;
    if (!others.empty()) {
      lines = empty_on(self.device(), half, self.dtype());
      transform_all<T>(given, lines, others, false, 1);
    }
    transform_lines<std::complex<T>, T>(lines, out, last, last_dim_size, false,
                                        scale_of(out.sizes(), dims, normalization));
  });
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
