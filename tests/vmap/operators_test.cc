// Every operator runs inside of vmap as it would for each example.

#include "switchboard/ops/arithmetic/operators.h"

#include <cmath>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/sorting/sort.h"
#include "switchboard/tests/vmap/examples.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("elementwise operators broadcast one example, not the batch") {
  const Tensor row = numbers({3}), matrix = numbers({2, 3}, -1);
  check_as_loop(
      [&](const Tensors& in) {
        return Tensors{in[0] + in[1], in[1] * in[0]};
      },
      {numbers({3, 3}), numbers({3, 2, 3}, 7)});
  check_as_loop(
      [&](const Tensors& in) {
        return Tensors{in[0] + row, in[0] - matrix, exp(in[0])};
      },
      {numbers({3, 3}, -2, 0.25)});
  check_as_loop([](const Tensors& in) { return Tensors{where(in[0] > 2, in[0], in[1])}; },
                {numbers({3, 3}), numbers({3}, 100)});
}

TEST_CASE("a tensor without dimensions weighs in a dtype what it does alone") {
  const auto f = [](const Tensors& in) { return Tensors{in[0] * in[1]}; };
  const Tensor doubles = to_dtype(numbers({3}), DType::Float64);
  check_as_loop(f, {numbers({3, 2}), doubles});
  CHECK(vmap(f, {numbers({3, 2}), doubles})[0].dtype() == DType::Float32);
}

TEST_CASE("reductions, sorts and gathers go along the dimensions of one example") {
  check_as_loop(
      [](const Tensors& in) {
        const Tensor& x = in[0];
        const auto [values, indices] = sort(x, -1, true);
        return Tensors{sum_all(x),
                       sum_dim(x, {{0}}),
                       sum_dim(x, {{}}, true),
                       mean_dim(x, {{-1}}),
                       argmax(x),
                       argmax(x, 1),
                       amax(x, {{0}}),
                       values,
                       indices,
                       max_all(x),
                       any_all(x > 3),
                       prod_dim(x, 0),
                       gather(x, 1, indices)};
      },
      {numbers({2, 3, 4}, -5)});
}

TEST_CASE("products of batches are products of each example") {
  const Tensor weights = numbers({4, 2});
  check_as_loop(
      [&](const Tensors& in) {
        const Tensor &a = in[0], &b = in[1];
        const Tensor row = select(a, 0, 0);
        return Tensors{mm(a, b),
                       mm(a, weights),
                       mv(t(b), row),
                       mv(t(weights), row),
                       dot(row, row),
                       matmul(a, weights),
                       addmm(mm(a, b), a, b, 2, 0.5),
                       addmm(select(mm(a, b), 0, 0), a, b)};
      },
      {numbers({3, 5, 4}, 0, 0.1), numbers({3, 4, 2}, 1, 0.1)});
}

TEST_CASE("views show the memory of the batch, and writes to them reach it") {
  check_as_loop(
      [](const Tensors& in) {
        const Tensor& x = in[0];
        add_Scalar_(select(x, 0, 1), 10);
        mul_Scalar_(t(slice(x, 1, 1, 3)), 2);
        add_Scalar_(unbind(x, 1)[0], x.size(0));
        return Tensors{permute(x, {1, 0}), view(x, {-1}), unsqueeze(x, -1),

                       expand(unsqueeze(x, 0), {2, -1, -1}), diagonal(x)};
      },
      {numbers({3, 2, 4})});
}

TEST_CASE("as_strided counts from where the memory of an example begins") {
  const Tensor x = numbers({3, 2, 4});
  const Tensor y = vmap([](const Tensor& m) { return as_strided(m, {2}, {3}, 1); }, {x})[0];
  CHECK(same(y, slice(view(x, {3, 8}), 1, 1, 5, 3)));
  CHECK(y.is_alias_of(x));
}

TEST_CASE("a view in place changes the tensor and none that was given") {
  const Tensor x = numbers({3, 2, 4});
  const Tensor y = vmap(
      [](const Tensor& m) {
        t_(m);
        CHECK(m.sizes() == IntArrayRef{4, 2});
        unsqueeze_(m, 0);
        return m;
      },
      {x})[0];
  CHECK(same(y, unsqueeze(transpose(x, 1, 2), 1)));
  CHECK(x.sizes() == IntArrayRef{3, 2, 4});
}

TEST_CASE("what has no rule runs once for each example") {
  ScopedLibrary lib(Library::Kind::Def, "vmap_test");
  int calls = 0;
  lib.define("norms(Tensor x, Tensor[] ys, *, float p=2) -> (Tensor, Tensor[], int)",
             [&](const Tensor& x, TensorList ys, double p) {
               ++calls;
               std::vector<Tensor> scaled;
               for (const Tensor& y : ys) scaled.push_back(y * p);
               return std::make_tuple(sum_all(x), scaled, int64_t{7});
             });
  lib.define("double_(Tensor(a!) x, Tensor(b!)[] ys) -> Tensor(a!)");
  lib.impl("double_", DispatchKey::CompositeExplicitAutograd, [&](const Tensor& x, TensorList ys) {
    ++calls;
    for (const Tensor& y : ys) mul_Scalar_(y, 3);
    return mul_Scalar_(x, 2);
  });
  const OperatorHandle in_place = lib.dispatcher().find_op_or_throw("vmap_test::double_");
  const auto f = [&](const Tensors& in) {
    Stack stack{in[0], std::vector<Tensor>{in[1]}};
    in_place.call_boxed(&stack);
    CHECK(stack[0].to_tensor().is_same(in[0]));
    return Tensors{in[0]};
  };
  check_as_loop(f, {numbers({3, 2}), numbers({3, 4})});
  CHECK(calls == 6);
}

TEST_CASE("an out= form writes to a batch of the right sizes") {
  const auto f = [](const Tensors& in) {
    const Tensor out = zeros_like(in[0]);
    add_out(in[0], in[0], 1, out);
    return Tensors{out};
  };
  check_as_loop(f, {numbers({3, 2})});
}

TEST_CASE("a write to a tensor that is the same for all examples is refused by name") {
  const Tensor w = numbers({4});
  CHECK(message_of([&] {
          vmap([&](const Tensor& x) { return add_(w, x); }, {numbers({3, 4})});
        }) ==
        "RuntimeError: aten::add_.Tensor: vmap level 1: argument 0 'self', float32[4] on cpu, is "
        "written to and is the same for all examples, while what is written is not; use an "
        "operator that gives a new tensor, or begin with a batched one");
  CHECK(same(w, numbers({4})));
  // What is the same for all may be written to it.
  vmap(
      [&](const Tensor& x) {
        add_Scalar_(w, 1);
        return x;
      },
      {numbers({3, 4})});
  CHECK(same(w, numbers({4}, 2)));
}

TEST_CASE("what depends on the data of one example alone is refused by name") {
  const auto error = [](auto f) {
    return message_of([&] {
      vmap(
          [&](const Tensor& x) {
            f(x);
            return x;
          },
          {numbers({3, 4})});
    });
  };
  CHECK_THAT(error([](const Tensor& x) { item(sum_all(x)); }),
             Contains("_local_scalar_dense: vmap level 1: it gives a number that depends on the "
                      "data"));
  CHECK_THAT(error([](const Tensor& x) { masked_select(x, x > 2); }),
             Contains("aten::masked_select: vmap level 1: the shape of its result depends"));
}

}  // namespace
}  // namespace sb::test
