#include "switchboard/dispatch/modes/purity.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"

namespace sb {
namespace {

TEST_CASE("what writes, has an effect or draws random numbers is impure") {
  Dispatcher d;
  Library m(d, Library::Kind::Def, "demo");
  const OperatorHandle pure = m.define("pure(Tensor x) -> Tensor");
  const OperatorHandle writes = m.define("writes(Tensor(a!) x) -> ()");
  const OperatorHandle draws = m.define("draws(Tensor x) -> Tensor", Tag::nondeterministic_seeded);
  CHECK_FALSE(is_impure(pure));
  CHECK(is_impure(writes));
  CHECK(is_impure(draws));
  CHECK_FALSE(is_impure(draws, /*impure_random=*/false));
  CHECK_FALSE(has_effects(pure));
  const RegistrationHandle effect = register_effect(pure, Effect::Ordered);
  CHECK(is_impure(pure));
  CHECK(has_effects(pure));
}

TEST_CASE("an operator that shares memory with its arguments does more than its effect") {
  Dispatcher d;
  Library m(d, Library::Kind::Def, "demo");
  const OperatorHandle writes = m.define("writes(Tensor(a!) x) -> ()");
  const RegistrationHandle effect = register_effect(writes, Effect::Ordered);
  CHECK_FALSE(has_effects(writes));
  CHECK(is_impure(writes));
}

}  // namespace
}  // namespace sb
