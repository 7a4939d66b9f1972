// Union and intersection act on functionalities and backends alike. Difference, "below a key", TLS
// exclusion and fallthrough masks take away functionalities only: a backend, once in, stays.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("without CUDA, {CPU, CUDA} goes to no backend kernel at all, and yet is on CUDA") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::SparseCPU, K::SparseCUDA, K::Undefined});
  const DispatchKeySet left = DispatchKeySet{K::CPU, K::CUDA} - K::CUDA;
  CHECK(f.redispatch(left) == Log{"Undefined"});
  CHECK(f.redispatch(left | K::SparseCPU) == Log{"SparseCUDA"});
}

TEST_CASE("an intersection goes to the backends that both sets have") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::AutogradCPU, K::AutogradCUDA});
  const DispatchKeySet both{K::CPU, K::CUDA, K::AutogradCPU};
  CHECK(f.redispatch(both) == Log{"AutogradCUDA"});
  CHECK(f.redispatch(both & DispatchKeySet{K::CPU, K::AutogradCPU}) == Log{"AutogradCPU"});
  CHECK(f.redispatch(both & DispatchKeySet{K::CPU}) == Log{"CPU"});
}

TEST_CASE("below a dense key is Undefined, not the dense kernel of a lower backend") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::Undefined});
  const DispatchKeySet both{K::CPU, K::CUDA};
  CHECK(f.redispatch(both & DispatchKeySet::below(K::CUDA)) == Log{"Undefined"});
  CHECK(f.redispatch(both & DispatchKeySet::below(K::AutogradCPU)) == Log{"CUDA"});
}

TEST_CASE("a kernel that redispatches below its key keeps the backend of the call") {
  Recorder f;
  f.passes_at({K::AutogradCUDA}).ends_at({K::CPU, K::CUDA});
  CHECK(f.call({K::CPU, K::AutogradCUDA}) == Log{"AutogradCUDA", "CUDA"});
}

}  // namespace
}  // namespace sb
