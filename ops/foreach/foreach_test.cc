#include "switchboard/ops/foreach/foreach.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::holds;
using test::tensor_of;

std::vector<IValue> run(const char* op, std::vector<IValue> arguments) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(arguments));
}

TEST_CASE("each form acts on every element") {
  const Tensor a = tensor_of({2}, {1, 2}), b = tensor_of({3}, {3, 4, 5});
  const std::vector<Tensor> self = {a, b};
  const std::vector<Tensor> other = {tensor_of({}, {10}), tensor_of({3}, {1, 1, 1})};
  const auto sums = run("aten::_foreach_add.List", {self, other});
  CHECK(holds(sums[0].to_tensor_list()[0], {11, 12}));
  CHECK(holds(sums[0].to_tensor_list()[1], {4, 5, 6}));
  CHECK(run("aten::_foreach_mul_.Scalar", {self, IValue(int64_t{2})}).empty());
  CHECK(holds(a, {2, 4}));
  CHECK(holds(b, {6, 8, 10}));
  const std::vector<IValue> numbers = {IValue(int64_t{1}), IValue(0.5)};
  run("aten::_foreach_sub_.ScalarList", {self, IValue(numbers)});
  CHECK(holds(a, {1, 3}));
  CHECK(holds(b, {5.5, 7.5, 9.5}));
}

TEST_CASE("an in-place call whose last element is wrong has written to none") {
  const Tensor good = tensor_of({2}, {1, 2});
  const auto fails = [&](const Tensor& last, const char* op, IValue argument) {
    const std::vector<Tensor> self = {good, last};
    CHECK_THROWS_AS(run(op, {self, argument}), RuntimeError);
    CHECK(holds(good, {1, 2}));
  };
  fails(tensor_of({2}, {1, 2}, DType::Int64), "aten::_foreach_add_.Scalar", IValue(0.5));
  fails(Tensor(), "aten::_foreach_add_.Scalar", IValue(0.5));
  fails(tensor_of({2}, {1, 2}), "aten::_foreach_add_.List",
        std::vector<Tensor>{tensor_of({2}, {1, 1}), tensor_of({3}, {1, 1, 1})});
  const std::vector<IValue> numbers = {IValue(int64_t{1}), IValue(std::complex<double>(0, 1))};
  fails(tensor_of({2}, {1, 2}), "aten::_foreach_add_.ScalarList", IValue(numbers));
  // No maximum_ exists; the result of the second element is larger than self.
  fails(tensor_of({2}, {1, 2}), "aten::_foreach_maximum_.List",
        std::vector<Tensor>{tensor_of({2}, {9, 9}), tensor_of({3, 2}, {1, 1, 1, 1, 1, 1})});
}

TEST_CASE("an element that overlaps its partner in part is refused before the first is written") {
  const Tensor base = tensor_of({5}, {1, 2, 3, 4, 5});
  const Tensor self = alias_with(base, {4}, {1}, 0), shifted = alias_with(base, {4}, {1}, 1);
  const Tensor first = tensor_of({4}, {0, 0, 0, 0});
  CHECK_THROWS_AS(run("aten::_foreach_add_.List",
                      {std::vector<Tensor>{first, self}, std::vector<Tensor>{shifted, shifted}}),
                  RuntimeError);
  CHECK(holds(first, {0, 0, 0, 0}));
  CHECK(holds(base, {1, 2, 3, 4, 5}));
}

TEST_CASE("the forms of a new list operator follow from its schema") {
  Library m(Library::Kind::Def, "foreach_test");
  define_foreach(m, "foreach_test::each_neg(Tensor[] self) -> Tensor[]", "aten::neg");
  const std::vector<Tensor> self = {tensor_of({1}, {3})};
  CHECK(holds(run("foreach_test::each_neg", {self})[0].to_tensor_list()[0], {-3}));
  run("foreach_test::each_neg_", {self});
  CHECK(holds(self[0], {-3}));
  CHECK(default_dispatcher().find_op_or_throw("foreach_test::each_neg.out").schema().to_string() ==
        "foreach_test::each_neg.out(Tensor[] self, *, Tensor(a!)[] out) -> ()");
}

TEST_CASE("lists without a tensor and an unknown element are refused") {
  CHECK_THROWS_AS(run("aten::_foreach_abs", {std::vector<Tensor>()}), RuntimeError);
  Library m(Library::Kind::Def, "foreach_test");
  define_foreach(m, "foreach_test::each_nothing(Tensor[] self) -> Tensor[]",
                 "foreach_test::nothing");
  const std::vector<Tensor> self = {tensor_of({1}, {3})};
  CHECK_THROWS_AS(run("foreach_test::each_nothing", {self}), Error);
  CHECK_THROWS_AS(run("foreach_test::each_nothing_", {self}), Error);
}

TEST_CASE("a 0-dim tensor or a vector stands for the number of each element") {
  const std::vector<Tensor> self = {tensor_of({2}, {1, 2}), tensor_of({1}, {3})};
  const auto product = run("aten::_foreach_mul.Tensor", {self, tensor_of({}, {2})});
  CHECK(holds(product[0].to_tensor_list()[0], {2, 4}));
  CHECK_THROWS_AS(run("aten::_foreach_mul.Tensor", {self, tensor_of({1}, {2})}), RuntimeError);
  const auto sums =
      run("aten::_foreach_addcmul.Tensor", {self, self, self, tensor_of({2}, {1, 2})});
  CHECK(holds(sums[0].to_tensor_list()[0], {2, 6}));
  CHECK(holds(sums[0].to_tensor_list()[1], {21}));
  CHECK_THROWS_AS(
      run("aten::_foreach_addcmul.Tensor", {self, self, self, tensor_of({3}, {1, 2, 3})}),
      RuntimeError);
}

TEST_CASE("powers take lists on either side, in place by the operator of another overload") {
  const Tensor a = tensor_of({2}, {1, 2});
  const std::vector<Tensor> self = {a};
  const auto powers = run("aten::_foreach_pow.ScalarAndTensor", {IValue(2.0), self});
  CHECK(holds(powers[0].to_tensor_list()[0], {2, 4}));
  run("aten::_foreach_pow_.List", {self, std::vector<Tensor>{tensor_of({2}, {3, 3})}});
  CHECK(holds(a, {1, 8}));
}

}  // namespace
}  // namespace sb
