// matmul and linear: compositions of the products in matmul.cc.

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Ends an out= call whose result is ready: unlike a copy, it refuses another dtype.
Tensor write_out(const char* op, const Tensor& out, const Tensor& result) {
  check_defined(op, out);
  SB_CHECK(out.dtype() == result.dtype(), op, ": expected out tensor to have dtype ",
           to_string(result.dtype()), ", but got ", to_string(out.dtype()));
  copy_result_to_out(op, result, out);
  return out;
}

// The last two dimensions swapped.
Tensor swap_last(const Tensor& t) { return transpose(t, -2, -1); }

template <SizeType Int>
SizeVector<Int> with_last(SizesRef<Int> sizes, std::initializer_list<Int> last) {
  SizeVector<Int> result(sizes.begin(), sizes.end());
  result.insert(result.end(), last.begin(), last.end());
  return result;
}
template <SizeType Int>
Tensor reshaped(const Tensor& t, const SizeVector<Int>& sizes) {
  return reshape(t, SizesRef<Int>(sizes));
}

// (*, n, k) @ (k, m) or (*, n, k) @ (k) as one product of matrices.
template <SizeType Int>
Tensor folded_batch(const Tensor& batched, const Tensor& other) {
  const SizesRef<Int> sizes = sizes_of<Int>(batched), batch = sizes.first(sizes.size() - 1);
  const Tensor rows = reshaped<Int>(batched, {product_of_sizes<Int>(batch), sizes.back()});
  if (other.dim() == 1) return _unsafe_view(mv(rows, other), batch);
  const SizeVector<Int> result = with_last<Int>(batch, {sizes_of<Int>(other)[1]});
  return _unsafe_view(mm(rows, other), SizesRef<Int>(result));
}
Tensor fold_batch(const Tensor& batched, const Tensor& other) {
  return by_size(any_symbolic(batched, other),
                 [&]<class Int>() { return folded_batch<Int>(batched, other); });
}

// (*, n, k) @ (*, k, m), whose batch dimensions broadcast, as one batch of matrices; one of them
// may be a vector, (k).
template <SizeType Int>
Tensor batched_product(const Tensor& self, const Tensor& other) {
  const SizesRef<Int> a = sizes_of<Int>(self), b = sizes_of<Int>(other);
  const auto batch_of = [](SizesRef<Int> sizes) {
    return sizes.first(sizes.size() > 1 ? sizes.size() - 2 : 0);
  };
  const SizesRef<Int> batch_a = batch_of(a), batch_b = batch_of(b);
  const SizeVector<Int> batch =
      broadcast_sizes<Int>(batch_a, batch_b, [&](const auto& same, size_t) {
        SB_CHECK(same, "matmul: batch dimensions ", shape_text(batch_a), " and ",
                 shape_text(batch_b), " do not broadcast");
      });
  const Int count = product_of_sizes<Int>(batch), one = 1;
  const Int &n = a.size() > 1 ? a[a.size() - 2] : one, &k = b.size() > 1 ? b[b.size() - 2] : b[0],
            &m = b.size() > 1 ? b.back() : one;
  const auto as_one_batch = [&](const Tensor& t, std::initializer_list<Int> last) {
    const SizeVector<Int> sizes = with_last<Int>(batch, last);
    const SizeVector<Int> flat = with_last<Int>(SizesRef<Int>(&count, 1), last);
    return reshaped<Int>(expand(t, SizesRef<Int>(sizes)), flat);
  };
  const Tensor lhs = as_one_batch(self, {n, a.back()});
  // A vector broadcasts as a row, but stands for a column.
  const Tensor rhs =
      b.size() > 1 ? as_one_batch(other, {k, m}) : unsqueeze(as_one_batch(other, {k}), 2);
  SizeVector<Int> result = batch;
  if (a.size() > 1) result.push_back(n);
  if (b.size() > 1) result.push_back(m);
  return _unsafe_view(bmm(lhs, rhs), SizesRef<Int>(result));
}

// Whether a batch and a matrix or a vector are multiplied as one product of matrices. As PyTorch:
// where that copies nothing; or where the smaller one has a gradient, which would be one for each
// of the batch.
bool folds(const Tensor& self, const Tensor& other) {
  const bool self_is_larger = self.dim() >= other.dim();
  const Tensor larger = self_is_larger ? self : swap_last(other);
  const Tensor& smaller = self_is_larger ? other : self;
  if (larger.dim() < 3 || smaller.dim() > 2) return false;
  if (internal::grad_hooks->requires_grad(smaller)) return true;
  // The result would be that of a transposed product, and copied.
  if (self.dim() == 2) return false;
  const SymIntArrayRef sizes = larger.sym_sizes(), strides = larger.sym_strides();
  for (const SymInt& size : sizes)
    if (known(size == 0)) return true;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) {
    // A contiguous tensor has strides of max(size, 1), where sizes are symbols.
    const SymInt next = strides[d + 1] * sizes[d + 1],
                 least = strides[d + 1] * sym_max(sizes[d + 1], 1);
    if (!known(strides[d] == next) && !known(strides[d] == least)) return false;
  }
  return true;
}

Tensor matmul_kernel(const Tensor& self, const Tensor& other) {
  check_defined("matmul: self", self);
  check_defined("matmul: other", other);
  const int64_t a = self.dim();
  const int64_t b = other.dim();
  SB_CHECK(a >= 1 && b >= 1, "matmul: expected at least one dimension each, got ", self.describe(),
           " and ", other.describe());
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return squeeze_dim(mm(unsqueeze(self, 0), other), 0);
  if (a == 2 && b == 2) return mm(self, other);
  if (folds(self, other)) {
    if (b <= 2) return fold_batch(self, other);
    // The product transposed: (*, m, k) @ (k, n) gives (*, m, n).
    if (a == 1) return fold_batch(swap_last(other), self);
    return contiguous(swap_last(fold_batch(swap_last(other), t(self))));
  }
  return by_size(any_symbolic(self, other),
                 [&]<class Int>() { return batched_product<Int>(self, other); });
}

// (n, m, k) as n * m rows.
template <SizeType Int>
Tensor linear_of_rows(const Tensor& input, const Tensor& weight, const Tensor& transposed,
                      const Tensor& bias) {
  const SizesRef<Int> sizes = sizes_of<Int>(input);
  const Tensor rows = reshaped<Int>(input, {product_of(sizes[0], sizes[1]), sizes[2]});
  const Int result[] = {sizes[0], sizes[1], sizes_of<Int>(weight)[0]};
  return view(addmm(bias, rows, transposed), SizesRef<Int>(result, 3));
}

Tensor linear_kernel(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  check_defined("linear: input", input);
  check_defined("linear: weight", weight);
  const Tensor transposed = t(weight);
  if (!bias || !bias->defined()) return matmul(input, transposed);
  if (input.dim() == 2) return addmm(*bias, input, transposed);
  const bool symbolic = any_symbolic(input, weight);
  if (input.dim() == 3 && weight.dim() == 2 && input.is_contiguous()) {
    return by_size(symbolic, [&]<class Int>() {
      return linear_of_rows<Int>(input, weight, transposed, *bias);
    });
  }
  return add_(matmul(input, transposed), *bias);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, matmul)
      .composed(matmul_kernel)
      .out(matmul_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        return write_out("matmul", out, matmul(self, other));
      });
  define(m, linear)
      .composed(linear_kernel)
      .out(linear_out,
           [](const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Tensor& out) { return write_out("linear", out, linear(input, weight, bias)); });
}

}  // namespace sb
