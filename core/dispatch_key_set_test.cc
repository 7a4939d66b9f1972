#include "switchboard/core/dispatch_key_set.h"

#include <sstream>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using K = DispatchKey;
using Set = DispatchKeySet;
using Keys = std::vector<DispatchKey>;

TEST_CASE("the empty set's highest key is Undefined", "[core][keyset]") {
  CHECK(Set().empty());
  CHECK(Set().highest_key() == K::Undefined);
  CHECK(Set().slot() == 0);
  CHECK(Set().keys().empty());
  CHECK(to_string(Set()) == "{}");
}

TEST_CASE("a set of one key has that key, in its own slot", "[core][keyset]") {
  for_each_runtime_key([](K k) {
    if (k == K::Undefined) return;
    const Set set(k);
    CHECK(set.highest_key() == k);
    CHECK(set.slot() == slot_of(k));
    CHECK(set.keys() == Keys{k});
    CHECK(set.has(k));
  });
}

TEST_CASE("Undefined and alias keys make the empty set", "[core][keyset]") {
  CHECK(Set(K::Undefined).empty());
  CHECK(Set(K::CompositeImplicitAutograd).empty());
  CHECK_FALSE(Set::full().has(K::Undefined));
  CHECK_FALSE(Set::full().has(K::Autograd));
}

TEST_CASE("a set is the cross product of its functionalities and backends", "[core][keyset]") {
  const Set set{K::CPU, K::AutogradCUDA};
  CHECK(set.keys() == Keys{K::CPU, K::CUDA, K::AutogradCPU, K::AutogradCUDA});
  CHECK(set.highest_key() == K::AutogradCUDA);
  CHECK((Set(K::SparseCPU) | Set(K::CUDA)).highest_key() == K::SparseCUDA);
}

TEST_CASE("difference takes away functionalities and leaves the backends", "[core][keyset]") {
  const Set both{K::CPU, K::CUDA};
  const Set none = both - Set(K::CUDA);
  CHECK(none.keys().empty());
  CHECK(none.highest_key() == K::Undefined);
  CHECK(none.highest_backend() == Backend::CUDA);
  CHECK((none | Set(K::CPU)).highest_key() == K::CUDA);
  CHECK((Set{K::CPU, K::AutogradCPU, K::AutogradCUDA} - Set(K::AutogradCPU)).highest_key() ==
        K::CUDA);
}

TEST_CASE("intersection acts on both parts", "[core][keyset]") {
  CHECK((Set{K::CPU, K::AutogradCUDA} & Set(K::AutogradCPU)).keys() == Keys{K::AutogradCPU});
  CHECK((Set(K::CPU) & Set(K::CUDA)).keys().empty());
}

TEST_CASE("below a key are the lower functionalities and every backend", "[core][keyset]") {
  CHECK((Set{K::CPU, K::CUDA} & Set::below(K::CUDA)).highest_key() == K::Undefined);
  CHECK((Set{K::CPU, K::AutogradCUDA} & Set::below(K::AutogradCPU)).highest_key() == K::CUDA);
  CHECK((Set{K::CPU, K::Python} & Set::below(K::FuncTorchDynamicLayerBackMode)).highest_key() ==
        K::Python);
  CHECK(Set::below(K::Undefined) == Set::all_backends());
}

TEST_CASE("sets meet where they share a key, not only a backend", "[core][keyset]") {
  CHECK(Set{K::CPU, K::AutogradCPU}.has_any(K::AutogradCPU));
  CHECK_FALSE(Set(K::CPU).has_any(K::AutogradCPU));
  CHECK_FALSE(Set(K::CPU).has_any(K::CUDA));
  CHECK(Set{K::CPU, K::Python}.has_any({K::CUDA, K::Python}));
}

TEST_CASE("a set prints its keys from the highest", "[core][keyset]") {
  CHECK(to_string(tensor_key_set(DeviceType::CPU)) ==
        "{AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}");
  std::ostringstream out;
  out << Set(K::FPGA);
  CHECK(out.str() == "{FPGA}");
}

TEST_CASE("a tensor carries its backend's key, autograd and autocast keys", "[core][keyset]") {
  CHECK(tensor_key_set(DeviceType::CPU) ==
        Set{K::CPU, K::ADInplaceOrView, K::AutogradCPU, K::AutocastCPU});
  CHECK(tensor_key_set(DeviceType::XLA) ==
        Set{K::XLA, K::ADInplaceOrView, K::AutogradXLA, K::AutocastXLA});
  CHECK(tensor_key_set(DeviceType::XPU).has(K::AutocastXPU));
  CHECK(tensor_key_set(DeviceType::CUDA).has(K::AutocastCUDA));
  CHECK(tensor_key_set(DeviceType::Meta) == Set{K::Meta, K::ADInplaceOrView, K::AutogradMeta});
  CHECK(tensor_key_set(DeviceType::PrivateUse1) ==
        Set{K::PrivateUse1, K::ADInplaceOrView, K::AutogradPrivateUse1, K::AutocastPrivateUse1});
}

TEST_CASE("backends without an autograd key get AutogradOther", "[core][keyset]") {
  CHECK(tensor_key_set(DeviceType::HIP) == Set{K::HIP, K::ADInplaceOrView, K::AutogradOther});
  CHECK(tensor_key_set(DeviceType::VE) == Set{K::VE, K::ADInplaceOrView, K::AutogradOther});
  CHECK(tensor_key_set(DeviceType::FPGA) == Set{K::FPGA, K::ADInplaceOrView, K::AutogradOther});
  CHECK(tensor_key_set(DeviceType::MKLDNN).has(K::MkldnnCPU));
}

TEST_CASE("an inference tensor has no autograd keys", "[core][keyset]") {
  CHECK(tensor_key_set(DeviceType::CPU, true) == Set{K::CPU, K::AutocastCPU});
  CHECK(tensor_key_set(DeviceType::Vulkan, true) == Set(K::Vulkan));
}

TEST_CASE("device types and their backend keys name each other", "[core][keyset]") {
  CHECK(dispatch_key_of(DeviceType::PrivateUse1) == K::PrivateUse1);
  CHECK(dispatch_key_of(DeviceType::Vulkan) == K::Vulkan);
  CHECK(device_type_of(K::AutogradCUDA) == DeviceType::CUDA);
  CHECK(device_type_of(K::MkldnnCPU) == DeviceType::CPU);
  CHECK(device_type_of(K::Python) == std::nullopt);
  for (int i = 0; i < kNumBackends; ++i) {
    const DeviceType type = static_cast<DeviceType>(i);
    CHECK(device_type_of(dispatch_key_of(type)) == type);
  }
}

}  // namespace
}  // namespace sb
