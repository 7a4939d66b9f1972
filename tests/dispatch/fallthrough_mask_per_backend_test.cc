// Whether a functionality falls through is asked for one backend: the highest of the *arguments*,
// before the thread's keys are added, or CPU if they have none. A backend that only the thread
// includes is masked as if it were not there.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("AutogradCPU may fall through while AutogradCUDA runs") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).passes_at({K::AutogradCUDA}).ends_at({K::CPU, K::CUDA});
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CPU"});
  CHECK(f.call({K::CUDA, K::AutogradCUDA}) == Log{"AutogradCUDA", "CUDA"});
  // A call on both is one on CUDA.
  CHECK(f.call({K::CPU, K::CUDA, K::AutogradCPU}) == Log{"AutogradCUDA", "CUDA"});
}

TEST_CASE("a backend that the thread includes does not choose the mask") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).passes_at({K::AutogradCUDA}).ends_at({K::CPU, K::CUDA});
  IncludeKeysGuard include(K::CUDA);
  // Autograd is masked as for CPU, and yet the call goes to CUDA.
  CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"CUDA"});
}

TEST_CASE("arguments without a backend are masked as on CPU") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).passes_at({K::AutogradCUDA}).ends_at({K::CUDA});
  IncludeKeysGuard include({K::CUDA, K::AutogradCUDA});
  CHECK(f.call({std::vector<Tensor>{}}) == Log{"CUDA"});
}

TEST_CASE("a call may be sent to a slot that falls through, which is an error") {
  Recorder f;
  f.falls_through_at({K::AutogradCUDA}).passes_at({K::AutogradCPU}).ends_at({K::CPU, K::CUDA});
  IncludeKeysGuard include(K::CUDA);
  CHECK_THROWS_WITH(f.call({K::CPU, K::AutogradCPU}), Catch::Contains("fallthrough"));
}

}  // namespace
}  // namespace sb
