#include "switchboard/ops/indexing/indexed_walk.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/indexing/strided_walk.h"

namespace sb {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int64_t kMostFetched = 32 * kCacheLine;  // more would push out what is being moved

// The dimensions of a walk in the order in which they are nested: those that threads may share out,
// the serial ones, and the run.
struct Nest {
  DimVector sizes;
  std::array<DimVector, 3> strides;  // table, index, other
  size_t shared = 0;                 // how many dimensions threads share out
  int64_t run = 1;
  bool run_is_shared = false;
  std::array<int64_t, 3> run_strides{};
};

Nest make_nest(const IndexedWalk& walk) {
  DimVector sizes = walk.sizes;
  std::array<DimVector, 3> strides = {walk.table_strides, walk.index_strides, walk.other_strides};
  Nest nest;
  // Shared dimensions come first. A serial dimension merges with nothing: its neighbours change.
  for (const bool serial : {false, true}) {
    DimVector part;
    std::array<DimVector, 3> part_strides;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (walk.serial[d] != serial) continue;
      part.push_back(sizes[d]);
      for (size_t i = 0; i < 3; ++i) part_strides[i].push_back(strides[i][d]);
    }
    coalesce(&part, &part_strides, [&](size_t) { return true; });
    nest.sizes.insert(nest.sizes.end(), part.begin(), part.end());
    for (size_t i = 0; i < 3; ++i) {
      nest.strides[i].insert(nest.strides[i].end(), part_strides[i].begin(), part_strides[i].end());
    }
    if (!serial) nest.shared = part.size();
  }
  if (nest.sizes.empty()) return nest;
  // The run is along the dimension whose elements lie closest: the last serial one, so that order
  // stays, or a shared one.
  size_t best = nest.sizes.size() - 1;
  const auto cost = [&](size_t d) {
    return std::abs(nest.strides[0][d]) + std::abs(nest.strides[2][d]);
  };
  for (size_t d = nest.shared; d-- > 0;) {
    if (cost(d) < cost(best)) best = d;
  }
  nest.run = nest.sizes[best];
  nest.sizes.erase(nest.sizes.begin() + static_cast<int64_t>(best));
  for (size_t i = 0; i < 3; ++i) {
    nest.run_strides[i] = nest.strides[i][best];
    nest.strides[i].erase(nest.strides[i].begin() + static_cast<int64_t>(best));
  }
  nest.run_is_shared = best < nest.shared;
  if (nest.run_is_shared) --nest.shared;
  return nest;
}

// A position in some dimensions of a nest, and where it is in the three tensors.
class Odometer {
 public:
  Odometer(const Nest& nest, size_t begin, size_t end, int64_t position)
      : nest_(nest), begin_(begin), end_(end), at_(end - begin, 0) {
    for (size_t d = end; d-- > begin && position > 0;) {
      at_[d - begin] = position % nest.sizes[d];
      position /= nest.sizes[d];
      for (size_t i = 0; i < 3; ++i) offset_[i] += at_[d - begin] * nest.strides[i][d];
    }
  }
  const std::array<int64_t, 3>& offset() const { return offset_; }
  void next() {
    for (size_t d = end_; d-- > begin_;) {
      int64_t& at = at_[d - begin_];
      const bool carry = ++at == nest_.sizes[d];
      const int64_t move = carry ? 1 - nest_.sizes[d] : 1;
      for (size_t i = 0; i < 3; ++i) offset_[i] += move * nest_.strides[i][d];
      if (!carry) return;
      at = 0;
    }
  }

 private:
  const Nest& nest_;
  size_t begin_, end_;
  DimVector at_;
  std::array<int64_t, 3> offset_{};
};

int64_t product(const DimVector& sizes, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t d = begin; d < end; ++d) n *= sizes[d];
  return n;
}

struct Read {
  template <class T>
  static void element(T& table, T& other) {
    other = table;
  }
  template <class T>
  static void row(T* table, T* other, int64_t n) {
    std::memcpy(other, table, static_cast<size_t>(n) * sizeof(T));
  }
};
struct Write {
  template <class T>
  static void element(T& table, T& other) {
    table = other;
  }
  template <class T>
  static void row(T* table, T* other, int64_t n) {
    std::memcpy(table, other, static_cast<size_t>(n) * sizeof(T));
  }
};

// Where each run of elements has one index, and every position may be on a thread of its own. The
// next run is fetched while one is moved: the CPU does not see it coming.
void run_rows(const Nest& nest, const IndexedRun& whole, IndexedLoop loop, const void* params) {
  const int64_t grain = std::max<int64_t>(1, kElementGrain / nest.run);
  const int64_t fetched = std::min(nest.run * nest.run_strides[0], kMostFetched);
  parallel_for(0, product(nest.sizes, 0, nest.shared), grain, [&](int64_t from, int64_t to) {
    Odometer row(nest, 0, nest.shared, from);
    IndexedRun run = whole;
    const auto seek = [&] {
      run.table = whole.table + row.offset()[0];
      run.index = whole.index + row.offset()[1];
      run.other = whole.other + row.offset()[2];
    };
    seek();
    for (int64_t i = from; i < to; ++i) {
      const IndexedRun now = run;
      if (i + 1 < to) {
        row.next();
        seek();
        const char* const next =
            run.table + *reinterpret_cast<const int64_t*>(run.index) * run.step;
        for (int64_t line = 0; line < fetched; line += kCacheLine) __builtin_prefetch(next + line);
      }
      loop(now, params);
    }
  });
}

template <class F>
IndexedLoop loop_of_size(size_t itemsize) {
  switch (itemsize) {
    case 1:
      return &internal::indexed_loop<uint8_t, F>;
    case 2:
      return &internal::indexed_loop<uint16_t, F>;
    case 4:
      return &internal::indexed_loop<uint32_t, F>;
    case 8:
      return &internal::indexed_loop<uint64_t, F>;
    default:
      SB_ASSERT(itemsize == 16);
      return &internal::indexed_loop<std::complex<double>, F>;
  }
}

}  // namespace

void run_indexed(const IndexedWalk& walk, IndexedLoop loop, const void* params) {
  if (std::ranges::find(walk.sizes, 0) != walk.sizes.end()) return;
  const Nest nest = make_nest(walk);
  const auto [table_stride, index_stride, other_stride] = nest.run_strides;
  IndexedRun whole = {walk.table,   reinterpret_cast<const char*>(walk.index),
                      walk.other,   table_stride,
                      index_stride, other_stride,
                      walk.step,    nest.run};
  if (nest.sizes.empty() && nest.run_is_shared) {
    parallel_for(0, nest.run, kElementGrain, [&](int64_t from, int64_t to) {
      IndexedRun part = whole;
      part.table += from * table_stride;
      part.index += from * index_stride;
      part.other += from * other_stride;
      part.n = to - from;
      loop(part, params);
    });
    return;
  }
  const int64_t serial = product(nest.sizes, nest.shared, nest.sizes.size());
  if (serial == 1 && index_stride == 0) return run_rows(nest, whole, loop, params);
  const auto positions = [&](int64_t from, int64_t to) {
    Odometer outer(nest, 0, nest.shared, from);
    IndexedRun run = whole;
    for (int64_t i = from; i < to; ++i, outer.next()) {
      const auto at = [&](const std::array<int64_t, 3>& inner) {
        run.table = whole.table + outer.offset()[0] + inner[0];
        run.index = whole.index + outer.offset()[1] + inner[1];
        run.other = whole.other + outer.offset()[2] + inner[2];
        loop(run, params);
      };
      if (serial == 1) {
        at({});
        continue;
      }
      Odometer inner(nest, nest.shared, nest.sizes.size(), 0);
      for (int64_t j = 0; j < serial; ++j, inner.next()) at(inner.offset());
    }
  };
  const int64_t grain = std::max<int64_t>(1, kElementGrain / (serial * nest.run));
  parallel_for(0, product(nest.sizes, 0, nest.shared), grain, positions);
}

IndexedLoop read_loop(size_t itemsize) { return loop_of_size<Read>(itemsize); }
IndexedLoop write_loop(size_t itemsize) { return loop_of_size<Write>(itemsize); }

}  // namespace sb
