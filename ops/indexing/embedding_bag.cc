#include <algorithm>
#include <array>
#include <cmath>

#include "Eigen/Core"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/cat.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/copied_out.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/indexing/rows.h"
#include "switchboard/ops/tensor_iterator.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

bool is_index_dtype(DType t) { return t == DType::Int32 || t == DType::Int64; }

// Where PyTorch adds the bags up without knowing the bag of each index, and gives none.
bool skips_offset2bag(const Tensor& weight, int64_t mode, const std::optional<Tensor>& factors,
                      int64_t padding_idx) {
  return mode == kSum && (weight.dtype() == DType::Float32 || weight.dtype() == DType::Float16) &&
         weight.strides()[1] == 1 && padding_idx < 0 &&
         (!factors || !factors->defined() || factors->strides()[0] == 1);
}

template <bool with_gradient>
std::array<TensorMeta, 4> bag_rule(const Tensor& weight, const Tensor& indices,
                                   const Tensor& offsets, bool, int64_t mode, bool,
                                   const std::optional<Tensor>& per_sample_weights,
                                   bool include_last_offset, int64_t padding_idx) {
  constexpr const char* op = "embedding_bag";
  for (const Tensor* t : {&indices, &offsets}) {
    SB_CHECK(is_index_dtype(t->dtype()), op, ": indices and offsets: expected int32 or int64, got ",
             t->describe());
  }
  SB_CHECK(weight.dtype() == DType::Float16 || weight.dtype() == DType::Float32 ||
               weight.dtype() == DType::Float64,
           op, ": weight: not implemented for ", weight.describe());
  SB_CHECK(mode == kSum || mode == kMean || mode == kMax, op,
           ": mode: expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  if (per_sample_weights && per_sample_weights->defined()) {
    const Tensor& factors = *per_sample_weights;
    SB_CHECK(mode == kSum, op, ": per_sample_weights: only for mode 0 (sum)");
    SB_CHECK(factors.dtype() == weight.dtype(), op, ": per_sample_weights: expected ",
             to_string(weight.dtype()), ", got ", factors.describe());
    SB_CHECK(factors.dim() == 1 && factors.numel() == indices.numel(), op,
             ": per_sample_weights: expected a number for each of the indices, got ",
             factors.describe());
  }
  SB_CHECK_INDEX(offsets.dim() == 1, op, ": offsets: expected a vector, got ", offsets.describe());
  SB_CHECK_INDEX(weight.dim() >= 2 && indices.dim() >= 1, op,
                 ": expected a matrix and a vector, got ", weight.describe(), " and ",
                 indices.describe());
  SB_CHECK(!include_last_offset || offsets.numel() >= 1, op,
           ": include_last_offset: expected at least one offset");
  const int64_t bags = offsets.numel() - include_last_offset;
  const int64_t width = weight.sizes()[1];
  const DType index = promote_types(indices.dtype(), offsets.dtype());
  std::array<TensorMeta, 4> metas = {TensorMeta{{bags, width}, weight.dtype()},
                                     TensorMeta{{indices.sizes()[0]}, index},
                                     TensorMeta{{bags}, index}, TensorMeta{{bags}, index}};
  if (skips_offset2bag(weight, mode, per_sample_weights, padding_idx)) metas[1].sizes = {0};
  if (mode == kSum && !with_gradient) metas[2].sizes = {offsets.numel()};
  metas[3].sizes = metas[2].sizes;
  if (mode == kMax) metas[3].sizes.push_back(width);
  return metas;
}

// The bag of each index; the number of bags for those behind the last one.
std::vector<int64_t> bags_of(int64_t num_indices, const Tensor& offsets) {
  const Tensor wide = cast_copy(offsets, DType::Int64);
  const int64_t* const offset = wide.data<int64_t>();
  const int64_t n = wide.numel();
  if (n > 0) {
    SB_CHECK(offset[0] == 0, "embedding_bag: offsets[0]: expected 0, got ", offset[0]);
    for (int64_t i = 0; i < n; ++i) {
      SB_CHECK(offset[i] >= 0 && offset[i] <= num_indices, "embedding_bag: offsets[", i,
               "]: expected at most the number of indices, ", num_indices, ", got ", offset[i]);
    }
  }
  std::vector<int64_t> bags(static_cast<size_t>(num_indices), 0);
  for (int64_t i = 1; i < n; ++i) {
    if (offset[i] < num_indices) ++bags[static_cast<size_t>(offset[i])];
  }
  for (size_t i = 1; i < bags.size(); ++i) bags[i] += bags[i - 1];
  return bags;
}

void fill_zero(const Tensor& t) { copy_elements(t, cast_copy(index_vector({0}), t.dtype())); }

template <class T>
auto row_of(const Tensor& t, int64_t row) {
  const int64_t width = t.sizes()[1];
  return Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(t.data<T>() + row * width, width);
}

// Divides each row by its count, where that is not 0.
template <class T>
void divide_rows(const Tensor& rows, const std::vector<int64_t>& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) row_of<T>(rows, static_cast<int64_t>(i)) /= static_cast<T>(counts[i]);
  }
}

// `out` and `weight` are contiguous; the elements of `out` and `rows` are 0.
template <class T>
void max_rows(const Tensor& out, const Tensor& rows, const Tensor& weight, const RowMoves& moves) {
  std::vector<bool> begun(static_cast<size_t>(out.sizes()[0]), false);
  for (size_t i = 0; i < moves.from.size(); ++i) {
    auto bag = row_of<T>(out, moves.to[i]);
    auto chosen = row_of<int64_t>(rows, moves.to[i]);
    const auto row = row_of<T>(weight, moves.from[i]);
    const bool first = !begun[static_cast<size_t>(moves.to[i])];
    begun[static_cast<size_t>(moves.to[i])] = true;
    for (int64_t d = 0; d < row.size(); ++d) {
      if (!first && !(row[d] > bag[d])) continue;
      bag[d] = row[d];
      chosen[d] = moves.from[i];
    }
  }
}

void bag_kernel(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool,
                int64_t mode, bool, const std::optional<Tensor>& per_sample_weights, bool,
                int64_t padding_idx, const Tensor& out, const Tensor& offset2bag,
                const Tensor& bag_size, const Tensor& max_indices) {
  const int64_t num_bags = out.sizes()[0];
  const std::vector<int64_t> bags = bags_of(indices.sizes()[0], offsets);
  SB_CHECK_INDEX(indices.dim() == 1, "embedding_bag: indices: expected a vector, got ",
                 indices.describe());
  const Tensor places = cast_copy(indices, DType::Int64);
  check_indices<RuntimeError>("embedding_bag", places, 0, weight.sizes()[0]);
  SB_CHECK(weight.dim() == 2, "embedding_bag: weight: expected a matrix, got ", weight.describe());
  const bool weighted = per_sample_weights && per_sample_weights->defined();
  const Tensor factors = weighted ? cast_copy(*per_sample_weights, DType::Float64) : Tensor();

  RowMoves moves;
  std::vector<int64_t> counts(static_cast<size_t>(num_bags), 0);
  for (size_t i = 0; i < bags.size(); ++i) {
    const int64_t row = places.data<int64_t>()[i];
    if (bags[i] >= num_bags || row == padding_idx) continue;
    moves.add(row, bags[i]);
    if (weighted) moves.factor.push_back(factors.data<double>()[i]);
    ++counts[static_cast<size_t>(bags[i])];
  }

  // The 16-bit dtype is computed in float32.
  const DType dtype = compute_dtype(weight.dtype());
  const Tensor result = dtype == out.dtype() && out.is_contiguous() ? out : cast_copy(out, dtype);
  fill_zero(result);
  const auto compute = [&]<class T>() {
    if (mode != kMax) {
      add_rows(result, dtype == weight.dtype() ? weight : cast_copy(weight, dtype), moves);
      if (mode == kMean) divide_rows<T>(result, counts);
      return;
    }
    const Tensor rows = empty_on(Device(DeviceType::CPU), max_indices.sizes(), DType::Int64);
    fill_zero(rows);
    max_rows<T>(result, rows, cast_copy(weight, dtype), moves);
    copy_elements(max_indices, rows);
  };
  if (dtype == DType::Float64) {
    compute.template operator()<double>();
  } else {
    compute.template operator()<float>();
  }
  if (!result.is_same(out)) copy_elements(out, result);

  if (offset2bag.numel() != 0) copy_elements(offset2bag, index_vector(bags));
  if (mode == kSum) {
    fill_zero(bag_size);
  } else {
    copy_elements(bag_size, index_vector(counts));
  }
  if (mode != kMax) copy_elements(max_indices, bag_size);
}

TensorMeta dense_backward_rule(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                               const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool, int64_t mode,
                               const std::optional<Tensor>& per_sample_weights, int64_t) {
  constexpr const char* op = "_embedding_bag_dense_backward";
  SB_CHECK(mode == kSum || mode == kMean || mode == kMax, op,
           ": mode: expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  SB_CHECK(grad.dtype() == DType::Float32 || grad.dtype() == DType::Float64 ||
               (mode == kMax && grad.dtype() == DType::Float16),
           op, ": grad: not implemented for ", grad.describe());
  SB_CHECK_INDEX(grad.dim() == 2, op, ": grad: expected a matrix, got ", grad.describe());
  SB_CHECK(num_weights >= 0, op, ": num_weights: ", num_weights, " is negative");
  const TensorMeta meta{{num_weights, grad.sizes()[1]}, grad.dtype()};
  if (mode == kMax) {
    SB_CHECK_INDEX(maximum_indices.dim() == 2 && bag_size.dim() == 1, op,
                   ": expected a matrix of maximum_indices and a vector bag_size, got ",
                   maximum_indices.describe(), " and ", bag_size.describe());
    SB_CHECK_INDEX(bag_size.numel() == maximum_indices.sizes()[0] &&
                       bag_size.numel() == grad.sizes()[0] &&
                       grad.sizes()[1] == maximum_indices.sizes()[1],
                   op, ": maximum_indices ", maximum_indices.describe(), ", bag_size ",
                   bag_size.describe(), " and grad ", grad.describe(), " do not belong together");
    return meta;
  }
  SB_CHECK_INDEX(
      indices.dim() == 1 && offset2bag.dim() == 1 && indices.numel() <= offset2bag.numel(), op,
      ": expected vectors with a bag for each of the indices, got ", indices.describe(), " and ",
      offset2bag.describe());
  SB_CHECK(is_index_dtype(indices.dtype()) && offset2bag.dtype() == indices.dtype() &&
               bag_size.dtype() == indices.dtype(),
           op, ": indices, offset2bag and bag_size: expected one dtype, int32 or int64, got ",
           indices.describe(), ", ", offset2bag.describe(), " and ", bag_size.describe());
  if (per_sample_weights && per_sample_weights->defined()) {
    SB_CHECK_INDEX(per_sample_weights->dim() == 1 && per_sample_weights->numel() >= indices.numel(),
                   op, ": per_sample_weights: expected a number for each of the indices, got ",
                   per_sample_weights->describe());
    SB_CHECK(per_sample_weights->dtype() == grad.dtype(), op, ": per_sample_weights: expected ",
             to_string(grad.dtype()), ", got ", per_sample_weights->describe());
  }
  return meta;
}

void max_backward(const Tensor& grad, const Tensor& bag_size, const Tensor& maximum_indices,
                  const Tensor& out) {
  const Tensor sizes = cast_copy(bag_size, DType::Int64);
  const Tensor rows = cast_copy(maximum_indices, DType::Int64);
  check_indices<IndexError>("_embedding_bag_dense_backward", rows, 0, out.sizes()[0]);
  const Tensor wide = cast_copy(out, DType::Float64), from = cast_copy(grad, DType::Float64);
  fill_zero(wide);
  for (int64_t bag = 0; bag < sizes.numel(); ++bag) {
    if (sizes.data<int64_t>()[bag] == 0) continue;
    const auto g = row_of<double>(from, bag);
    const auto row = row_of<int64_t>(rows, bag);
    for (int64_t d = 0; d < g.size(); ++d) row_of<double>(wide, row[d])[d] += g[d];
  }
  copy_elements(out, wide);
}

void dense_backward_kernel(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                           const Tensor& bag_size, const Tensor& maximum_indices, int64_t,
                           bool scale_grad_by_freq, int64_t mode,
                           const std::optional<Tensor>& per_sample_weights, int64_t padding_idx,
                           const Tensor& out) {
  constexpr const char* op = "_embedding_bag_dense_backward";
  if (mode == kMax) {
    max_backward(grad, bag_size, maximum_indices, out);
    return;
  }
  fill_zero(out);
  const Tensor places = cast_copy(indices, DType::Int64),
               bags = cast_copy(offset2bag, DType::Int64);
  const Tensor sizes = cast_copy(bag_size, DType::Int64);
  const bool weighted = per_sample_weights && per_sample_weights->defined();
  const Tensor factors = weighted ? cast_copy(*per_sample_weights, DType::Float64) : Tensor();
  RowMoves moves;
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t row = places.data<int64_t>()[i], bag = bags.data<int64_t>()[i];
    if (row == padding_idx) continue;
    SB_CHECK_INDEX(row >= 0 && row < out.sizes()[0], op, ": index ", row,
                   " is out of range for num_weights ", out.sizes()[0]);
    SB_CHECK_INDEX(bag >= 0 && bag < grad.sizes()[0] && (mode == kSum || bag < sizes.numel()), op,
                   ": offset2bag: no bag ", bag);
    double factor = weighted ? factors.data<double>()[i] : 1;
    if (mode == kMean && sizes.data<int64_t>()[bag] != 0) {
      factor /= static_cast<double>(sizes.data<int64_t>()[bag]);
    }
    moves.add(bag, row);
    moves.factor.push_back(factor);
  }
  if (scale_grad_by_freq) {
    const std::vector<int64_t> counts = frequencies(moves.to);
    for (size_t i = 0; i < counts.size(); ++i) moves.factor[i] /= static_cast<double>(counts[i]);
  }
  add_rows(out, grad, moves);
}

TensorMeta sample_weights_rule(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                               const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
                               int64_t) {
  constexpr const char* op = "_embedding_bag_per_sample_weights_backward";
  SB_CHECK(mode == kSum, op, ": mode: expected 0 (sum), got ", mode);
  SB_CHECK(grad.dim() == 2 && weight.dim() == 2 && indices.dim() == 1 &&
               grad.sizes()[1] == weight.sizes()[1],
           op, ": expected two matrices of equally many columns and a vector, got ",
           grad.describe(), ", ", weight.describe(), " and ", indices.describe());
  SB_CHECK((grad.dtype() == DType::Float32 || grad.dtype() == DType::Float64) &&
               weight.dtype() == grad.dtype(),
           op, ": expected grad and weight of one dtype, float32 or float64, got ", grad.describe(),
           " and ", weight.describe());
  SB_CHECK(is_index_dtype(indices.dtype()) && is_index_dtype(offsets.dtype()), op,
           ": indices and offsets: expected int32 or int64, got ", indices.describe(), " and ",
           offsets.describe());
  SB_CHECK(indices.is_contiguous() && offset2bag.is_contiguous(), op,
           ": indices and offset2bag: expected contiguous tensors");
  SB_CHECK(offset2bag.numel() == 0 || offset2bag.numel() == indices.numel(), op,
           ": offset2bag: expected a bag for each of the indices, got ", offset2bag.describe());
  return {{indices.numel()}, grad.dtype()};
}
void sample_weights_kernel(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                           const Tensor& offsets, const Tensor& offset2bag, int64_t,
                           int64_t padding_idx, const Tensor& out) {
  constexpr const char* op = "_embedding_bag_per_sample_weights_backward";
  if (out.numel() == 0) return;
  const Tensor places = cast_copy(indices, DType::Int64);
  const Tensor bags = offset2bag.numel() == 0 ? index_vector(bags_of(indices.numel(), offsets))
                                              : cast_copy(offset2bag, DType::Int64);
  check_indices<IndexError>(op, bags, 0, grad.sizes()[0]);
  const auto compute = [&]<class T>() {
    const Tensor rows = cast_copy(weight, weight.dtype()), from = cast_copy(grad, grad.dtype());
    const Tensor result = cast_copy(out, out.dtype());
    for (int64_t i = 0; i < places.numel(); ++i) {
      const int64_t row = places.data<int64_t>()[i];
      T& sum = result.data<T>()[i] = 0;
      if (row == padding_idx) continue;
      SB_CHECK_INDEX(row >= 0 && row < weight.sizes()[0], op, ": index ", row,
                     " is out of range for weight ", weight.describe());
      sum = (row_of<T>(from, bags.data<int64_t>()[i]) * row_of<T>(rows, row)).sum();
    }
    copy_elements(out, result);
  };
  if (grad.dtype() == DType::Float64) {
    compute.template operator()<double>();
  } else {
    compute.template operator()<float>();
  }
}

Tensor bag_backward_kernel(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                           const Tensor& offset2bag, const Tensor& bag_size,
                           const Tensor& maximum_indices, int64_t num_weights,
                           bool scale_grad_by_freq, int64_t mode, bool sparse,
                           const std::optional<Tensor>& per_sample_weights, int64_t padding_idx) {
  constexpr const char* op = "_embedding_bag_backward";
  for (const Tensor* t : {&indices, &offsets, &offset2bag}) check_defined(op, *t);
  SB_CHECK_NOT_IMPLEMENTED(!sparse, op, ": sparse gradients are not implemented");
  SB_CHECK(is_index_dtype(indices.dtype()) && is_index_dtype(offsets.dtype()), op,
           ": indices and offsets: expected int32 or int64, got ", indices.describe(), " and ",
           offsets.describe());
  SB_CHECK(indices.is_contiguous() && offsets.is_contiguous(), op,
           ": indices and offsets: expected contiguous tensors");
  Tensor bags = offset2bag;
  if (indices.numel() != 0 && offset2bag.numel() == 0) {
    // A bag's size is the distance to the next offset.
    const int64_t n = offsets.size(0);
    const Tensor end = full({1}, indices.size(0), offsets.dtype(), std::nullopt, offsets.device());
    const Tensor next = cat({slice(offsets, 0, 1, n), end});
    bags = to_dtype(repeat_interleave_Tensor(sub(next, offsets), indices.size(0)), offsets.dtype());
  } else {
    SB_CHECK(is_index_dtype(offset2bag.dtype()) && offset2bag.is_contiguous(), op,
             ": offset2bag: expected a contiguous tensor of int32 or int64, got ",
             offset2bag.describe());
  }
  return _embedding_bag_dense_backward(grad, indices, bags, bag_size, maximum_indices, num_weights,
                                       scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

using Bags = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Bags embedding_bag_padding_kernel(const Tensor& weight, const Tensor& indices,
                                  const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                                  bool sparse, const std::optional<Tensor>& per_sample_weights,
                                  bool include_last_offset, std::optional<int64_t> padding_idx) {
  for (const Tensor* t : {&weight, &indices, &offsets}) check_defined("embedding_bag", *t);
  int64_t padding = -1;
  if (padding_idx) {
    const int64_t rows = weight.size(0);
    SB_CHECK(*padding_idx >= -rows && *padding_idx < rows,
             "embedding_bag: padding_idx: ", *padding_idx, " is not a row of weight, ",
             weight.describe());
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
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
  define_with_out<_embedding_bag, bag_rule<true>, bag_kernel>(m);
  define_with_out<_embedding_bag_forward_only, bag_rule<false>, bag_kernel>(m);
  define_with_out<_embedding_bag_dense_backward, dense_backward_rule, dense_backward_kernel>(m);
  define_with_out<_embedding_bag_per_sample_weights_backward, sample_weights_rule,
                  sample_weights_kernel>(m);
  m.define(_embedding_bag_backward);
  m.impl(_embedding_bag_backward, DispatchKey::CompositeImplicitAutograd, bag_backward_kernel);
  m.define(embedding_bag);
  m.impl(embedding_bag, DispatchKey::CompositeImplicitAutograd, embedding_bag_kernel);
  m.define(embedding_bag_padding_idx);
  m.impl(embedding_bag_padding_idx, DispatchKey::CompositeImplicitAutograd,
         embedding_bag_padding_kernel);
}

}  // namespace sb
