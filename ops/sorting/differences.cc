// diff and the trapezoids: composed of slices and arithmetic, with the derivatives of these.

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_bounds.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_joinable(const Tensor& self, const std::optional<Tensor>& other, int64_t dim) {
  if (!other || !other->defined()) return;
  SB_CHECK(other->dim() == self.dim(), "diff: expected prepend and append of ", self.dim(),
           " dimensions, got ", other->describe());
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    SB_CHECK(other->sym_size(d) == self.sym_size(d), "diff: expected prepend and append that fit ",
             self.describe(), ", got ", other->describe());
  }
}

void check_has_dimension(const Tensor& self) {
  SB_CHECK(self.dim() > 0, "diff: expected at least one dimension, got ", self.describe());
}

// self with what goes before and behind it.
Tensor joined(const Tensor& self, int64_t dim, const std::optional<Tensor>& prepend,
              const std::optional<Tensor>& append) {
  if (!is_given(prepend) && !is_given(append)) return self;
  const int64_t d = wrap_dim("diff", dim, self.dim());
  check_joinable(self, prepend, d);
  check_joinable(self, append, d);
  std::vector<Tensor> parts;
  if (is_given(prepend)) parts.push_back(*prepend);
  parts.push_back(self);
  if (is_given(append)) parts.push_back(*append);
  return cat(parts, d);
}

// The pair whose difference is wanted.
struct Neighbours {
  Tensor left;
  Tensor right;
  Neighbours(const Tensor& t, int64_t dim)
      : left(slice(t, dim, 0, larger(t.sym_size(dim) - 1, 0), 1)),
        right(slice(t, dim, smaller(1, t.sym_size(dim)), std::nullopt, 1)) {}
};

Tensor differences(Tensor t, int64_t n, int64_t dim) {
  for (int64_t i = 0; i < n; ++i) {
    const Neighbours pair(t, dim);
    t = t.dtype() == DType::Bool ? logical_xor(pair.right, pair.left) : sub(pair.right, pair.left);
  }
  return t;
}

// After as many steps as there are elements nothing is left.
int64_t most_steps(const Tensor& t, int64_t n, int64_t dim) {
  const SymInt size = t.sym_size(dim);
  return guard_size_oblivious(size >= n) ? n : guard_int(size);
}

Tensor diff_kernel(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                   const std::optional<Tensor>& append) {
  check_has_dimension(self);
  const Tensor t = joined(self, dim, prepend, append);
  SB_CHECK(n >= 0, "diff: argument n: expected at least 0, got ", n);
  if (n == 0) return clone(self);
  return differences(t, most_steps(t, n, dim), wrap_dim("diff", dim, t.dim()));
}

// The last difference is written to out, with the rules of its operator.
Tensor diff_out_kernel(const Tensor& self, int64_t n, int64_t dim,
                       const std::optional<Tensor>& prepend, const std::optional<Tensor>& append,
                       const Tensor& out) {
  check_has_dimension(self);
  SB_CHECK(n >= 0, "diff: n: expected no negative number, got ", n);
  const Tensor all = joined(self, dim, prepend, append);
  const Tensor& t = n == 0 ? self : all;
  const int64_t steps = n == 0 ? 0 : most_steps(t, n, dim);
  if (steps == 0) {
    SB_CHECK(out.dtype() == t.dtype(), "diff: out: expected ", to_string(t.dtype()), ", got ",
             out.describe());
    copy_result_to_out("diff", t, out);
    return out;
  }
  const int64_t d = wrap_dim("diff", dim, t.dim());
  const Neighbours pair(differences(t, steps - 1, d), d);
  return t.dtype() == DType::Bool ? logical_xor_out(pair.right, pair.left, out)
                                  : sub_out(pair.right, pair.left, 1, out);
}

void check_not_bool(const Tensor& t) {
  SB_CHECK_NOT_IMPLEMENTED(t.dtype() != DType::Bool, "trapezoid: bool is not supported, got ",
                           t.describe());
}
SymFloat real_step(const Scalar& dx) {
  SB_CHECK(!dx.is_complex(), "trapezoid: dx: expected a real number, got ", dx.to_string());
  return dx.to_sym_float();
}
// Whether there is no point. Of a number of them that only data tell there are some, which is
// checked once it is known.
bool has_no_point(const Tensor& y, int64_t dim) {
  const SymInt points = y.sym_size(dim);
  return same_size(points, SymInt(0)) || !expect_true(points != 0);
}
// The integral over nothing.
Tensor zeros_without(const Tensor& y, int64_t dim) {
  SymDimVector sizes(y.sym_sizes().begin(), y.sym_sizes().end());
  sizes.erase(sizes.begin() + wrap_dim("trapezoid", dim, y.dim()));
  return new_zeros(y, SymIntArrayRef(sizes));
}

// The distances of the points x, in a shape that broadcasts with y's.
Tensor steps_between(const Tensor& y, const Tensor& x, int64_t dim) {
  check_not_bool(y);
  check_not_bool(x);
  const int64_t d = wrap_dim("trapezoid", dim, y.dim());
  Tensor points = x;
  if (x.dim() == 1) {
    SB_CHECK(x.sym_size(0) == y.sym_size(d), "trapezoid: expected a point for each of ",
             y.sym_size(d).to_string(), " samples, got ", x.describe());
    SymDimVector sizes(static_cast<size_t>(y.dim()), 1);
    sizes[static_cast<size_t>(d)] = x.sym_size(0);
    points = view(x, SymIntArrayRef(sizes));
  } else if (x.dim() < y.dim()) {
    SymDimVector sizes(static_cast<size_t>(y.dim() - x.dim()), 1);
    sizes.insert(sizes.end(), x.sym_sizes().begin(), x.sym_sizes().end());
    points = view(x, SymIntArrayRef(sizes));
  }
  const Neighbours pair(points, dim);
  return sub(pair.right, pair.left);
}

Tensor trapezoid_kernel(const Tensor& y, const Scalar& dx, int64_t dim) {
  if (has_no_point(y, dim)) return zeros_without(y, dim);
  check_not_bool(y);
  const Scalar step = real_step(dx);
  const Tensor ends = add(select(y, dim, 0), select(y, dim, -1));
  return mul_Scalar(sub(sum(y, {dim}), mul_Scalar(ends, 0.5)), step);
}
Tensor trapezoid_x_kernel(const Tensor& y, const Tensor& x, int64_t dim) {
  if (has_no_point(y, dim)) return zeros_without(y, dim);
  const Tensor dx = steps_between(y, x, dim);
  const Neighbours pair(y, dim);
  return div_Scalar(sum(mul(dx, add(pair.left, pair.right)), {dim}), 2.0);
}
Tensor cumulative_trapezoid_kernel(const Tensor& y, const Scalar& dx, int64_t dim) {
  check_not_bool(y);
  const SymFloat half_step = real_step(dx) / 2.0;
  const Neighbours pair(y, dim);
  return cumsum(mul_Scalar(add(pair.left, pair.right), half_step), dim, std::nullopt);
}
Tensor cumulative_trapezoid_x_kernel(const Tensor& y, const Tensor& x, int64_t dim) {
  const Tensor dx = steps_between(y, x, dim);
  const Neighbours pair(y, dim);
  return cumsum(mul(div_Scalar(dx, 2.0), add(pair.left, pair.right)), dim, std::nullopt);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, diff).composed(diff_kernel).out(diff_out, diff_out_kernel);
  define(m, trapezoid).composed(trapezoid_kernel);
  define(m, trapezoid_x).composed(trapezoid_x_kernel);
  define(m, trapz).composed(
      [](const Tensor& y, double dx, int64_t dim) { return trapezoid(y, dx, dim); });
  define(m, trapz_x).composed([](const Tensor& y, const Tensor& x, int64_t dim) {
    return trapezoid_x(y, x, dim);
  });
  define(m, cumulative_trapezoid).composed(cumulative_trapezoid_kernel);
  define(m, cumulative_trapezoid_x).composed(cumulative_trapezoid_x_kernel);
}

}  // namespace sb
