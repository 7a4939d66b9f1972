// Writing to views, and to what views are of.

#include "switchboard/ops/views/views.h"

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;
using test::values_of;
using Values = std::vector<double>;

Tensor leaf(std::vector<int64_t> sizes, const Values& values) {
  Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}
Tensor number(double v) { return full({}, v, DType::Float64); }

TEST_CASE("a write counts for the tensor, its views and its base") {
  const Tensor x = zeros({2, 2});
  const Tensor row = select(x, 0, 0);
  CHECK(row.version() == x.version());
  const uint32_t before = x.version();
  add_(row, number(1));
  CHECK(x.version() == before + 1);
  zero_(x);
  CHECK(row.version() == before + 2);
}

TEST_CASE("base_of is the first tensor of a chain of views") {
  const Tensor x = zeros({2, 3});
  const Tensor v = select(transpose(x, 0, 1), 0, 1);
  CHECK(base_of(v).is_same(x));
  CHECK_FALSE(base_of(x).defined());
}

TEST_CASE("writing to a view gives the base a gradient through what was written") {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = clone(x);
  const Tensor row = select(y, 0, 0);
  mul_(row, number(10));
  CHECK(values_of(y) == Values{10, 20, 3, 4});
  CHECK(grad_fn(y)->name() == "CopySlices of aten::mul.Tensor backward");
  backward({y}, {tensor_of({2, 2}, {1, 2, 3, 4}, DType::Float64)});
  CHECK(values_of(grad_of(x)) == Values{10, 20, 3, 4});
}

TEST_CASE("what is written to a view has a gradient, and what it covers has none") {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor w = leaf({2}, {5, 6});
  const Tensor y = clone(x);
  copy_(select(y, 1, 0), w);
  backward({y}, {tensor_of({2, 2}, {1, 2, 3, 4}, DType::Float64)});
  CHECK(values_of(grad_of(x)) == Values{0, 2, 0, 4});
  CHECK(values_of(grad_of(w)) == Values{1, 3});
}

TEST_CASE("writing to a base that requires nothing makes it require a gradient") {
  const Tensor w = leaf({2}, {5, 6});
  const Tensor y = zeros({2, 2}, DType::Float64);
  const Tensor other = select(y, 0, 1);
  copy_(select(y, 0, 0), w);
  CHECK(requires_grad(y));
  CHECK(requires_grad(other));
  backward(sum_all(mul(y, y)));
  CHECK(values_of(grad_of(w)) == Values{10, 12});
}

TEST_CASE("a view that is older than a write to its base is made anew from it") {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = clone(x);
  const Tensor column = select(y, 1, 1);
  mul_(y, number(3));
  CHECK(grad_fn(column)->name() == "aten::as_strided backward");
  backward({column}, {tensor_of({2}, {1, 10}, DType::Float64)});
  CHECK(values_of(grad_of(x)) == Values{0, 3, 0, 30});
}

TEST_CASE("views of another dtype are made anew by their operators") {
  const Tensor x = leaf({2, 2}, {1, 2, 3, 4});
  const Tensor y = clone(x);
  const Tensor z = view_as_complex(y);
  mul_(select(view_as_real(z), 1, 0), number(5));
  CHECK(values_of(y) == Values{5, 2, 15, 4});
  backward({y}, {ones({2, 2}, DType::Float64)});
  CHECK(values_of(grad_of(x)) == Values{5, 1, 5, 1});
}

TEST_CASE("leaves that require a gradient, and views of them, are not written to") {
  const Tensor x = leaf({2}, {1, 2});
  CHECK_THROWS_WITH(add_(x, x),
                    "aten::add_.Tensor: a leaf that requires a gradient is written to; write under "
                    "no_grad, or to a clone");
  CHECK_THROWS_WITH(add_(select(x, 0, 0), number(1)),
                    "aten::add_.Tensor: a view of a leaf that requires a gradient is written to; "
                    "write under no_grad, or to a clone");
  CHECK(values_of(x) == Values{1, 2});
  const NoGradGuard guard;
  add_(x, x);
  CHECK(values_of(x) == Values{2, 4});
}

TEST_CASE("one of several views that came at once is not written to") {
  const Tensor y = clone(leaf({2}, {1, 2}));
  const std::vector<Tensor> parts = unbind(y, 0);
  CHECK_THROWS_WITH(add_(parts[0], number(1)),
                    Catch::Contains("got one of several views that an operator returned at once"));
}

TEST_CASE("a view made under no_grad is not written to while gradients are recorded") {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = clone(x);
  Tensor v;
  {
    const NoGradGuard guard;
    v = select(y, 0, 0);
  }
  CHECK_THROWS_WITH(mul_(v, select(x, 0, 1)), Catch::Contains("got one made under no_grad"));
}

TEST_CASE("one of several views that came at once is not used once its base was written to") {
  const Tensor y = clone(leaf({2, 2}, {1, 2, 3, 4}));
  const std::vector<Tensor> rows = unbind(y);
  mul_(y, number(2));
  CHECK_THROWS_WITH(mul(rows[0], number(3)),
                    Catch::Contains("one of several views that an operator returned at once") &&
                        Catch::Contains("written to since"));
  const NoGradGuard off;
  CHECK(values_of(mul(rows[0], number(3))) == Values{6, 12});
}

TEST_CASE("a view made under no_grad is not used once its base was written to") {
  const Tensor y = clone(leaf({2, 2}, {1, 2, 3, 4}));
  const Tensor row = [&] {
    const NoGradGuard off;
    return select(y, 0, 0);
  }();
  mul_(y, number(2));
  CHECK_THROWS_WITH(mul(row, number(3)), Catch::Contains("made while gradients were not recorded"));
}

TEST_CASE("an element that a view has several times gets all of its gradients") {
  const Tensor x = leaf({2}, {1, 2});
  backward({as_strided(x, {3, 2}, {0, 1}, 0)},
           {tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}, DType::Float64)});
  CHECK(values_of(grad_of(x)) == Values{9, 12});
  const Tensor y = leaf({4}, {1, 2, 3, 4});
  backward({as_strided(y, {3, 2}, {1, 1}, 0)},
           {tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}, DType::Float64)});
  CHECK(values_of(grad_of(y)) == Values{1, 5, 9, 6});
}

}  // namespace
}  // namespace sb
