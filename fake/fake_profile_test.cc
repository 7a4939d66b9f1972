#include "switchboard/fake/fake_profile.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;

struct ProfileTest {
  Library m{Library::Kind::Def, "profile_test"};
  OperatorHandle f = m.define("f(Tensor x, int n=1) -> (Tensor, Tensor[])");
  FakeTensorMode fake{{.shape_env = ShapeEnv::create()}};
  // A matrix and a number gave a vector of integers, and two numbers.
  const OpProfile seen = OpProfile::of(
      {ones({2, 3}), 1}, {empty({4}, DType::Int64), std::vector<Tensor>{ones({}), ones({})}});
};

TEST_CASE_METHOD(ProfileTest, "a call that is like one that was seen gives what that gave") {
  const RegistrationHandle rules = unsafe_generate_fake_kernels({{"profile_test::f", {seen}}});
  const std::vector<IValue> results = f.call({fake.from_tensor(ones({5, 7})), 3});
  CHECK(results[0].to_tensor().describe() == "int64[u0] on cpu");
  CHECK(results[1].to_tensor_list().size() == 2);
  CHECK(results[1].to_tensor_list()[1].dim() == 0);
}

TEST_CASE_METHOD(ProfileTest, "another rank, dtype or device is not known") {
  const RegistrationHandle rules = unsafe_generate_fake_kernels({{"profile_test::f", {seen}}});
  for (const Tensor& x : {fake.from_tensor(ones({5})), fake.from_tensor(ones({5, 7}, DType::Int64)),
                          fake.from_tensor(ones({5, 7}), Device("cuda:0"))})
    CHECK_THROWS_AS(f.call({x, 3}), MissingOpProfileError);
  CHECK_THROWS_WITH(f.call({fake.from_tensor(ones({5})), 3}),
                    Contains("profile_test::f: none of 1 profiles"));
}

TEST_CASE_METHOD(ProfileTest, "the rules go over others for a scope") {
  const RegistrationHandle old = register_fake("profile_test::f", [](const Tensor& x, int64_t) {
    return std::tuple<Tensor, std::vector<Tensor>>(empty_like(x), {});
  });
  const auto rank = [&] {
    return f.call({fake.from_tensor(ones({5, 7})), 3})[0].to_tensor().dim();
  };
  {
    const RegistrationHandle rules = unsafe_generate_fake_kernels({{"profile_test::f", {seen}}});
    CHECK(rank() == 1);
  }
  CHECK(rank() == 2);
}

TEST_CASE_METHOD(ProfileTest, "a profile has the operator's numbers of arguments and results") {
  CHECK_THROWS_AS(
      unsafe_generate_fake_kernels({{"profile_test::f", {OpProfile::of({ones({2})}, {})}}}),
      ValueError);
  m.define("n(Tensor x) -> int");
  CHECK_THROWS_AS(unsafe_generate_fake_kernels({{"profile_test::n", {}}}), RuntimeError);
  CHECK_THROWS_AS(unsafe_generate_fake_kernels({{"profile_test::none", {}}}), RuntimeError);
}

}  // namespace
}  // namespace sb
