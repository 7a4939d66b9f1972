#include "switchboard/ops/fft/transform_lines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/transpose.h"
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

// Where number k of line j is: at begin + j * line + k * number.
template <class T>
struct LineBlock {
  T* begin;
  int64_t line, number;
};

template <class T>
void copy_block(const LineBlock<const T>& from, const LineBlock<T>& to, int64_t lines, int64_t n) {
  const auto transpose = [](const T* rows, int64_t row, T* columns, int64_t column, int64_t height,
                            int64_t width) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    (*transpose_kernel)[std::countr_zero(sizeof(T))](
        {reinterpret_cast<char*>(columns), column * kSize, reinterpret_cast<const char*>(rows),
         row * kSize, height, width, false});
  };
  if (from.number == 1 && to.number == 1) {
    for (int64_t j = 0; j < lines; ++j)
      std::copy_n(from.begin + j * from.line, n, to.begin + j * to.line);
  } else if (from.line == 1 && to.line == 1) {
    for (int64_t k = 0; k < n; ++k) {
      const T* const source = from.begin + k * from.number;
      T* const target = to.begin + k * to.number;
      if (lines == kBlock) {  // of a known length: inline
        std::copy_n(source, kBlock, target);
      } else {
        std::copy_n(source, lines, target);
      }
    }
  } else if (from.number == 1 && to.line == 1) {
    transpose(from.begin, from.line, to.begin, to.number, lines, n);
  } else if (from.line == 1 && to.number == 1) {
    transpose(from.begin, from.number, to.begin, to.line, n, lines);
  } else {
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < lines; ++j)
        to.begin[j * to.line + k * to.number] = from.begin[j * from.line + k * from.number];
  }
}

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
    const bool together = plan_.at_once() != 1;
    // Rows a power of two apart would share the lines of a cache.
    const int64_t from_pitch = together ? 1 : (given_ | 7) + 9;
    const int64_t to_pitch = together ? 1 : (made_ | 7) + 9;
    const int64_t lines = together ? kBlock : std::min(kBlock, end - begin);
    const auto given_memory = internal::memory_for_fftw<From>(lines * std::max(given_, from_pitch));
    const auto made_memory = internal::memory_for_fftw<To>(lines * std::max(made_, to_pitch));
    auto* const given = reinterpret_cast<From*>(given_memory.get());
    auto* const made = reinterpret_cast<To*>(made_memory.get());
    Lines::Position at = lines_.at(begin);
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t n = std::min(kBlock, end - first);
      std::array<Ends, kBlock> ends;
      for (int64_t j = 0; j < n; ++j, lines_.advance(&at)) {
        Ends& line = ends[static_cast<size_t>(j)];
        line = {source_ + at.from, target_ + at.to, given + j * from_pitch, made + j * to_pitch};
        if (together || static_cast<const void*>(line.source) == line.target) continue;
        // A transform to real numbers spoils what it is given.
        if (from_step_ == 1 && !kIsReal<To> && is_aligned(line.source))
          line.from = const_cast<From*>(line.source);
        if (to_step_ == 1 && to_size_ == made_ && is_aligned(line.target)) line.to = line.target;
      }
      const absl::Span<const Ends> block(ends.data(), static_cast<size_t>(n));
      // Lines that there are not are any numbers.
      if (together && n < kBlock) std::fill_n(given, given_ * kBlock, From());
      gather(block);
      if constexpr (kIsReal<To>) {
        for (const Ends& line : block) {
          line.from[0].imag(0);
          if (to_size_ % 2 == 0) line.from[to_size_ / 2 * plan_.at_once()].imag(0);
        }
      }
      if (together) {
        plan_.run(given, made);
      } else {
        for (const Ends& line : block) plan_.run(line.from, line.to);
      }
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

  // Copies n numbers of each line from where `from` says to where `to` does. Lines at equal
  // distances are copied together.
  template <class T, class FromOf, class ToOf>
  static void copy_lines(absl::Span<const Ends> block, const FromOf& from, int64_t from_step,
                         const ToOf& to, int64_t to_step, int64_t n) {
    for (size_t j = 0, end = 0; j < block.size(); j = end) {
      end = j + 1;
      LineBlock<const T> source{from(block[j]), 1, from_step};
      LineBlock<T> target{to(block[j]), 1, to_step};
      if (end < block.size()) {
        source.line = from(block[end]) - source.begin;
        target.line = to(block[end]) - target.begin;
      }
      while (end < block.size() && from(block[end]) - from(block[end - 1]) == source.line &&
             to(block[end]) - to(block[end - 1]) == target.line)
        ++end;
      copy_block<T>(source, target, static_cast<int64_t>(end - j), n);
    }
  }

  void gather(absl::Span<const Ends> block) const {
    if (from_step_ == 1 && plan_.at_once() == 1) {
      for (const Ends& line : block)
        if (line.from != line.source) std::copy_n(line.source, given_, line.from);
      return;
    }
    copy_lines<From>(
        block, [](const Ends& line) { return line.source; }, from_step_,
        [](const Ends& line) { return line.from; }, plan_.at_once(), given_);
  }

  void scatter(absl::Span<const Ends> block) const {
    const int64_t n = std::min(made_, to_size_), step = plan_.at_once();
    if (scale_ != 1) {
      for (const Ends& line : block)
        for (int64_t k = 0; k < made_; ++k) line.to[k * step] *= scale_;
    }
    if (to_step_ == 1 && step == 1) {
      for (const Ends& line : block)
        if (line.to != line.target) std::copy_n(line.to, n, line.target);
    } else {
      copy_lines<To>(
          block, [](const Ends& line) { return line.to; }, step,
          [](const Ends& line) { return line.target; }, to_step_, n);
    }
    if constexpr (kIsReal<From>) {
      // The other half.
      for (const Ends& line : block)
        for (int64_t k = n; k < to_size_; ++k)
          line.target[k * to_step_] = std::conj(line.to[(to_size_ - k) * step]);
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
int64_t grain_for(int64_t points) {
  const int64_t lines = std::max<int64_t>(1, kElementGrain / 8 / points);
  return lines < kBlock ? lines : lines / kBlock * kBlock;
}

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
