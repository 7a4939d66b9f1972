// Every dispatcher begins with fallbacks that send calls on where they should pass unless somebody
// registers otherwise. That is why a tensor's autograd key does not get into the way of a CPU
// kernel.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

// The keys with a default fallback of that kind, lowest first.
std::vector<K> keys_where(Recorder& f, bool (Kernel::*is)() const) {
  std::vector<K> keys = f.keys_by("backend fallback");
  std::erase_if(keys, [&](K key) {
    return f.dispatcher().inspect(
        [&] { return !(f.op().entry().resolve(key).kernel->function.entries.*is)(); });
  });
  return keys;
}

TEST_CASE("these keys fall through by default, and no others") {
  Recorder f;
  CHECK(keys_where(f, &Kernel::is_fallthrough) ==
        std::vector<K>{K::BackendSelect, K::ADInplaceOrView, K::AutocastCPU, K::AutocastMTIA,
                       K::AutocastMAIA, K::AutocastXPU, K::AutocastMPS, K::AutocastCUDA,
                       K::FuncTorchVmapMode, K::VmapMode});
}

TEST_CASE("these autograd keys have a kernel by default, which redispatches below them all") {
  Recorder f;
  CHECK(keys_where(f, &Kernel::is_autograd_fallback) ==
        std::vector<K>{K::AutogradOther, K::AutogradCPU, K::AutogradCUDA, K::AutogradXLA,
                       K::AutogradMPS, K::AutogradXPU, K::AutogradHPU, K::AutogradLazy,
                       K::AutogradMTIA, K::AutogradMAIA, K::AutogradPrivateUse1, K::AutogradMeta});
  f.ends_at({K::CUDA, K::FPGA}).passes_at({K::AutogradOther});
  // That of CUDA passes over the kernel at AutogradOther.
  CHECK(f.call({K::CUDA, K::AutogradCUDA, K::AutogradOther}) == Log{"CUDA"});
  CHECK(f.redispatch({K::FPGA, K::AutogradOther}) == Log{"AutogradOther", "FPGA"});
  CHECK(f.redispatch({K::CUDA, K::AutogradCUDA, K::AutogradOther}) == Log{"CUDA"});
}

TEST_CASE("a fallthrough in its place leads to AutogradOther") {
  Recorder f;
  f.ends_at({K::CUDA}).passes_at({K::AutogradOther}).falls_through_at({K::AutogradCUDA});
  CHECK(f.call({K::CUDA, K::AutogradCUDA, K::AutogradOther}) == Log{"AutogradOther", "CUDA"});
}

TEST_CASE("at these keys a call fails by default, as it does without a kernel") {
  Recorder f;
  CHECK(keys_where(f, &Kernel::is_refusal) ==
        std::vector<K>{K::Meta, K::FuncTorchBatched, K::BatchedNestedTensor});
  CHECK_THROWS_WITH(f.call({K::Meta}), Catch::Contains("demo::f: no kernel for Meta"));
  CHECK_THROWS_AS(f.redispatch(K::Meta), NotImplementedError);
  CHECK_THROWS_AS(f.fallback_at({K::Meta}), RuntimeError);
}

TEST_CASE("a backend whose autograd key has no fallback cannot be reached through it") {
  Recorder f;
  f.ends_at({K::PrivateUse2, K::IPU});
  for (DeviceType device : {DeviceType::PrivateUse2, DeviceType::IPU})
    CHECK_THROWS_AS(f.call(tensor_key_set(device)), NotImplementedError);
  f.fallback_falls_through_at({K::AutogradPrivateUse2});
  CHECK(f.call(tensor_key_set(DeviceType::PrivateUse2)) == Log{"PrivateUse2"});
}

TEST_CASE("AutogradPrivateUse1 takes a fallback over the default, and has none when that is gone") {
  Recorder f;
  f.ends_at({K::PrivateUse1});
  const DispatchKeySet keys = tensor_key_set(DeviceType::PrivateUse1);
  CHECK(f.call(keys) == Log{"PrivateUse1"});
  {
    Library library(f.dispatcher(), Library::Kind::Impl, "_", K::AutogradPrivateUse1);
    library.fallback(f.kernel("of the backend", /*passes=*/true));
    CHECK(f.call(keys) == Log{"of the backend for AutogradPrivateUse1", "PrivateUse1"});
  }
  CHECK_THROWS_AS(f.call(keys), NotImplementedError);
}

}  // namespace
}  // namespace sb
