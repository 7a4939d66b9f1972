#include "switchboard/ops/sorting/sort.h"

#include <algorithm>
#include <vector>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/symbolic_operands.h"
#include "switchboard/ops/sorting/rows.h"
#include "switchboard/ops/sorting/sort_keys.h"

namespace sb {
namespace {

template <SizeType Int>
using Pair = std::array<BasicTensorMeta<Int>, 2>;

// Dense strides in the order of self's.
template <SizeType Int>
SizeVector<Int> strides_like(const Tensor& self) {
  if constexpr (std::same_as<Int, int64_t>)
    return empty_like_strides(self);
  else
    return internal::dense_strides_like(self);
}

// The results of sort are laid out as self is.
template <SizeType Int>
Pair<Int> sort_rule(const Tensor& self, int64_t dim, bool) {
  wrap_dim("sort", dim, self.dim());
  SB_CHECK(has_sort_keys(self.dtype()), "sort: not implemented for ", to_string(self.dtype()));
  const SizeVector<Int> strides = strides_like<Int>(self), sizes = size_vector<Int>(self);
  return {{{sizes, self.dtype(), strides}, {sizes, DType::Int64, strides}}};
}

// A tensor without dimensions is in order, whatever its dtype.
bool take_scalar(const Tensor& self, const Tensor& values, const Tensor& indices) {
  if (self.dim() != 0) return false;
  copy_elements(values, self);
  *indices.data<int64_t>() = 0;
  return true;
}

void sort_kernel(const Tensor& self, int64_t dim, bool descending, const Tensor& values,
                 const Tensor& indices) {
  if (take_scalar(self, values, indices) || self.numel() == 0) return;
  const Tensor* const operands[] = {&self, &values, &indices};
  const int64_t d = wrap_dim("sort", dim, self.dim());
  for_each_row(operands, d, 16 * self.size(d), [&](const Row* rows) {
    static thread_local std::vector<Keyed> keys, spare;
    read_keys(self.dtype(), rows[0], &keys);
    sort_keys(&keys, descending, &spare);
    for (int64_t i = 0; i < rows[0].size; ++i) {
      const int64_t index = keys[static_cast<size_t>(i)].index;
      copy_element(self.itemsize(), rows[1], i, rows[0], index);
      *reinterpret_cast<int64_t*>(rows[2].at(i)) = index;
    }
  });
}

template <SizeType Int>
Pair<Int> sort_stable_rule(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  return sort_rule<Int>(self, dim, descending);
}
void sort_stable_kernel(const Tensor& self, std::optional<bool>, int64_t dim, bool descending,
                        const Tensor& values, const Tensor& indices) {
  sort_kernel(self, dim, descending, values, indices);
}

template <SizeType Int>
Pair<Int> topk_rule(const Tensor& self, const SymInt& symbolic_k, int64_t dim, bool, bool) {
  const Int k = size_as<Int>(symbolic_k);
  const int64_t d = wrap_dim("topk", dim, self.dim());
  const Int size = self.dim() == 0 ? Int(1) : sizes_of<Int>(self)[static_cast<size_t>(d)];
  SB_CHECK(sym_and(k >= 0, k <= size), "topk: k: expected 0 to ", size_text(size), ", got ",
           size_text(k));
  SB_CHECK(self.dim() == 0 || (has_sort_keys(self.dtype()) && self.dtype() != DType::Bool),
           "topk: not implemented for ", to_string(self.dtype()));
  SizeVector<Int> sizes = size_vector<Int>(self);
  if (!sizes.empty()) sizes[static_cast<size_t>(d)] = k;
  return {{{sizes, self.dtype()}, {sizes, DType::Int64}}};
}

// The first k of the keys, in order if `sorted`. Where keys are equal, the choice of algorithm
// decides which are taken: it is PyTorch's.
template <class Before>
void select_first(std::vector<Keyed>* keys, int64_t k, bool sorted, Before before) {
  const auto begin = keys->begin();
  if (k * 64 <= static_cast<int64_t>(keys->size())) {
    std::partial_sort(begin, begin + k, keys->end(), before);
    return;
  }
  std::nth_element(begin, begin + k - 1, keys->end(), before);
  if (sorted) std::sort(begin, begin + k - 1, before);
}

void topk_kernel(const Tensor& self, const SymInt& symbolic_k, int64_t dim, bool largest,
                 bool sorted, const Tensor& values, const Tensor& indices) {
  const int64_t k = symbolic_k.expect_int();
  if (take_scalar(self, values, indices) || values.numel() == 0) return;
  const Tensor* const operands[] = {&self, &values, &indices};
  const int64_t d = wrap_dim("topk", dim, self.dim());
  for_each_row(operands, d, 4 * self.size(d), [&](const Row* rows) {
    static thread_local std::vector<Keyed> keys;
    read_keys(self.dtype(), rows[0], &keys);
    if (largest) {
      select_first(&keys, k, sorted, [](const Keyed& a, const Keyed& b) { return a.key > b.key; });
    } else {
      select_first(&keys, k, sorted, [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    }
    for (int64_t i = 0; i < k; ++i) {
      const int64_t index = keys[static_cast<size_t>(i)].index;
      copy_element(self.itemsize(), rows[1], i, rows[0], index);
      *reinterpret_cast<int64_t*>(rows[2].at(i)) = index;
    }
  });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, sort)
      .structured<by_size_rule<sort_rule<int64_t>, sort_rule<SymInt>>, sort_kernel>()
      .out(sort_out);
  define(m, sort_stable)
      .structured<by_size_rule<sort_stable_rule<int64_t>, sort_stable_rule<SymInt>>,
                  sort_stable_kernel>()
      .out(sort_stable_out);
  define(m, topk)
      .structured<by_size_rule<topk_rule<int64_t>, topk_rule<SymInt>>, topk_kernel>()
      .out(topk_out);

  define(m, argsort).composed([](const Tensor& self, int64_t dim, bool descending) {
    return std::get<1>(sort(self, dim, descending));
  });
  define(m, argsort_stable)
      .composite_explicit([](const Tensor& self, bool stable, int64_t dim, bool descending) {
        return std::get<1>(sort_stable(self, stable, dim, descending));
      })
      .out("stable_out");

  define(m, msort)
      .composed([](const Tensor& self) { return std::get<0>(sort(self, 0, false)); })
      .out(msort_out, [](const Tensor& self, const Tensor& out) {
        const Tensor indices = empty_like(self, DType::Int64);
        sort_out(self, 0, false, out, indices);
        return out;
      });
}

}  // namespace sb
