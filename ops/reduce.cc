#include "switchboard/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/cast.h"
#include "switchboard/ops/reduce_loops.h"

namespace sb {
namespace {

// A dimension of the walk; strides in bytes.
struct Dim {
  int64_t size;
  int64_t in_stride;
  int64_t out_stride;
};
using Dims = absl::InlinedVector<Dim, 6>;

// Calls f(in, out) for every index of `dims`, first dimension fastest.
template <class F>
void for_each_index(const Dims& dims, const char* in, char* out, const F& f) {
  absl::InlinedVector<int64_t, 6> index(dims.size(), 0);
  while (true) {
    f(in, out);
    size_t d = 0;
    for (; d < dims.size(); ++d) {
      in += dims[d].in_stride;
      out += dims[d].out_stride;
      if (++index[d] < dims[d].size) break;
      in -= dims[d].in_stride * dims[d].size;
      out -= dims[d].out_stride * dims[d].size;
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
    const int64_t in_size = static_cast<int64_t>(self.itemsize());
    const int64_t out_size = static_cast<int64_t>(out.itemsize());
    size_t o = 0;
    for (size_t d = 0; d < self.sizes().size(); ++d) {
      const bool is_reduced = reduced_set[d];
      const int64_t out_stride = is_reduced ? 0 : out.strides()[o];
      if (!is_reduced || keepdim) ++o;
      if (self.sizes()[d] == 1) continue;
      (is_reduced ? reduced : kept)
          .push_back({self.sizes()[d], self.strides()[d] * in_size, out_stride * out_size});
    }
    const auto by_stride = [](const Dim& a, const Dim& b) { return a.in_stride < b.in_stride; };
    // Where there is no element there may be no address to add to.
    if (self.numel() == 0) {
      for (Dim& dim : kept) dim.in_stride = 0;
    }
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

// Elements read as a loop wants them: where they lie, or converted to a buffer. The conversion goes
// through the result's dtype, which may truncate or round.
class Reader {
 public:
  Reader(DType from, DType through, DType to)
      : size_(static_cast<int64_t>(itemsize(to))),
        middle_size_(static_cast<int64_t>(itemsize(through))) {
    if (from != through) first_ = cast_function(from, through);
    if (through != to) second_ = cast_function(through, to);
  }

  // At most kReduceChunk elements. Updates the stride.
  const char* read(const char* elements, int64_t* stride, int64_t n) {
    if (first_) {
      first_(middle_, middle_size_, elements, *stride, n);
      elements = middle_;
      *stride = middle_size_;
    }
    if (second_) {
      second_(last_, size_, elements, *stride, n);
      elements = last_;
      *stride = size_;
    }
    return elements;
  }

 private:
  static constexpr size_t kBytes = 16 * internal::kReduceChunk;
  CastFunction first_ = nullptr;
  CastFunction second_ = nullptr;
  int64_t size_;
  int64_t middle_size_;
  alignas(16) char middle_[kBytes];
  alignas(16) char last_[kBytes];
};

}  // namespace

void reduce_into(Reduction kind, const Tensor& self, DimSet reduced_set, const Tensor& out) {
  if (out.numel() == 0) return;
  const bool to_bool = kind == Reduction::Any || kind == Reduction::All;
  const DType dtype = to_bool ? DType::Bool : out.dtype();
  const internal::ReduceLoops loops = internal::reduce_loops(kind, dtype);
  Walk walk(self, reduced_set, out);
  double count = 1;
  for (const Dim& dim : walk.reduced) count *= static_cast<double>(dim.size);

  // Rows of accumulators go along a kept dimension where that is the faster one in memory.
  const bool by_row = !walk.kept.empty() &&
                      (walk.reduced.empty() || walk.kept[0].in_stride < walk.reduced[0].in_stride);
  Dim inner{1, 0, 0};
  Dims& of_inner = by_row ? walk.kept : walk.reduced;
  if (!of_inner.empty()) {
    inner = of_inner[0];
    of_inner.erase(of_inner.begin());
  }
  const Dim row = by_row ? inner : Dim{1, 0, 0};

  alignas(16) char accumulators[16 * internal::kReduceChunk];
  Reader reader(self.dtype(), dtype, loops.element);
  const CastFunction store = cast_function(loops.accumulator, out.dtype());
  const int64_t acc_size = static_cast<int64_t>(itemsize(loops.accumulator));
  const auto reduce_chunk = [&](const char* in, char* to, int64_t n) {
    loops.init(accumulators, n);
    if (count != 0) {
      for_each_index(walk.reduced, in, nullptr, [&](const char* elements, char*) {
        if (by_row) {
          int64_t stride = row.in_stride;
          const char* const data = reader.read(elements, &stride, n);
          loops.fold_row(accumulators, data, stride, n);
          return;
        }
        for (int64_t i = 0; i < inner.size; i += internal::kReduceChunk) {
          const int64_t length = std::min(internal::kReduceChunk, inner.size - i);
          int64_t stride = inner.in_stride;
          const char* const data = reader.read(elements + i * stride, &stride, length);
          loops.fold_run(accumulators, data, stride, length);
        }
      });
    }
    if (kind == Reduction::Mean) loops.divide(accumulators, n, count);
    store(to, row.out_stride, accumulators, acc_size, n);
  };
  for_each_index(walk.kept, static_cast<const char*>(self.data_ptr()),
                 static_cast<char*>(out.data_ptr()), [&](const char* in, char* to) {
                   for (int64_t i = 0; i < row.size; i += internal::kReduceChunk) {
                     reduce_chunk(in + i * row.in_stride, to + i * row.out_stride,
                                  std::min(internal::kReduceChunk, row.size - i));
                   }
                 });
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
    const auto at = [&](int64_t i) { return *reinterpret_cast<const T*>(elements + i * stride); };
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
  const int64_t itemsize = static_cast<int64_t>(self.itemsize());
  const bool scalar = self.dim() == 0;
  const int64_t n = scalar ? 1 : self.size(dim);
  const int64_t stride = scalar ? 0 : self.stride(dim) * itemsize;
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
      kept.push_back({self.sizes()[d], self.strides()[d] * itemsize,
                      values.defined() ? values.strides()[o] * itemsize : 0,
                      indices.strides()[o] * 8});
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
