#include "switchboard/ops/assertions/assertions.h"

#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Catch::Contains;
using test::holds;
using test::tensor_of;

TEST_CASE("metadata that is given must be the tensor's; what differs is named") {
  const Device place = GENERATE(from_range(test::places()));
  const Tensor x = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}, DType::Float32, place);
  _assert_tensor_metadata(x);
  _assert_tensor_metadata(x, {2, 3}, {3, 1}, DType::Float32, place, Layout::Strided);
  CHECK_THROWS_WITH(_assert_tensor_metadata(x, {2, 4}),
                    Contains("_assert_tensor_metadata: argument a: expected the sizes [2, 4], got "
                             "[2, 3]"));
  CHECK_THROWS_AS(_assert_tensor_metadata(x, {2}), RuntimeError);
  CHECK_THROWS_WITH(_assert_tensor_metadata(x, std::nullopt, {1, 2}),
                    Contains("the strides [1, 2], got [3, 1]"));
  CHECK_THROWS_WITH(_assert_tensor_metadata(x, std::nullopt, std::nullopt, DType::Int64),
                    Contains("the dtype int64, got float32"));
  CHECK_THROWS_WITH(_assert_tensor_metadata(x, std::nullopt, std::nullopt, std::nullopt,
                                            std::nullopt, Layout::Sparse),
                    Contains("the layout sparse"));
  CHECK_THROWS_AS(_assert_tensor_metadata(Tensor()), Error);
}

TEST_CASE("the meta device stands for any other, the CPU for itself, whatever its index") {
  const auto check = [](const Tensor& x, Device device) {
    _assert_tensor_metadata(x, std::nullopt, std::nullopt, std::nullopt, device);
  };
  const Tensor x = tensor_of({1}, {1});
  check(x, Device("cpu:0"));
  CHECK_THROWS_WITH(check(x, Device("cuda")), Contains("the device cuda, got cpu"));
  check(tensor_of({1}, {1}, DType::Float32, DeviceType::Meta), Device("cuda"));
}

TEST_CASE("a number that is asserted must not be 0, and the message is the caller's") {
  _assert_scalar(2.5, "");
  _assert_scalar(true, "");
  CHECK_THROWS_WITH(_assert_scalar(0, "rows fit"), Contains("rows fit"));
  CHECK_THROWS_WITH(_assert_scalar(false, ""),
                    Contains("_assert_scalar: argument self: expected a number other than 0"));
  CHECK_THROWS_AS(_assert_scalar(std::complex<double>(0, 0), ""), RuntimeError);
  _assert_scalar(std::complex<double>(0, 1), "");
}

TEST_CASE("an element that is asserted is one, and is looked at where there are elements") {
  const Device place = GENERATE(from_range(test::places()));
  const auto one = [&](double value) { return tensor_of({1}, {value}, DType::Float32, place); };
  _assert_async(one(3));
  _assert_async_msg(one(-1), "never");
  CHECK_THROWS_AS(_assert_async(tensor_of({2}, {1, 1}, DType::Float32, place)), RuntimeError);
  CHECK_THROWS_AS(_assert_async(tensor_of({0}, {}, DType::Float32, place)), RuntimeError);
  if (!place.is_cpu()) return _assert_async(one(0));
  CHECK_THROWS_AS(_assert_async(one(0)), RuntimeError);
  CHECK_THROWS_WITH(_assert_async_msg(one(0), "all rows are used"), Contains("all rows are used"));
}

TEST_CASE("a number lies within the bounds that are given") {
  sym_constrain_range(5);
  sym_constrain_range(5, 5, 5);
  CHECK_THROWS_WITH(sym_constrain_range(5, 6),
                    Contains("sym_constrain_range: argument size: expected a value in [6, any], "
                             "got 5"));
  CHECK_THROWS_AS(sym_constrain_range(5, std::nullopt, 4), RuntimeError);
  CHECK_THROWS_AS(sym_constrain_range(5, 7, 4), RuntimeError);
  sym_constrain_range(-3);
  CHECK_THROWS_AS(sym_constrain_range_for_size(-3), RuntimeError);
  CHECK_THROWS_AS(sym_constrain_range_for_size(1, std::nullopt, 2), RuntimeError);
  sym_constrain_range_for_size(3, std::nullopt, 3);
}

TEST_CASE("functional assertions give a copy of their token") {
  const Device place = GENERATE(from_range(test::places()));
  const Tensor token = tensor_of({2}, {7, 8}, DType::Float32, place);
  const Tensor one = tensor_of({}, {1}, DType::Float32, place);
  for (const Tensor& copy :
       {_functional_assert_scalar(1, "", token), _functional_assert_async_msg(one, "", token),
        _functional_sym_constrain_range(5, 5, std::nullopt, token),
        _functional_sym_constrain_range_for_size(5, std::nullopt, 9, token)}) {
    CHECK(holds(copy, {7, 8}));
    CHECK_FALSE(copy.is_alias_of(token));
  }
  CHECK_THROWS_WITH(_functional_assert_scalar(0, "no", token), Contains("no"));
  CHECK_THROWS_AS(_functional_sym_constrain_range(5, 6, std::nullopt, token), RuntimeError);
}

TEST_CASE("text is printed as it is, with a line feed") {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  _print("a");
  _print("b c");
  std::cout.rdbuf(before);
  CHECK(out.str() == "a\nb c\n");
}

}  // namespace
}  // namespace sb
