// A redispatch runs the highest slot of exactly the given set: it looks at neither what the thread
// includes and excludes nor fallthroughs. A call from a kernel begins anew, and looks at all of
// them.

#include "catch2/catch.hpp"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("kernels that redispatch below themselves run from the highest key to the lowest") {
  Recorder f;
  f.passes_at({K::Tracer, K::AutogradCPU, K::ADInplaceOrView, K::BackendSelect}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU, K::Tracer}) ==
        Log{"Tracer", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"});
}

TEST_CASE("a redispatch goes exactly where it is told, whatever the arguments carry") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::AutogradCPU});
  CHECK(f.redispatch({K::CUDA, K::CPU}) == Log{"CUDA"});
  Stack stack = bind_arguments(f.op().schema(), {std::vector<Tensor>{tensor_with(K::CUDA)}});
  f.op().redispatch_boxed(K::AutogradCPU, &stack);
  CHECK(f.log().back() == "AutogradCPU");
}

TEST_CASE("a redispatch to the empty set runs the Undefined slot") {
  Recorder f;
  f.ends_at({K::Undefined});
  CHECK(f.redispatch({}) == Log{"Undefined"});
}

TEST_CASE("a redispatch into a fallthrough is an error") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).ends_at({K::CPU});
  CHECK_THROWS_WITH(f.redispatch({K::CPU, K::AutogradCPU}), Catch::Contains("fallthrough"));
}

TEST_CASE("a kernel does not meet one, as the call that made its set took it out") {
  Recorder f;
  f.passes_at({K::Tracer}).falls_through_at({K::AutogradCPU}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU, K::Tracer}) == Log{"Tracer", "CPU"});
}

TEST_CASE("a kernel that calls anew, with its key excluded, is seen by what the thread includes") {
  Recorder f;
  f.library().impl("f", K::AutogradCPU,
                   [&](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
                     ExcludeKeysGuard below_autograd(K::AutogradCPU);
                     IncludeKeysGuard mode(K::TESTING_ONLY_GenericMode);
                     op.call_boxed(stack);
                   });
  f.passes_at({K::TESTING_ONLY_GenericMode}).ends_at({K::CPU});
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"TESTING_ONLY_GenericMode", "CPU"});
}

}  // namespace
}  // namespace sb
