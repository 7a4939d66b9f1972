// What a thread includes and excludes is set by guards, which nest, end with their scope, on
// exceptions too, and concern their own thread alone.

#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("an inner guard ends before the outer one") {
  const DispatchTls before = dispatch_tls;
  {
    IncludeKeysGuard outer(K::Tracer);
    const DispatchKeySet one = dispatch_tls.included;
    {
      IncludeKeysGuard inner({K::Tracer, K::Conjugate});
      ExcludeKeysGuard exclude(K::Tracer);
      CHECK(dispatch_tls.included.has(K::Conjugate));
      CHECK(dispatch_tls.excluded().has(K::Tracer));
    }
    CHECK(dispatch_tls.included == one);
    CHECK_FALSE(dispatch_tls.excluded().has(K::Tracer));
  }
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.kept == before.kept);
}

TEST_CASE("including a key twice needs no care: it is there until the outer scope ends") {
  IncludeKeysGuard outer(K::Tracer);
  { IncludeKeysGuard inner(K::Tracer); }
  CHECK(dispatch_tls.included.has(K::Tracer));
}

TEST_CASE("guards end with an exception") {
  const DispatchTls before = dispatch_tls;
  CHECK_THROWS_AS(
      [] {
        IncludeKeysGuard include(K::Tracer);
        ExcludeKeysGuard exclude(K::CPU);
        UnexcludeKeysGuard autocast(K::AutocastCPU);
        InferenceModeGuard inference;
        throw RuntimeError("out of here");
      }(),
      RuntimeError);
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.kept == before.kept);
}

TEST_CASE("a guard in a kernel ends with it, also when the kernel throws") {
  Recorder f;
  f.library().impl("f", K::CPU, [](const OperatorHandle&, DispatchKeySet, Stack*) {
    IncludeKeysGuard include(K::Tracer);
    throw RuntimeError("from the kernel");
  });
  CHECK_THROWS_AS(f.call({K::CPU}), RuntimeError);
  CHECK_FALSE(dispatch_tls.included.has(K::Tracer));
}

TEST_CASE("another thread begins with the defaults") {
  IncludeKeysGuard include(K::Tracer);
  ExcludeKeysGuard exclude(K::CPU);
  DispatchTls other;
  std::thread([&] { other = dispatch_tls; }).join();
  CHECK(other.included == kDefaultIncluded);
  CHECK(other.excluded() == kDefaultExcluded);
}

class PassingMode : public DispatchMode {
 public:
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    ++calls;
    op.call_boxed(stack);
  }
  std::string name() const override { return "PassingMode"; }
  int calls = 0;
};

TEST_CASE("a guard undoes what it changed, not what modes did in its scope") {
  Recorder f;
  f.ends_at({K::CPU});
  PassingMode mode;
  auto ends_inside = std::make_unique<ModeGuard>(&mode);
  {
    IncludeKeysGuard guard(K::Tracer);
    ends_inside.reset();
  }
  CHECK_FALSE(dispatch_tls.included.has(K::Python));
  std::unique_ptr<ModeGuard> begins_inside;
  {
    ExcludeKeysGuard guard(K::Tracer);
    begins_inside = std::make_unique<ModeGuard>(&mode);
  }
  f.call(tensor_key_set(DeviceType::CPU));
  CHECK(mode.calls == 1);
}

}  // namespace
}  // namespace sb
