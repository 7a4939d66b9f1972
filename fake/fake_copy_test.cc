// A structure of tensors as fake ones: what PyTorch does to a copy of a module.

#include "catch2/catch.hpp"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

TEST_CASE("a value is copied with a fake in the place of each tensor, the same for the same") {
  FakeTensorMode fake;
  const Tensor weight = ones({2, 3}), bias = ones({3});
  const IValue module = std::vector<IValue>{
      IValue("linear"), IValue(weight), IValue(std::vector<Tensor>{bias, weight, t(weight)}),
      IValue(std::vector<std::optional<Tensor>>{std::nullopt, bias}), IValue(0.5)};

  const IValue copy = map_tensors(module, [&](const Tensor& x) { return fake.from_tensor(x); });

  std::vector<Tensor> fakes;
  copy.for_each_tensor([&](const Tensor& x) { fakes.push_back(x); });
  REQUIRE(fakes.size() == 5);
  for (const Tensor& x : fakes) CHECK(is_fake(x));
  CHECK(fakes[0].sizes() == weight.sizes());
  CHECK(fakes[2].is_same(fakes[0]));
  CHECK(fakes[4].is_same(fakes[1]));
  // A view stays a view of the same memory.
  CHECK(fakes[3].is_alias_of(fakes[0]));
  CHECK(copy.to_list()[0].to_string_view() == "linear");
  CHECK(copy.to_list()[4].to_double() == 0.5);
  // The module itself is as it was.
  module.for_each_tensor([&](const Tensor& x) { CHECK_FALSE(is_fake(x)); });
}

}  // namespace
}  // namespace sb
