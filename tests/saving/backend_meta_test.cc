// A device whose tensors carry metadata of its own, which its hooks write to files and read back.

#include "switchboard/core/backend_meta.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/device_hooks.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/io/safetensors/test_support.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using io::error_of;

struct TileMeta : BackendMeta {
  explicit TileMeta(std::string tiling) : tiling(std::move(tiling)) {}
  std::string tiling;
};

// Memory of the host, said to be the device's.
class HostAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    void* const data = std::aligned_alloc(64, std::max<size_t>((bytes + 63) / 64 * 64, 64));
    return DataPtr(data, data, &std::free, Device(DeviceType::PrivateUse1, 0));
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    std::memcpy(destination, source, bytes);
  }
};

class OneDevice final : public DeviceGuardImpl {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  int8_t device_count() const noexcept override { return 1; }
  Device current_device() const override { return Device(type(), 0); }
  void set_current(int8_t) const noexcept override {}
};

class TileHooks final : public DeviceHooks {
 public:
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  void save_backend_meta(const Tensor& tensor, MetaEntries* entries) override {
    ++saved;
    (*entries)["tiling"] =
        static_cast<const TileMeta*>(tensor.impl()->backend_meta().get())->tiling;
    (*entries)["version"] = "1";
  }
  void load_backend_meta(const Tensor& tensor, const MetaEntries& entries) override {
    ++loaded;
    const auto tiling = entries.find("tiling");
    SB_CHECK(tiling != entries.end() && !tiling->second.starts_with("bad"), "npu: no tiling '",
             tiling->second, "'");
    tensor.impl()->set_backend_meta(make_intrusive<TileMeta>(tiling->second));
  }
  int saved = 0, loaded = 0;
};

TileHooks& hooks() {
  static TileHooks& hooks = *new TileHooks;
  return hooks;
}

Tensor host_view(const Tensor& t) {
  if (t.is_cpu()) return t;
  auto impl = make_intrusive<TensorImpl>(
      make_intrusive<StorageImpl>(DataPtr(t.storage()->data(), DeviceType::CPU),
                                  t.storage()->nbytes(), nullptr),
      tensor_key_set(DeviceType::CPU), t.dtype(), DeviceType::CPU);
  impl->set_sizes_and_strides(t.sizes(), t.strides());
  impl->set_storage_offset(t.storage_offset());
  return Tensor(std::move(impl));
}

const bool registered = [] {
  static HostAllocator& allocator = *new HostAllocator;
  static const OneDevice& guard = *new OneDevice;
  rename_privateuse1_backend("npu");
  set_allocator(DeviceType::PrivateUse1, &allocator);
  register_device_guard(&guard);
  register_device_hooks(&hooks());
  return true;
}();

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(empty, [](IntArrayRef size, std::optional<DType> dtype, std::optional<Layout>,
                   std::optional<Device>, std::optional<bool>, std::optional<MemoryFormat>) {
    return empty_on(Device(DeviceType::PrivateUse1, 0), size, dtype.value_or(DType::Float32));
  });
  m.impl(empty_strided, [](IntArrayRef size, IntArrayRef stride, std::optional<DType> dtype,
                           std::optional<Layout>, std::optional<Device>, std::optional<bool>) {
    return empty_strided_on(Device(DeviceType::PrivateUse1, 0), size, stride,
                            dtype.value_or(DType::Float32));
  });
  m.impl(_copy_from, [](const Tensor& self, const Tensor& dst, bool) {
    copy_elements(host_view(dst), host_view(self));
    return dst;
  });
}
SB_LIBRARY_IMPL(_, AutogradPrivateUse1, m) { m.fallback(fallthrough); }

Tensor tiled(const std::string& tiling) {
  const Tensor t = empty_on(Device(DeviceType::PrivateUse1, 0), {2, 3}, DType::Float32);
  std::memset(t.data_ptr(), 0, t.nbytes());
  t.impl()->set_backend_meta(make_intrusive<TileMeta>(tiling));
  return t;
}

const TileMeta* meta_of(const Tensor& t) {
  return static_cast<const TileMeta*>(t.impl()->backend_meta().get());
}

struct File {
  io::TemporaryFolder folder;
  std::string path = folder / "a.safetensors";
};

TEST_CASE("backend metadata goes to the file and back by the device's hooks", "[saving][hooks]") {
  const File file;
  const Tensor bare = empty_on(Device("npu:0"), {2}, DType::Float32);
  std::memset(bare.data_ptr(), 0, bare.nbytes());
  const int saved = hooks().saved, loaded_before = hooks().loaded;
  const Tensor tiles = tiled("8x8");
  save_tensors(file.path, {{"bare", bare}, {"t", tiles}, {"same", alias_with(tiles, {6}, {1}, 0)}});
  CHECK(hooks().saved == saved + 1);  // a view has none, nor has `bare`
  const TensorMap loaded = load_tensors(file.path);
  CHECK(hooks().loaded == loaded_before + 1);
  REQUIRE(meta_of(loaded.at("t")));
  CHECK(meta_of(loaded.at("t"))->tiling == "8x8");
  CHECK_FALSE(meta_of(loaded.at("bare")));
  CHECK_FALSE(meta_of(loaded.at("same")));
  CHECK(loaded.at("same").is_alias_of(loaded.at("t")));
}

TEST_CASE("another type of device does not get it", "[saving][hooks]") {
  const File file;
  save_tensors(file.path, {{"t", tiled("8x8")}});
  const int loaded = hooks().loaded;
  CHECK_FALSE(meta_of(load_tensors(file.path, {.map_location = Device("cpu")}).at("t")));
  CHECK(hooks().loaded == loaded);
  const TensorMap here = load_tensors(file.path, {.map_location = Device("npu")});
  REQUIRE(meta_of(here.at("t")));
  CHECK(meta_of(here.at("t"))->tiling == "8x8");
}

TEST_CASE("what the hooks refuse names the file and the tensor", "[saving][hooks]") {
  const File file;
  save_tensors(file.path, {{"t", tiled("bad\x1b[2J")}});
  CHECK(error_of([&] { load_tensors(file.path); }) ==
        "ValueError: " + file.path + ": 't': npu: no tiling 'bad\\x1b[2J'");
  CHECK_THAT(error_of([&] {
               save_tensors(file.path, {{"t", tiled("\xff")}});
             }),
             StartsWith("ValueError: ") && Contains("backend metadata, are not UTF-8"));
  CHECK(meta_of(load_tensors(file.path, {.map_location = Device("cpu")}).at("t")) == nullptr);
}

}  // namespace
}  // namespace sb
