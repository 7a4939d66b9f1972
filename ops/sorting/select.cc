#include "switchboard/ops/sorting/select.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/sorting/rows.h"
#include "switchboard/ops/sorting/sort_keys.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
using ValuesAndIndices = std::array<BasicTensorMeta<Int>, 2>;
using Keys = std::vector<Keyed>;

bool less(const Keyed& a, const Keyed& b) { return a.key < b.key; }
// As a stable sort would order them.
bool stably_less(const Keyed& a, const Keyed& b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

// The shape with one element for each row.
template <SizeType Int>
ValuesAndIndices<Int> one_of_each_row(const char* op, const Tensor& self, int64_t dim,
                                      bool keepdim) {
  const size_t d = static_cast<size_t>(wrap_dim(op, dim, self.dim()));
  SizeVector<Int> sizes = size_vector<Int>(self);
  if (!sizes.empty()) {
    SB_CHECK_INDEX(sizes[d] != 0, op, ": dimension ", d, " of ", self.describe(), " has size 0");
    if (keepdim) {
      sizes[d] = 1;
    } else {
      sizes.erase(sizes.begin() + static_cast<int64_t>(d));
    }
  }
  return {{{sizes, self.dtype()}, {sizes, DType::Int64}}};
}

void check_selectable(const char* op, DType dtype) {
  SB_CHECK_NOT_IMPLEMENTED(has_sort_keys(dtype) && dtype != DType::Bool, op,
                           ": not implemented for ", to_string(dtype));
}

// Writes the element of each row that `select` gives the index of, given the row's keys.
template <class Select>
void take_selected(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices,
                   Select select) {
  const Tensor* const operands[] = {&self, &values, &indices};
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  if (values.numel() == 0) return;
  for_each_row(operands, dim, 4 * size, [&](const Row* rows) {
    static thread_local Keys keys;
    read_keys(self.dtype(), rows[0], &keys);
    const int64_t index = select(&keys);
    copy_element(self.itemsize(), rows[1], 0, rows[0], index);
    *reinterpret_cast<int64_t*>(rows[2].data) = index;
  });
}

// Hoare's selection, which decides which of equal elements is found: PyTorch's is that of Numerical
// Recipes, with the median of three as the pivot.
int64_t kth_index(Keys* keys, int64_t k) {
  Keyed* const a = keys->data();
  int64_t left = 0;
  int64_t right = static_cast<int64_t>(keys->size()) - 1;
  const auto in_order = [a](int64_t i, int64_t j) {
    if (a[i].key > a[j].key) std::swap(a[i], a[j]);
  };
  while (right > left + 1) {
    std::swap(a[left + (right - left) / 2], a[left + 1]);
    in_order(left + 1, right);
    in_order(left, right);
    in_order(left + 1, left);
    const SortKey pivot = a[left].key;
    int64_t i = left + 1;
    int64_t j = right;
    while (true) {
      do ++i;
      while (a[i].key < pivot);
      do --j;
      while (a[j].key > pivot);
      if (j < i) break;
      std::swap(a[i], a[j]);
    }
    std::swap(a[left], a[j]);
    if (j <= k) left = i;
    if (j >= k) right = j - 1;
  }
  if (right == left + 1) in_order(left, right);
  return a[k].index;
}

template <SizeType Int>
ValuesAndIndices<Int> kthvalue_rule(const Tensor& self, const SymInt& symbolic_k, int64_t dim,
                                    bool keepdim) {
  const Int k = size_as<Int>(symbolic_k);
  const ValuesAndIndices<Int> metas = one_of_each_row<Int>("kthvalue", self, dim, keepdim);
  const int64_t d = wrap_dim("kthvalue", dim, self.dim());
  const Int size = self.dim() == 0 ? Int(1) : sizes_of<Int>(self)[static_cast<size_t>(d)];
  SB_CHECK(k >= 1, "kthvalue: k: expected 1 to ", size_text(size), ", got ", size_text(k));
  SB_CHECK(size >= k, "kthvalue: k: expected 1 to ", size_text(size), ", got ", size_text(k));
  if (self.dim() != 0) check_selectable("kthvalue", self.dtype());
  return metas;
}
void kthvalue_kernel(const Tensor& self, const SymInt& k, int64_t dim, bool, const Tensor& values,
                     const Tensor& indices) {
  if (self.dim() == 0) {
    copy_elements(values, self);
    *indices.data<int64_t>() = 0;
    return;
  }
  take_selected(self, wrap_dim("kthvalue", dim, self.dim()), values, indices,
                [n = k.expect_int()](Keys* keys) { return kth_index(keys, n - 1); });
}

int64_t median_index(DType dtype, bool ignore_nan, Keys* keys) {
  int64_t count = static_cast<int64_t>(keys->size());
  if (has_nan(dtype)) {
    const auto is_nan = [](const Keyed& k) { return k.key == kNanKey; };
    if (ignore_nan) {
      count -= std::count_if(keys->begin(), keys->end(), is_nan);
    } else {
      const auto nan = std::find_if(keys->begin(), keys->end(), is_nan);
      if (nan != keys->end()) return nan->index;
    }
  }
  const auto middle = keys->begin() + (count > 0 ? (count - 1) / 2 : 0);
  std::nth_element(keys->begin(), middle, keys->end(), stably_less);
  return middle->index;
}

template <bool ignore_nan>
struct Median {
  static constexpr const char* op = ignore_nan ? "nanmedian" : "median";

  template <SizeType Int>
  static ValuesAndIndices<Int> rule(const Tensor& self, int64_t dim, bool keepdim) {
    const ValuesAndIndices<Int> metas = one_of_each_row<Int>(op, self, dim, keepdim);
    check_selectable(op, self.dtype());
    return metas;
  }
  static void kernel(const Tensor& self, int64_t dim, bool, const Tensor& values,
                     const Tensor& indices) {
    take_selected(self, wrap_dim(op, dim, self.dim()), values, indices,
                  [&](Keys* keys) { return median_index(self.dtype(), ignore_nan, keys); });
  }

  static void check_all(const Tensor& self) {
    // With no element PyTorch asks nothing of the dtype.
    if (!same_size(self.sym_numel(), SymInt(0))) check_selectable(op, self.dtype());
  }
  static Tensor all(const Tensor& self) {
    check_all(self);
    const Tensor result = empty_on(self.device(), {}, self.dtype());
    char* const to = static_cast<char*>(result.data_ptr());
    if (self.numel() == 0) {
      const double nan = std::numeric_limits<double>::quiet_NaN();
      cast_function(DType::Float64, self.dtype())(to, 0, reinterpret_cast<const char*>(&nan), 0, 1);
      return result;
    }
    const Tensor flat = empty_on(self.device(), self.sizes(), self.dtype());
    copy_elements(flat, self);
    const int64_t itemsize = static_cast<int64_t>(self.itemsize());
    const Row row{static_cast<char*>(flat.data_ptr()), itemsize, flat.numel()};
    Keys keys;
    read_keys(self.dtype(), row, &keys);
    copy_element(self.itemsize(), {to, 0, 1}, 0, row,
                 median_index(self.dtype(), ignore_nan, &keys));
    return result;
  }
  static Tensor all_meta(const Tensor& self) {
    check_all(self);
    return empty_on(self.device(), {}, self.dtype());
  }

  static void define_forms(Library& m, const auto& dim_op, const auto& all_op) {
    define(m, dim_op)
        .template structured<by_size_rule<rule<int64_t>, rule<SymInt>>, kernel>(
            {.refuse_overlap = true})
        .out();
    define(m, all_op).cpu(&all).meta(&all_meta).out("out");
  }
};

// Sorts first: how the sort treats equal elements decides where the mode is found.
int64_t mode_index(Keys* keys) {
  std::sort(keys->begin(), keys->end(), less);
  size_t best = 0;
  size_t best_length = 0;
  for (size_t begin = 0, end; begin < keys->size(); begin = end) {
    end = begin + 1;
    while (end < keys->size() && (*keys)[end].key == (*keys)[begin].key) ++end;
    if (end - begin > best_length) {
      best_length = end - begin;
      best = end - 1;
    }
  }
  return (*keys)[best].index;
}

template <SizeType Int>
ValuesAndIndices<Int> mode_rule(const Tensor& self, int64_t dim, bool keepdim) {
  const ValuesAndIndices<Int> metas = one_of_each_row<Int>("mode", self, dim, keepdim);
  SB_CHECK_NOT_IMPLEMENTED(has_sort_keys(self.dtype()) || numel_of<Int>(self) <= 1,
                           "mode: not implemented for ", to_string(self.dtype()));
  return metas;
}
void mode_kernel(const Tensor& self, int64_t dim, bool, const Tensor& values,
                 const Tensor& indices) {
  if (self.numel() == 1) {
    copy_elements(
        alias_with_unchecked(values, self.sizes(), self.strides(), values.storage_offset()), self);
    *indices.data<int64_t>() = 0;
    return;
  }
  take_selected(self, wrap_dim("mode", dim, self.dim()), values, indices, mode_index);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, kthvalue)
      .structured<by_size_rule<kthvalue_rule<int64_t>, kthvalue_rule<SymInt>>, kthvalue_kernel>(
          {.refuse_overlap = true})
      .out(kthvalue_out);
  Median<false>::define_forms(m, median_dim, median);
  Median<true>::define_forms(m, nanmedian_dim, nanmedian);
  define(m, mode)
      .structured<by_size_rule<mode_rule<int64_t>, mode_rule<SymInt>>, mode_kernel>()
      .out(mode_out);
}

}  // namespace sb
