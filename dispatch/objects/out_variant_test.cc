#include "switchboard/dispatch/objects/out_variant.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace {

using Catch::Contains;

struct OutVariantTest {
  Dispatcher d;
  Library m{d, Library::Kind::Def, "demo"};
  OpOverload define(const char* schema, TagSet tags = {}) {
    return OpOverload(m.define(schema, tags));
  }
};

TEST_CASE_METHOD(OutVariantTest, "the out= form takes the same arguments, and has the tag") {
  const OpOverload f = define("f(Tensor x, *, float a=1) -> Tensor");
  CHECK_FALSE(to_out_variant(f));
  define("f.untagged(Tensor x, *, float a=1, Tensor(a!) out) -> Tensor(a!)");
  define("f.other_default(Tensor x, *, float a=2, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  define("f.other_name(Tensor y, *, float a=1, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  define("f.other_type(Tensor x, *, int a=1, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  define("f.two(Tensor x, *, float a=1, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))",
         Tag::out);
  CHECK_FALSE(to_out_variant(f));
  const OpOverload out =
      define("f.out(Tensor x, *, float a=1, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  define("f.later(Tensor x, *, float a=1, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  CHECK(to_out_variant(f) == out);
  CHECK_NOTHROW(check_out_variant(f, out));
}

TEST_CASE_METHOD(OutVariantTest, "an operator that writes has none to look for") {
  const OpOverload writes = define("g(Tensor(a!) x) -> ()");
  CHECK_THROWS_WITH(to_out_variant(writes), Contains("demo::g: expected a functional operator"));
  const OpOverload named = define("h_(Tensor x) -> Tensor");
  CHECK_THROWS_AS(to_out_variant(named), RuntimeError);
}

TEST_CASE_METHOD(OutVariantTest, "what was found is compared with what was expected") {
  const OpOverload f = define("f(Tensor x) -> Tensor");
  const OpOverload other = define("f_out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  CHECK_THROWS_WITH(check_out_variant(f, other),
                    "check_out_variant: demo::f: expected demo::f_out, got none; overloads that "
                    "are tagged out: none");
  define("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  CHECK_THROWS_WITH(check_out_variant(f, other),
                    Contains("got demo::f.out; overloads that are tagged out:\n  demo::f.out("));
}

TEST_CASE_METHOD(OutVariantTest, "one of another name is registered by hand") {
  const OpOverload f = define("f(Tensor x) -> Tensor");
  const OpOverload out = define("f_out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", Tag::out);
  CHECK_FALSE(lookup_manual_out_variant(f));
  {
    const RegistrationHandle said = register_out_variant(f, out);
    CHECK(lookup_manual_out_variant(f) == out);
    CHECK_THROWS_AS(register_out_variant(f, out), RuntimeError);
  }
  CHECK_FALSE(lookup_manual_out_variant(f));
}

}  // namespace
}  // namespace sb
