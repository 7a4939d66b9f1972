#include "switchboard/ops/sorting/unique.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/sorting/rows.h"
#include "switchboard/ops/sorting/sort_keys.h"

namespace sb {
namespace {

using Triple = std::tuple<Tensor, Tensor, Tensor>;
using Indices = std::vector<int64_t>;

void check_comparable(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK_NOT_IMPLEMENTED(has_sort_keys(self.dtype()), op, ": not implemented for ",
                           to_string(self.dtype()));
}

Tensor int64_tensor(Device device, IntArrayRef sizes, const Indices& values) {
  const Tensor result = empty_on(device, sizes, DType::Int64);
  if (!values.empty()) {
    std::memcpy(result.data_ptr(), values.data(), values.size() * sizeof(int64_t));
  }
  return result;
}
Tensor int64_tensor(Device device, const Indices& values) {
  return int64_tensor(device, {static_cast<int64_t>(values.size())}, values);
}

// Groups of equal things: a member of each, which group each thing is in, and their sizes.
struct Groups {
  Indices members;
  Indices inverse;
  Indices counts;

  explicit Groups(size_t n) : inverse(n) {}
  void begin_group(int64_t member) {
    members.push_back(member);
    counts.push_back(0);
  }
  void put(int64_t thing) {
    inverse[static_cast<size_t>(thing)] = static_cast<int64_t>(members.size()) - 1;
    ++counts.back();
  }
};

// All elements one behind the other, as rows.cc walks them.
struct Flat {
  Tensor elements;
  Row row;

  explicit Flat(const Tensor& t) : elements(empty_on(t.device(), t.sizes(), t.dtype())) {
    copy_elements(elements, t);
    row = {t.numel() == 0 ? nullptr : static_cast<char*>(elements.data_ptr()),
           static_cast<int64_t>(t.itemsize()), t.numel()};
  }
  Tensor take(const Indices& members) const {
    const int64_t n = static_cast<int64_t>(members.size());
    const Tensor result = empty_on(elements.device(), {n}, elements.dtype());
    const Row to = {n == 0 ? nullptr : static_cast<char*>(result.data_ptr()), row.step, n};
    for (int64_t i = 0; i < n; ++i) {
      copy_element(elements.itemsize(), to, i, row, members[static_cast<size_t>(i)]);
    }
    return result;
  }
};

// Groups what stands side by side in `order`, where `equal` says so.
template <class Equal>
Groups group_runs(const Indices& order, Equal equal) {
  Groups groups(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !equal(order[i - 1], order[i])) groups.begin_group(order[i]);
    groups.put(order[i]);
  }
  return groups;
}

struct KeysEqual {
  const std::vector<SortKey>& keys;
  bool nan;

  bool operator()(int64_t a, int64_t b) const {
    const SortKey key = keys[static_cast<size_t>(a)];
    return key == keys[static_cast<size_t>(b)] && !(nan && key == kNanKey);
  }
};

// Sorted, whether or not it is asked for.
Triple unique_flat(const Tensor& self, bool, bool inverse, bool counts) {
  check_comparable("unique", self);
  const Flat flat(self);
  std::vector<Keyed> keyed, spare;
  read_keys(self.dtype(), flat.row, &keyed);
  sort_keys(&keyed, false, &spare);
  Indices order;
  std::vector<SortKey> keys(keyed.size());
  for (const Keyed& k : keyed) {
    order.push_back(k.index);
    keys[static_cast<size_t>(k.index)] = k.key;
  }
  const Groups groups = group_runs(order, KeysEqual{keys, has_nan(self.dtype())});
  const Device device = self.device();
  return {flat.take(groups.members),
          inverse ? int64_tensor(device, self.sizes(), groups.inverse) : int64_tensor(device, {}),
          counts ? int64_tensor(device, groups.counts) : int64_tensor(device, {})};
}

Triple runs_flat(const Tensor& self, bool inverse, bool counts) {
  check_comparable("unique_consecutive", self);
  const Flat flat(self);
  std::vector<SortKey> keys;
  read_keys(self.dtype(), flat.row, &keys);
  Indices order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const Groups groups = group_runs(order, KeysEqual{keys, has_nan(self.dtype())});
  const Device device = self.device();
  return {flat.take(groups.members),
          inverse ? int64_tensor(device, self.sizes(), groups.inverse) : int64_tensor(device, {}),
          counts ? int64_tensor(device, groups.counts) : int64_tensor(device, {})};
}

// The same memory with one dimension elsewhere among the others.
Tensor alias_moved(const Tensor& t, size_t from, size_t to) {
  const auto moved = [&](IntArrayRef list) {
    DimVector result(list.begin(), list.end());
    const int64_t number = result[from];
    result.erase(result.begin() + static_cast<int64_t>(from));
    result.insert(result.begin() + static_cast<int64_t>(to), number);
    return result;
  };
  return alias_with_unchecked(t, moved(t.sizes()), moved(t.strides()), t.storage_offset());
}

// The slices `members` along `dim`, one behind the other in memory.
Tensor take_slices(const Tensor& self, int64_t dim, const Flat& slices, const Indices& members) {
  DimVector sizes(slices.elements.sizes().begin(), slices.elements.sizes().end());
  sizes[0] = static_cast<int64_t>(members.size());
  const Tensor front = empty_on(self.device(), sizes, self.dtype());
  const size_t bytes = self.nbytes() / static_cast<size_t>(self.size(dim));
  for (size_t i = 0; i < members.size(); ++i) {
    std::memcpy(static_cast<char*>(front.data_ptr()) + i * bytes,
                slices.row.data + static_cast<size_t>(members[i]) * bytes, bytes);
  }
  return alias_moved(front, 0, static_cast<size_t>(dim));
}

Triple unique_slices(const char* op, const Tensor& self, int64_t dim, bool consecutive) {
  check_comparable(op, self);
  SB_CHECK_INDEX(self.dim() != 0, op, ": dimension ", dim, " of a tensor without dimensions");
  dim = wrap_dim(op, dim, self.dim());
  const int64_t n = self.size(dim);
  const int64_t zeros = std::count(self.sizes().begin(), self.sizes().end(), 0);
  SB_CHECK(zeros == (n == 0 ? 1 : 0), op, ": another dimension than ", dim, " of ", self.describe(),
           " has size 0");
  const Device device = self.device();
  if (n == 0) {
    return {empty_on(device, self.sizes(), self.dtype()), int64_tensor(device, {}),
            int64_tensor(device, {})};
  }
  const Flat slices(alias_moved(self, static_cast<size_t>(dim), 0));
  const size_t length = static_cast<size_t>(self.numel() / n);
  std::vector<SortKey> keys;
  read_keys(self.dtype(), slices.row, &keys);
  const auto slice = [&](int64_t i) { return keys.data() + static_cast<size_t>(i) * length; };
  Indices order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (!consecutive) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(slice(a), slice(a) + length, slice(b), slice(b) + length);
    });
  }
  const bool nan = has_nan(self.dtype());
  const Groups groups = group_runs(order, [&](int64_t a, int64_t b) {
    return std::equal(slice(a), slice(a) + length, slice(b),
                      [nan](SortKey x, SortKey y) { return x == y && !(nan && x == kNanKey); });
  });
  return {take_slices(self, dim, slices, groups.members), int64_tensor(device, groups.inverse),
          int64_tensor(device, groups.counts)};
}

Triple unique_consecutive_kernel(const Tensor& self, bool inverse, bool counts,
                                 std::optional<int64_t> dim) {
  if (!dim || (*dim == 0 && self.dim() == 1)) return runs_flat(self, inverse, counts);
  return unique_slices("unique_consecutive", self, *dim, true);
}

void define_unique(Library& m, const auto& op, auto kernel) {
  define(m, op, Tag::dynamic_output_shape).cpu(kernel).out("out");
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_unique(m, _unique, [](const Tensor& self, bool sorted, bool inverse) {
    auto [values, of_each, counts] = unique_flat(self, sorted, inverse, false);
    return std::tuple(values, of_each);
  });
  define_unique(m, _unique2, unique_flat);
  define_unique(m, unique_dim, [](const Tensor& self, int64_t dim, bool, bool, bool) {
    return unique_slices("unique_dim", self, dim, false);
  });
  define_unique(m, unique_consecutive, unique_consecutive_kernel);
  define_unique(m, unique_dim_consecutive, [](const Tensor& self, int64_t dim, bool, bool) {
    return unique_slices("unique_dim_consecutive", self, dim, true);
  });
}

}  // namespace sb
