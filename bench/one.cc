// Runs one case N times and nothing else after start-up:
//
//   valgrind --tool=callgrind bazel-bin/bench/one CASE N
//
// Two runs with different N give the instructions of one call: the difference divided by the
// difference of the Ns. `one --list` names the cases.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#ifdef SB_BENCH_AUTOGRAD
#include "switchboard/autograd/variable.h"
#endif
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb::bench {

SB_OP(noop, "bench::noop(Tensor a, Tensor b) -> Tensor");
SB_OP(redispatched, "bench::redispatched(Tensor a, Tensor b) -> Tensor");

namespace {

constexpr DispatchKeySet kBelowAutograd = DispatchKeySet::below(DispatchKey::ADInplaceOrView);

SB_LIBRARY(bench, m) {
  const auto first = [](const Tensor& a, const Tensor&) { return a; };
  m.define(noop);
  m.impl(noop, DispatchKey::CPU, first);
  m.impl(noop, DispatchKey::Autograd, fallthrough);  // without //autograd these keys fall through
  m.define(redispatched);
  m.impl(redispatched, DispatchKey::CPU, first);
  m.impl(redispatched, DispatchKey::AutogradCPU,
         [](DispatchKeySet keys, const Tensor& a, const Tensor& b) {
           return redispatched.redispatch(keys & kBelowAutograd, a, b);
         });
}

Tensor tensor(Device device, IntArrayRef sizes) { return empty_on(device, sizes, DType::Float32); }

using Case = std::function<void(long n)>;

// An operator without a shape rule, which runs on zeros.
SB_LIBRARY_FRAGMENT(aten, m) {
  m.define("_bench_cpu_only(Tensor x) -> Tensor");
  m.impl("_bench_cpu_only", DispatchKey::CPU, [](const Tensor& x) { return add(x, x); });
}

void add_to_itself(const Tensor& x) { add(x, x); }
void view_rows(const Tensor& x) { view(x, {x.sym_size(1), x.sym_size(0)}); }
void multiply_by_itself(const Tensor& x) { matmul(x, x); }
void index_rows(const Tensor& x) {
  static const OperatorHandle op = default_dispatcher().find_op_or_throw("aten::index.Tensor");
  Stack stack = {x, std::vector<std::optional<Tensor>>{std::nullopt, x}};
  op.call_boxed(&stack);
}
void fall_back(const Tensor& x) {
  static const OperatorHandle op = default_dispatcher().find_op_or_throw("aten::_bench_cpu_only");
  Stack stack = {x};
  op.call_boxed(&stack);
}

// n calls on one fake tensor, in a mode with a cache of its own.
void fake_calls(long n, FakeCacheUse use, void (*call)(const Tensor& x)) {
  FakeTensorMode fake({.cache_use = use, .cache = FakeDispatchCache::create()});
  const Tensor x = fake.from_tensor(zeros({64, 64}, DType::Int64), Device("cuda:0"));
  for (long i = 0; i < n; ++i) call(x);
}

// The same where its sizes are symbols, after a call that asks what there is to ask about them.
void symbolic_calls(long n, FakeCacheUse use, void (*call)(const Tensor& x)) {
  FakeTensorMode fake(
      {.shape_env = ShapeEnv::create(), .cache_use = use, .cache = FakeDispatchCache::create()});
  const Tensor x = fake.from_tensor(zeros({64, 64}), {.device = Device("cuda:0"), .source = "x"});
  call(x);
  for (long i = 0; i < n; ++i) call(x);
}

// n calls that are looked up, computed and remembered: the cache is cleared before each.
void fake_misses(long n, void (*call)(const Tensor& x)) {
  const auto cache = FakeDispatchCache::create();
  FakeTensorMode fake({.cache = cache});
  const Tensor x = fake.from_tensor(zeros({64, 64}, DType::Int64), Device("cuda:0"));
  for (long i = 0; i < n; ++i) {
    cache->clear();
    call(x);
  }
}

const std::map<std::string, Case>& cases() {
  static const auto* const all = new std::map<std::string, Case>{
      {"noop",
       [](long n) {
         const Tensor a = tensor(DeviceType::CPU, {1}), b = tensor(DeviceType::CPU, {1});
         for (long i = 0; i < n; ++i) noop(a, b);
       }},
      {"boxed",
       [](long n) {
         const Tensor a = tensor(DeviceType::CPU, {1}), b = tensor(DeviceType::CPU, {1});
         const OperatorHandle op = noop.handle();
         Stack stack;
         for (long i = 0; i < n; ++i) {
           stack.emplace_back(a);
           stack.emplace_back(b);
           op.call_boxed(&stack);
           stack.clear();
         }
       }},
      {"redispatch",
       [](long n) {
         const Tensor a = tensor(DeviceType::CPU, {1}), b = tensor(DeviceType::CPU, {1});
         for (long i = 0; i < n; ++i) redispatched(a, b);
       }},
      {"mode",
       [](long n) {
         const Tensor a = tensor(DeviceType::CPU, {1}), b = tensor(DeviceType::CPU, {1});
         class Noop : public DispatchMode {
           void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
             op.call_boxed(stack);
           }
           std::string name() const override { return "Noop"; }
         } mode;
         ModeGuard guard(&mode);
         for (long i = 0; i < n; ++i) noop(a, b);
       }},
      {"empty",
       [](long n) {
         for (long i = 0; i < n; ++i) empty({1});
       }},
      {"add",
       [](long n) {
         const Tensor a = ones({1}), b = ones({1});
         for (long i = 0; i < n; ++i) add(a, b);
       }},
      {"add_out",
       [](long n) {
         const Tensor a = ones({1}), b = ones({1}), out = ones({1});
         for (long i = 0; i < n; ++i) add_out(a, b, 1, out);
       }},
      {"transpose",
       [](long n) {
         const Tensor a = ones({2, 3});
         for (long i = 0; i < n; ++i) transpose(a, 0, 1);
       }},
      {"meta_add",
       [](long n) {
         const Tensor a = tensor(DeviceType::Meta, {1}), b = tensor(DeviceType::Meta, {1});
         for (long i = 0; i < n; ++i) add(a, b);
       }},
      {"fake_add",
       [](long n) {
         FakeTensorMode fake;
         const Tensor a = fake.from_tensor(ones({1}), Device("cuda:0"));
         const Tensor b = fake.from_tensor(ones({1}), Device("cuda:0"));
         for (long i = 0; i < n; ++i) add(a, b);
       }},
      // What the cache of fake results saves, for operators of three kinds: a Meta kernel, a rule
      // and a fallback kernel.
      {"fake_add_hit", [](long n) { fake_calls(n, FakeCacheUse::All, add_to_itself); }},
      {"fake_index", [](long n) { fake_calls(n, FakeCacheUse::Off, index_rows); }},
      {"fake_index_hit", [](long n) { fake_calls(n, FakeCacheUse::Costly, index_rows); }},
      {"fake_index_miss", [](long n) { fake_misses(n, index_rows); }},
      {"fake_fallback", [](long n) { fake_calls(n, FakeCacheUse::Off, fall_back); }},
      {"fake_fallback_hit", [](long n) { fake_calls(n, FakeCacheUse::Costly, fall_back); }},
      {"fake_fallback_miss", [](long n) { fake_misses(n, fall_back); }},
      {"fake_symbolic_add", [](long n) { symbolic_calls(n, FakeCacheUse::Off, add_to_itself); }},
      {"fake_symbolic_add_hit",
       [](long n) { symbolic_calls(n, FakeCacheUse::Costly, add_to_itself); }},
      {"fake_symbolic_view", [](long n) { symbolic_calls(n, FakeCacheUse::Off, view_rows); }},
      {"fake_symbolic_view_hit",
       [](long n) { symbolic_calls(n, FakeCacheUse::Costly, view_rows); }},
      {"fake_symbolic_matmul",
       [](long n) { symbolic_calls(n, FakeCacheUse::Off, multiply_by_itself); }},
      {"fake_symbolic_matmul_hit",
       [](long n) { symbolic_calls(n, FakeCacheUse::Costly, multiply_by_itself); }},
      {"fake_clear", [](long n) { fake_misses(n, [](const Tensor&) {}); }},
#ifdef SB_BENCH_AUTOGRAD
      // Calls that record a node: one that saves nothing, and one that saves both arguments.
      {"add_grad",
       [](long n) {
         const Tensor a = ones({1}), b = ones({1});
         set_requires_grad(a);
         set_requires_grad(b);
         for (long i = 0; i < n; ++i) add(a, b);
       }},
      {"mul_grad",
       [](long n) {
         const Tensor a = ones({1}), b = ones({1});
         set_requires_grad(a);
         set_requires_grad(b);
         for (long i = 0; i < n; ++i) mul(a, b);
       }},
#endif
  };
  return *all;
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& [name, body] : cases()) std::puts(name.c_str());
    return 0;
  }
  char* end = nullptr;
  const long n = argc == 3 ? std::strtol(argv[2], &end, 10) : -1;
  const auto found = argc == 3 ? cases().find(argv[1]) : cases().end();
  if (found == cases().end() || n < 0 || *end != '\0') {
    std::fprintf(stderr, "usage: one CASE N, or one --list\n");
    return 2;
  }
  found->second(n);
  return 0;
}

}  // namespace
}  // namespace sb::bench

int main(int argc, char** argv) { return sb::bench::run(argc, argv); }
