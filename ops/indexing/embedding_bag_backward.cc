// The derivatives of embedding_bag.

#include "Eigen/Core"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/bags.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

TensorMeta dense_backward_rule(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                               const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool, int64_t mode,
                               const std::optional<Tensor>& per_sample_weights, int64_t) {
  constexpr const char* op = "_embedding_bag_dense_backward";
  SB_CHECK(mode == BagMode::kSum || mode == BagMode::kMean || mode == BagMode::kMax, op,
           ": mode: expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  SB_CHECK(is_floating_point(grad.dtype()), op, ": grad: not implemented for ", grad.describe());
  SB_CHECK_INDEX(grad.dim() == 2, op, ": grad: expected a matrix, got ", grad.describe());
  SB_CHECK(num_weights >= 0, op, ": num_weights: ", num_weights, " is negative");
  const TensorMeta meta{{num_weights, grad.sizes()[1]}, grad.dtype()};
  if (mode == BagMode::kMax) {
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
  if (is_given(per_sample_weights)) {
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
  const Tensor sizes = contiguous_as(bag_size, DType::Int64);
  const Tensor rows = contiguous_as(maximum_indices, DType::Int64);
  check_indices<IndexError>("_embedding_bag_dense_backward", rows, 0, out.sizes()[0]);
  const Tensor wide = cast_copy(out, DType::Float64), from = contiguous_as(grad, DType::Float64);
  fill_zero(wide);
  for (int64_t bag = 0; bag < sizes.numel(); ++bag) {
    if (sizes.data<int64_t>()[bag] == 0) continue;
    const absl::Span<double> g = row_of<double>(from, bag);
    const absl::Span<int64_t> row = row_of<int64_t>(rows, bag);
    for (size_t d = 0; d < g.size(); ++d) row_of<double>(wide, row[d])[d] += g[d];
  }
  copy_elements(out, wide);
}

void dense_backward_kernel(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                           const Tensor& bag_size, const Tensor& maximum_indices, int64_t,
                           bool scale_grad_by_freq, int64_t mode,
                           const std::optional<Tensor>& per_sample_weights, int64_t padding_idx,
                           const Tensor& out) {
  constexpr const char* op = "_embedding_bag_dense_backward";
  if (mode == BagMode::kMax) {
    max_backward(grad, bag_size, maximum_indices, out);
    return;
  }
  fill_zero(out);
  const Tensor places = contiguous_as(indices, DType::Int64),
               bags = contiguous_as(offset2bag, DType::Int64);
  const Tensor sizes = contiguous_as(bag_size, DType::Int64);
  const bool weighted = is_given(per_sample_weights);
  const Tensor factors = weighted ? contiguous_as(*per_sample_weights, DType::Float64) : Tensor();
  RowMoves moves;
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t row = places.data<int64_t>()[i], bag = bags.data<int64_t>()[i];
    if (row == padding_idx) continue;
    SB_CHECK_INDEX(row >= 0 && row < out.sizes()[0], op, ": index ", row,
                   " is out of range for num_weights ", out.sizes()[0]);
    SB_CHECK_INDEX(
        bag >= 0 && bag < grad.sizes()[0] && (mode == BagMode::kSum || bag < sizes.numel()), op,
        ": offset2bag: no bag ", bag);
    double factor = weighted ? factors.data<double>()[i] : 1;
    if (mode == BagMode::kMean && sizes.data<int64_t>()[bag] != 0) {
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
  SB_CHECK(mode == BagMode::kSum, op, ": mode: expected 0 (sum), got ", mode);
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
  const Tensor places = contiguous_as(indices, DType::Int64);
  const Tensor bags = offset2bag.numel() == 0 ? index_vector(bags_of(indices.numel(), offsets))
                                              : contiguous_as(offset2bag, DType::Int64);
  check_indices<IndexError>(op, bags, 0, grad.sizes()[0]);
  const auto compute = [&]<class T>() {
    using Row = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    const int64_t width = weight.sizes()[1];
    const Tensor rows = contiguous_as(weight, weight.dtype());
    const Tensor from = contiguous_as(grad, grad.dtype());
    const Tensor result = empty_on(Device(DeviceType::CPU), out.sizes(), out.dtype());
    for (int64_t i = 0; i < places.numel(); ++i) {
      const int64_t row = places.data<int64_t>()[i];
      T& sum = result.data<T>()[i] = 0;
      if (row == padding_idx) continue;
      SB_CHECK_INDEX(row >= 0 && row < weight.sizes()[0], op, ": index ", row,
                     " is out of range for weight ", weight.describe());
      const int64_t bag = bags.data<int64_t>()[i];
      sum =
          (Row(row_of<T>(from, bag).data(), width) * Row(row_of<T>(rows, row).data(), width)).sum();
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

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _embedding_bag_dense_backward)
      .structured<dense_backward_rule, dense_backward_kernel>()
      .out("out");
  define(m, _embedding_bag_per_sample_weights_backward)
      .structured<sample_weights_rule, sample_weights_kernel>()
      .out("out");
  define(m, _embedding_bag_backward).composed(bag_backward_kernel);
}

}  // namespace sb
