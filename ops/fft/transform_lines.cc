#include "switchboard/ops/fft/transform_lines.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/fft/fftw.h"
#include "switchboard/ops/fft/line_transform.h"
#include "switchboard/ops/fft/real_of.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

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
    const auto given_memory = internal::memory_for_fftw<From>(lines * from_pitch);
    const auto made_memory = internal::memory_for_fftw<To>(lines * to_pitch);
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
  using Real = RealOf<From>;
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

// The same by Eigen, in double precision, each line in buffers of its own.
template <class From, class To>
void transform_lines_by_eigen(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                              bool forward, double scale) {
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

template <class From, class To>
void transform_lines_of(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                        bool forward, double scale) {
  check_points(points);
  if (const auto plan = internal::FftwLine<From, To>::get(points, forward)) {
    const FftwRun<From, To> run(*plan, from, to, dim, points, scale);
    parallel_for(0, run.num_lines(), grain_for(points),
                 [&](int64_t begin, int64_t end) { run.run(begin, end); });
    return;
  }
  transform_lines_by_eigen<From, To>(from, to, dim, points, forward, scale);
}

template <class T>
void transform_lines_in(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                        bool forward, double scale) {
  using Complex = std::complex<T>;
  if (!is_complex(from.dtype())) {
    transform_lines_of<T, Complex>(from, to, dim, points, forward, scale);
  } else if (is_complex(to.dtype())) {
    transform_lines_of<Complex, Complex>(from, to, dim, points, forward, scale);
  } else {
    transform_lines_of<Complex, T>(from, to, dim, points, forward, scale);
  }
}

}  // namespace

void transform_lines(const Tensor& from, const Tensor& to, int64_t dim, int64_t points,
                     bool forward, double scale) {
  const auto transform = to_real(to.dtype()) == DType::Float32 ? &transform_lines_in<float>
                                                               : &transform_lines_in<double>;
  transform(from, to, dim, points, forward, scale);
}

}  // namespace sb
