#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

// An operator whose kernels write down the key that they run for, and pass on below it.
class Recorder {
 public:
  Recorder() : library_(dispatcher_, Library::Kind::Def, "demo") {
    op_ = library_.define("f(Tensor[] xs, Tensor? y=None) -> ()");
  }
  void kernel_at(DispatchKey key, bool redispatches = true) {
    library_.impl(
        "f", key,
        [this, redispatches](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
          log_.push_back(keys.highest_key());
          if (redispatches)
            op.redispatch_boxed(keys & DispatchKeySet::below(keys.highest_key()), stack);
          else
            stack->resize(stack->size() - 2);
        });
  }
  void fallthrough_at(DispatchKey key) { library_.impl("f", key, fallthrough); }
  std::vector<DispatchKey> call(std::vector<Tensor> xs, IValue y = {}) {
    log_.clear();
    Stack stack = {IValue(std::move(xs)), std::move(y)};
    op_->call_boxed(&stack);
    return log_;
  }
  Dispatcher& dispatcher() { return dispatcher_; }
  const OperatorHandle& op() const { return *op_; }

 private:
  Dispatcher dispatcher_;
  Library library_;
  std::optional<OperatorHandle> op_;
  std::vector<DispatchKey> log_;
};

using K = DispatchKey;
using Log = std::vector<DispatchKey>;

TEST_CASE("a call runs the highest key of the union of its tensor arguments") {
  Recorder f;
  f.kernel_at(K::CPU, false);
  f.kernel_at(K::Meta, false);
  CHECK(f.call({tensor_on(DeviceType::CPU)}) == Log{K::CPU});
  CHECK(f.call({tensor_on(DeviceType::CPU), tensor_on(DeviceType::Meta)}) == Log{K::Meta});
  CHECK(f.call({tensor_on(DeviceType::CPU)}, tensor_on(DeviceType::Meta)) == Log{K::Meta});
}

TEST_CASE("kernels that redispatch run from the highest key to the lowest") {
  Recorder f;
  f.kernel_at(K::AutogradCPU);
  f.kernel_at(K::ADInplaceOrView);
  f.kernel_at(K::CPU, false);
  CHECK(f.call({tensor_on(DeviceType::CPU)}) == Log{K::AutogradCPU, K::ADInplaceOrView, K::CPU});
}

TEST_CASE("a fallthrough passes the call on without running") {
  Recorder f;
  f.kernel_at(K::CPU, false);
  f.fallthrough_at(K::AutogradCPU);
  CHECK(f.call({tensor_on(DeviceType::CPU)}) == Log{K::CPU});
}

TEST_CASE("a redispatch into a fallthrough is an error") {
  Recorder f;
  f.fallthrough_at(K::AutogradCPU);
  f.kernel_at(K::CPU, false);
  Stack stack = {IValue(std::vector<Tensor>{tensor_on(DeviceType::CPU)}), IValue()};
  CHECK_THROWS_WITH(f.op().redispatch_boxed({K::CPU, K::AutogradCPU}, &stack),
                    Catch::Contains("fallthrough"));
}

TEST_CASE("a thread includes and excludes keys for a scope, and exclusion wins") {
  Recorder f;
  f.kernel_at(K::TESTING_ONLY_GenericMode);
  f.kernel_at(K::AutogradCPU);
  f.kernel_at(K::CPU, false);
  const std::vector<Tensor> x = {tensor_on(DeviceType::CPU)};
  {
    IncludeKeysGuard include(K::TESTING_ONLY_GenericMode);
    CHECK(f.call(x) == Log{K::TESTING_ONLY_GenericMode, K::AutogradCPU, K::CPU});
    ExcludeKeysGuard exclude({K::TESTING_ONLY_GenericMode, K::AutogradCUDA});
    // Excluding autograd for one backend excludes it for every one.
    CHECK(f.call(x) == Log{K::CPU});
  }
  CHECK(f.call(x) == Log{K::AutogradCPU, K::CPU});
}

TEST_CASE("guards end with an exception") {
  const DispatchTls before = dispatch_tls;
  try {
    IncludeKeysGuard include(K::Tracer);
    ExcludeKeysGuard exclude(K::CPU);
    InferenceModeGuard inference;
    throw RuntimeError("out of here");
  } catch (const Error&) {
  }
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.kept == before.kept);
}

TEST_CASE("inference mode skips autograd and ADInplaceOrView") {
  Recorder f;
  f.kernel_at(K::AutogradCPU);
  f.kernel_at(K::ADInplaceOrView);
  f.kernel_at(K::CPU, false);
  const Tensor made_in_it = tensor_with(tensor_key_set(DeviceType::CPU, /*inference=*/true));
  CHECK(f.call({made_in_it}) == Log{K::ADInplaceOrView, K::CPU});
  InferenceModeGuard inference;
  CHECK(f.call({made_in_it}) == Log{K::CPU});
  // A tensor from outside still brings ADInplaceOrView.
  CHECK(f.call({tensor_on(DeviceType::CPU)}) == Log{K::ADInplaceOrView, K::CPU});
}

TEST_CASE("a missing kernel names the operator, the key, the arguments and what is registered") {
  Recorder f;
  f.kernel_at(K::CPU, false);
  CHECK_THROWS_AS(f.call({tensor_on(DeviceType::Meta)}), NotImplementedError);
  CHECK_THROWS_WITH(f.call({tensor_on(DeviceType::Meta)}),
                    Catch::Contains("demo::f: no kernel for Meta") &&
                        Catch::Contains("argument 0 'xs' {AutogradMeta") &&
                        Catch::Contains("registered: CPU (dispatch/call_keys_test.cc:"));
}

TEST_CASE("with no functionality left the Undefined slot runs") {
  Recorder f;
  f.kernel_at(K::CompositeExplicitAutograd, false);
  CHECK(f.call({}) == Log{K::Undefined});
}

TEST_CASE("an explanation tells every key that the call looked at, and why") {
  Recorder f;
  f.kernel_at(K::CPU, false);
  const Explanation e = explain(f.op(), tensor_key_set(DeviceType::CPU));
  using V = ExplainStep::Verdict;
  std::vector<std::pair<K, V>> steps;
  for (const ExplainStep& step : e.steps) steps.emplace_back(step.key, step.verdict);
  CHECK(steps == std::vector<std::pair<K, V>>{{K::AutocastCPU, V::Excluded},
                                              {K::AutogradCPU, V::Fallthrough},
                                              {K::ADInplaceOrView, V::Fallthrough},
                                              {K::BackendSelect, V::Fallthrough},
                                              {K::CPU, V::Taken}});
  CHECK_THAT(to_string(e), Catch::Contains("dispatch/call_keys_test.cc"));
  const Explanation missing = explain(f.op(), tensor_key_set(DeviceType::Meta));
  CHECK(missing.steps.back().verdict == V::Missing);
  CHECK(missing.steps.back().key == K::Meta);
}

TEST_CASE("a trace shows every kernel, indented by depth, and only while it is on") {
  Recorder f;
  f.kernel_at(K::AutogradCPU);
  f.kernel_at(K::CPU, false);
  std::vector<std::string> lines;
  {
    TraceCalls trace([&](const std::string& line) { lines.push_back(line); });
    f.call({tensor_on(DeviceType::CPU)});
  }
  f.call({tensor_on(DeviceType::CPU)});
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("demo::f  AutogradCPU  dispatch/call_keys_test.cc:"));
  CHECK_THAT(lines[1], Catch::StartsWith("  demo::f  CPU  dispatch/call_keys_test.cc:"));
}

}  // namespace
}  // namespace sb
