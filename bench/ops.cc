// Operators on Switchboard alone, by Google Benchmark: ./bazelw run //bench:ops -- --help

#include <string>

#include "benchmark/benchmark.h"
#include "switchboard/bench/switchboard_cases.h"

int main(int argc, char** argv) {
  for (const sb::bench::OpCase& c : sb::bench::switchboard_cases()) {
    for (int threads : {1, 2}) {
      const std::string name = c.name + "/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), [c, threads](benchmark::State& state) {
        sb::bench::set_switchboard_threads(threads);
        for (auto _ : state) c.run();
        using benchmark::Counter;
        if (c.bytes > 0)
          state.counters["bytes"] = Counter(c.bytes, Counter::kIsIterationInvariantRate);
        if (c.flops > 0)
          state.counters["flops"] = Counter(c.flops, Counter::kIsIterationInvariantRate);
      })->UseRealTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
