// What leaves the graph, and what gets other memory.

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using Catch::Contains;
using test::leaf;

TEST_CASE("a detached tensor requires nothing, is no view, and counts writes with its source") {
  const Tensor x = leaf({3});
  const Tensor d = detach(x);
  CHECK_FALSE(requires_grad(d));
  CHECK_FALSE(base_of(d).defined());
  const uint32_t before = x.version();
  add_Scalar_(d, 1);  // which a view of the leaf would refuse
  CHECK(x.version() == before + 1);
}

TEST_CASE("a write to what was detached is noticed by backward") {
  const Tensor x = leaf({3});
  const Tensor y = mul(x, x);
  add_Scalar_(detach(x), 1);
  CHECK_THROWS_WITH(backward(sum(y)),
                    Contains("modified by an inplace operation, aten::add_.Scalar"));
}

TEST_CASE("detach_ takes the history off, and leaves views theirs") {
  const Tensor x = leaf({3});
  const Tensor y = mul_Scalar(x, 2);
  const Tensor v = slice(y, 0);
  const uint32_t before = y.version();
  CHECK(detach_(y).is_same(y));
  CHECK_FALSE(requires_grad(y));
  CHECK(is_leaf(y));
  CHECK(y.version() == before);
  CHECK(requires_grad(v));
  CHECK_THROWS_WITH(detach_(v), Contains("detach_: expected a tensor that is no view"));
  detach_(x);
  CHECK_FALSE(requires_grad(x));
}

TEST_CASE("bytes under another dtype have no gradient") {
  const Tensor x = leaf({3});
  CHECK_FALSE(requires_grad(view_dtype(x, DType::Int64)));
  CHECK_FALSE(requires_grad(view_dtype(x, DType::Float64)));
}

TEST_CASE("what requires a gradient is not resized, under no_grad neither") {
  const Tensor x = leaf({3});
  CHECK_THROWS_WITH(resize_(x, {2}), Contains("aten::resize_: expected a tensor that requires no"));
  const NoGradGuard no_grad;
  CHECK_THROWS_AS(resize_(x, {2}), RuntimeError);
  CHECK_THROWS_AS(resize_as_(x, zeros({2})), RuntimeError);
  CHECK(x.numel() == 3);
  CHECK(resize_(clone(detach(x)), {2}).numel() == 2);
}

TEST_CASE("resizing counts as a write where the shape changes") {
  const Tensor x = zeros({3});
  const uint32_t before = x.version();
  resize_(x, {3});
  resize_as_(x, zeros({3}));
  CHECK(x.version() == before);
  resize_(x, {2});
  CHECK(x.version() == before + 1);
  resize_as_(x, zeros({4}));
  CHECK(x.version() == before + 2);
}

TEST_CASE("a tensor that was given other memory has no gradient, and backward says so") {
  const Tensor x = leaf({3});
  CHECK_THROWS_WITH(set__source_Tensor(x, zeros({2})), Contains("a leaf that requires a gradient"));
  const Tensor y = mul_Scalar(x, 2);
  set__source_Tensor(y, zeros({2}));
  CHECK_THROWS_WITH(backward(sum(y)), Contains("aten::set_.source_Tensor: has no derivative"));
  const Tensor z = zeros({3});
  set__source_Tensor(z, mul_Scalar(x, 2));
  CHECK_THROWS_WITH(backward(sum(z)), Contains("aten::set_.source_Tensor: has no derivative"));
  CHECK_THROWS_WITH(backward(sum(set_source_Tensor(x, y))), Contains("has no derivative"));
}

TEST_CASE("a tensor that was given the memory of another may not be written to with a gradient") {
  const Tensor x = leaf({3});
  const Tensor y = mul_Scalar(x, 2);
  for (const Tensor& given :
       {set__source_Tensor(zeros({2}), y), set_source_Tensor(zeros({3}), y)}) {
    CHECK_THROWS_WITH(mul_Scalar_(given, 2), Contains("got one made under no_grad, or by set_"));
    const NoGradGuard no_grad;
    CHECK_NOTHROW(mul_Scalar_(given, 2));
  }
}

TEST_CASE("a tensor that was given memory that gets a gradient later has none, and says so") {
  const Tensor x = leaf({3});
  const Tensor memory = zeros({3});
  const Tensor given = set__source_Tensor(zeros({3}), memory);
  copy_(memory, x);
  CHECK_THROWS_WITH(sum(given), Contains("or by set_"));
}

TEST_CASE("a tensor that is given its own memory again is no view") {
  const Tensor x = mul_Scalar(leaf({4}), 2);
  set__source_Tensor(x, slice(x, 0, 0, 2));
  CHECK(x.numel() == 2);
  CHECK_FALSE(base_of(x).defined());
}

TEST_CASE("under no_grad a leaf may be given other memory") {
  const Tensor x = leaf({3});
  {
    const NoGradGuard no_grad;
    set__source_Tensor(x, zeros({2}));
  }
  CHECK(x.numel() == 2);
  CHECK(requires_grad(x));
}

}  // namespace
}  // namespace sb
