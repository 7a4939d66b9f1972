// Elements of any real dtype as integers that compare alike, so that sorting and selecting exist
// once and not for each dtype.

#ifndef SWITCHBOARD_OPS_SORTING_SORT_KEYS_H_
#define SWITCHBOARD_OPS_SORTING_SORT_KEYS_H_

#include <cstdint>
#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/ops/sorting/rows.h"

namespace sb {

// Keys of one dtype compare as its elements, NaN above everything and equal to itself, -0 equal
// to 0. Of another dtype they mean something else.
using SortKey = uint64_t;
inline constexpr SortKey kNanKey = ~SortKey{0};  // of floating-point elements

struct Keyed {
  SortKey key;
  int64_t index;
};

// Whether elements have keys: all but complex ones.
constexpr bool has_sort_keys(DType dtype) { return !is_complex(dtype); }
// Whether the keys of `dtype` can be kNanKey for NaN.
constexpr bool has_nan(DType dtype) { return is_floating_point(dtype); }

// The keys of a row's elements, and where in the row they were.
void read_keys(DType dtype, const Row& row, std::vector<Keyed>* keys);
void read_keys(DType dtype, const Row& row, std::vector<SortKey>* keys);

// Sorts by key, ascending or descending; equal keys stay in order. `spare` is memory to work in.
void sort_keys(std::vector<Keyed>* keys, bool descending, std::vector<Keyed>* spare);

// Copies the element `index` of one row to the element `to_index` of another, of the same dtype.
void copy_element(size_t itemsize, const Row& to, int64_t to_index, const Row& from, int64_t index);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_SORT_KEYS_H_
