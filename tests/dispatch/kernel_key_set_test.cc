// A kernel gets the whole key set of the call: what is left after exclusion and fallthroughs. Its
// own key is the highest in it. A typed kernel gets it as a first parameter of type DispatchKeySet.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a boxed kernel gets the masked set, its own key the highest") {
  Recorder f;
  DispatchKeySet got;
  f.library().impl("f", K::AutogradCPU,
                   [&](const OperatorHandle& op, DispatchKeySet keys, Stack* s) {
                     got = keys;
                     s->resize(s->size() - op.schema().arguments.size());
                   });
  f.falls_through_at({K::Conjugate});
  f.call({K::CPU, K::AutogradCPU, K::Conjugate, K::AutocastCPU});
  // Conjugate and BackendSelect fall through, AutocastCPU is excluded.
  CHECK(got == DispatchKeySet{K::CPU, K::AutogradCPU});
  CHECK(got.highest_key() == K::AutogradCPU);
}

TEST_CASE("an included key that has a kernel is in the set") {
  Recorder f;
  DispatchKeySet got;
  f.library().impl("f", K::Tracer,
                   [&](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
                     got = keys;
                     op.redispatch_boxed(keys & DispatchKeySet::below(K::Tracer), stack);
                   });
  f.ends_at({K::CPU});
  IncludeKeysGuard include(K::Tracer);
  f.call({K::CPU});
  CHECK(got == DispatchKeySet{K::CPU, K::Tracer});
}

TEST_CASE("a typed kernel may ask for the set, and pass on less of it") {
  Recorder f("f(Tensor x) -> ()");
  DispatchKeySet got;
  f.library().impl("f", K::AutogradCPU, [&](DispatchKeySet keys, const Tensor& x) {
    got = keys;
    Stack stack = {x};
    f.op().redispatch_boxed(keys & DispatchKeySet::below(K::AutogradCPU), &stack);
  });
  f.ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
  CHECK(got == DispatchKeySet{K::CPU, K::AutogradCPU});
}

TEST_CASE("a redispatched kernel gets exactly the set that it was sent with") {
  Recorder f;
  DispatchKeySet got;
  f.passes_at({K::Tracer});
  f.library().impl("f", K::CPU, [&](const OperatorHandle& op, DispatchKeySet keys, Stack* s) {
    got = keys;
    s->resize(s->size() - op.schema().arguments.size());
  });
  f.call({K::CPU, K::Tracer});
  CHECK(got == DispatchKeySet(K::CPU));
}

}  // namespace
}  // namespace sb
