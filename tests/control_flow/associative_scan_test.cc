#include "switchboard/transforms/control_flow/associative_scan.h"

#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/tests/control_flow/places.h"

namespace sb::test {
namespace {

Tensor plus(const Tensor& a, const Tensor& b) { return a + b; }

TEST_CASE("associative_scan combines each slice with all before it") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy));
  const Tensors x{make({4, 2}, {1, 10, 2, 20, 3, 30, 4, 40})};
  const Program sums = [](const Tensors& in) { return associative_scan(plus, in); };
  CHECK(numbers_in(sums(x)[0]) == Numbers{1, 10, 3, 30, 6, 60, 10, 100});
  run_all_ways(sums, x);
}

TEST_CASE("from the last slice on, and along another dimension") {
  const Tensors x{tensor_of({2, 3}, {1, 2, 3, 10, 20, 30})};
  CHECK(numbers_in(associative_scan(plus, x, /*reverse=*/true)[0]) ==
        Numbers{11, 22, 33, 10, 20, 30});
  CHECK(numbers_in(associative_scan(plus, x, /*reverse=*/false, 1)[0]) ==
        Numbers{1, 3, 6, 10, 30, 60});
  CHECK(numbers_in(associative_scan(plus, x, /*reverse=*/true, -1)[0]) ==
        Numbers{6, 5, 3, 60, 50, 30});
}

TEST_CASE("one slice is what it is, and of no slices there are none") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake, Place::Meta));
  const Tensor one = make({1, 2}, {5, 6}), none = make({0, 2}, {});
  const Tensor result = associative_scan(plus, {one})[0];
  CHECK(result.sizes() == Sizes{1, 2});
  CHECK_FALSE(result.is_alias_of(one));
  if (make.has_data()) CHECK(numbers_in(result) == Numbers{5, 6});
  CHECK(associative_scan(plus, {none})[0].sizes() == Sizes{0, 2});
}

TEST_CASE("several tensors are scanned together") {
  // Sums and, beside them, how many slices they are of.
  const auto f = [](const Tensors& in) { return Tensors{in[0] + in[2], in[1] + in[3]}; };
  const Tensors r =
      associative_scan(f, {tensor_of({3}, {1, 2, 3}), tensor_of({3}, {1, 1, 1}, DType::Int64)});
  CHECK(numbers_in(r[0]) == Numbers{1, 3, 6});
  CHECK(numbers_in(r[1]) == Numbers{1, 2, 3});
}

TEST_CASE("the operator's function takes the additional inputs behind the slices") {
  const IValue f = tensor_callable(
      "f", [](const Tensor& a, const Tensor& b, const Tensor& c) { return a + b * c; });
  const std::vector<IValue> r =
      associative_scan_op()({f, Tensors{tensor_of({3}, {1, 2, 3})}, Tensors{tensor_of({}, {10})}});
  CHECK(numbers_in(r[0].to_tensor()) == Numbers{1, 21, 51});
}

TEST_CASE("what its function gives has the metadata of the slices") {
  const auto more = [](const Tensor& a, const Tensor& b) { return Tensors{a + b, a}; };
  const auto wider = [](const Tensor& a, const Tensor& b) {
    return to_dtype(a + b, DType::Float64, false, false, std::nullopt);
  };
  const Tensors x{tensor_of({2, 1}, {1, 2})};
  CHECK(message([&] { associative_scan(more, x); })
            .starts_with("RuntimeError: higher_order::associative_scan: combine_fn: expected 1 "
                         "results"));
  CHECK(message([&] {
          associative_scan(wider, x);
        }).starts_with("RuntimeError: higher_order::associative_scan: combine_fn: result 0: "));
  CHECK(message([&] { associative_scan(plus, {tensor_of({}, {1})}); })
            .starts_with("RuntimeError: higher_order::associative_scan: xs: item 0: expected a "
                         "first dimension"));
}

}  // namespace
}  // namespace sb::test
