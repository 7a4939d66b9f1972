#include "switchboard/ops/indexing/embedding.h"

#include <algorithm>
#include <cmath>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/rows.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_index_dtype(const char* op, const Tensor& indices) {
  SB_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32, op,
           ": indices: expected int32 or int64, got ", indices.describe());
}

Tensor embedding_kernel(const Tensor& weight, const Tensor& indices, const SymInt&, bool, bool) {
  check_defined("embedding: weight", weight);
  check_defined("embedding: indices", indices);
  SB_CHECK(weight.dim() == 2, "embedding: weight: expected 2 dimensions, got ", weight.describe());
  check_index_dtype("embedding", indices);
  if (indices.dim() == 1) return index_select(weight, 0, indices);
  return by_size(any_symbolic(weight, indices), [&]<class Int>() {
    SizeVector<Int> sizes = size_vector<Int>(indices);
    sizes.push_back(sizes_of<Int>(weight)[1]);
    return view(index_select(weight, 0, reshape(indices, {-1})), SizesRef<Int>(sizes));
  });
}

template <SizeType Int>
BasicTensorMeta<Int> embedding_dense_backward_rule(const Tensor& grad, const Tensor& indices,
                                                   const SymInt& num_weights, const SymInt&, bool) {
  check_index_dtype("embedding_dense_backward", indices);
  SB_CHECK(num_weights >= 0, "embedding_dense_backward: num_weights: ", size_text(num_weights),
           " is negative");
  SB_CHECK_INDEX(grad.dim() > 0, "embedding_dense_backward: grad ", grad.describe(),
                 " has no dimensions");
  const Int width = sizes_of<Int>(grad).back();
  SB_CHECK(product_of(numel_of<Int>(indices), width) == numel_of<Int>(grad),
           "embedding_dense_backward: expected a row of grad for each of the indices, got ",
           grad.describe(), " and ", indices.describe());
  return {{size_as<Int>(num_weights), width}, grad.dtype()};
}
void embedding_dense_backward_kernel(const Tensor& grad, const Tensor& indices, const SymInt& count,
                                     const SymInt& padding, bool scale_grad_by_freq,
                                     const Tensor& out) {
  const int64_t num_weights = count.expect_int(), padding_idx = padding.expect_int();
  fill_zero(out);
  if (grad.numel() == 0) return;
  const Tensor places = contiguous_as(indices, DType::Int64);
  const int64_t* const place = places.data<int64_t>();
  RowMoves moves;
  for (int64_t i = 0; i < places.numel(); ++i) {
    if (place[i] != padding_idx && place[i] >= 0 && place[i] < num_weights) {
      moves.add(i, place[i]);
    }
  }
  if (scale_grad_by_freq) {
    for (int64_t count : frequencies(moves.to))
      moves.factor.push_back(1.0 / static_cast<double>(count));
  }
  const Tensor rows = contiguous_as(grad, grad.dtype());
  add_rows(out, view(rows, {places.numel(), out.sizes()[1]}), moves);
}

Tensor embedding_backward_kernel(const Tensor& grad, const Tensor& indices,
                                 const SymInt& num_weights, const SymInt& padding_idx,
                                 bool scale_grad_by_freq, bool sparse) {
  SB_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_backward: sparse gradients are not implemented");
  return embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

void check_renorm(const Tensor& self, const Tensor& indices) {
  check_defined("embedding_renorm: self", self);
  check_defined("embedding_renorm: indices", indices);
  internal::check_arguments("embedding_renorm", {&self, &indices});
  SB_CHECK(self.dim() == 2, "embedding_renorm: self: expected 2 dimensions, got ", self.describe());
  check_index_dtype("embedding_renorm", indices);
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()),
                           "embedding_renorm: not implemented for ", to_string(self.dtype()));
  check_no_internal_overlap(self);
}
double norm_of(const double* row, int64_t n, double p) {
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::abs(row[i]);
    largest = std::isnan(v) || v > largest ? v : largest;
    sum += p == 0 ? (v != 0) : p == 1 ? v : p == 2 ? v * v : std::pow(v, p);
  }
  if (std::isinf(p)) return largest;
  return p == 0 || p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}
Tensor embedding_renorm_cpu(const Tensor& self, const Tensor& indices, double max_norm,
                            double norm_type) {
  check_renorm(self, indices);
  const Tensor places = contiguous_as(indices, DType::Int64);
  check_indices<IndexError>("embedding_renorm", places, 0, self.sizes()[0]);
  std::vector<int64_t> rows(places.data<int64_t>(), places.data<int64_t>() + places.numel());
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  for (int64_t r : rows) {
    const Tensor row = select(self, 0, r);
    const Tensor wide = cast_copy(row, DType::Float64);
    const int64_t n = wide.numel();
    double* const values = wide.data<double>();
    const double norm = norm_of(values, n, norm_type);
    if (!(norm > max_norm)) continue;
    const double scale = max_norm / (norm + 1e-7);
    for (int64_t i = 0; i < n; ++i) values[i] *= scale;
    copy_elements(row, wide);
  }
  return self;
}
Tensor embedding_renorm_meta(const Tensor& self, const Tensor& indices, double, double) {
  check_renorm(self, indices);
  return self;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, embedding).composite_explicit(embedding_kernel).out(embedding_out);
  define(m, embedding_dense_backward)
      .structured<by_size_rule<embedding_dense_backward_rule<int64_t>,
                               embedding_dense_backward_rule<SymInt>>,
                  embedding_dense_backward_kernel>()
      .out(embedding_dense_backward_out, kCopiedOut);
  define(m, embedding_backward).composed(embedding_backward_kernel);
  define(m, embedding_renorm, Tag::derived_through)
      .on_clone(embedding_renorm_)
      .out(embedding_renorm_out);
  define(m, embedding_renorm_).cpu(embedding_renorm_cpu).meta(embedding_renorm_meta);
}

}  // namespace sb
