// Where the symbols are that a call made, and what they are when it is made again.

#include "switchboard/fake/unbacked_bindings.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/sorting/unique.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode fake{{.shape_env = env}};
  Tensor x = fake.from_tensor(zeros({3, 4}), {.static_shapes = true});

  std::vector<UnbackedBinding> bindings(const std::vector<IValue>& results) const {
    return unbacked_bindings(*env, 0, results);
  }
};

TEST_CASE("each symbol that a call made has a place in its results", "[fake][symbolic]") {
  const Fixture f;
  const auto [values, inverse, counts] = _unique2(f.x, true, true, true);
  const Tensor found = nonzero(f.x);
  const IValue number = default_dispatcher()
                            .find_op_or_throw("aten::item")
                            .call({select(select(f.x, 0, 0), 0, 1)})[0];
  const auto all = f.bindings({inverse, counts, std::vector<Tensor>{f.x, found}, number});
  REQUIRE(all.size() == 3);
  CHECK(all[0].to_string() == "u0 is result 1.size(0)");
  CHECK(all[1].to_string() == "u1 is result 2[1].size(0)");
  CHECK(all[2].to_string() == "f0 is result 3");
  CHECK_THROWS_WITH(f.bindings({values, found}),
                    Contains("no result is f0, which was made by aten::_local_scalar_dense"));
}

TEST_CASE("real results of the same call tell what its symbols are", "[fake][symbolic]") {
  const Fixture f;
  const auto bindings = f.bindings({nonzero(f.x)});
  check(f.env->symbol("u0").has_value());
  const Tensor real = zeros({3, 4});
  fill_(select(real, 0, 1), 1);
  rebind_unbacked(bindings, {nonzero(real)});
  CHECK(f.env->at_hand(bindings[0].symbol)->as_int() == 4);
  CHECK_THROWS_AS(rebind_unbacked(bindings, {zeros({13, 2})}), RuntimeError);
  CHECK_THROWS_WITH(rebind_unbacked(bindings, {IValue(3)}),
                    Contains("no such place: u0 is result 0.size(0)"));
}

TEST_CASE("the symbols of a second fake run are those of the first", "[fake][symbolic]") {
  const Fixture f;
  const Tensor first = nonzero(f.x);
  const auto bindings = f.bindings({first});
  f.fake.new_epoch();
  const Tensor second = nonzero(f.x);
  CHECK(second.sym_size(0).to_string() == "u1");
  rebind_unbacked(bindings, {second});
  CHECK(statically_known(first.sym_size(0) == second.sym_size(0)) == true);
}

}  // namespace
}  // namespace sb
