// A tensor carries its backend key, ADInplaceOrView, the autograd key of its backend and that
// backend's autocast key, whether or not it requires grad. An inference tensor has no autograd
// keys; an undefined tensor is not empty: it has ADInplaceOrView and AutogradOther.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a tensor meets the autograd kernel of its backend, then ADInplaceOrView, then its own") {
  Recorder f;
  f.passes_at({K::AutogradCPU, K::AutogradOther, K::ADInplaceOrView}).ends_at({K::CPU, K::HIP});
  CHECK(f.call({std::vector<Tensor>{tensor_on(DeviceType::CPU)}}) ==
        Log{"AutogradCPU", "ADInplaceOrView", "CPU"});
  // HIP has no autograd key of its own.
  CHECK(f.call({std::vector<Tensor>{tensor_on(DeviceType::HIP)}}) ==
        Log{"AutogradOther", "ADInplaceOrView", "HIP"});
}

TEST_CASE("an inference tensor has no autograd key") {
  Recorder f;
  f.passes_at({K::AutogradCPU}).ends_at({K::CPU});
  CHECK(f.call(tensor_key_set(DeviceType::CPU, /*inference=*/true)) == Log{"CPU"});
}

TEST_CASE("an undefined tensor brings ADInplaceOrView and AutogradOther") {
  Recorder f;
  f.passes_at({K::AutogradOther, K::ADInplaceOrView}).ends_at({K::Undefined});
  CHECK(f.call({std::vector<Tensor>{Tensor()}}) ==
        Log{"AutogradOther", "ADInplaceOrView", "Undefined"});
}

}  // namespace
}  // namespace sb
