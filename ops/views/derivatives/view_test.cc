// Derivatives of views, of what joins tensors and takes them apart, and of shapes changed in place.

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/repeat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check;
using test::check_all;
using test::leaf;
using test::leaf_of;
using test::Tensors;
using test::values_of;
using Values = std::vector<double>;

TEST_CASE("views have derivatives") {
  const Tensors in = {leaf({2, 1, 3})};
  check([](const Tensors& x) { return alias(x[0]); }, in);
  check([](const Tensors& x) { return permute(x[0], {2, 0, -2}); }, in);
  check([](const Tensors& x) { return transpose(x[0], -1, 0); }, in);
  check([](const Tensors& x) { return squeeze(x[0]); }, in);
  check([](const Tensors& x) { return squeeze_dim(x[0], 0); }, in);
  check([](const Tensors& x) { return squeeze_dims(x[0], {0, 1}); }, in);
  check([](const Tensors& x) { return unsqueeze(x[0], -1); }, in);
  check([](const Tensors& x) { return expand(x[0], {2, 2, 4, 3}); }, in);
  check([](const Tensors& x) { return expand(x[0], {2, 0, 3}); }, in);
  check([](const Tensors& x) { return view(x[0], {3, -1}); }, in);
  check([](const Tensors& x) { return _unsafe_view(x[0], {3, 2}); }, in);
  check([](const Tensors& x) { return reshape(transpose(x[0], 0, 2), {-1}); }, in);
  check([](const Tensors& x) { return select(x[0], 2, -1); }, in);
  check([](const Tensors& x) { return slice(x[0], 2, 0, std::nullopt, 2); }, in);
  check([](const Tensors& x) { return slice(x[0], 2, -2, -1); }, in);
  check([](const Tensors& x) { return t(x[0]); }, {leaf({2, 3})});
  check([](const Tensors& x) { return t(x[0]); }, {leaf({3})});
}

TEST_CASE("as_strided has a derivative, where elements come several times too") {
  const Tensors in = {leaf({2, 3})};
  check([](const Tensors& x) { return as_strided(x[0], {2, 2}, {1, 2}, 1); }, in);
  check([](const Tensors& x) { return as_strided(x[0], {2, 2, 3}, {1, 1, 0}, 1); }, in);
  check([](const Tensors& x) { return as_strided(t(x[0]), {2, 2}, {1, 2}, 1); }, in);
  check(
      [](const Tensors& x) {
        return as_strided(expand(x[0], {2, 3}), {2, 2}, {1, 0}, 1);
      },
      {leaf({1, 3})});
}

TEST_CASE("what is joined has its parts of the gradient") {
  check(
      [](const Tensors& in) {
        return cat({in[0], in[1], in[0]}, -1);
      },
      {leaf({2, 3}), leaf({2, 1}, 2)});
  check(
      [](const Tensors& in) {
        return stack({in[0], in[1], in[0]}, -1);
      },
      {leaf({2, 3}), leaf({2, 3}, 2)});
  check([](const Tensors& in) { return repeat(in[0], {2, 1, 3}); }, {leaf({2, 3})});
  check([](const Tensors& in) { return repeat(in[0], {2, 0, 3}); }, {leaf({2, 3})});
}

TEST_CASE("what cat leaves out has an empty gradient") {
  const Tensor x = leaf({2, 3}), none = leaf({0});
  backward(sum(cat({none, x}, 1)));
  CHECK(grad_of(none).sizes() == none.sizes());
  CHECK(grad_of(x).sizes() == x.sizes());
}

TEST_CASE("what is taken apart has a gradient, if only some of the parts are used too") {
  const Tensors in = {leaf({2, 5})};
  check_all([](const Tensors& x) { return split(x[0], 2, 1); }, in);
  check_all([](const Tensors& x) { return split_sizes(x[0], {1, 3, 1}, 1); }, in);
  check_all([](const Tensors& x) { return unbind(x[0], -1); }, in);
  check_all([](const Tensors& x) { return chunk(x[0], 3, 1); }, in);
  check([](const Tensors& x) { return split(x[0], 2, 1)[0]; }, in);
  check([](const Tensors& x) { return split_sizes(x[0], {1, 3, 1}, 1)[1]; }, in);
  check([](const Tensors& x) { return unbind(x[0], -1)[2]; }, in);
}

TEST_CASE("a tensor that takes another shape in place has the gradient of the view") {
  const Tensors in = {leaf({2, 1, 3})};
  check([](const Tensors& x) { return transpose_(clone(x[0]), 0, 2); }, in);
  check([](const Tensors& x) { return swapaxes_(clone(x[0]), 0, 1); }, in);
  check([](const Tensors& x) { return squeeze_(clone(x[0])); }, in);
  check([](const Tensors& x) { return squeeze__dim(clone(x[0]), 1); }, in);
  check([](const Tensors& x) { return squeeze__dims(clone(x[0]), {0, 1}); }, in);
  check([](const Tensors& x) { return unsqueeze_(clone(x[0]), 0); }, in);
  check([](const Tensors& x) { return as_strided_(clone(x[0]), {2, 2}, {1, 2}, 1); }, in);
  check([](const Tensors& x) { return t_(clone(x[0])); }, {leaf({2, 3})});
}

TEST_CASE("a view that is transposed in place leaves its base where it was in the graph") {
  const Tensor x = leaf({2, 3});
  const Tensor y = clone(x);
  const NodePtr before = grad_fn(y);
  const Tensor v = slice(y, 1, 1);
  t_(v);
  CHECK(grad_fn(y).get() == before.get());
  CHECK(grad_fn(v)->name() == "aten::t backward");
}

TEST_CASE("views, shapes changed in place and writes go together in any order") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const Tensors in = {leaf({3, 3}, 1, dtype), leaf({2, 3}, 2, dtype), leaf({3, 2}, 3, dtype)};
  check_all(
      [](const Tensors& x) {
        const Tensor y = clone(x[0]), v = slice(y, 1, 1);
        t_(v);
        mul_(v, x[1]);
        return Tensors{y, mul(v, v)};
      },
      in);
  check_all(
      [](const Tensors& x) {
        const Tensor y = clone(x[0]), v = slice(y, 1, 1);
        t_(y);
        mul_(v, x[2]);
        return Tensors{y, mul(v, v)};
      },
      in);
  check_all(
      [](const Tensors& x) {
        const Tensor y = clone(x[2]), v = conj(y);
        t_(v);
        mul_(v, x[1]);
        return Tensors{y, mul(v, v)};
      },
      in);
}

TEST_CASE("a conjugate that is transposed before its base has a gradient is made anew so") {
  const Tensor y = test::numbers({2, 3}, 1, DType::Complex128);
  const Tensor v = conj(y);
  t_(v);
  const Tensor x = leaf({2, 3}, 2, DType::Complex128);
  mul_(y, x);
  CHECK(requires_grad(v));
  check(
      [&](const Tensors& in) {
        const Tensor base = clone(detach(y));
        const Tensor seen = conj(base);
        t_(seen);
        mul_(base, in[0]);
        return mul(seen, seen);
      },
      {x});
}

TEST_CASE("a leaf takes another shape in place under no_grad only") {
  const Tensor x = leaf_of({2, 1}, {1, 2});
  CHECK_THROWS_WITH(squeeze_(x),
                    Catch::Contains("aten::squeeze_: a leaf that requires a gradient"));
  CHECK(x.dim() == 2);
  const NoGradGuard no_grad;
  squeeze_(x);
  CHECK(x.dim() == 1);
}

}  // namespace
}  // namespace sb
