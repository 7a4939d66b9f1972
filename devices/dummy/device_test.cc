#include "switchboard/devices/dummy/device.h"

#include <cstring>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/devices/dummy/allocator.h"
#include "switchboard/devices/dummy/backend_meta.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"

namespace sb::dummy {
namespace {

TEST_CASE("linking the folder in is all that registers the device", "[dummy]") {
  CHECK(to_string(kFirst) == "dummy:0");
  CHECK(Device("dummy:1") == kSecond);
  CHECK(device_count(DeviceType::PrivateUse1) == 2);
  CHECK(find_allocator(DeviceType::PrivateUse1) == &current_device_allocator());
  CHECK(find_device_hooks(DeviceType::PrivateUse1) == &device_hooks());
}

TEST_CASE("memory comes from the current device", "[dummy]") {
  const int64_t before[] = {allocation_stats(0).current_bytes(),
                            allocation_stats(1).current_bytes()};
  const int64_t total = current_device_allocator().stats().current_bytes();
  {
    DeviceGuard guard(kSecond);
    const DataPtr data = current_device_allocator().allocate(100);
    CHECK(data.device() == kSecond);
    CHECK(reinterpret_cast<uintptr_t>(data.get()) % 64 == 0);
    CHECK(allocation_stats(0).current_bytes() == before[0]);
    CHECK(allocation_stats(1).current_bytes() == before[1] + 100);
    CHECK(current_device_allocator().stats().current_bytes() == total + 100);
    CHECK(current_device_allocator().allocate(0).get() == nullptr);
  }
  CHECK(allocation_stats(1).current_bytes() == before[1]);
  CHECK(current_device_allocator().stats().current_bytes() == total);
}

TEST_CASE("asking for more memory than there is names the device and the size", "[dummy]") {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    CHECK_THROWS_AS(device_allocator(1).allocate(bytes), RuntimeError);
    CHECK_THROWS_WITH(device_allocator(1).allocate(bytes),
                      Catch::Contains("dummy:1") && Catch::Contains(std::to_string(bytes)));
  }
}

TEST_CASE("a device that does not exist is refused by name", "[dummy]") {
  CHECK_THROWS_WITH(set_current_device(Device("dummy:2")),
                    Catch::Contains("dummy:2") && Catch::Contains("has 2"));
  CHECK_THROWS_AS(allocation_stats(5), RuntimeError);
  CHECK(current_index() == 0);
}

TEST_CASE("storages are of the device's own class and stay on their device", "[dummy]") {
  const Tensor t = tensor_of<int64_t>(kSecond, {2}, {1, 2});
  REQUIRE(dynamic_cast<DeviceStorage*>(t.storage().get()) != nullptr);
  CHECK(t.storage()->device() == kSecond);
  t.storage()->resize(24);  // while device 0 is current
  CHECK(t.storage()->device() == kSecond);
  const std::vector<int64_t> grown = storage_of<int64_t>(t);
  CHECK(grown[0] == 1);
  CHECK(grown[1] == 2);
  CHECK(is_sealed(t));
}

TEST_CASE("each device has a default generator of its own", "[dummy]") {
  const Generator first = default_generator(kFirst);
  const Generator second = default_generator(kSecond);
  CHECK(first != second);
  CHECK(first->device() == kFirst);
  CHECK(second->device() == kSecond);
  CHECK(default_generator(DeviceType::PrivateUse1) == first);
  const Generator cpu = make_generator(DeviceType::CPU, 3);
  const Generator own = make_generator(kSecond, 3);
  CHECK(own->device() == kSecond);
  CHECK(own->seed() == 3);
  CHECK(own->next() == cpu->next());
}

TEST_CASE("a device type has one set of hooks, and so one kind of generator", "[dummy]") {
  struct Others final : DeviceHooks {
    DeviceType type() const override { return DeviceType::PrivateUse1; }
  };
  static Others others;
  CHECK_THROWS_WITH(register_device_hooks(&others), Catch::Contains("dummy already has"));
  CHECK(find_device_hooks(DeviceType::PrivateUse1) == &device_hooks());
}

TEST_CASE("a generator of a device that does not exist is refused by name", "[dummy]") {
  CHECK_THROWS_WITH(default_generator(Device("dummy:2")), Catch::Contains("dummy:2"));
  CHECK_THROWS_WITH(make_generator(Device("dummy:2"), 1), Catch::Contains("dummy:2"));
}

const FormatMeta& format_of(const Tensor& t) {
  REQUIRE(t.impl()->backend_meta() != nullptr);
  return dynamic_cast<const FormatMeta&>(*t.impl()->backend_meta());
}

TEST_CASE("a device's metadata is cloned with a shallow copy of its tensor", "[dummy]") {
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  CHECK(t.impl()->backend_meta() == nullptr);
  t.impl()->set_backend_meta(make_intrusive<FormatMeta>(1, 29));
  const Tensor copy(t.impl()->shallow_copy());
  CHECK(&format_of(copy) != &format_of(t));
  CHECK(format_of(copy).version == 1);
  CHECK(format_of(copy).number == 29);
}

TEST_CASE("a device's metadata is text in a file, and metadata again", "[dummy]") {
  const Tensor t = tensor_of<float>(kFirst, {1}, {1});
  DeviceHooks& hooks = device_hooks();
  DeviceHooks::MetaEntries entries;
  hooks.save_backend_meta(t, &entries);
  CHECK(entries.empty());
  t.impl()->set_backend_meta(make_intrusive<FormatMeta>(1, 29));
  hooks.save_backend_meta(t, &entries);
  CHECK(entries == DeviceHooks::MetaEntries{{"format_number", "29"}, {"format_version", "1"}});

  const Tensor read = tensor_of<float>(kSecond, {1}, {1});
  hooks.load_backend_meta(read, entries);
  CHECK(format_of(read).version == 1);
  CHECK(format_of(read).number == 29);
  hooks.load_backend_meta(read, {{"format_number", "7"}});
  CHECK(format_of(read).version == -1);
  CHECK(format_of(read).number == 7);
  for (const char* bad : {"", "x", "1x", " 1", "99999999999999999999"})
    CHECK_THROWS_WITH(hooks.load_backend_meta(read, {{"format_number", bad}}),
                      Catch::Contains("'format_number'") && Catch::Contains("integer"));
  CHECK_THROWS_AS(hooks.load_backend_meta(read, {{"tiling", "1"}}), ValueError);
  CHECK(format_of(read).number == 7);
}

TEST_CASE("copy_data copies within the device, sealed again after it", "[dummy]") {
  const Tensor from = tensor_of<float>(kFirst, {2}, {1, 2});
  const Tensor to = tensor_of<float>(kSecond, {2}, {0, 0});
  device_allocator(1).copy_data(to.data_ptr(), from.data_ptr(), 4);
  CHECK(is_sealed(from));
  CHECK(is_sealed(to));
  CHECK(storage_of<float>(to) == std::vector<float>{1, 0});
  CHECK_THROWS_AS(device_allocator(0).copy_data(to.data_ptr(), &device_hooks(), 4), RuntimeError);
}

TEST_CASE("a tensor of the device prints without reading its memory", "[dummy]") {
  const Tensor t = tensor_of<float>(kSecond, {2}, {1, 2});
  CHECK(to_string(t) == "tensor(..., device='dummy:1', size=(2,))");
}

}  // namespace
}  // namespace sb::dummy
