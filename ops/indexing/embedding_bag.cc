#include <algorithm>
#include <array>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/bags.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Where PyTorch adds the bags up without knowing the bag of each index, and gives none.
bool skips_offset2bag(const Tensor& weight, int64_t mode, const std::optional<Tensor>& factors,
                      int64_t padding_idx) {
  return mode == BagMode::kSum &&
         (weight.dtype() == DType::Float32 || weight.dtype() == DType::Float16) &&
         padding_idx < 0 && is_one(weight.sym_stride(1)) &&
         (!is_given(factors) || is_one(factors->sym_stride(0)));
}

template <SizeType Int, bool with_gradient>
std::array<BasicTensorMeta<Int>, 4> bag_rule(const Tensor& weight, const Tensor& indices,
                                             const Tensor& offsets, bool, int64_t mode, bool,
                                             const std::optional<Tensor>& per_sample_weights,
                                             bool include_last_offset, int64_t padding_idx) {
  constexpr const char* op = "embedding_bag";
  // What both are converted to counts.
  const DType index = promote_types(indices.dtype(), offsets.dtype());
  SB_CHECK(is_index_dtype(index), op, ": indices and offsets: expected int32 or int64, got ",
           indices.describe(), " and ", offsets.describe());
  SB_CHECK(is_floating_point(weight.dtype()), op, ": weight: not implemented for ",
           weight.describe());
  SB_CHECK(mode == BagMode::kSum || mode == BagMode::kMean || mode == BagMode::kMax, op,
           ": mode: expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  if (is_given(per_sample_weights)) {
    const Tensor& factors = *per_sample_weights;
    SB_CHECK(mode == BagMode::kSum, op, ": per_sample_weights: only for mode 0 (sum)");
    SB_CHECK(factors.dtype() == weight.dtype(), op, ": per_sample_weights: expected ",
             to_string(weight.dtype()), ", got ", factors.describe());
    SB_CHECK(factors.dim() == 1, op,
             ": per_sample_weights: expected a number for each of the indices, got ",
             factors.describe());
    SB_CHECK(numel_of<Int>(factors) == numel_of<Int>(indices), op,
             ": per_sample_weights: expected a number for each of the indices, got ",
             factors.describe());
  }
  SB_CHECK(offsets.dim() == 1, op, ": offsets: expected a vector, got ", offsets.describe());
  SB_CHECK(weight.dim() == 2, op, ": weight: expected a matrix, got ", weight.describe());
  SB_CHECK(indices.dim() >= 1, op, ": indices: expected a vector, got ", indices.describe());
  const Int given = numel_of<Int>(offsets);
  if (include_last_offset) {
    SB_CHECK(given >= 1, op, ": include_last_offset: expected at least one offset");
  }
  const Int bags = given - (include_last_offset ? 1 : 0);
  const Int width = sizes_of<Int>(weight)[1];
  using Meta = BasicTensorMeta<Int>;
  std::array<Meta, 4> metas = {Meta{{bags, width}, weight.dtype()},
                               Meta{{sizes_of<Int>(indices)[0]}, index}, Meta{{bags}, index},
                               Meta{{bags}, index}};
  if (skips_offset2bag(weight, mode, per_sample_weights, padding_idx)) metas[1].sizes = {Int(0)};
  if (mode == BagMode::kSum && !with_gradient) metas[2].sizes = {given};
  metas[3].sizes = metas[2].sizes;
  if (mode == BagMode::kMax) metas[3].sizes.push_back(width);
  return metas;
}

// The sizes of the bags, as PyTorch has them, which do not ask whether the offsets ascend: from one
// offset to the next, and from the last to the end of the indices, whether or not a last offset is
// included. Where an index is the padding, its bag has one less.
std::vector<int64_t> bag_sizes(int64_t num_bags, const Tensor& offsets, const Tensor& places,
                               const std::vector<int64_t>& bags, int64_t padding_idx) {
  const Tensor wide = contiguous_as(offsets, DType::Int64);
  const int64_t* const offset = num_bags == 0 ? nullptr : wide.data<int64_t>();
  std::vector<int64_t> counts(static_cast<size_t>(num_bags), 0);
  for (int64_t i = 0; i < num_bags; ++i) {
    const int64_t end = i + 1 < num_bags ? offset[i + 1] : static_cast<int64_t>(bags.size());
    counts[static_cast<size_t>(i)] = end - offset[i];
  }
  for (size_t i = 0; i < bags.size(); ++i) {
    if (places.data<int64_t>()[i] == padding_idx && bags[i] >= 0 && bags[i] < num_bags)
      --counts[static_cast<size_t>(bags[i])];
  }
  return counts;
}

// Divides each row by its count, where that is more than 1.
template <class T>
void divide_rows(const Tensor& rows, const std::vector<int64_t>& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 1) continue;
    for (T& v : row_of<T>(rows, static_cast<int64_t>(i))) v /= static_cast<T>(counts[i]);
  }
}

// The tensors are contiguous, and the elements of `out` and `chosen` 0. `rows` has row
// moves.from[i] of the weights at i.
template <class T>
void max_rows(const Tensor& out, const Tensor& chosen, const Tensor& rows, const RowMoves& moves) {
  std::vector<bool> begun(static_cast<size_t>(out.sizes()[0]), false);
  for (size_t i = 0; i < moves.from.size(); ++i) {
    const absl::Span<T> bag = row_of<T>(out, moves.to[i]);
    const absl::Span<int64_t> from = row_of<int64_t>(chosen, moves.to[i]);
    const absl::Span<T> row = row_of<T>(rows, static_cast<int64_t>(i));
    const bool first = !begun[static_cast<size_t>(moves.to[i])];
    begun[static_cast<size_t>(moves.to[i])] = true;
    for (size_t d = 0; d < row.size(); ++d) {
      if (!first && !(row[d] > bag[d])) continue;
      bag[d] = row[d];
      from[d] = moves.from[i];
    }
  }
}

void bag_kernel(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                int64_t mode, bool, const std::optional<Tensor>& per_sample_weights, bool,
                int64_t padding_idx, const Tensor& out, const Tensor& offset2bag,
                const Tensor& bag_size, const Tensor& max_indices) {
  const int64_t num_bags = out.sizes()[0];
  const std::vector<int64_t> bags = bags_of(indices.sizes()[0], offsets);
  SB_CHECK(indices.dim() == 1, "embedding_bag: indices: expected a vector, got ",
           indices.describe());
  const Tensor places = contiguous_as(indices, DType::Int64);
  check_indices<RuntimeError>("embedding_bag", places, 0, weight.sizes()[0]);
  SB_CHECK(weight.dim() == 2, "embedding_bag: weight: expected a matrix, got ", weight.describe());
  const bool weighted = is_given(per_sample_weights);
  const Tensor factors = weighted ? contiguous_as(*per_sample_weights, DType::Float64) : Tensor();

  RowMoves moves;
  const std::vector<int64_t> counts = bag_sizes(num_bags, offsets, places, bags, padding_idx);
  for (size_t i = 0; i < bags.size(); ++i) {
    const int64_t row = places.data<int64_t>()[i];
    if (bags[i] < 0 || bags[i] >= num_bags || row == padding_idx) continue;
    moves.add(row, bags[i]);
    if (weighted) moves.factor.push_back(factors.data<double>()[i]);
  }

  // The 16-bit dtype is computed in float32.
  const DType dtype = compute_dtype(weight.dtype());
  const Tensor result = contiguous_as(out, dtype);
  fill_zero(result);
  const auto compute = [&]<class T>() {
    if (mode != BagMode::kMax) {
      add_rows(result, weight, moves);
      if (mode == BagMode::kMean) divide_rows<T>(result, counts);
      return;
    }
    const Tensor chosen = empty_on(Device(DeviceType::CPU), max_indices.sizes(), DType::Int64);
    fill_zero(chosen);
    max_rows<T>(result, chosen, take_rows(weight, moves.from, dtype), moves);
    copy_elements(max_indices, chosen);
  };
  if (dtype == DType::Float64) {
    compute.template operator()<double>();
  } else {
    compute.template operator()<float>();
  }
  if (!result.is_same(out)) copy_elements(out, result);

  if (offset2bag.numel() != 0) copy_elements(offset2bag, index_vector(bags));
  if (mode == BagMode::kSum) {
    fill_zero(bag_size);
  } else {
    copy_elements(bag_size, index_vector(counts));
  }
  if (mode != BagMode::kMax) copy_elements(max_indices, bag_size);
}

using Bags = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Bags embedding_bag_padding_kernel(const Tensor& weight, const Tensor& indices,
                                  const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                                  bool sparse, const std::optional<Tensor>& per_sample_weights,
                                  bool include_last_offset, std::optional<int64_t> padding_idx) {
  for (const Tensor* t : {&weight, &indices, &offsets}) check_defined("embedding_bag", *t);
  int64_t padding = -1;
  if (padding_idx) {
    const SymInt rows = weight.sym_size(0), padding_row = *padding_idx;
    SB_CHECK(padding_row >= -rows && padding_row < rows,
             "embedding_bag: padding_idx: ", *padding_idx, " is not a row of weight, ",
             weight.describe());
    padding = *padding_idx < 0 ? *padding_idx + weight.size(0) : *padding_idx;
  }
  return _embedding_bag_forward_only(weight, contiguous(indices), contiguous(offsets),
                                     scale_grad_by_freq, mode, sparse, per_sample_weights,
                                     include_last_offset, padding);
}
Bags embedding_bag_kernel(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                          bool scale_grad_by_freq, int64_t mode, bool sparse,
                          const std::optional<Tensor>& per_sample_weights,
                          bool include_last_offset) {
  return embedding_bag_padding_kernel(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                                      per_sample_weights, include_last_offset, std::nullopt);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _embedding_bag)
      .structured<by_size_rule<bag_rule<int64_t, true>, bag_rule<SymInt, true>>, bag_kernel>()
      .out("out");
  define(m, _embedding_bag_forward_only)
      .structured<by_size_rule<bag_rule<int64_t, false>, bag_rule<SymInt, false>>, bag_kernel>()
      .out("out");
  define(m, embedding_bag).composed(embedding_bag_kernel);
  define(m, embedding_bag_padding_idx).composed(embedding_bag_padding_kernel);
}

}  // namespace sb
