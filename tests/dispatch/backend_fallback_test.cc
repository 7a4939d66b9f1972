// Rule 7: a fallback serves its key for every operator that has nothing better there, for operators
// that are defined later too.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a fallback serves operators that have no kernel for its key") {
  Recorder f;
  f.fallback_at({K::PrivateUse1}).ends_at({K::CPU});
  CHECK(f.call({K::PrivateUse1}) == Log{"fallback for PrivateUse1"});
  CHECK(f.call({K::CPU}) == Log{"CPU"});
}

TEST_CASE("every kernel of the operator, at the key or at an alias of it, goes before it") {
  Recorder f;
  f.fallback_at({K::PrivateUse1, K::PrivateUse2});
  f.ends_at({K::PrivateUse1});
  CHECK(f.rule(K::PrivateUse1) == "kernel");
  CHECK(f.rule(K::PrivateUse2) == "backend fallback");
  f.ends_at({K::CompositeImplicitAutograd});
  CHECK(f.rule(K::PrivateUse2) == "math kernel");
}

TEST_CASE("it serves its own key only, not the autograd key above") {
  Recorder f;
  f.fallback_at({K::PrivateUse2});
  CHECK(f.rule(K::AutogradPrivateUse2) == "missing");
}

TEST_CASE("operators defined later have it, and lose it with its library") {
  Recorder f;
  f.library().define("g(Tensor x) -> ()");
  const OperatorHandle g = f.dispatcher().find_op_or_throw("demo::g");
  {
    Library fallbacks(f.dispatcher(), Library::Kind::Impl, "_", K::PrivateUse3);
    fallbacks.fallback(f.kernel("fallback"));
    const OperatorHandle h = f.library().define("h(Tensor x) -> ()");
    CHECK_NOTHROW(g.call({tensor_with(K::PrivateUse3)}));
    CHECK_NOTHROW(h.call({tensor_with(K::PrivateUse3)}));
  }
  CHECK_THROWS_AS(g.call({tensor_with(K::PrivateUse3)}), NotImplementedError);
}

TEST_CASE("a key takes one fallback, the default ones counted") {
  Recorder f;
  f.fallback_at({K::PrivateUse1});
  CHECK_THROWS_AS(f.fallback_at({K::PrivateUse1}), RuntimeError);
  CHECK_THROWS_AS(f.fallback_at({K::AutogradCPU}), RuntimeError);
}

TEST_CASE("a fallback is boxed, at a runtime key, from an IMPL library of namespace _") {
  Recorder f;
  CHECK_THROWS_AS(f.fallback_at({K::CompositeImplicitAutograd}), RuntimeError);
  CHECK_THROWS_AS(f.library().fallback(K::PrivateUse1, f.kernel("fallback")), RuntimeError);
  Library fallbacks(f.dispatcher(), Library::Kind::Impl, "_");
  CHECK_THROWS_AS(fallbacks.fallback(K::PrivateUse1, [](const Tensor& x) { return x; }), TypeError);
  CHECK(f.rule(K::PrivateUse1) == "missing");
}

}  // namespace
}  // namespace sb
