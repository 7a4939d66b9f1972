#include "switchboard/ops/cpu/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/reduce_loops.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {
namespace {

// Whether a reduction is of truth values, whatever the elements.
bool is_truth(Reduction kind) {
  return kind == Reduction::Any || kind == Reduction::All || kind == Reduction::CountNonzero;
}

// A dimension of the walk; strides in bytes.
struct Dim {
  int64_t size;
  int64_t in_stride;
  int64_t out_stride;
};
using Dims = absl::InlinedVector<Dim, 6>;

int64_t product(const Dims& dims) {
  int64_t n = 1;
  for (const Dim& dim : dims) n *= dim.size;
  return n;
}

// Calls f(in) for every index of `dims`, first dimension fastest.
template <class F>
void for_each_index(const Dims& dims, const char* in, const F& f) {
  absl::InlinedVector<int64_t, 6> index(dims.size(), 0);
  while (true) {
    f(in);
    size_t d = 0;
    for (; d < dims.size(); ++d) {
      in += dims[d].in_stride;
      if (++index[d] < dims[d].size) break;
      in -= dims[d].in_stride * dims[d].size;
      index[d] = 0;
    }
    if (d == dims.size()) return;
  }
}

// The dimensions of `self`, fastest first, split into those kept and those reduced. Those of size 1
// are left out, and reduced ones that lie one behind the other are joined.
struct Walk {
  Dims kept;
  Dims reduced;

  Walk(const Tensor& self, DimSet reduced_set, const Tensor& out) {
    const bool keepdim = out.dim() == self.dim();
    // Where there is no element there may be no address to add to, and strides may be any numbers.
    const bool empty = self.numel() == 0;
    const int64_t in_size = static_cast<int64_t>(self.itemsize());
    const int64_t out_size = static_cast<int64_t>(out.itemsize());
    size_t o = 0;
    for (size_t d = 0; d < self.sizes().size(); ++d) {
      const bool is_reduced = reduced_set[d];
      const int64_t out_stride = is_reduced ? 0 : out.strides()[o];
      if (!is_reduced || keepdim) ++o;
      if (self.sizes()[d] == 1) continue;
      (is_reduced ? reduced : kept)
          .push_back(
              {self.sizes()[d], empty ? 0 : self.strides()[d] * in_size, out_stride * out_size});
    }
    const auto by_stride = [](const Dim& a, const Dim& b) { return a.in_stride < b.in_stride; };
    std::stable_sort(kept.begin(), kept.end(), by_stride);
    std::stable_sort(reduced.begin(), reduced.end(), by_stride);
    Dims joined;
    for (const Dim& dim : reduced) {
      if (!joined.empty() && joined.back().in_stride * joined.back().size == dim.in_stride)
        joined.back().size *= dim.size;
      else
        joined.push_back(dim);
    }
    reduced = joined;
  }
};

// A complex number is counted if either part is not 0, where a conversion to bool, and so any and
// all, see the real part.
template <class T>
void truth_of_complex(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                      int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T* const parts = reinterpret_cast<const T*>(from + i * from_stride);
    to[i * to_stride] = parts[0] != 0 || parts[1] != 0;
  }
}

// Elements read as a loop wants them: where they lie, or converted to a buffer. The conversion goes
// through a dtype that may truncate or round.
class Reader {
 public:
  // `either_part`: a complex number counts if either part is not 0.
  Reader(DType from, DType through, DType to, bool either_part)
      : from_(from),
        size_(static_cast<int64_t>(itemsize(to))),
        middle_size_(static_cast<int64_t>(itemsize(through))) {
    if (either_part && is_complex(from)) {
      first_ = from == DType::Complex64 ? &truth_of_complex<float> : &truth_of_complex<double>;
    } else if (from != through) {
      first_ = cast_function(from, through);
    }
    if (through != to) second_ = cast_function(through, to);
  }

  // Whether elements that lie one beside the other are read where they lie.
  bool in_place(int64_t stride) const { return !first_ && !second_ && stride == size_; }
  // At most kReduceChunk elements, one beside the other.
  const char* read(const char* elements, int64_t stride, int64_t n) {
    if (in_place(stride)) return elements;
    if (first_) {
      first_(middle_, middle_size_, elements, stride, n);
      elements = middle_;
      stride = middle_size_;
    }
    if (!second_ && stride == size_) return elements;
    (second_ ? second_ : cast_function(from_, from_))(last_, size_, elements, stride, n);
    return last_;
  }

 private:
  static constexpr size_t kBytes = 16 * internal::kReduceChunk;
  DType from_;
  CastFunction first_ = nullptr;
  CastFunction second_ = nullptr;
  int64_t size_;
  int64_t middle_size_;
  // No more, as GCC 12's AddressSanitizer puts what is on the stack at multiples of 32.
  alignas(32) char middle_[kBytes];
  alignas(32) char last_[kBytes];
};

// A reduction under way. The outputs are cut into units of at most kReduceChunk accumulators, which
// lie along one dimension; where units are few, the reduced elements of each are cut into pieces.
// Neither depends on the number of threads.
class Job {
 public:
  Job(Reduction kind, const Tensor& self, DimSet reduced_set, DType through, const Tensor& out,
      const ReduceParams& params)
      : loops_(internal::reduce_loops(kind, through)),
        params_(params),
        in_dtype_(self.dtype()),
        through_(through),
        counts_either_part_(kind == Reduction::CountNonzero),
        store_(cast_function(loops_.result, out.dtype())),
        walk_(self, reduced_set, out),
        in_(static_cast<const char*>(self.data_ptr())),
        out_(static_cast<char*>(out.data_ptr())) {
    count_ = product(walk_.reduced);
    // Rows of accumulators go along a kept dimension where that is the faster one in memory, or
    // the reduced elements that lie together are too few to be worth a loop.
    const Dims& kept = walk_.kept;
    const Dims& reduced = walk_.reduced;
    by_row_ = !kept.empty() && (reduced.empty() || kept[0].in_stride < reduced[0].in_stride ||
                                (reduced[0].size < 16 && reduced[0].size < kept[0].size));
    if (!kept.empty()) {
      row_ = kept[0];
      walk_.kept.erase(walk_.kept.begin());
    }
    chunk_ = std::min(row_.size, internal::kReduceChunk);
    // Runs need not be many to be worth a loop.
    const int64_t count = std::max<int64_t>(1, count_);
    if (!by_row_) chunk_ = std::clamp<int64_t>(kElementGrain / count, 1, chunk_);
    chunks_ = (row_.size + chunk_ - 1) / chunk_;
    units_ = product(walk_.kept) * chunks_;
    unit_work_ = count * chunk_;
    if (units_ < kManyUnits && unit_work_ >= 2 * kPieceGrain && !reduced.empty()) {
      for (size_t d = 1; d < reduced.size(); ++d) {
        if (reduced[d].size > reduced[split_].size) split_ = d;
      }
      const int64_t pieces = std::min(kMaxPieces / units_, unit_work_ / kPieceGrain);
      const int64_t size = reduced[split_].size;
      piece_ = (size + pieces - 1) / pieces;
      pieces_ = (size + piece_ - 1) / piece_;
    }
  }

  void run() {
    if (pieces_ == 1) {
      parallel_for(0, units_, std::max<int64_t>(1, kElementGrain / unit_work_),
                   [&](int64_t from, int64_t to) {
                     Reader reader(in_dtype_, through_, loops_.element, counts_either_part_);
                     alignas(64) char acc[kMaxAccumulators];
                     for (int64_t unit = from; unit < to; ++unit) {
                       fold(unit, walk_.reduced, 0, &reader, acc);
                       finish(unit, acc);
                     }
                   });
      return;
    }
    struct alignas(64) Line {
      char bytes[64];
    };
    const int64_t stride = (loops_.accumulator_size * chunk_ + 63) / 64;
    std::vector<Line> partial(static_cast<size_t>(units_ * pieces_ * stride));
    const auto partial_of = [&](int64_t unit, int64_t piece) {
      return partial[static_cast<size_t>((unit * pieces_ + piece) * stride)].bytes;
    };
    parallel_for(0, units_ * pieces_, 1, [&](int64_t from, int64_t to) {
      Reader reader(in_dtype_, through_, loops_.element, counts_either_part_);
      for (int64_t i = from; i < to; ++i) {
        Dims dims = walk_.reduced;
        const int64_t begin = i % pieces_ * piece_;
        const int64_t offset = begin * dims[split_].in_stride;
        dims[split_].size = std::min(piece_, dims[split_].size - begin);
        fold(i / pieces_, dims, offset, &reader, partial_of(i / pieces_, i % pieces_));
      }
    });
    for (int64_t unit = 0; unit < units_; ++unit) {
      char* const acc = partial_of(unit, 0);
      for (int64_t piece = 1; piece < pieces_; ++piece) {
        loops_.combine(acc, partial_of(unit, piece), width(unit));
      }
      finish(unit, acc);
    }
  }

 private:
  static constexpr int64_t kManyUnits = 16;
  static constexpr int64_t kMaxPieces = 64;
  // Pieces cost a merge besides.
  static constexpr int64_t kPieceGrain = 2 * kElementGrain;
  static constexpr size_t kMaxAccumulators = 32 * internal::kReduceChunk;

  // How many accumulators a unit has.
  int64_t width(int64_t unit) const {
    return std::min(chunk_, row_.size - unit % chunks_ * chunk_);
  }
  // Where a unit begins, by the strides of the input or of the output.
  int64_t offset(int64_t unit, int64_t Dim::*stride) const {
    int64_t at = unit % chunks_ * chunk_ * (row_.*stride);
    int64_t rest = unit / chunks_;
    for (const Dim& dim : walk_.kept) {
      at += rest % dim.size * (dim.*stride);
      rest /= dim.size;
    }
    return at;
  }

  void fold(int64_t unit, const Dims& reduced, int64_t at, Reader* reader, char* acc) const {
    const int64_t n = width(unit);
    loops_.init(acc, n);
    if (count_ == 0) return;
    const char* const in = in_ + offset(unit, &Dim::in_stride) + at;
    const Dim inner = reduced.empty() ? Dim{1, 0, 0} : reduced[0];
    const Dims outer(reduced.begin() + (reduced.empty() ? 0 : 1), reduced.end());
    const int64_t size = static_cast<int64_t>(itemsize(loops_.element));
    // Rows or runs that lie askew in memory are read one by one.
    const bool whole = by_row_ ? reader->in_place(row_.in_stride) && inner.in_stride % size == 0
                               : reader->in_place(inner.in_stride) && row_.in_stride % size == 0;
    for_each_index(outer, in, [&](const char* elements) {
      if (by_row_ && whole) {
        loops_.fold_rows(acc, elements, n, inner.in_stride / size, inner.size, params_);
      } else if (by_row_) {
        for (int64_t r = 0; r < inner.size; ++r) {
          const char* const row = reader->read(elements + r * inner.in_stride, row_.in_stride, n);
          loops_.fold_rows(acc, row, n, 0, 1, params_);
        }
      } else if (whole) {
        loops_.fold_runs(acc, n, {elements, inner.size, n, row_.in_stride / size, 0}, params_);
      } else {
        for (int64_t r = 0; r < n; ++r) fold_by_chunks(elements, inner, r, n, reader, acc);
      }
    });
  }
  // One run into accumulator r of n.
  void fold_by_chunks(const char* elements, const Dim& inner, int64_t r, int64_t n, Reader* reader,
                      char* acc) const {
    const char* const run = elements + r * row_.in_stride;
    for (int64_t i = 0; i < inner.size; i += internal::kReduceChunk) {
      const int64_t length = std::min(internal::kReduceChunk, inner.size - i);
      const char* const chunk = reader->read(run + i * inner.in_stride, inner.in_stride, length);
      loops_.fold_runs(acc, n, {chunk, length, 1, 0, r}, params_);
    }
  }

  void finish(int64_t unit, const char* acc) const {
    const int64_t n = width(unit);
    alignas(64) char results[16 * internal::kReduceChunk];
    loops_.finish(acc, n, static_cast<double>(count_), params_, results);
    store_(out_ + offset(unit, &Dim::out_stride), row_.out_stride, results,
           static_cast<int64_t>(itemsize(loops_.result)), n);
  }

  internal::ReduceLoops loops_;
  const ReduceParams& params_;
  DType in_dtype_;
  DType through_;
  bool counts_either_part_;
  CastFunction store_;
  Walk walk_;
  const char* in_;
  char* out_;
  int64_t count_;
  bool by_row_;
  Dim row_{1, 0, 0};  // along which accumulators lie side by side
  int64_t chunk_;     // so many in each unit
  int64_t chunks_;
  int64_t units_;
  int64_t unit_work_;
  size_t split_ = 0;
  int64_t piece_ = 0;
  int64_t pieces_ = 1;
};

}  // namespace

void reduce_into(Reduction kind, const Tensor& self, DimSet reduced, DType through,
                 const Tensor& out, const ReduceParams& params) {
  if (out.numel() == 0) return;
  Job(kind, self, reduced, is_truth(kind) ? DType::Bool : through, out, params).run();
}

namespace {

template <class T>
struct ArgExtreme {
  bool largest;

  // Whether x takes the place of the best so far. 16-bit floats compare as float32.
  bool beats(T x, T best) const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return ArgExtreme<float>{largest}.beats(static_cast<float>(x), static_cast<float>(best));
    } else {
      if (best != best) return false;
      return x != x || (largest ? x > best : x < best);
    }
  }
  int64_t find(const char* elements, int64_t stride, int64_t n) const {
    const auto at = [&](int64_t i) -> T {
      // Any byte but 0 is true.
      if constexpr (std::is_same_v<T, bool>)
        return elements[i * stride] != 0;
      else
        return *reinterpret_cast<const T*>(elements + i * stride);
    };
    int64_t index = 0;
    T best = at(0);
    for (int64_t i = 1; i < n; ++i) {
      if (!beats(at(i), best)) continue;
      best = at(i);
      index = i;
    }
    return index;
  }
};

int64_t find_extreme(bool largest, DType dtype, const char* elements, int64_t stride, int64_t n) {
  return visit_dtype(dtype, [&]<class T>() -> int64_t {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      return 0;
    } else {
      return ArgExtreme<T>{largest}.find(elements, stride, n);
    }
  });
}

}  // namespace

void arg_reduce_into(bool largest, const Tensor& self, int64_t dim, const Tensor& values,
                     const Tensor& indices) {
  if (indices.numel() == 0) return;
  const bool scalar = self.dim() == 0;
  const int64_t n = scalar ? 1 : self.size(dim);
  const int64_t stride = scalar ? 0 : byte_stride(self, static_cast<size_t>(dim));
  // Kept dimensions of self, and their strides in the two outputs.
  struct Kept {
    int64_t size, in, value, index;
  };
  absl::InlinedVector<Kept, 6> kept;
  const bool keepdim = indices.dim() == self.dim();
  size_t o = 0;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    const bool is_reduced = static_cast<int64_t>(d) == dim;
    if (!is_reduced) {
      kept.push_back({self.sizes()[d], byte_stride(self, d),
                      values.defined() ? byte_stride(values, o) : 0, byte_stride(indices, o)});
    }
    if (!is_reduced || keepdim) ++o;
  }
  const char* const in = static_cast<const char*>(self.data_ptr());
  char* const value = values.defined() ? static_cast<char*>(values.data_ptr()) : nullptr;
  char* const index = static_cast<char*>(indices.data_ptr());
  for (int64_t i = 0; i < indices.numel(); ++i) {
    int64_t rest = i;
    int64_t in_at = 0, value_at = 0, index_at = 0;
    for (size_t d = kept.size(); d-- > 0;) {
      const int64_t k = rest % kept[d].size;
      rest /= kept[d].size;
      in_at += k * kept[d].in;
      value_at += k * kept[d].value;
      index_at += k * kept[d].index;
    }
    const int64_t found = find_extreme(largest, self.dtype(), in + in_at, stride, n);
    std::memcpy(index + index_at, &found, sizeof(found));
    if (value) std::memcpy(value + value_at, in + in_at + found * stride, self.itemsize());
  }
}

}  // namespace sb
