#include "switchboard/core/empty_tensor.h"

#include <cstdlib>
#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kHuge = int64_t{1} << 40;

// Mode data that no one asks for its mode.
struct SomeModeData : ModeData {
  DispatchMode& mode() const override { std::abort(); }
};

TEST_CASE("an empty tensor has the shape, dtype, device and keys asked for", "[core][empty]") {
  const Tensor t = empty_on(DeviceType::CPU, {2, 3}, DType::Int16);
  CHECK(t.sizes() == IntArrayRef(Ints{2, 3}));
  CHECK(t.dtype() == DType::Int16);
  CHECK(t.is_cpu());
  CHECK(t.key_set() == tensor_key_set(DeviceType::CPU));
  CHECK(t.storage()->nbytes() == 12);
  CHECK(reinterpret_cast<uintptr_t>(t.data_ptr()) % 64 == 0);
}

TEST_CASE("an empty tensor may be channels-last", "[core][empty]") {
  const Tensor t =
      empty_on(DeviceType::CPU, {2, 3, 4, 5}, DType::Float32, MemoryFormat::ChannelsLast);
  CHECK(t.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(t.storage()->nbytes() == 480);
}

TEST_CASE("sizes that memory cannot hold are errors", "[core][empty][overflow]") {
  const Ints impossible[] = {
      {-1}, {kHuge, kHuge}, {INT64_MAX}, {INT64_MAX, 0, INT64_MAX}, {kHuge, 1 << 20}};
  for (const Ints& sizes : impossible) {
    CHECK_THROWS_AS(empty_on(DeviceType::CPU, sizes, DType::Float64), RuntimeError);
  }
  CHECK_NOTHROW(empty_on(DeviceType::Meta, {kHuge, 1 << 20}, DType::Float32));
  CHECK_THROWS_AS(empty_on(DeviceType::Meta, {kHuge, kHuge}, DType::Float32), RuntimeError);
  CHECK_THROWS_AS(empty_on(DeviceType::Vulkan, {1}, DType::Float32), NotImplementedError);
}

TEST_CASE("a strided empty tensor has room for its last element", "[core][empty]") {
  const Tensor t = empty_strided_on(DeviceType::CPU, {2, 3}, {1, 4}, DType::Float32);
  CHECK(t.strides() == IntArrayRef(Ints{1, 4}));
  CHECK(t.storage()->nbytes() == 40);
  CHECK_THROWS_AS(empty_strided_on(DeviceType::CPU, {2}, {-1}, DType::Float32), RuntimeError);
  CHECK_THROWS_AS(empty_strided_on(DeviceType::CPU, {2}, {1, 1}, DType::Float32), RuntimeError);
  CHECK_THROWS_AS(empty_strided_on(DeviceType::CPU, {kHuge}, {kHuge}, DType::Float32),
                  RuntimeError);
}

TEST_CASE("a view shares storage, keys, mode data and version", "[core][empty]") {
  const Tensor base = empty_on(DeviceType::CPU, {6}, DType::Float32);
  base.impl()->set_mode_data(make_intrusive<SomeModeData>());
  for (int i = 0; i < 6; ++i) base.data<float>()[i] = static_cast<float>(i);
  const Tensor view = alias_with(base, {2, 2}, {1, 3}, 1);
  CHECK(view.is_alias_of(base));
  CHECK_FALSE(view.is_same(base));
  CHECK(view.key_set() == base.key_set());
  CHECK(view.impl()->mode_data() == base.impl()->mode_data());
  CHECK(view.data<float>()[0] == 1);
  CHECK(view.data<float>()[view.stride(1)] == 4);
  view.impl()->bump_version();
  CHECK(base.version() == 1);
}

TEST_CASE("a view may not leave its storage", "[core][empty][overflow]") {
  for (DeviceType type : {DeviceType::CPU, DeviceType::Meta}) {
    const Tensor base = empty_on(type, {3}, DType::Float32);
    CHECK_THROWS_WITH(alias_with(base, {3}, {2}, 1),
                      "setStorage: sizes [3], strides [2], storage offset 1, and itemsize 4 "
                      "requiring a storage size of 24 are out of bounds for storage of size 12");
    CHECK_THROWS_AS(alias_with(base, {3}, {1}, -1), RuntimeError);
    CHECK_THROWS_AS(alias_with(base, {3}, {-1}, 2), RuntimeError);
    CHECK_THROWS_AS(alias_with(base, {-3}, {1}, 0), RuntimeError);
    CHECK_THROWS_AS(alias_with(base, {3}, {1, 1}, 0), RuntimeError);
    CHECK_THROWS_AS(alias_with(base, {2}, {INT64_MAX}, 1), RuntimeError);
    CHECK_THROWS_AS(alias_with(base, {0}, {1}, INT64_MAX), RuntimeError);
    CHECK_NOTHROW(alias_with(base, {3}, {1}, 0));
    CHECK_NOTHROW(alias_with(base, {}, {}, 2));
    CHECK_NOTHROW(alias_with(base, {0}, {2}, 100));
    CHECK_NOTHROW(alias_with(base, {1 << 30, 3}, {0, 1}, 0));
  }
  CHECK_THROWS_AS(alias_with(Tensor(), {}, {}, 0), RuntimeError);
}

TEST_CASE("a view of no elements has no address to read", "[core][empty]") {
  const Tensor nothing = empty_on(DeviceType::CPU, {0}, DType::Float32);
  CHECK(alias_with(nothing, {0}, {1}, 5).data_ptr() == nullptr);
}

TEST_CASE("the bytes of tensors are counted by their device's allocator", "[core][empty]") {
  AllocationStats& stats = get_allocator(DeviceType::CPU)->stats();
  const int64_t before = stats.current_bytes();
  {
    const Tensor t = empty_on(DeviceType::CPU, {10}, DType::Float32);
    const Tensor view = alias_with(t, {5}, {2}, 0);
    CHECK(stats.current_bytes() == before + 40);
  }
  CHECK(stats.current_bytes() == before);
}

}  // namespace
}  // namespace sb
