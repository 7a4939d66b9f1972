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
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
BasicTensorMeta<Int> dense_backward_rule(const Tensor& grad, const Tensor& indices,
                                         const Tensor& offset2bag, const Tensor& bag_size,
                                         const Tensor& maximum_indices, const Int& num_weights,
                                         bool, int64_t mode,
                                         const std::optional<Tensor>& per_sample_weights, int64_t) {
  constexpr const char* op = "_embedding_bag_dense_backward";
  SB_CHECK(mode == BagMode::kSum || mode == BagMode::kMean || mode == BagMode::kMax, op,
           ": mode: expected 0 (sum), 1 (mean) or 2 (max), got ", mode);
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(grad.dtype()), op, ": grad: not implemented for ",
                           grad.describe());
  SB_CHECK_INDEX(grad.dim() == 2, op, ": grad: expected a matrix, got ", grad.describe());
  SB_CHECK(num_weights >= 0, op, ": num_weights: ", size_text(num_weights), " is negative");
  const BasicTensorMeta<Int> meta{{num_weights, sizes_of<Int>(grad)[1]}, grad.dtype()};
  if (mode == BagMode::kMax) {
    SB_CHECK_INDEX(maximum_indices.dim() == 2 && bag_size.dim() == 1, op,
                   ": expected a matrix of maximum_indices and a vector bag_size, got ",
                   maximum_indices.describe(), " and ", bag_size.describe());
    const Int bags = numel_of<Int>(bag_size);
    const Int expected[] = {bags, sizes_of<Int>(grad)[1]};
    SB_CHECK_INDEX(equal_sizes<Int>(sizes_of<Int>(maximum_indices), expected) &
                       equal_sizes<Int>(sizes_of<Int>(grad), expected),
                   op, ": maximum_indices ", maximum_indices.describe(), ", bag_size ",
                   bag_size.describe(), " and grad ", grad.describe(), " do not belong together");
    return meta;
  }
  const auto check_bags = [&](const auto& fits) {
    SB_CHECK_INDEX(fits, op, ": expected vectors with a bag for each of the indices, got ",
                   indices.describe(), " and ", offset2bag.describe());
  };
  check_bags(indices.dim() == 1 && offset2bag.dim() == 1);
  check_bags(numel_of<Int>(indices) <= numel_of<Int>(offset2bag));
  SB_CHECK(is_index_dtype(indices.dtype()) && offset2bag.dtype() == indices.dtype() &&
               bag_size.dtype() == indices.dtype(),
           op, ": indices, offset2bag and bag_size: expected one dtype, int32 or int64, got ",
           indices.describe(), ", ", offset2bag.describe(), " and ", bag_size.describe());
  if (is_given(per_sample_weights)) {
    const auto check_weights = [&](const auto& fits) {
      SB_CHECK_INDEX(fits, op, ": per_sample_weights: expected a number for each of the indices, ",
                     "got ", per_sample_weights->describe());
    };
    check_weights(per_sample_weights->dim() == 1);
    check_weights(numel_of<Int>(*per_sample_weights) >= numel_of<Int>(indices));
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
                           const Tensor& bag_size, const Tensor& maximum_indices, const SymInt&,
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

template <SizeType Int>
BasicTensorMeta<Int> sample_weights_rule(const Tensor& grad, const Tensor& weight,
                                         const Tensor& indices, const Tensor& offsets,
                                         const Tensor& offset2bag, int64_t mode, int64_t) {
  constexpr const char* op = "_embedding_bag_per_sample_weights_backward";
  SB_CHECK(mode == BagMode::kSum, op, ": mode: expected 0 (sum), got ", mode);
  const auto check_shapes = [&](const auto& fit) {
    SB_CHECK(fit, op, ": expected two matrices of equally many columns and a vector, got ",
             grad.describe(), ", ", weight.describe(), " and ", indices.describe());
  };
  check_shapes(grad.dim() == 2 && weight.dim() == 2 && indices.dim() == 1);
  check_shapes(sizes_of<Int>(grad)[1] == sizes_of<Int>(weight)[1]);
  SB_CHECK((grad.dtype() == DType::Float32 || grad.dtype() == DType::Float64) &&
               weight.dtype() == grad.dtype(),
           op, ": expected grad and weight of one dtype, float32 or float64, got ", grad.describe(),
           " and ", weight.describe());
  SB_CHECK(is_index_dtype(indices.dtype()) && is_index_dtype(offsets.dtype()), op,
           ": indices and offsets: expected int32 or int64, got ", indices.describe(), " and ",
           offsets.describe());
  SB_CHECK(indices.is_contiguous() && offset2bag.is_contiguous(), op,
           ": indices and offset2bag: expected contiguous tensors");
  const Int bags = numel_of<Int>(offset2bag), count = numel_of<Int>(indices);
  const auto is_full = bags == count;
  SB_CHECK(known(is_full) ? is_full : sym_or(is_full, bags == Int(0)), op,
           ": offset2bag: expected a bag for each of the indices, got ", offset2bag.describe());
  return {{count}, grad.dtype()};
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
                           const Tensor& maximum_indices, const SymInt& num_weights,
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
  // Where there are no indices, either way gives no bags.
  if (same_size(offset2bag.sym_numel(), 0) && !same_size(indices.sym_numel(), 0)) {
    // A bag's size is the distance to the next offset.
    const SymInt n = offsets.sym_size(0), count = indices.sym_size(0);
    const Tensor end = full({1}, count, offsets.dtype(), std::nullopt, offsets.device());
    const Tensor next = cat({slice(offsets, 0, 1, n), end});
    bags = to_dtype(repeat_interleave_Tensor(sub(next, offsets), count), offsets.dtype());
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
      .structured<by_size_rule<dense_backward_rule<int64_t>, dense_backward_rule<SymInt>>,
                  dense_backward_kernel>()
      .out("out");
  define(m, _embedding_bag_per_sample_weights_backward)
      .structured<by_size_rule<sample_weights_rule<int64_t>, sample_weights_rule<SymInt>>,
                  sample_weights_kernel>()
      .out("out");
  define(m, _embedding_bag_backward).composed(bag_backward_kernel);
}

}  // namespace sb
