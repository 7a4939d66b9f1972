// Kernels, rules and gradients that are registered over one another.

#include <optional>

#include "switchboard/autograd/register_autograd.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/dispatch/objects/kept_kernel.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

struct Stack {
  Library m{Library::Kind::Def, "q"};
  OpOverload op{m.define("f(Tensor x) -> Tensor")};
  Stack() { m.impl("f", K::CPU, giving(1)); }
  Values run() const { return values_of(call(op, numbers({0}))); }
  // A library with another kernel at CPU.
  static std::optional<Library> over(double value) {
    std::optional<Library> library(std::in_place, Library::Kind::Impl, "q");
    library->impl("f", K::CPU, giving(value));
    return library;
  }
};

SB_QUESTION(
    "Three libraries register a kernel at one key, and the second goes before the third. "
    "What runs?",
    .both = "The third; and when that goes, the first.") {
  const Stack s;
  std::optional<Library> second = Stack::over(2), third = Stack::over(3);
  CHECK(s.run() == Values{3});
  second.reset();
  CHECK(s.run() == Values{3});
  third.reset();
  CHECK(s.run() == Values{1});
}

SB_QUESTION("May a library put a kernel over its own?",
            .both = "Yes, unless it was told that it may not override.") {
  Stack s;
  s.m.impl("f", K::CPU, giving(2));
  CHECK(s.run() == Values{2});
  s.m.allow_override(false);
  CHECK_THAT(error_of([&] { s.m.impl("f", K::CPU, giving(3)); }), StartsWith("RuntimeError"));
  CHECK(s.run() == Values{2});
}

SB_QUESTION("A kernel wants to call the one that it is put over. Can it?",
            .both = "By get_kernel(), which it asks before it is registered.") {
  const Stack s;
  Library over(Library::Kind::Impl, "q");
  const KeptKernel below = get_kernel("q::f", K::CPU);
  over.impl("f", K::CPU, [below](DispatchKeySet keys, const Tensor& x) {
    return below(keys, x)[0].to_tensor() + 10;
  });
  CHECK(s.run() == Values{11});
  over.close();
  CHECK(s.run() == Values{1});
}

SB_QUESTION("A kernel is kept, a newer one is put over it, and the kept one is called. What runs?",
            .both = "The kept one: it is still registered.") {
  const Stack s;
  const KeptKernel kept = get_kernel("q::f", K::CPU);
  const std::optional<Library> over = Stack::over(2);
  CHECK(values_of(kept(DispatchKeySet(K::CPU), numbers({0}))[0].to_tensor()) == Values{1});
}

SB_QUESTION(
    "get_kernel() is asked for an alias key, for no key, for no operator. What does it say?",
    .both = "An error each; that of the name which is no key is a ValueError.") {
  const Stack s;
  CHECK_THAT(error_of([] { get_kernel("q::f", K::Autograd); }), Contains("Autograd"));
  CHECK_THAT(error_of([] { get_kernel("q::f", "NoSuchKey"); }), StartsWith("ValueError"));
  CHECK_THAT(error_of([] { get_kernel("q::none", K::CPU); }), StartsWith("RuntimeError"));
}

SB_QUESTION("And for a key where the operator has a fallthrough?",
            .pytorch = "It gives an object for it.",
            .here = "RuntimeError: there is no kernel to keep.",
            .better = "What cannot be called is not handed out.") {
  const Stack s;
  CHECK_THAT(error_of([] { get_kernel("q::f", K::ADInplaceOrView); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A fallthrough is put over a kernel at a backend's key. What does a call do?",
            .pytorch = "NotImplementedError that says there were no tensor arguments.",
            .here = "NotImplementedError that names the operator and shows the fallthrough.",
            .better = "The error tells what happened: there was a tensor.") {
  const Stack s;
  {
    Library over(Library::Kind::Impl, "q");
    over.impl("f", K::CPU, fallthrough);
    CHECK_THAT(error_of([&] { s.run(); }), StartsWith("NotImplementedError: q::f"));
    CHECK_THAT(error_of([&] { s.run(); }), !Contains("no tensor arguments"));
  }
  CHECK(s.run() == Values{1});
}

SB_QUESTION("A kernel at an alias key comes after one at a runtime key that it covers. Which runs?",
            .both = "That at the runtime key, in whatever order they came.") {
  Stack s;
  s.m.impl("f", K::CompositeExplicitAutograd, giving(2));
  CHECK(s.run() == Values{1});
}

SB_QUESTION("Two fake rules of an operator: which runs, and which when that goes?",
            .both = "The newest; then the older; then none, which is an error.") {
  const Stack s;
  const auto rule = [](int64_t size) {
    return [size](const Tensor& x) { return empty({size}, x.dtype(), std::nullopt, x.device()); };
  };
  RegistrationHandle older = register_fake("q::f", rule(5)), newer = register_fake("q::f", rule(6));
  const Tensor meta = empty({1}, DType::Float32, std::nullopt, Device("meta"));
  CHECK(call(s.op, meta).size(0) == 6);
  older.destroy();
  CHECK(call(s.op, meta).size(0) == 6);
  newer.destroy();
  CHECK_THAT(error_of([&] { s.op(meta); }), StartsWith("NotImplementedError: q::f"));
}

SB_QUESTION("Two gradients of an operator by register_autograd: which counts?",
            .both =
                "The newest, and when that goes, the older. A call that was recorded before "
                "keeps the one that it was recorded with.") {
  Stack s;
  const auto times = [](double factor) {
    return [factor](FunctionContext&, const Tensor& g) { return g * factor; };
  };
  const auto derived = [&] {
    const Tensor x = leaf({1});
    return gradient(call(s.op, x), x);
  };
  register_autograd("q::f", times(2), {}, s.m);
  const Tensor x = leaf({1}), recorded = call(s.op, x);
  {
    const RegistrationHandle newer = register_autograd("q::f", times(3));
    CHECK(derived() == Values{3});
  }
  CHECK(derived() == Values{2});
  const RegistrationHandle newest = register_autograd("q::f", times(4));
  CHECK(gradient(recorded, x) == Values{2});
}

SB_QUESTION(
    "May a Meta kernel or a fake rule be put over a composite operator?",
    .pytorch = "No, not even with allow_override: it decomposes, and what it calls has rules.",
    .here = "No; a Meta kernel may, if its library says allow_override().",
    .better = "Whoever says so means to hide the composition; without it both refuse.") {
  Library m(Library::Kind::Def, "q");
  m.define("f(Tensor x) -> Tensor");
  m.impl("f", K::CompositeImplicitAutograd, giving(1));
  CHECK_THAT(error_of([&] { m.impl("f", K::Meta, giving(2)); }), StartsWith("RuntimeError"));
  for (const bool allow_override : {true, false})
    CHECK_THAT(error_of([&] { register_fake("q::f", giving(2), allow_override).destroy(); }),
               StartsWith("RuntimeError"));
  m.allow_override();
  CHECK(error_of([&] { m.impl("f", K::Meta, giving(2)); }) == "no error");
}

SB_QUESTION(
    "A CPU kernel that reads memory by pointer is put over a composite operator. What of "
    "gradients, which came through the composition?",
    .pytorch = "None: backward warns that there is no kernel for it, and goes on.",
    .here = "Backward is a RuntimeError that names the operator.",
    .better = "A gradient is never lost because a kernel is faster.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CompositeImplicitAutograd, [](const Tensor& x) { return x * 2; });
  const Tensor x = leaf({1});
  CHECK(gradient(call(op, x), x) == Values{2});
  Library fast(Library::Kind::Impl, "q");
  fast.impl("f", K::CPU, [](const Tensor& t) { return numbers({2 * values_of(t)[0]}); });
  const Tensor y = call(op, x);
  CHECK_THAT(error_of([&] { gradient(y, x); }), Contains("q::f: no derivative is registered"));
}

SB_QUESTION("Two libraries register a fallback for one key. Which counts?",
            .both = "The second is refused, and the error names both places.") {
  Library first(Library::Kind::Impl, "_"), second(Library::Kind::Impl, "_");
  const auto nothing = [](const OperatorHandle&, DispatchKeySet, sb::Stack*) {};
  first.fallback(K::PrivateUse2, nothing);
  CHECK_THAT(error_of([&] { second.fallback(K::PrivateUse2, nothing); }),
             StartsWith("RuntimeError") && Contains("stacked_kernels.cc"));
}

SB_QUESTION(
    "A fallback is registered after an operator was called without a kernel. Does the next "
    "call see it?",
    .both = "Yes, and the one after it is gone does not.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  const auto run = [&] { return error_of([&] { op(numbers({1})); }); };
  CHECK_THAT(run(), StartsWith("NotImplementedError"));
  {
    Library fallbacks(Library::Kind::Impl, "_");
    fallbacks.fallback(K::CPU, [](const OperatorHandle&, DispatchKeySet, sb::Stack*) {});
    CHECK(run() == "no error");
  }
  CHECK_THAT(run(), StartsWith("NotImplementedError"));
}

}  // namespace
}  // namespace sb::questions
