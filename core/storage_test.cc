#include "switchboard/core/storage.h"

#include <cstring>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

// Of AddressSanitizer's runtime, where there is one.
extern "C" [[gnu::weak]] int __asan_address_is_poisoned(const volatile void* address);

namespace sb {
namespace {

TEST_CASE("AddressSanitizer sees the first byte before CPU memory and behind it",
          "[core][storage]") {
  if (!__asan_address_is_poisoned) return;
  for (size_t bytes : {1, 4, 63, 64, 65, 448, 449, 100'000, 5'000'001}) {
    const DataPtr data = get_allocator(DeviceType::CPU)->allocate(bytes);
    const char* const first = static_cast<const char*>(data.get());
    CHECK(__asan_address_is_poisoned(first - 1));
    CHECK(!__asan_address_is_poisoned(first));
    CHECK(!__asan_address_is_poisoned(first + bytes - 1));
    CHECK(__asan_address_is_poisoned(first + bytes));
  }
}

TEST_CASE("CPU memory is aligned, counted and given back", "[core][storage]") {
  Allocator* cpu = get_allocator(DeviceType::CPU);
  const int64_t before = cpu->stats().current_bytes();
  for (size_t bytes : {1, 63, 64, 65, 448, 449, 100'000}) {
    cpu->stats().reset_peak();
    {
      const DataPtr data = cpu->allocate(bytes);
      CHECK(reinterpret_cast<uintptr_t>(data.get()) % 64 == 0);
      std::memset(data.get(), 0xff, bytes);
      CHECK(cpu->stats().current_bytes() == before + static_cast<int64_t>(bytes));
    }
    CHECK(cpu->stats().current_bytes() == before);
    CHECK(cpu->stats().peak_bytes() == before + static_cast<int64_t>(bytes));
  }
}

TEST_CASE("no bytes need no memory", "[core][storage]") {
  CHECK(get_allocator(DeviceType::CPU)->allocate(0).get() == nullptr);
}

TEST_CASE("asking for more memory than there is names the device and the size", "[core][storage]") {
  Allocator* cpu = get_allocator(DeviceType::CPU);
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, size_t{1} << 60}) {
    CHECK_THROWS_AS(cpu->allocate(bytes), RuntimeError);
    CHECK_THROWS_WITH(cpu->allocate(bytes),
                      Catch::Contains("cpu") && Catch::Contains(std::to_string(bytes)));
  }
}

TEST_CASE("meta memory has a size and no address", "[core][storage]") {
  Allocator* meta = get_allocator(DeviceType::Meta);
  const Storage storage = make_storage(size_t{1} << 60, meta, DeviceType::Meta);
  CHECK(storage->data() == nullptr);
  CHECK(storage->nbytes() == size_t{1} << 60);
  storage->resize(5);
  CHECK(storage->data() == nullptr);
  CHECK(storage->nbytes() == 5);
  CHECK(meta->stats().current_bytes() == 0);
}

TEST_CASE("a device without an allocator says so", "[core][storage]") {
  CHECK(find_allocator(DeviceType::VE) == nullptr);
  CHECK_THROWS_AS(get_allocator(DeviceType::VE), NotImplementedError);
  CHECK_THROWS_WITH(get_allocator(DeviceType::VE), Catch::Contains("ve"));
  CHECK_THROWS_AS(make_storage(1, nullptr, DeviceType::VE), ValueError);
}

TEST_CASE("a device's allocator can be set and replaced, but not CPU's taken away",
          "[core][storage]") {
  Allocator* cpu = get_allocator(DeviceType::CPU);
  set_allocator(DeviceType::PrivateUse2, cpu);
  CHECK(get_allocator(DeviceType::PrivateUse2) == cpu);
  set_allocator(DeviceType::PrivateUse2, nullptr);
  CHECK(find_allocator(DeviceType::PrivateUse2) == nullptr);
  CHECK_THROWS_AS(set_allocator(DeviceType::CPU, nullptr), ValueError);
  CHECK_THROWS_AS(set_allocator(DeviceType::Meta, nullptr), ValueError);
}

TEST_CASE("a resized storage keeps the bytes that fit both sizes", "[core][storage]") {
  const Storage storage = make_storage(4, get_allocator(DeviceType::CPU), DeviceType::CPU);
  std::memcpy(storage->data(), "abcd", 4);
  storage->resize(1000);
  CHECK(storage->nbytes() == 1000);
  CHECK(std::memcmp(storage->data(), "abcd", 4) == 0);
  storage->resize(2);
  CHECK(std::memcmp(storage->data(), "ab", 2) == 0);
  storage->resize(0);
  CHECK(storage->nbytes() == 0);
  CHECK(storage->data() == nullptr);
  CHECK(storage->device().is_cpu());
  storage->resize(8);
  CHECK(storage->data() != nullptr);
}

TEST_CASE("a failed resize changes nothing", "[core][storage]") {
  const Storage storage = make_storage(4, get_allocator(DeviceType::CPU), DeviceType::CPU);
  void* data = storage->data();
  CHECK_THROWS_AS(storage->resize(SIZE_MAX), RuntimeError);
  CHECK(storage->data() == data);
  CHECK(storage->nbytes() == 4);
}

TEST_CASE("a storage without an allocator does not resize", "[core][storage]") {
  char memory[4];
  StorageImpl* impl = new StorageImpl(DataPtr(memory, DeviceType::CPU), 4, nullptr);
  const Storage storage = Storage::adopt(impl);
  CHECK_FALSE(storage->resizable());
  CHECK_THROWS_AS(storage->resize(8), RuntimeError);
  CHECK(storage->data() == memory);
}

TEST_CASE("a device may make its own storages", "[core][storage]") {
  struct Own : StorageImpl {
    using StorageImpl::StorageImpl;
  };
  set_storage_factory(DeviceType::PrivateUse3,
                      [](DataPtr data, size_t nbytes, Allocator* allocator) -> Storage {
                        return make_intrusive<Own>(std::move(data), nbytes, allocator);
                      });
  Allocator* meta = get_allocator(DeviceType::Meta);
  CHECK(dynamic_cast<Own*>(make_storage(1, meta, DeviceType::PrivateUse3).get()) != nullptr);
  CHECK(dynamic_cast<Own*>(make_storage(1, meta, DeviceType::Meta).get()) == nullptr);
  set_storage_factory(DeviceType::PrivateUse3, nullptr);
}

TEST_CASE("a DataPtr calls its deleter once", "[core][storage]") {
  static int deleted;
  deleted = 0;
  int context = 0;
  const auto count = [](void*) { ++deleted; };
  {
    DataPtr a(&context, &context, count, DeviceType::CPU);
    DataPtr b = std::move(a);
    CHECK(a.get() == nullptr);
    DataPtr c(&context, &context, count, DeviceType::CPU);
    c = std::move(b);
    CHECK(deleted == 1);
    c.clear();
    c.clear();
    CHECK(deleted == 2);
  }
  CHECK(deleted == 2);
}

}  // namespace
}  // namespace sb
