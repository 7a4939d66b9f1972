// Calls that cannot be served: no kernel, in each of its causes; ambiguous and fallthrough slots;
// stacks, results and arguments of the wrong shape.

#include <optional>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using Kind = Library::Kind;
using K = DispatchKey;

SB_OP(typed_f, "errors_calls::f(Tensor x) -> Tensor");

Tensor same(const Tensor& x) { return x; }

// demo::f, without a kernel.
struct CallErrors {
  Dispatcher dispatcher;
  Library m{dispatcher, Kind::Def, "demo"};
  // A default of a member stands at the constructor's place, here and there.
  std::string defined_at = here(0);
  OpOverload f{m.define("f(Tensor x) -> Tensor")};
  Tensor cpu = tensor_on(DeviceType::CPU);
  Tensor cuda = tensor_on(DeviceType::CUDA);
  Tensor dummy = tensor_on(DeviceType::PrivateUse2);
  std::string schema = "\nschema: demo::f(Tensor x) -> Tensor (" + defined_at + ")";
};

TEST_CASE_METHOD(CallErrors, "no kernel: nothing is registered") {
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
        "at CPU or CompositeExplicitAutograd\n"
        "registered: nothing");
}

TEST_CASE_METHOD(CallErrors, "no kernel: only other backends have one") {
  const std::string at_cpu = here();
  m.impl("f", K::CPU, same);
  const std::string at_meta = here();
  m.impl("f", K::Meta, same);
  CHECK(message([&] { f(cuda); }) ==
        "NotImplementedError: demo::f: no kernel for CUDA (argument 0 'x' is on cuda); register "
        "one at CUDA or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at_cpu + "), Meta (" + at_meta + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: the second argument decides") {
  const OpOverload g(m.define("g(Tensor x, Tensor[] ys) -> Tensor"));
  const std::string at_cpu = here();
  m.impl("g", K::CPU, [](const Tensor& x, TensorList) { return x; });
  CHECK(message([&] {
          g(cpu, std::vector<Tensor>{cpu, cuda});
        }) ==
        "NotImplementedError: demo::g: no kernel for CUDA (argument 1 'ys' is on cuda); "
        "register one at CUDA or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at_cpu + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: a backend whose autograd key nobody falls through") {
  const std::string at = here();
  m.impl("f", K::PrivateUse2, same);
  CHECK(message([&] { f(dummy); }) ==
        "NotImplementedError: demo::f: no kernel for AutogradPrivateUse2 (argument 0 'x' has that "
        "key); register one at AutogradPrivateUse2 or Autograd, or a fallback at "
        "AutogradPrivateUse2\n"
        "registered: PrivateUse2 (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: the thread excludes the key that has one") {
  const std::string at = here();
  m.impl("f", K::CPU, same);
  ExcludeKeysGuard guard(K::CPU);
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for Undefined (no key of the arguments is left); "
        "this thread excludes CPU, which has one: call it without that, or register one at "
        "BackendSelect or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: the kernel was registered for a slip of the name") {
  m.impl("ff", K::CPU, same);
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
        "at CPU or CompositeExplicitAutograd\n"
        "registered: nothing\n"
        "kernels without a definition: demo::ff");
}

TEST_CASE_METHOD(CallErrors, "no kernel: an undefined tensor") {
  const std::string at = here();
  m.impl("f", K::CPU, same);
  CHECK(message([&] { f(Tensor()); }) ==
        "NotImplementedError: demo::f: no kernel for Undefined (argument 0 'x' is an undefined "
        "tensor); register one at BackendSelect or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: the thread is below autograd, where the only one is") {
  const std::string at = here();
  m.impl("f", K::Autograd, same);
  InferenceModeGuard guard;
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); this thread "
        "excludes AutogradCPU, which has one: call it without that, or register one at CPU or "
        "CompositeExplicitAutograd\n"
        "registered: Autograd (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: what a kernel excludes is not held against the program") {
  // As every autograd kernel does, a fallback's too: it excludes autograd and goes on.
  const std::string at = here();
  m.impl("f", K::Autograd, [this](const Tensor& x) {
    const BelowAutogradGuard below;
    return f(x)[0].to_tensor();
  });
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
        "at CPU or CompositeExplicitAutograd\n"
        "registered: Autograd (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: a kernel goes on by a redispatch") {
  const std::string at = here();
  m.impl("f", K::Autograd, [this](DispatchKeySet keys, const Tensor& x) {
    return f.redispatch(keys - kAutogradFunctionalities, {x})[0].to_tensor();
  });
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
        "at CPU or CompositeExplicitAutograd\n"
        "registered: Autograd (" +
            at + ")");
  // Below a guard of the program's, too: it is the kernel that has left autograd behind.
  const ExcludeKeysGuard guard(K::Tracer);
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
        "at CPU or CompositeExplicitAutograd\n"
        "registered: Autograd (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: the operator that a kernel calls has none") {
  const OpOverload g(m.define("g(Tensor x) -> Tensor"));
  m.impl("g", K::CompositeImplicitAutograd,
         [this](const Tensor& x) { return f(x)[0].to_tensor(); });
  const std::string at = here();
  m.impl("f", K::Autograd, same);
  const std::string text =
      "NotImplementedError: demo::f: no kernel for CPU (argument 0 'x' is on cpu); register one "
      "at CPU or CompositeExplicitAutograd\n"
      "registered: Autograd (" +
      at + ")";
  const BelowAutogradGuard guard;
  CHECK(message([&] { g(cpu); }) == text);
}

TEST_CASE_METHOD(CallErrors, "no kernel: the thread includes a key without one") {
  const std::string at = here();
  m.impl("f", K::CPU, same);
  IncludeKeysGuard guard(K::Tracer);
  CHECK(message([&] { f(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for Tracer (this thread includes that key); "
        "register one at Tracer, or a fallback there\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: no argument gives a key") {
  const OpOverload zeros(m.define("zeros(int n) -> Tensor"));
  const std::string at = here();
  m.impl("zeros", K::CPU, [](int64_t) { return Tensor(); });
  CHECK(message([&] { zeros(3); }) ==
        "NotImplementedError: demo::zeros: no kernel for Undefined (no argument gives a key); "
        "register one at BackendSelect or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: a redispatch names a key without one") {
  const std::string at = here();
  m.impl("f", K::CPU, same);
  CHECK(message([&] { f.redispatch(K::Meta, {cpu}); }) ==
        "NotImplementedError: demo::f: no kernel for Meta (the caller named that key); register "
        "one at Meta or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "no kernel: a call at one runtime key") {
  CHECK(message([&] { f.at(K::SparseCPU)(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for SparseCPU (the caller named that key); "
        "register one at SparseCPU or CompositeExplicitAutograd\n"
        "registered: nothing");
}

TEST_CASE_METHOD(CallErrors, "no kernel: a call at one alias key") {
  const std::string at = here();
  m.impl("f", K::CPU, same);
  CHECK(message([&] { f.at(K::CompositeImplicitAutograd)(cpu); }) ==
        "NotImplementedError: demo::f: no kernel for CompositeImplicitAutograd (the caller named "
        "that key); register one there\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE("no kernel: a typed call says the same") {
  Library m(Kind::Def, "errors_calls");
  m.define(typed_f);
  const std::string at = here();
  m.impl(typed_f, K::CPU, same);
  CHECK(message([&] { typed_f(tensor_on(DeviceType::CUDA)); }) ==
        "NotImplementedError: errors_calls::f: no kernel for CUDA (argument 0 'x' is on cuda); "
        "register one at CUDA or CompositeExplicitAutograd\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "ambiguous: a composite beside a backend behind AutogradOther") {
  const std::string at_sparse = here();
  m.impl("f", K::SparseCPU, same);
  const std::string at_composite = here();
  m.impl("f", K::CompositeImplicitAutograd, same);
  CHECK(message([&] {
          f(tensor_with({K::SparseCPU, K::AutogradOther}));
        }) ==
        "RuntimeError: demo::f: ambiguous at AutogradOther (argument 0 'x' has that key), between "
        "the CompositeImplicitAutograd kernel and that of a backend without an autograd key of its "
        "own; register one at AutogradOther\n"
        "registered: SparseCPU (" +
            at_sparse + "), CompositeImplicitAutograd (" + at_composite + ")");
}

TEST_CASE_METHOD(CallErrors, "a redispatch into a fallthrough") {
  m.impl("f", K::CPU, same);
  const std::string at = here();
  m.impl("f", K::Tracer, fallthrough);
  CHECK(message([&] {
          f.redispatch({K::Tracer, K::CPU}, {cpu});
        }) ==
        "RuntimeError: demo::f: entered at Tracer, which holds a fallthrough; a redispatch masks "
        "the keys that it passes over\n"
        "fallthrough: " +
            at);
}

TEST_CASE_METHOD(CallErrors, "a call at a key that holds a fallthrough") {
  const std::string at = here();
  m.impl("f", K::CPU, fallthrough);
  CHECK(message([&] { f.at(K::CPU)(cpu); }) ==
        "RuntimeError: demo::f: called at CPU, which holds a fallthrough; call it at another key\n"
        "registered: CPU (" +
            at + ")");
}

TEST_CASE_METHOD(CallErrors, "a boxed call with too few values on the stack") {
  m.impl("f", K::CPU, same);
  const std::string expected =
      "RuntimeError: demo::f: expected 1 values on the stack, got 0; a boxed call gives every "
      "argument, those with defaults too" +
      schema;
  Stack stack;
  CHECK(message([&] { f.call_boxed(&stack); }) == expected);
  CHECK(message([&] { f.redispatch_boxed(K::CPU, &stack); }) == expected);
  CHECK(stack.empty());
}

TEST_CASE_METHOD(CallErrors, "a boxed kernel that leaves the wrong number of values") {
  const std::string at = here();
  m.impl("f", K::CPU, [](const OperatorHandle&, DispatchKeySet, Stack* s) { s->emplace_back(1); });
  CHECK(message([&] { f(cpu); }) ==
        "RuntimeError: demo::f: a boxed kernel left 2 values on the stack, expected 1; it takes "
        "its arguments off and puts its results there" +
            schema + "\nregistered: CPU (" + at + ")");
}

TEST_CASE_METHOD(CallErrors, "a boxed call with a value of the wrong type") {
  const OpOverload g(m.define("g(Tensor x, int n) -> Tensor"));
  m.impl("g", K::CPU, [](const Tensor& x, int64_t) { return x; });
  Stack stack = {cpu, "three"};
  CHECK(message([&] { g.call_boxed(&stack); }) ==
        "TypeError: demo::g: argument 1 'n': expected int, got str");
}

TEST_CASE_METHOD(CallErrors, "a boxed call with a keyword-only value of the wrong type") {
  const OpOverload g(m.define("g(Tensor x, *, float w=1.0, int n=1) -> Tensor"));
  m.impl("g", K::CPU, [](const Tensor& x, double, int64_t) { return x; });
  Stack stack = {cpu, 2, 2.5};
  CHECK(message([&] { g.call_boxed(&stack); }) ==
        "TypeError: demo::g: argument 2 'n': expected int, got float");
  CHECK(stack.size() == 3);
}

TEST_CASE_METHOD(CallErrors, "a TypeError of the kernel's own passes as it is") {
  m.impl("f", K::CPU, [](const Tensor& x) {
    SB_CHECK_TYPE(x.dim() == 7, "expected seven dimensions");
    return x;
  });
  CHECK(message([&] { f(cpu); }) == "TypeError: expected seven dimensions");
}

TEST_CASE_METHOD(CallErrors, "a call with an argument of the wrong type") {
  CHECK(message([&] { f(3); }) == "TypeError: demo::f: argument 0 'x': expected Tensor, got int");
}

TEST_CASE_METHOD(CallErrors, "a call with too many positional arguments") {
  CHECK(message([&] { f(cpu, cpu); }) ==
        "TypeError: demo::f: expected at most 1 positional arguments, got 2");
}

TEST_CASE_METHOD(CallErrors, "a call with a keyword-only argument by position") {
  const OpOverload g(m.define("g(Tensor x, *, int n=1) -> Tensor"));
  CHECK(message([&] { g(cpu, 2); }) ==
        "TypeError: demo::g: expected at most 1 positional arguments, got 2");
}

TEST_CASE_METHOD(CallErrors, "a call without a required argument") {
  CHECK(message([&] { f(); }) ==
        "TypeError: demo::f: argument 0 'x': expected Tensor, got nothing");
}

TEST_CASE_METHOD(CallErrors, "a call with an argument both by position and by name") {
  CHECK(message([&] {
          f.call({cpu}, {{"x", cpu}});
        }) == "TypeError: demo::f: argument 0 'x': given both by position and by name");
}

TEST_CASE_METHOD(CallErrors, "a call with an argument twice by name") {
  CHECK(message([&] {
          f.call({}, {{"x", cpu}, {"x", cpu}});
        }) == "TypeError: demo::f: argument 0 'x': given twice");
}

TEST_CASE_METHOD(CallErrors, "a call with an argument that the schema does not have") {
  const OpOverload g(m.define("g(Tensor x, int n=1) -> Tensor"));
  CHECK(message([&] {
          g.call({cpu}, {{"m", 1}});
        }) == "TypeError: demo::g: no argument 'm'; arguments: x, n");
}

TEST_CASE_METHOD(CallErrors, "a call of an operator that was removed") {
  const std::string at = here(2);
  std::optional<Library> g(std::in_place, dispatcher, Kind::Fragment, "demo");
  const OpOverload gone(g->define("gone(Tensor x) -> Tensor"));
  g.reset();
  const std::string expected =
      "NotImplementedError: demo::gone: the operator was removed; keep the library open that "
      "defines it\n"
      "it was defined at: " +
      at;
  Stack stack = {cpu};
  SECTION("by name and value") {
    CHECK(message([&] { gone(cpu); }) == expected);
  }
  SECTION("boxed") {
    CHECK(message([&] { gone.call_boxed(&stack); }) == expected);
  }
  SECTION("redispatched") {
    CHECK(message([&] { gone.redispatch_boxed(K::CPU, &stack); }) == expected);
  }
  SECTION("at one key") {
    CHECK(message([&] { gone.at(K::CPU).call_boxed(&stack); }) == expected);
  }
  SECTION("typed") {
    CHECK(message([&] { gone.typed<Tensor(const Tensor&)>(); }) == expected);
  }
  SECTION("its schema") {
    CHECK(message([&] { gone.schema(); }) == expected);
  }
  SECTION("more kernels for it") {
    CHECK(refusal(dispatcher, [&] { m.impl(gone, K::CPU, same); }) == expected);
  }
}

}  // namespace
}  // namespace sb
