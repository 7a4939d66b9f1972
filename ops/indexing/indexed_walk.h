// The one loop of all indexing: elements of a table, found by offsets, meet elements of another
// tensor in order. Reading the table is gather, index_select, index, take, embedding; writing it is
// scatter, index_put, index_add and the like.

#ifndef SWITCHBOARD_OPS_INDEXING_INDEXED_WALK_H_
#define SWITCHBOARD_OPS_INDEXING_INDEXED_WALK_H_

#include <array>
#include <cstdint>

#include "switchboard/ops/shape/dims.h"

namespace sb {

// Meets the element at `table + *index * step` with that at `other`, n times. Strides are in bytes;
// an index stride of 0 is a run of elements under one index.
struct IndexedRun {
  char* table;
  const char* index;
  char* other;
  int64_t table_stride, index_stride, other_stride;
  int64_t step;
  int64_t n;
};
using IndexedLoop = void (*)(const IndexedRun& run, const void* params);

// Strides are in bytes, one for each dimension of sizes.
struct IndexedWalk {
  DimVector sizes;
  DimVector table_strides, index_strides, other_strides;
  char* table;
  const int64_t* index;
  char* other;
  int64_t step = 1;
  // Dimensions along which one element of the table may be met twice: walked in order, by one
  // thread.
  DimSet serial = {};
};

// Makes the dimensions serial along which the table is expanded: for writes.
inline void set_repeated_serial(IndexedWalk* walk) {
  for (size_t d = 0; d < walk->sizes.size(); ++d) {
    if (walk->sizes[d] > 1 && walk->table_strides[d] == 0) walk->serial.set(d);
  }
}

// Calls `loop` for runs that cover the walk, on several threads. The order of the elements that
// meet one element of the table is that of the serial dimensions, for any number of threads.
void run_indexed(const IndexedWalk& walk, IndexedLoop loop, const void* params = nullptr);

namespace internal {

// A loop for elements of type T: f(table element, other element).
template <class T, class F>
void indexed_loop(const IndexedRun& run, const void*) {
  const char* index = run.index;
  char* table = run.table;
  char* other = run.other;
  if (run.index_stride == 0) {
    table += *reinterpret_cast<const int64_t*>(index) * run.step;
    if (run.table_stride == sizeof(T) && run.other_stride == sizeof(T)) {
      F::row(reinterpret_cast<T*>(table), reinterpret_cast<T*>(other), run.n);
      return;
    }
    for (int64_t i = 0; i < run.n; ++i) {
      F::element(*reinterpret_cast<T*>(table), *reinterpret_cast<T*>(other));
      table += run.table_stride;
      other += run.other_stride;
    }
    return;
  }
  for (int64_t i = 0; i < run.n; ++i) {
    char* const at = table + *reinterpret_cast<const int64_t*>(index) * run.step;
    F::element(*reinterpret_cast<T*>(at), *reinterpret_cast<T*>(other));
    table += run.table_stride;
    index += run.index_stride;
    other += run.other_stride;
  }
}

}  // namespace internal

// Loops that move elements of that many bytes (1, 2, 4, 8, 16): from the table to the other tensor,
// or the other way.
IndexedLoop read_loop(size_t itemsize);
IndexedLoop write_loop(size_t itemsize);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_INDEXED_WALK_H_
