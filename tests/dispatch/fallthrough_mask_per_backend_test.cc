// Whether calls pass over a functionality is asked for one backend: the highest of the arguments
// and the thread's keys together, or CPU if they have none.

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

TEST_CASE("a backend that the thread includes chooses the mask, where it is the highest") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).passes_at({K::AutogradCUDA}).ends_at({K::CPU, K::CUDA});
  {
    IncludeKeysGuard include(K::CUDA);
    CHECK(f.call({K::CPU, K::AutogradCPU}) == Log{"AutogradCUDA", "CUDA"});
  }
  IncludeKeysGuard include(K::CPU);
  CHECK(f.call({K::CUDA, K::AutogradCUDA}) == Log{"AutogradCUDA", "CUDA"});
}

TEST_CASE("arguments without a backend are masked as on the thread's") {
  Recorder f;
  f.falls_through_at({K::AutogradCPU}).passes_at({K::AutogradCUDA}).ends_at({K::CUDA});
  IncludeKeysGuard include({K::CUDA, K::AutogradCUDA});
  CHECK(f.call({std::vector<Tensor>{}}) == Log{"AutogradCUDA", "CUDA"});
}

}  // namespace
}  // namespace sb
