#include "switchboard/fake/creation.h"

#include "catch2/catch.hpp"
#include "switchboard/core/symbols/sym_node.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

TEST_CASE("a mode that records it knows which call made each fake tensor") {
  FakeTensorMode fake({.record_creation = true});
  const Tensor x = fake.from_tensor(zeros({2, 3}), Device("cuda:0"));
  REQUIRE(creation_of(x));
  CHECK(creation_of(x)->call == "from_tensor(float32[2, 3] on cpu)");
  const Tensor y = add(x, x, 2);
  REQUIRE(creation_of(y));
  CHECK(creation_of(y)->call ==
        "aten::add.Tensor(float32[2, 3] on cuda:0, float32[2, 3] on cuda:0, alpha=2)");
  CHECK(creation_of(y)->to_string().find(creation_of(y)->call) == 0);
  CHECK_FALSE(creation_of(y)->stack.empty());
}

TEST_CASE("a reason around the call is kept with its line") {
  FakeTensorMode fake({.record_creation = true});
  const SymReason reason("the encoder");
  const Tensor x = fake.from_tensor(zeros({2}));
  CHECK(creation_of(x)->reason == "the encoder");
  CHECK(creation_of(add(x, x))->reason == "the encoder");
  CHECK_THAT(creation_of(x)->to_string(),
             Catch::Contains("in the encoder at ") && Catch::Contains("creation_test.cc:"));
}

TEST_CASE("an in-place call does not change who made a tensor") {
  FakeTensorMode fake({.record_creation = true});
  const Tensor x = fake.from_tensor(zeros({2}));
  const std::string before = creation_of(x)->call;
  add_(x, x);
  CHECK(creation_of(x)->call == before);
}

TEST_CASE("other modes record nothing") {
  FakeTensorMode fake;
  CHECK_FALSE(creation_of(fake.from_tensor(zeros({2}))));
  CHECK_FALSE(creation_of(zeros({2})));
}

}  // namespace
}  // namespace sb
