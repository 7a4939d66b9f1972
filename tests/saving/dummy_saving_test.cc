#include <cstring>

#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/backend_meta.h"
#include "switchboard/devices/dummy/memory.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/io/safetensors/test_support.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using io::error_of;

constexpr Device kCpu(DeviceType::CPU);
constexpr Device kSecond(DeviceType::PrivateUse1, 1);

struct File {
  io::TemporaryFolder folder;
  std::string path = folder / "a.safetensors";
};

Tensor counting(int64_t count, Device device) {
  return to(to_dtype(arange(count), DType::Float32), device);
}

std::vector<float> elements(const Tensor& t) {
  const Tensor here = contiguous(to(t, kCpu));
  return {here.data<float>(), here.data<float>() + here.numel()};
}

TEST_CASE("a tensor comes back to the device that it was on", "[saving][dummy]") {
  const File file;
  save_tensors(file.path, {{"a", counting(6, kSecond)}, {"b", counting(3, kCpu)}});
  CHECK_THAT(io::read_file(file.path), Contains(R"(\"device\":\"dummy:1\")"));
  const TensorMap loaded = load_tensors(file.path);
  CHECK(loaded.at("a").device() == kSecond);
  CHECK(loaded.at("b").is_cpu());
  CHECK(elements(loaded.at("a")) == std::vector<float>{0, 1, 2, 3, 4, 5});
  // Elements lie in the device's own memory, sealed.
  CHECK(dummy::DeviceMemory::open_count(loaded.at("a").data_ptr()) == 0);
  CHECK(current_device(DeviceType::PrivateUse1) == Device("dummy:0"));
}

TEST_CASE("map_location says where tensors go instead", "[saving][dummy]") {
  const File file;
  save_tensors(file.path, {{"a", counting(6, kSecond)}, {"b", counting(3, kCpu)}});
  for (const auto& [name, t] : load_tensors(file.path, {.map_location = kCpu})) CHECK(t.is_cpu());
  const TensorMap first = load_tensors(file.path, {.map_location = Device("dummy")});
  for (const auto& [name, t] : first) CHECK(t.device() == Device("dummy:0"));
  CHECK(elements(first.at("b")) == std::vector<float>{0, 1, 2});
  DeviceGuard guard(kSecond);
  CHECK(load_tensors(file.path, {.map_location = Device("dummy")}).at("b").device() == kSecond);
  CHECK_THAT(error_of([&] { load_tensors(file.path, {.map_location = Device("dummy:7")}); }),
             Contains("map_location: dummy:7"));
}

TEST_CASE("strides and shared storages are kept on the device too", "[saving][dummy]") {
  const File file;
  const Tensor base = view(counting(6, kSecond), {2, 3});
  save_tensors(file.path,
               {{"base", base}, {"t", transpose(base, 0, 1)}, {"column", select(base, 1, 2)}});
  const TensorMap loaded = load_tensors(file.path);
  CHECK(loaded.at("t").strides() == IntArrayRef({1, 3}));
  CHECK(loaded.at("t").is_alias_of(loaded.at("base")));
  CHECK(elements(loaded.at("t")) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(elements(loaded.at("column")) == std::vector<float>{2, 5});
  copy_(loaded.at("column"), counting(2, kSecond));
  CHECK(elements(loaded.at("base")) == std::vector<float>{0, 1, 0, 3, 4, 1});
}

TEST_CASE("the metadata of the device's tensors come back by its hooks", "[saving][dummy][hooks]") {
  const File file;
  const Tensor a = counting(6, kSecond);
  a.impl()->set_backend_meta(make_intrusive<dummy::FormatMeta>(1, 29));
  save_tensors(file.path, {{"a", a}, {"b", counting(3, kSecond)}});
  const TensorMap loaded = load_tensors(file.path);
  const auto* const meta =
      dynamic_cast<const dummy::FormatMeta*>(loaded.at("a").impl()->backend_meta().get());
  REQUIRE(meta);
  CHECK(meta->version == 1);
  CHECK(meta->number == 29);
  CHECK_FALSE(loaded.at("b").impl()->backend_meta());
  CHECK_FALSE(load_tensors(file.path, {.map_location = kCpu}).at("a").impl()->backend_meta());
}

TEST_CASE("a device of that name without that number is not here", "[saving][dummy]") {
  const File file;
  save_tensors(file.path, {{"a", counting(6, kSecond)}});
  std::string bytes = io::read_file(file.path);
  bytes[bytes.find("dummy:1") + 6] = '7';
  io::write_file(file.path, bytes);
  CHECK_THAT(error_of([&] { load_tensors(file.path); }),
             Contains("'a': was saved on 'dummy:7', a device that is not here"));
  CHECK(load_tensors(file.path, {.map_location = kCpu}).at("a").numel() == 6);
}

TEST_CASE("what is refused takes no device memory", "[saving][dummy]") {
  const File file;
  save_tensors(file.path, {{"a", counting(1000, kSecond)}, {"b", counting(1000, kSecond)}});
  const std::string bytes = io::read_file(file.path);
  io::write_file(file.path, bytes.substr(0, bytes.size() - 1));
  AllocationStats& stats = get_allocator(DeviceType::PrivateUse1)->stats();
  stats.reset_peak();
  const int64_t before = stats.current_bytes();
  CHECK_THAT(error_of([&] { load_tensors(file.path); }), Contains("is not within the"));
  CHECK(stats.peak_bytes() == before);
}

}  // namespace
}  // namespace sb
