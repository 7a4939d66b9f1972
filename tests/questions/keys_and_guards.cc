// Dispatch keys, and what threads add to them or take away.

#include "switchboard/autograd/fallback.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

struct F {
  Library m{Library::Kind::Def, "q"};
  OpOverload op{m.define("f(Tensor x) -> Tensor")};
  std::string error(const Tensor& x) const {
    return error_of([&] { op(x); });
  }
};

SB_QUESTION("An operator has only a kernel at Autograd. Do calls work?",
            .both =
                "Yes, under no_grad too; not in inference mode, whose tensors have no autograd "
                "key.") {
  F f;
  f.m.impl("f", K::Autograd, giving(2));
  CHECK(f.error(numbers({1})) == "no error");
  {
    const NoGradGuard off;
    CHECK(f.error(numbers({1})) == "no error");
  }
  const InferenceModeGuard inference;
  CHECK_THAT(f.error(numbers({1})), StartsWith("NotImplementedError: q::f"));
}

SB_QUESTION("Does a kernel at Autograd run where no argument requires a gradient?",
            .both = "Yes; it is for the kernel to look.") {
  F f;
  int runs = 0;
  f.m.impl("f", K::CPU, giving(1));
  f.m.impl("f", K::Autograd, [&](const Tensor& x) {
    ++runs;
    const BelowAutogradGuard below;
    return call(f.op, x);
  });
  f.op(numbers({1}));
  CHECK(runs == 1);
}

SB_QUESTION(
    "Such a kernel excludes the autograd keys, and throws. What does the thread exclude "
    "afterwards?",
    .both = "What it did before.") {
  F f;
  f.m.impl("f", K::CPU, [](const Tensor&) -> Tensor { SB_THROW(ValueError, "no"); });
  f.m.impl("f", K::Autograd, [&](const Tensor& x) {
    const BelowAutogradGuard below;
    return call(f.op, x);
  });
  const DispatchKeySet before = dispatch_tls.excluded();
  CHECK(f.error(leaf({1})) == "ValueError: no");
  CHECK(dispatch_tls.excluded() == before);
}

SB_QUESTION("A kernel redispatches with the set that it was given, its own key included?",
            .both = "It is called again, without end: the set is to be reduced first.") {
  F f;
  int calls = 0;
  f.m.impl("f", K::CPU, [&](DispatchKeySet keys, const Tensor& x) {
    SB_CHECK_VALUE(++calls < 6, "looped");
    return f.op.redispatch(keys, {x})[0].to_tensor();
  });
  CHECK(f.error(numbers({1})) == "ValueError: looped");
}

SB_QUESTION("A thread includes a key and excludes it. Which counts?",
            .both = "The exclusion, whichever guard is the inner one.") {
  F f;
  const Tensor one = numbers({1}), two = numbers({2});
  f.m.impl("f", K::CPU, [&](const Tensor&) { return one; });
  f.m.impl("f", K::FuncTorchBatched, [&](const Tensor&) { return two; });
  const DispatchKeySet keys(K::FuncTorchBatched);
  const auto runs = [&](const Tensor& t) { return call(f.op, one).is_same(t); };
  {
    const IncludeKeysGuard in(keys);
    CHECK(runs(two));
    const ExcludeKeysGuard out(keys);
    CHECK(runs(one));
  }
  const ExcludeKeysGuard out(keys);
  const IncludeKeysGuard in(keys);
  CHECK(runs(one));
}

SB_QUESTION("Every key of a tensor is excluded by the thread. What does a call say?",
            .pytorch =
                "NotImplementedError that there were no tensor arguments, of the out= form "
                "that the operator is made of.",
            .here =
                "NotImplementedError that names the operator and shows the keys that the "
                "thread excludes.",
            .better = "There was a tensor; the guard is the cause.") {
  const Tensor x = numbers({1});
  const ExcludeKeysGuard out(x.key_set() | kAutogradFunctionalities);
  CHECK_THAT(error_of([&] { -x; }),
             StartsWith("NotImplementedError: aten::neg") && Contains("exclud"));
}

SB_QUESTION("A composite operator has a kernel at SparseCPU, too. What does AutogradOther run?",
            .both =
                "Nothing: it is ambiguous, and a call there says so; dense tensors do not "
                "notice.") {
  F f;
  f.m.impl("f", K::CompositeImplicitAutograd, giving(1));
  f.m.impl("f", K::SparseCPU, giving(2));
  CHECK(f.error(numbers({1})) == "no error");
  CHECK_THAT(f.error(tensor_with(DispatchKeySet(K::SparseCPU) | K::AutogradOther)),
             Contains("ambiguous"));
}

SB_QUESTION(
    "May a kernel be registered at a building block of keys (Dense, AutogradFunctionality), or at "
    "a key that is none?",
    .pytorch = "At the first, without a word; not at the second.", .here = "At neither.",
    .better =
        "Tensors have the keys that are made of the blocks, so that such a kernel "
        "would never run.") {
  F f;
  for (const K key : {K::Dense, K::AutogradFunctionality}) {
    INFO(to_string(key));
    CHECK_THAT(error_of([&] { f.m.impl("f", key, giving(1)); }), Contains("Error: "));
  }
  CHECK_THAT(error_of([] { parse_dispatch_key("Nope"); }), Contains("Nope"));
}

SB_QUESTION("Where may a fallback be registered?",
            .both =
                "In an IMPL library of namespace _, at a runtime key that has none; no "
                "operators can be defined there.") {
  const auto nothing = [](const OperatorHandle&, DispatchKeySet, sb::Stack*) {};
  F f;
  CHECK_THAT(error_of([&] { f.m.fallback(K::PrivateUse2, nothing); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([] { Library(Library::Kind::Fragment, "_"); }), Contains("Error: "));
  Library all(Library::Kind::Impl, "_");
  CHECK_THAT(error_of([&] { all.fallback(nothing); }), Contains("key"));
  CHECK_THAT(error_of([&] { all.fallback(K::CompositeImplicitAutograd, nothing); }),
             Contains("Error: "));
  CHECK_THAT(error_of([&] { all.fallback(K::Meta, nothing); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A tensor of the CPU and one of meta are arguments of one call. Where does it go?",
            .both = "To Meta, the highest backend; ATen's operators refuse to mix them.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x, Tensor y) -> str"));
  m.impl("f", K::Meta, [](const OperatorHandle&, DispatchKeySet, sb::Stack* stack) {
    stack->clear();
    stack->push_back("meta");
  });
  const Tensor cpu = numbers({1}), meta = empty({1}, DType::Float32, std::nullopt, Device("meta"));
  CHECK(op(cpu, meta)[0].to_string_view() == "meta");
  CHECK_THAT(error_of([&] { cpu + meta; }), StartsWith("RuntimeError"));
}

SB_QUESTION("What may the autograd fallback be set to?",
            .pytorch = "nothing and warn, which is the default; error is not implemented.",
            .here = "All three, and error is the default.",
            .better = "Missing derivatives are found by the first backward.") {
  F f;
  f.m.impl("f", K::CPU, [](const Tensor& x) { return x * 3; });
  CHECK(autograd_fallback_mode() == AutogradFallbackMode::Error);
  set_autograd_fallback_mode(AutogradFallbackMode::Nothing);
  const Tensor x = leaf({1});
  CHECK(gradient(call(f.op, x), x) == Values{3});
  set_autograd_fallback_mode(AutogradFallbackMode::Error);
  const Tensor y = call(f.op, x);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError: q::f"));
}

SB_QUESTION(
    "A kernel switches grad mode off and does not switch it on again. Is it off afterwards?",
    .pytorch = "Yes, for the rest of the thread.",
    .here = "The switch is a scope; there is no other.",
    .better = "What cannot be forgotten is not forgotten.") {
  F f;
  f.m.impl("f", K::CPU, [](const Tensor& x) {
    const NoGradGuard off;
    return x * 1;
  });
  f.op(numbers({1}));
  CHECK(is_grad_enabled());
}

}  // namespace
}  // namespace sb::questions
