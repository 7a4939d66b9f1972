// Fake calls by one thread and by two, each in a mode of its own with one cache for all: how much
// more do two get done? Items are calls.

#include <optional>
#include <vector>

#include "benchmark/benchmark.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"

namespace sb::bench {
namespace {

// An operator with a rule: the cache answers.
void cached(benchmark::State& state) {
  static const IntrusivePtr<FakeDispatchCache> cache = FakeDispatchCache::create();
  static const OperatorHandle index = default_dispatcher().find_op_or_throw("aten::index.Tensor");
  FakeTensorMode fake({.cache = cache});
  const Tensor x = fake.from_tensor(zeros({64, 64}, DType::Int64), Device("cuda:0"));
  Stack stack;
  for (auto _ : state) {
    stack = {x, std::vector<std::optional<Tensor>>{std::nullopt, x}};
    index.call_boxed(&stack);
    stack.clear();
  }
  state.SetItemsProcessed(state.iterations());
}

// An operator whose shape rule runs.
void computed(benchmark::State& state) {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(zeros({64, 64}), Device("cuda:0"));
  for (auto _ : state) benchmark::DoNotOptimize(add(x, x));
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(cached)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(computed)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace sb::bench

BENCHMARK_MAIN();
