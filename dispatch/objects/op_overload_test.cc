#include "switchboard/dispatch/objects/op_overload.h"

#include <unordered_set>

#include "absl/container/flat_hash_set.h"
#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload_packet.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using K = DispatchKey;
using Kind = Library::Kind;

struct OpOverloadTest {
  Dispatcher d;
  Library m{d, Kind::Def, "demo"};
  Tensor cpu = tensor_on(DeviceType::CPU);

  OpOverload define(std::string_view schema, TagSet tags = {}) {
    return OpOverload(m.define(schema, tags));
  }
};

// A kernel of "(Tensor x, int n=0) -> int" that says where it is registered.
auto says(int64_t what) {
  return [what](const Tensor&, int64_t) { return what; };
}

TEST_CASE_METHOD(OpOverloadTest, "an overload has its names in PyTorch's forms") {
  const OpOverload named = define("add.Tensor(Tensor x) -> Tensor");
  CHECK(named.name() == "demo::add.Tensor");
  CHECK(named.ns() == "demo");
  CHECK(named.op_name() == "add");
  CHECK(named.overload_name() == "Tensor");
  CHECK(named.to_string() == "demo.add.Tensor");
  CHECK(named.repr() == "<OpOverload(op='demo.add', overload='Tensor')>");
  std::ostringstream out;
  out << named;
  CHECK(out.str() == "demo.add.Tensor");
  CHECK(packet_of(named).to_string() == "demo.add");

  const OpOverload unnamed = define("mm(Tensor x) -> Tensor");
  CHECK(unnamed.name() == "demo::mm");
  CHECK(unnamed.overload_name() == "default");
  CHECK(unnamed.to_string() == "demo.mm.default");
}

TEST_CASE_METHOD(OpOverloadTest, "two are equal, and hash alike, if they are the same overload") {
  const OpOverload f = define("f(Tensor x) -> Tensor"), g = define("f.other(Tensor x) -> Tensor");
  const OpOverload again(*d.find_op("demo::f"));
  CHECK(f == again);
  CHECK(f != g);
  CHECK(f == f.handle());
  CHECK(std::unordered_set<OpOverload>{f, g, again}.size() == 2);
  CHECK(absl::flat_hash_set<OpOverload>{f, g, again}.size() == 2);
  STATIC_REQUIRE(sizeof(OpOverload) == sizeof(void*));
}

TEST_CASE_METHOD(OpOverloadTest, "it knows its schema, tags and where it comes from") {
  const OpOverload f = define("f(Tensor x) -> Tensor", {Tag::pointwise, Tag::core});
  CHECK(f.schema().to_string() == "demo::f(Tensor x) -> Tensor");
  CHECK(f.has_tag(Tag::core));
  CHECK_FALSE(f.has_tag(Tag::view_copy));
  CHECK(f.tags() == TagSet{Tag::core, Tag::pointwise});
  CHECK_FALSE(f.is_defined_statically());
  CHECK(f.alias_analysis() == AliasAnalysis::FromSchema);
}

TEST_CASE_METHOD(OpOverloadTest, "a view is what aliases some argument and writes to none") {
  CHECK(define("view(Tensor(a) x) -> Tensor(a)").is_view());
  CHECK_FALSE(define("pure(Tensor x) -> Tensor").is_view());
  CHECK_FALSE(define("write(Tensor(a!) x) -> Tensor(a!)").is_view());
  CHECK_FALSE(define("mixed(Tensor(a) x, Tensor(b!) y) -> Tensor(a)").is_view());
}

TEST_CASE_METHOD(OpOverloadTest, "it is called with values, by name, boxed and typed") {
  const OpOverload f = define("f(Tensor x, int n=0) -> int");
  m.impl("f", K::CPU, [](const Tensor&, int64_t n) { return n + 1; });
  CHECK(f(cpu)[0].to_int() == 1);
  CHECK(f(cpu, 4)[0].to_int() == 5);
  CHECK(f.call({cpu}, {{"n", 6}})[0].to_int() == 7);
  CHECK(f.call({}, {{"n", 6}, {"x", cpu}})[0].to_int() == 7);
  Stack stack = {cpu, 8};
  f.call_boxed(&stack);
  CHECK(stack[0].to_int() == 9);
  const auto typed = f.typed<int64_t(const Tensor&, int64_t)>();
  CHECK(typed(cpu, 10) == 11);
  CHECK(typed.redispatch(K::CPU, cpu, 12) == 13);
  CHECK_THROWS_AS((f.typed<int64_t(const Tensor&, double)>()), TypeError);
  CHECK_THROWS_WITH(f(cpu, "text"), Contains("demo::f: argument 1 'n': expected int, got str"));
  CHECK_THROWS_AS(f(), TypeError);
}

TEST_CASE_METHOD(OpOverloadTest, "redispatch enters at the highest key of exactly the given set") {
  const OpOverload f = define("f(Tensor x, int n=0) -> int");
  m.impl("f", K::CPU, says(1));
  m.impl("f", K::AutogradCPU, says(2));
  CHECK(f(cpu)[0].to_int() == 2);
  CHECK(f.redispatch(K::CPU, {cpu})[0].to_int() == 1);
  CHECK(f.redispatch({K::CPU, K::AutogradCPU}, {cpu}, {{"n", 1}})[0].to_int() == 2);
  CHECK_THROWS_AS(f.redispatch(K::CUDA, {cpu}), NotImplementedError);
}

TEST_CASE_METHOD(OpOverloadTest, "one key can be called whatever the arguments are") {
  const OpOverload f = define("f(Tensor x, int n=0) -> int");
  m.impl("f", K::CPU, says(1));
  m.impl("f", K::CUDA, says(2));
  m.impl("f", K::CompositeExplicitAutograd, says(3));
  m.impl("f", K::AutogradCPU, fallthrough);
  CHECK(f.at(K::CUDA)(cpu)[0].to_int() == 2);
  CHECK(f.at(K::CPU).call({cpu}, {{"n", 1}})[0].to_int() == 1);
  SECTION("an alias key runs the kernel that is registered at it") {
    CHECK(f.at(K::CompositeExplicitAutograd)(cpu)[0].to_int() == 3);
  }
  SECTION("a runtime key without a kernel of its own runs what the table has for it") {
    CHECK(f.at(K::XLA)(cpu)[0].to_int() == 3);
    CHECK(f.at(K::Undefined)(cpu)[0].to_int() == 3);
  }
  SECTION("the kernel gets the key set of an ordinary call") {
    DispatchKeySet seen;
    m.impl("f", K::Meta, [&seen](DispatchKeySet keys, const Tensor&, int64_t) {
      seen = keys;
      return int64_t{4};
    });
    f.at(K::Meta)(cpu);
    CHECK(seen.highest_key() == K::CPU);
  }
  SECTION("without a kernel, at a fallthrough and at an ambiguous slot it throws") {
    CHECK_THROWS_WITH(f.at(K::AutogradPrivateUse2)(cpu),
                      Contains("demo::f: no kernel for AutogradPrivateUse2"));
    CHECK_THROWS_WITH(f.at(K::CompositeImplicitAutograd)(cpu),
                      Contains("demo::f: no kernel for CompositeImplicitAutograd (") &&
                          Contains("\nregistered: CPU"));
    CHECK_THROWS_WITH(f.at(K::AutogradCPU)(cpu),
                      Contains("demo::f: called at AutogradCPU, which holds a fallthrough; "));
    const OpOverload g = define("g(Tensor x, int n=0) -> int");
    m.impl("g", K::CompositeImplicitAutograd, says(1));
    m.impl("g", K::SparseCPU, says(2));
    CHECK_THROWS_WITH(g.at(K::AutogradOther)(cpu), Contains("ambiguous at AutogradOther"));
  }
  SECTION("the call is seen by observers, at that key") {
    struct Keys : CallObserver {
      std::vector<K> keys;
      void enter(const OperatorEntry&, DispatchKeySet set, const Kernel&) override {
        keys.push_back(set.highest_key());
      }
      void leave(const OperatorEntry&, DispatchKeySet) override { keys.push_back(K::Undefined); }
    } observer;
    {
      ObserveCalls observe(&observer);
      f.at(K::CUDA)(cpu);
    }
    CHECK(observer.keys == std::vector<K>{K::CUDA, K::Undefined});
  }
}

TEST_CASE_METHOD(OpOverloadTest,
                 "decompose runs the composite kernel, or says that there is none") {
  const OpOverload f = define("f(Tensor x, int n=0) -> int");
  CHECK_FALSE(f.has_decomposition());
  CHECK_FALSE(f.decompose({cpu}));
  m.impl("f", K::CompositeImplicitAutograd, says(1));
  m.impl("f", K::CPU, says(2));
  CHECK(f.has_decomposition());
  CHECK(f(cpu)[0].to_int() == 2);
  CHECK((*f.decompose({cpu}))[0].to_int() == 1);
  SECTION("a rule of the operator's own goes first") {
    const RegistrationHandle rule =
        operator_base(f.handle().entry())
            .impl(K::CompositeImplicitAutograd,
                  [](DispatchKeySet, Stack* stack) { *stack = {IValue(3)}; });
    CHECK((*f.decompose({cpu}))[0].to_int() == 3);
  }
}

TEST_CASE_METHOD(OpOverloadTest,
                 "kernel queries tell registered from computed, keys from aliases") {
  const OpOverload f = define("f(Tensor x, int n=0) -> int");
  m.impl("f", K::CPU, says(1));
  m.impl("f", K::CompositeExplicitAutograd, says(2));
  m.impl("f", K::AutogradCPU, fallthrough);

  CHECK(f.has_kernel_for_dispatch_key(K::CPU));
  CHECK(f.has_kernel_for_dispatch_key(K::CompositeExplicitAutograd));
  CHECK_FALSE(f.has_kernel_for_dispatch_key(K::CUDA));

  CHECK(f.has_kernel_for_any_dispatch_key({K::CPU, K::CUDA}));
  CHECK_FALSE(f.has_kernel_for_any_dispatch_key(K::CUDA));
  CHECK_FALSE(f.has_kernel_for_any_dispatch_key(DispatchKeySet()));
  CHECK(f.has_kernel_for_any_dispatch_key(DispatchKeySet::full()));
  const OpOverload alias_only = define("g(Tensor x, int n=0) -> int");
  m.impl("g", K::CompositeExplicitAutograd, says(2));
  CHECK_FALSE(alias_only.has_kernel_for_any_dispatch_key(DispatchKeySet::full()));

  CHECK(f.has_computed_kernel_for_dispatch_key(K::CUDA));
  CHECK(f.has_computed_kernel_for_dispatch_key(K::BackendSelect));  // the fallback
  CHECK_FALSE(f.has_computed_kernel_for_dispatch_key(K::AutogradPrivateUse2));
  CHECK_THROWS_AS(f.has_computed_kernel_for_dispatch_key(K::CompositeExplicitAutograd), ValueError);

  CHECK(f.kernel_for_dispatch_key_is_fallthrough(K::AutogradCPU));
  CHECK_FALSE(f.kernel_for_dispatch_key_is_fallthrough(K::CPU));
  CHECK_FALSE(f.kernel_for_dispatch_key_is_fallthrough(K::BackendSelect));  // not registered here

  SECTION("a rule of the operator's own counts as a kernel at its key") {
    const RegistrationHandle rule =
        operator_base(f.handle().entry()).impl(K::CUDA, [](DispatchKeySet, Stack* stack) {
          *stack = {IValue(3)};
        });
    CHECK(f.has_kernel_for_dispatch_key(K::CUDA));
    CHECK(f.has_kernel_for_any_dispatch_key(K::CUDA));
  }
}

void check_dead(const OpOverload& f, const Tensor& x) {
  CHECK(f.name() == "demo::f");
  CHECK(f.to_string() == "demo.f.default");
  CHECK(f == f);
  CHECK_THROWS_AS(f.schema(), NotImplementedError);
  CHECK_THROWS_AS(f.tags(), NotImplementedError);
  CHECK_THROWS_AS(f.alias_analysis(), NotImplementedError);
  CHECK_THROWS_AS(f.is_view(), NotImplementedError);
  CHECK_THROWS_AS(f.is_defined_statically(), NotImplementedError);
  CHECK_THROWS_AS(f(x), NotImplementedError);
  CHECK_THROWS_AS(f.redispatch(K::CPU, {x}), NotImplementedError);
  CHECK_THROWS_AS(f.at(K::CPU)(x), NotImplementedError);
  Stack stack = {x, 1};
  CHECK_THROWS_AS(f.call_boxed(&stack), NotImplementedError);
  CHECK_THROWS_AS(f.redispatch_boxed(K::CPU, &stack), NotImplementedError);
  CHECK_THROWS_AS(f.at(K::CPU).call_boxed(&stack), NotImplementedError);
  CHECK_THROWS_AS(f.decompose({x}), NotImplementedError);
  CHECK_THROWS_AS(f.has_decomposition(), NotImplementedError);
  CHECK_THROWS_AS(f.has_kernel_for_dispatch_key(K::CPU), NotImplementedError);
  CHECK_THROWS_AS(f.has_kernel_for_any_dispatch_key(K::CPU), NotImplementedError);
  CHECK_THROWS_AS(f.has_computed_kernel_for_dispatch_key(K::CPU), NotImplementedError);
  CHECK_THROWS_AS(f.kernel_for_dispatch_key_is_fallthrough(K::CPU), NotImplementedError);
}

TEST_CASE("an overload whose operator was removed throws, also after another took its name") {
  Dispatcher d;
  const Tensor x = tensor_on(DeviceType::CPU);
  std::optional<OpOverload> f;
  using Typed = TypedOverload<int64_t(const Tensor&, int64_t)>;
  std::optional<Typed> typed;
  const auto define = [&](Library& m, std::string_view schema) {
    const OpOverload op(m.define(schema));
    m.impl("f", K::CPU, says(1));
    return op;
  };
  {
    Library m(d, Kind::Def, "demo");
    f = define(m, "f(Tensor x, int n=0) -> int");
    typed.emplace(f->handle());
    CHECK((*typed)(x, 0) == 1);
  }
  check_dead(*f, x);
  CHECK_THROWS_AS((*typed)(x, 0), NotImplementedError);
  CHECK_THROWS_AS(typed->redispatch(K::CPU, x, 0), NotImplementedError);
  CHECK_THROWS_AS(Typed(f->handle()), NotImplementedError);
  SECTION("of another schema") {
    Library m(d, Kind::Def, "demo");
    const OpOverload other = define(m, "f(Tensor x, int n=1) -> int");
    CHECK(other != *f);
    check_dead(*f, x);
    CHECK(other(x)[0].to_int() == 1);
  }
  SECTION("of the same schema: then it lives again") {
    Library m(d, Kind::Def, "demo");
    const OpOverload same = define(m, "f(Tensor x, int n=0) -> int");
    CHECK(same == *f);
    CHECK((*f)(x)[0].to_int() == 1);
    CHECK((*typed)(x, 0) == 1);
  }
  SECTION("a library cannot put a kernel on it by its handle") {
    Library m(d, Kind::Impl, "demo");
    CHECK_THROWS_AS(m.impl(f->handle(), K::CPU, says(1)), NotImplementedError);
  }
}

SB_OP(short_lived, "op_overload_test::short_lived(Tensor x, int n=0) -> int");

TEST_CASE("what SB_OP declared throws after it was removed, and finds the operator anew") {
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK_THROWS_AS(OpOverload(short_lived), RuntimeError);
  {
    Library m(Kind::Def, "op_overload_test");
    m.define(short_lived);
    m.impl(short_lived, K::CPU, says(1));
    CHECK(OpOverload(short_lived)(x)[0].to_int() == 1);
    CHECK(short_lived(x) == 1);
  }
  CHECK_THROWS_AS(short_lived(x), RuntimeError);
  CHECK_THROWS_AS(short_lived.redispatch(K::CPU, x, 1), RuntimeError);
  {
    Library m(Kind::Def, "op_overload_test");
    m.define("short_lived(Tensor x) -> int");
    CHECK_THROWS_AS(short_lived(x), TypeError);
  }
  Library m(Kind::Def, "op_overload_test");
  m.define(short_lived);
  m.impl(short_lived, K::CPU, says(2));
  CHECK(short_lived(x) == 2);
}

}  // namespace
}  // namespace sb
