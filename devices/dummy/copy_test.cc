#include "switchboard/ops/copying/copy.h"

#include <mutex>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/streams.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/views/views.h"

namespace sb::dummy {
namespace {

using Floats = std::vector<float>;

const Device kCpu{DeviceType::CPU};

Tensor on(Device device, const Tensor& t) { return to(t, device); }

TEST_CASE("tensors go to the device and come back", "[dummy][copy]") {
  const Tensor x = tensor_of<float>(kCpu, {2, 2}, {1, 2, 3, 4});
  for (Device device : {kFirst, kSecond}) {
    const Tensor there = on(device, x);
    CHECK(there.device() == device);
    CHECK(there.storage()->device() == device);
    CHECK(is_sealed(there));
    CHECK(storage_of<float>(on(kCpu, there)) == Floats{1, 2, 3, 4});
    CHECK(on(device, there).is_same(there));
  }
}

TEST_CASE("tensors go from one device to the other", "[dummy][copy]") {
  const Tensor x = tensor_of<float>(kFirst, {3}, {1, 2, 3});
  const Tensor y = on(kSecond, x);
  CHECK(y.device() == kSecond);
  CHECK(storage_of<float>(y) == Floats{1, 2, 3});
}

TEST_CASE("copies convert, broadcast and keep to strides in every direction", "[dummy][copy]") {
  const Device places[] = {kCpu, kFirst, kSecond};
  for (Device from : places) {
    for (Device to : places) {
      const Tensor row = tensor_of<int64_t>(from, {2}, {7, 8});
      const Tensor base = tensor_of<float>(to, {2, 3}, {0, 0, 0, 0, 0, 0});
      copy_(slice(base, 1, 1, 3), row);
      CHECK(storage_of<float>(base) == Floats{0, 7, 8, 0, 7, 8});
      copy_(t(base), tensor_of<float>(from, {3, 2}, {1, 2, 3, 4, 5, 6}));
      CHECK(storage_of<float>(base) == Floats{1, 3, 5, 2, 4, 6});
    }
  }
}

TEST_CASE("an empty tensor copies", "[dummy][copy]") {
  const Tensor none = tensor_of<float>(kCpu, {0}, {});
  CHECK(on(kCpu, on(kFirst, none)).numel() == 0);
}

TEST_CASE("a copy to the CPU comes after the work on its source", "[dummy][copy]") {
  AsynchronousLaunches launches;
  Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  for (int i = 0; i < 50; ++i) x = add(x, x, 0.5);
  CHECK_FALSE(storage_of<float>(on(kCpu, x))[0] < 6.3e8F);  // 1.5 ^ 50
}

TEST_CASE("a copy between devices comes after the work on both, before later work",
          "[dummy][copy]") {
  AsynchronousLaunches launches;
  const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  const Tensor y = tensor_of<float>(kSecond, {2}, {0, 0});
  std::mutex mutex;
  {
    std::lock_guard<std::mutex> gate(mutex);
    run_on_stream(default_stream(kSecond), "test::wait",
                  [&] { std::lock_guard<std::mutex> pass(mutex); });
    fill_(y, 5);
    copy_(y, x);
    fill_(x, 9);  // after the copy
    const Tensor sum = add(y, y);
    CHECK_FALSE(default_stream(kFirst).query());
    copy_(x, sum);
  }
  CHECK(storage_of<float>(y) == Floats{1, 2});
  CHECK(storage_of<float>(x) == Floats{2, 4});
}

TEST_CASE("a copy may give its destination the source's shape", "[dummy][copy]") {
  const Tensor x = tensor_of<float>(kCpu, {2, 2}, {1, 2, 3, 4});
  const Tensor y = tensor_of<float>(kSecond, {1}, {0});
  _copy_from_and_resize(x, y);
  CHECK(y.sizes() == IntArrayRef{2, 2});
  CHECK(y.storage()->device() == kSecond);
  CHECK(storage_of<float>(y) == Floats{1, 2, 3, 4});
  const Tensor back = tensor_of<float>(kCpu, {0}, {});
  _copy_from_and_resize(y, back);
  CHECK(storage_of<float>(back) == Floats{1, 2, 3, 4});
}

TEST_CASE("a tensor takes another storage in every form of set_", "[dummy][copy]") {
  const Tensor source = tensor_of<float>(kSecond, {6}, {1, 2, 3, 4, 5, 6});
  const Tensor x = tensor_of<float>(kSecond, {1}, {0});
  set__source_Storage(x, source.storage());
  CHECK(x.sizes() == IntArrayRef{6});
  CHECK(x.is_alias_of(source));
  set__source_Storage_storage_offset(x, source.storage(), 1, IntArrayRef{2, 2}, IntArrayRef{1, 3});
  CHECK(x.storage_offset() == 1);
  CHECK(storage_of<float>(on(kCpu, x)) == Floats{2, 3, 5, 6});  // as it is strided
  set__source_Tensor(x, source);
  CHECK(x.sizes() == IntArrayRef{6});
  CHECK_THROWS_AS(set__source_Storage(x, tensor_of<float>(kFirst, {1}, {0}).storage()),
                  RuntimeError);
  CHECK_THROWS_AS(resize_(x, IntArrayRef{2}, MemoryFormat::Preserve), RuntimeError);
  resize_(x, IntArrayRef{1, 2, 3, 1}, MemoryFormat::ChannelsLast);
  CHECK(x.strides() == IntArrayRef{6, 1, 2, 2});
}

TEST_CASE("a copy that does not fit names its shapes and changes nothing", "[dummy][copy]") {
  const Tensor x = tensor_of<float>(kFirst, {2}, {1, 2});
  CHECK_THROWS_AS(copy_(x, tensor_of<float>(kCpu, {3}, {7, 8, 9})), RuntimeError);
  CHECK(storage_of<float>(x) == Floats{1, 2});
  CHECK(is_sealed(x));
}

TEST_CASE("factories make tensors on the device that they are asked for", "[dummy][factories]") {
  CHECK(empty(IntArrayRef{2}, {}, {}, kSecond).device() == kSecond);
  CHECK(empty(IntArrayRef{2}, {}, {}, Device("dummy")).device() == kFirst);
  {
    DeviceGuard guard(kSecond);
    CHECK(empty(IntArrayRef{2}, {}, {}, Device("dummy")).device() == kSecond);
  }
  const Tensor strided =
      empty_strided(IntArrayRef{2, 3}, IntArrayRef{1, 2}, DType::Int32, {}, kSecond);
  CHECK(strided.strides() == IntArrayRef{1, 2});
  CHECK(strided.dtype() == DType::Int32);
  CHECK(storage_of<float>(full(IntArrayRef{2}, 2.5, {}, {}, kSecond)) == Floats{2.5, 2.5});
  CHECK(zeros_like(strided).device() == kSecond);
}

TEST_CASE("the example of the README does what it says", "[dummy][factories]") {
  sb::DeviceGuard guard(sb::Device("dummy:1"));
  const sb::Tensor x = sb::zeros(sb::IntArrayRef{2, 3}, {}, {}, sb::Device("dummy"));
  CHECK(x.device() == kSecond);
}

TEST_CASE("a factory refuses what the device does not have, by name", "[dummy][factories]") {
  const std::vector<int64_t> size{2};
  CHECK_THROWS_WITH(empty(size, {}, {}, Device("dummy:2")),
                    Catch::Contains("aten::empty") && Catch::Contains("dummy:2"));
  CHECK_THROWS_WITH(empty(size, {}, {}, kFirst, true), Catch::Contains("pinned"));
  CHECK_THROWS_WITH(empty(size, {}, Layout::Sparse, kFirst), Catch::Contains("strided"));
}

TEST_CASE("views of device tensors need no kernel of the device", "[dummy][views]") {
  const Tensor x = tensor_of<float>(kSecond, {2, 3}, {1, 2, 3, 4, 5, 6});
  reset_counts();
  const Tensor column = select(x, 1, 2);
  CHECK(column.is_alias_of(x));
  CHECK(column.device() == kSecond);
  CHECK(fallback_counts().empty());
  fill_(column, 0);
  CHECK(storage_of<float>(x) == Floats{1, 2, 0, 4, 5, 0});
  CHECK(item(select(column, 0, 0)).to<float>() == 0);
}

TEST_CASE("a tensor grows, and loses its memory, on its own device", "[dummy][factories]") {
  const Tensor x = tensor_of<float>(kSecond, {2}, {1, 2});
  resize_(x, IntArrayRef{4});
  CHECK(x.storage()->device() == kSecond);
  CHECK(storage_of<float>(x)[1] == 2);
  set_(x);
  CHECK(x.numel() == 0);
  CHECK(x.storage()->device() == kSecond);
}

}  // namespace
}  // namespace sb::dummy
