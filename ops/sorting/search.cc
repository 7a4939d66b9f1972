#include "switchboard/ops/sorting/search.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/strided_walk.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/sorting/rows.h"
#include "switchboard/ops/sorting/sort_keys.h"

namespace sb {
namespace {

using Keys = std::vector<SortKey>;

Tensor converted(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : cast_copy(t, dtype);
}

// One row to search in: its keys.
class SortedRow {
 public:
  SortedRow(DType dtype, const Row& row, const Row* sorter) : nan_(has_nan(dtype)) {
    size_ = row.size;
    read_keys(dtype, row, &keys_);
    if (sorter) {
      const Keys unsorted = keys_;
      for (int64_t i = 0; i < size_; ++i) {
        const int64_t from = *reinterpret_cast<const int64_t*>(sorter->at(i));
        keys_[static_cast<size_t>(i)] = unsorted[static_cast<size_t>(from)];
      }
    }
  }

  // As a search by halves finds it, also where the row is not sorted.
  int64_t find(SortKey key, bool right) const {
    if (nan_ && key == kNanKey) return size_;
    int64_t begin = 0;
    int64_t end = size_;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      const SortKey at = keys_[static_cast<size_t>(middle)];
      const bool behind = nan_ && at == kNanKey ? true : right ? at <= key : at < key;
      if (behind) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

 private:
  bool nan_;
  int64_t size_;
  Keys keys_;
};

bool is_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  SB_CHECK(*side == "left" || *side == "right",
           "searchsorted: side: expected 'left' or 'right', got '", *side, "'");
  SB_CHECK(!right || *side == "right", "searchsorted: right is true, but side is 'left'");
  return *side == "right";
}

template <SizeType Int>
BasicTensorMeta<Int> searchsorted_rule(const Tensor& sequence, const Tensor& self, bool out_int32,
                                       bool right, std::optional<std::string_view> side,
                                       const std::optional<Tensor>& sorter) {
  is_right(right, side);
  const SizesRef<Int> rows = sizes_of<Int>(sequence), own = sizes_of<Int>(self);
  if (is_given(sorter)) {
    SB_CHECK(equal_sizes<Int>(sizes_of<Int>(*sorter), rows),
             "searchsorted: sorter: expected the shape of sorted_sequence, ", sequence.describe(),
             ", got ", sorter->describe());
    SB_CHECK(sorter->dtype() == DType::Int64, "searchsorted: sorter: expected int64, got ",
             sorter->describe());
  }
  SB_CHECK(sequence.dim() != 0, "searchsorted: sorted_sequence: expected a dimension, got ",
           sequence.describe());
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, "searchsorted: ", sequence.describe(), " has no row for each row of ",
             self.describe());
  };
  if (sequence.dim() != 1) {
    fits(self.dim() == sequence.dim());
    fits(equal_sizes<Int>(own.first(own.size() - 1), rows.first(own.size() - 1)));
  }
  if (out_int32) {
    SB_CHECK(rows.back() < int64_t{std::numeric_limits<int32_t>::max()},
             "searchsorted: out_int32: int32 cannot count the elements of ", sequence.describe());
  }
  const DType dtype = result_type({&sequence, &self});
  SB_CHECK_NOT_IMPLEMENTED((has_sort_keys(dtype) && dtype != DType::Bool) ||
                               same_size(numel_of<Int>(self), Int(0)) ||
                               same_size(numel_of<Int>(sequence), Int(0)),
                           "searchsorted: not implemented for ", to_string(dtype));
  return {size_vector<Int>(self), out_int32 ? DType::Int32 : DType::Int64};
}

void check_sorter(const Tensor& sorter) {
  if (sorter.numel() == 0) return;
  const Tensor* const operands[] = {&sorter};
  const int64_t size = sorter.sizes().back();
  for_each_row(operands, sorter.dim() - 1, size, [&](const Row* rows) {
    for (int64_t i = 0; i < size; ++i) {
      const int64_t index = *reinterpret_cast<const int64_t*>(rows[0].at(i));
      SB_CHECK(index >= 0 && index < size, "searchsorted: sorter: ", index,
               " is out of range for rows of ", size);
    }
  });
}

void searchsorted_kernel(const Tensor& sequence, const Tensor& self, bool, bool right,
                         std::optional<std::string_view> side, const std::optional<Tensor>& sorter,
                         const Tensor& out) {
  if (out.numel() == 0) return;
  const bool has_sorter = is_given(sorter);
  if (has_sorter) check_sorter(*sorter);
  right = is_right(right, side);
  const DType dtype = sequence.numel() == 0 ? self.dtype() : result_type({&sequence, &self});
  const Tensor elements = converted(self, dtype);
  const Tensor where = converted(sequence, dtype);
  const CastFunction store = cast_function(DType::Int64, out.dtype());
  const auto search = [&](const SortedRow& in, const Row& from, const Row& to) {
    Keys keys;
    read_keys(dtype, from, &keys);
    for (int64_t i = 0; i < from.size; ++i) {
      const int64_t found = in.find(keys[static_cast<size_t>(i)], right);
      store(to.at(i), 0, reinterpret_cast<const char*>(&found), 0, 1);
    }
  };
  if (sequence.numel() == 0) {
    const int64_t none = 0;
    const Tensor* const operands[] = {&out};
    for_each_row(operands, out.dim() - 1, 1, [&](const Row* rows) {
      store(rows[0].data, rows[0].step, reinterpret_cast<const char*>(&none), 0, rows[0].size);
    });
    return;
  }
  if (sequence.dim() == 1) {
    const auto row_of = [](const Tensor& t) {
      return Row{static_cast<char*>(t.data_ptr()), broadcast_byte_strides(t, t.sizes())[0],
                 t.size(0)};
    };
    const Row sorter_row = has_sorter ? row_of(*sorter) : Row{};
    const SortedRow in(dtype, row_of(where), has_sorter ? &sorter_row : nullptr);
    const Tensor* const operands[] = {&elements, &out};
    for_each_row(operands, std::max<int64_t>(0, out.dim() - 1),
                 out.dim() == 0 ? 1 : 8 * out.sizes().back(),
                 [&](const Row* rows) { search(in, rows[0], rows[1]); });
    return;
  }
  const Tensor* const operands[] = {&elements, &out, &where, has_sorter ? &*sorter : &where};
  const int64_t cost = 4 * (out.sizes().back() + where.sizes().back());
  for_each_row(operands, out.dim() - 1, cost, [&](const Row* rows) {
    search(SortedRow(dtype, rows[2], has_sorter ? &rows[3] : nullptr), rows[0], rows[1]);
  });
}

template <SizeType Int>
BasicTensorMeta<Int> bucketize_rule(const Tensor& self, const Tensor& boundaries, bool out_int32,
                                    bool right) {
  SB_CHECK(boundaries.dim() == 1, "bucketize: boundaries: expected one dimension, got ",
           boundaries.describe());
  return searchsorted_rule<Int>(boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}
void bucketize_kernel(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right,
                      const Tensor& out) {
  searchsorted_kernel(boundaries, self, out_int32, right, std::nullopt, std::nullopt, out);
}

void check_isin(DType dtype) {
  SB_CHECK_NOT_IMPLEMENTED(dtype != DType::Bool && !is_complex(dtype), "isin: not implemented for ",
                           to_string(dtype));
}
template <SizeType Int>
BasicTensorMeta<Int> isin_rule(const Tensor& elements, const Tensor& tests, bool, bool) {
  check_isin(elements.dtype());
  check_isin(tests.dtype());
  return {size_vector<Int>(elements), DType::Bool};
}
void isin_kernel(const Tensor& elements, const Tensor& tests, bool, bool invert,
                 const Tensor& out) {
  if (out.numel() == 0) return;
  const DType dtype = result_type({&elements, &tests});
  const Tensor all = cast_copy(tests, dtype);
  const int64_t itemsize = static_cast<int64_t>(all.itemsize());
  Keys known;
  if (all.numel() != 0) {
    read_keys(dtype, {static_cast<char*>(all.data_ptr()), itemsize, all.numel()}, &known);
  }
  std::sort(known.begin(), known.end());
  const Tensor looked_up = converted(elements, dtype);
  const Tensor* const operands[] = {&looked_up, &out};
  const int64_t cost = out.dim() == 0 ? 1 : 8 * out.sizes().back();
  for_each_row(operands, std::max<int64_t>(0, out.dim() - 1), cost, [&](const Row* rows) {
    Keys keys;
    read_keys(dtype, rows[0], &keys);
    for (int64_t i = 0; i < rows[0].size; ++i) {
      const SortKey key = keys[static_cast<size_t>(i)];
      const bool is_nan = has_nan(dtype) && key == kNanKey;
      const bool found = !is_nan && std::binary_search(known.begin(), known.end(), key);
      *reinterpret_cast<bool*>(rows[1].at(i)) = found != invert;
    }
  });
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, searchsorted)
      .structured<by_size_rule<searchsorted_rule<int64_t>, searchsorted_rule<SymInt>>,
                  searchsorted_kernel>()
      .out(searchsorted_out);
  define(m, bucketize)
      .structured<by_size_rule<bucketize_rule<int64_t>, bucketize_rule<SymInt>>, bucketize_kernel>()
      .out(bucketize_out);
  define(m, isin)
      .structured<by_size_rule<isin_rule<int64_t>, isin_rule<SymInt>>, isin_kernel>()
      .out(isin_out);

  // A number is looked up as a tensor of it.
  define(m, searchsorted_Scalar)
      .composite_explicit([](const Tensor& sequence, const Scalar& self, bool out_int32, bool right,
                             std::optional<std::string_view> side,
                             const std::optional<Tensor>& sorter) {
        return searchsorted(sequence, wrapped_scalar_tensor(self, sequence), out_int32, right, side,
                            sorter);
      })
      .out(searchsorted_Scalar_out);
  define(m, bucketize_Scalar)
      .composite_explicit(
          [](const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
            return bucketize(wrapped_scalar_tensor(self, boundaries), boundaries, out_int32, right);
          })
      .out(bucketize_Scalar_out);
  define(m, isin_Scalar_Tensor)
      .composite_explicit(
          [](const Scalar& element, const Tensor& tests, bool assume_unique, bool invert) {
            return isin(wrapped_scalar_tensor(element, tests), tests, assume_unique, invert);
          })
      .out(isin_Scalar_Tensor_out, [](const Scalar& element, const Tensor& tests,
                                      bool assume_unique, bool invert, const Tensor& out) {
        return isin_out(wrapped_scalar_tensor(element, tests), tests, assume_unique, invert, out);
      });
  define(m, isin_Tensor_Scalar)
      .composite_explicit(
          [](const Tensor& elements, const Scalar& test, bool assume_unique, bool invert) {
            return isin(elements, wrapped_scalar_tensor(test, elements), assume_unique, invert);
          })
      .out(isin_Tensor_Scalar_out, [](const Tensor& elements, const Scalar& test,
                                      bool assume_unique, bool invert, const Tensor& out) {
        return isin_out(elements, wrapped_scalar_tensor(test, elements), assume_unique, invert,
                        out);
      });
}

}  // namespace sb
