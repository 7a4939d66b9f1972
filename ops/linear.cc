// matmul and linear: compositions of the products in matmul.cc.

#include "switchboard/core/checked_math.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/matmul.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/views.h"

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

DimVector with_last(IntArrayRef sizes, std::initializer_list<int64_t> last) {
  DimVector result(sizes.begin(), sizes.end());
  result.insert(result.end(), last.begin(), last.end());
  return result;
}

// (*, n, k) @ (k, m) or (*, n, k) @ (k) as one product of matrices.
Tensor fold_batch(const Tensor& batched, const Tensor& other) {
  const IntArrayRef batch = batched.sizes().first(batched.sizes().size() - 1);
  const Tensor rows = reshape(batched, {checked_numel(batch), batched.size(-1)});
  if (other.dim() == 1) return _unsafe_view(mv(rows, other), batch);
  return _unsafe_view(mm(rows, other), with_last(batch, {other.size(1)}));
}

// As `at::infer_size`, of batch dimensions.
DimVector broadcast_batch(IntArrayRef a, IntArrayRef b) {
  DimVector result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    SB_CHECK(x == y || x == 1 || y == 1, "matmul: batch dimensions ", shape_text(a), " and ",
             shape_text(b), " do not broadcast");
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
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
  if (b <= 2) return fold_batch(self, other);
  // The product transposed: (*, m, k) @ (k, n) gives (*, m, n).
  if (a == 1) return fold_batch(swap_last(other), self);
  if (a == 2) {
    return clone(swap_last(fold_batch(swap_last(other), t(self))), MemoryFormat::Contiguous);
  }
  const size_t batch_a = static_cast<size_t>(a - 2);
  const size_t batch_b = static_cast<size_t>(b - 2);
  const DimVector batch =
      broadcast_batch(self.sizes().first(batch_a), other.sizes().first(batch_b));
  const int64_t count = checked_numel(batch);
  const int64_t n = self.size(-2);
  const int64_t m = other.size(-1);
  const Tensor lhs =
      reshape(expand(self, with_last(batch, {n, self.size(-1)})), {count, n, self.size(-1)});
  const Tensor rhs =
      reshape(expand(other, with_last(batch, {other.size(-2), m})), {count, other.size(-2), m});
  return _unsafe_view(bmm(lhs, rhs), with_last(batch, {n, m}));
}

Tensor linear_kernel(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  check_defined("linear: input", input);
  check_defined("linear: weight", weight);
  const Tensor transposed = t(weight);
  if (!bias || !bias->defined()) return matmul(input, transposed);
  if (input.dim() == 2) return addmm(*bias, input, transposed);
  if (input.dim() == 3 && input.is_contiguous() && weight.dim() == 2) {
    const Tensor rows = reshape(input, {checked_mul(input.size(0), input.size(1)), input.size(2)});
    return view(addmm(*bias, rows, transposed), {input.size(0), input.size(1), weight.size(0)});
  }
  return add_(matmul(input, transposed), *bias);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto composite = DispatchKey::CompositeImplicitAutograd;
  m.define(matmul);
  m.impl(matmul, composite, matmul_kernel);
  m.define(matmul_out);
  m.impl(matmul_out, composite, [](const Tensor& self, const Tensor& other, const Tensor& out) {
    return write_out("matmul", out, matmul(self, other));
  });
  m.define(linear);
  m.impl(linear, composite, linear_kernel);
  m.define(linear_out);
  m.impl(linear_out, composite,
         [](const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
            const Tensor& out) { return write_out("linear", out, linear(input, weight, bias)); });
}

}  // namespace sb
