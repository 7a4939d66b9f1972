// Sixteen threads make ten million calls while registrations come and go: each call runs one whole
// kernel, the one of before or the one of after.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/reclaim.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(steady, "busy::steady(Tensor x) -> int");
SB_OP(overridden, "busy::overridden(Tensor x) -> int");
SB_OP(defined_anew, "busy::defined_anew(Tensor x) -> int");
SB_OP(falls_back, "busy::falls_back(Tensor x) -> int");

constexpr int kThreads = 16;
constexpr int64_t kCallsOfAThread = 625'000;

// How many kernels of this test the thread has run.
thread_local int64_t kernels_run = 0;

// A kernel that sees whether it is whole: its captures were made together and not yet destroyed.
auto kernel_giving(int64_t value) {
  auto first = std::make_shared<int64_t>(value), second = std::make_shared<int64_t>(value);
  return [first, second](const Tensor&) {
    ++kernels_run;
    return *first == *second ? *first : int64_t{-1};
  };
}

// The same, as a boxed kernel.
auto boxed_kernel_giving(int64_t value) {
  return [typed = kernel_giving(value)](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    const int64_t result = typed((*stack)[stack->size() - 1].to_tensor());
    stack->back() = IValue(result);
  };
}

struct Counts {
  int64_t calls = 0;
  int64_t refused = 0;  // with a typed error, while nothing was registered
  int64_t wrong = 0;    // a result that no kernel gives
  int64_t run = 0;
};

Counts make_calls(const OperatorHandle& steady_op, const OperatorHandle& overridden_op,
                  const OperatorHandle& anew_op) {
  const Tensor x = tensor_on(DeviceType::CPU), there = tensor_with(DispatchKey::PrivateUse2);
  Counts counts;
  Stack stack;
  auto boxed = [&](const OperatorHandle& op) {
    stack.assign(1, IValue(x));
    op.call_boxed(&stack);
    return stack.back().to_int();
  };
  // `always`: something is registered at every moment.
  auto expect = [&](bool always, int64_t low, int64_t high, auto call) {
    ++counts.calls;
    try {
      const int64_t got = call();
      counts.wrong += got < low || got > high;
    } catch (const Error&) {
      ++(always ? counts.wrong : counts.refused);
    }
  };
  kernels_run = 0;
  while (counts.calls + 8 <= kCallsOfAThread) {
    expect(true, 1, 1, [&] { return steady(x); });
    expect(true, 1, 1, [&] { return boxed(steady_op); });
    expect(true, 2, 3, [&] { return overridden(x); });
    expect(true, 2, 3, [&] { return boxed(overridden_op); });
    expect(true, 2, 3, [&] { return overridden.redispatch(DispatchKey::CPU, x); });
    expect(false, 4, 5, [&] { return defined_anew(x); });
    expect(false, 4, 5, [&] { return boxed(anew_op); });
    expect(false, 6, 6, [&] { return falls_back(there); });
  }
  while (counts.calls < kCallsOfAThread) expect(true, 1, 1, [&] { return steady(x); });
  counts.run = kernels_run;
  return counts;
}

TEST_CASE("no call is lost or runs half a kernel while operators come and go") {
  Library library(Library::Kind::Def, "busy");
  for (auto [schema, value] : {std::pair(steady.schema(), 1), {overridden.schema(), 2}})
    library.define(schema, kernel_giving(value));
  library.define(falls_back);
  const OperatorHandle anew_op = [&] {
    Library brief(Library::Kind::Fragment, "busy");
    return brief.define(defined_anew);
  }();

  std::atomic<int> running{kThreads};
  std::vector<Counts> counts(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      counts[static_cast<size_t>(i)] = make_calls(steady.handle(), overridden.handle(), anew_op);
      running.fetch_sub(1);
    });
  }
  int64_t rounds = 0;
  for (; running.load() > 0; ++rounds) {
    Library defines(Library::Kind::Fragment, "busy");
    defines.define(defined_anew);
    Library overrides(Library::Kind::Impl, "busy");
    overrides.allow_override();
    overrides.impl(defined_anew, DispatchKey::CPU, kernel_giving(4));
    overrides.impl(overridden, DispatchKey::CompositeImplicitAutograd, kernel_giving(3));
    overrides.impl("defined_anew", DispatchKey::CPU, boxed_kernel_giving(5));
    Library fallbacks(Library::Kind::Impl, "_");
    fallbacks.fallback(DispatchKey::PrivateUse2, boxed_kernel_giving(6));
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();

  Counts all;
  for (const Counts& c : counts) {
    all.calls += c.calls;
    all.refused += c.refused;
    all.wrong += c.wrong;
    all.run += c.run;
  }
  CAPTURE(rounds, all.refused);
  CHECK(rounds > 2);
  CHECK(all.calls == kThreads * kCallsOfAThread);
  CHECK(all.wrong == 0);
  CHECK(all.run + all.refused == all.calls);
  internal::reclaim();
  CHECK(internal::retired_objects() == 0);
}

}  // namespace
}  // namespace sb
