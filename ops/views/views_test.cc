#include "switchboard/ops/views/views.h"

#include <cstdint>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/views/cat.h"

namespace sb {
namespace {

constexpr int64_t kMin = -(int64_t{1} << 62);  // the smallest SymInt
constexpr int64_t kMax = INT64_MAX;

Device place() { return GENERATE(Device(DeviceType::CPU), Device(DeviceType::Meta)); }
Tensor tensor(Device device, IntArrayRef sizes, DType dtype = DType::Float32) {
  return empty_on(device, sizes, dtype);
}
using Ints = std::vector<int64_t>;
Ints sizes(const Tensor& t) { return Ints(t.sizes().begin(), t.sizes().end()); }
Ints strides(const Tensor& t) { return Ints(t.strides().begin(), t.strides().end()); }

TEST_CASE("a slice of nothing is empty, whatever the step", "[ops][views]") {
  const Device at = place();
  for (const int64_t step : {1, 2, 5}) {
    CHECK(slice(tensor(at, {0, 3}), 0, std::nullopt, std::nullopt, step).sizes() ==
          IntArrayRef({0, 3}));
    CHECK(slice(tensor(at, {4}), 0, 4, std::nullopt, step).sizes() == IntArrayRef({0}));
  }
}

TEST_CASE("a view shares its base's storage, device, dtype, keys and version counter") {
  const Tensor x = tensor(place(), {2, 3, 4}, DType::Int16);
  std::vector<Tensor> views = {transpose(x, 0, -1),
                               permute(x, {2, 0, 1}),
                               sb::select(x, 1, -1),
                               slice(x, 2, 1, kMax, 2),
                               narrow(x, 1, 1, 2),
                               squeeze(x),
                               unsqueeze(x, 0),
                               expand(x, {5, 2, 3, 4}),
                               view_as(x, x),
                               reshape(x, {6, -1}),
                               flatten(x),
                               alias(x),
                               detach(x),
                               as_strided(x, {2}, {3}, 4),
                               unbind(x, 1)[2],
                               split(x, 2, 2)[1],
                               chunk(x, 3, 1)[1],
                               view_dtype(x, DType::Float16)};
  x.impl()->bump_version();
  for (const Tensor& view : views) {
    CHECK_FALSE(view.is_same(x));
    CHECK(view.is_alias_of(x));
    CHECK(view.device() == x.device());
    CHECK(view.key_set() == x.key_set());
    CHECK(view.itemsize() == x.itemsize());
    CHECK(view.version() == x.version());
  }
}

TEST_CASE("transpose swaps sizes and strides, and knows whether the result is contiguous") {
  const Tensor x = tensor(place(), {2, 3});
  const Tensor y = transpose(x, 0, 1);
  CHECK(sizes(y) == Ints{3, 2});
  CHECK(strides(y) == Ints{1, 3});
  CHECK_FALSE(y.is_contiguous());
  CHECK(y.impl()->is_non_overlapping_and_dense());
  CHECK(transpose(y, -1, -2).is_contiguous());
  CHECK(transpose(tensor(place(), {1, 3}), 0, 1).is_contiguous());
  CHECK(transpose(tensor(place(), {2, 0}), 0, 1).is_contiguous());
  CHECK(transpose(tensor(place(), {}), 0, -1).dim() == 0);
  const Tensor big = tensor(place(), {1, 2, 3, 4, 5, 6, 7});
  CHECK(sizes(transpose(big, 0, 6)) == Ints{7, 2, 3, 4, 5, 6, 1});
  const Tensor last = permute(tensor(place(), {2, 4, 5, 3}), {0, 3, 1, 2});
  CHECK(last.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(transpose(transpose(last, 1, 2), 1, 2).is_contiguous(MemoryFormat::ChannelsLast));
}

TEST_CASE("in-place views change the tensor itself") {
  const Tensor x = tensor(place(), {2, 1, 3});
  CHECK(transpose_(x, 0, 2).is_same(x));
  CHECK(sizes(x) == Ints{3, 1, 2});
  CHECK(sizes(squeeze_(x)) == Ints{3, 2});
  CHECK(sizes(t_(x)) == Ints{2, 3});
  CHECK(x.is_contiguous());
  CHECK(sizes(unsqueeze_(x, -1)) == Ints{2, 3, 1});
  CHECK(sizes(as_strided_(x, {2}, {2}, 1)) == Ints{2});
  CHECK(x.storage_offset() == 1);
  CHECK_THROWS_AS(as_strided_(x, {7}, {1}, 0), RuntimeError);
  CHECK(sizes(x) == Ints{2});
}

TEST_CASE("slice clips like Python, whatever the numbers") {
  const Tensor x = tensor(place(), {5});
  CHECK(sizes(slice(x, 0, -100, 100)) == Ints{5});
  CHECK(sizes(slice(x, 0, kMin, kMax)) == Ints{5});
  CHECK(sizes(slice(x, 0, kMax, kMin)) == Ints{0});
  CHECK(sizes(slice(x, 0, 4, 1)) == Ints{0});
  CHECK(sizes(slice(x, 0, 1, kMax, kMax)) == Ints{1});
  CHECK(sizes(slice(x, 0, std::nullopt, std::nullopt, 2)) == Ints{3});
  CHECK_THROWS_AS(slice(x, 0, 0, 5, 0), RuntimeError);
  CHECK_THROWS_AS(slice(x, 0, 0, 5, kMin), RuntimeError);
  CHECK_THROWS_AS(slice(x, kMin, 0, 5), IndexError);
  CHECK_THROWS_AS(slice(tensor(place(), {2, 5}), 0, 0, 2, kMax), RuntimeError);
}

TEST_CASE("arguments out of range are refused") {
  const Tensor x = tensor(place(), {2, 3});
  const int64_t bad = GENERATE(from_range(std::vector<int64_t>{kMin, kMax, INT64_MIN, -3, 2}));
  CHECK_THROWS_AS(transpose(x, bad, 0), IndexError);
  CHECK_THROWS_AS(permute(x, {0, bad}), IndexError);
  CHECK_THROWS_AS(sb::select(x, bad, 0), IndexError);
  CHECK_THROWS_AS(squeeze_dim(x, bad), IndexError);
  CHECK_THROWS_AS(unbind(x, bad), IndexError);
  CHECK_THROWS_AS(split(x, 1, bad), IndexError);
  CHECK_THROWS_AS(flatten(x, bad), IndexError);
  CHECK_THROWS_AS(narrow(x, bad, 0, 1), IndexError);
  const int64_t huge = GENERATE(from_range(std::vector<int64_t>{kMin, kMax}));
  CHECK_THROWS_AS(unsqueeze(x, huge), IndexError);
  CHECK_THROWS_AS(sb::select(x, 0, huge), IndexError);
  CHECK_THROWS_AS(narrow(x, 0, huge, 1), IndexError);
  CHECK_THROWS_AS(narrow(x, 0, 1, huge), RuntimeError);
  CHECK_THROWS_AS(as_strided(x, {2}, {huge}), RuntimeError);
  CHECK_THROWS_AS(as_strided(x, {huge}, {1}), RuntimeError);
  CHECK_THROWS_AS(as_strided(x, {1}, {1}, huge), RuntimeError);
  CHECK_THROWS_AS(as_strided(x, {kMax, kMax}, {kMax, kMax}, kMax), RuntimeError);
  CHECK_THROWS_AS(expand(x, {huge, 2, 3}), RuntimeError);
  CHECK_THROWS_AS(view(x, {huge, 3}), RuntimeError);
  CHECK_THROWS_AS(view(x, {kMax, kMax, -1}), RuntimeError);
  CHECK_THROWS_AS(view(x, {int64_t{1} << 32, int64_t{1} << 32}), RuntimeError);
  CHECK_THROWS_AS(split_with_sizes(x, {kMax, kMax}), RuntimeError);
  CHECK_THROWS_AS(permute(x, {0, 0}), RuntimeError);
}

TEST_CASE("chunk and split take any positive size, and zero only of nothing") {
  const Tensor x = tensor(place(), {5, 0});
  CHECK(split(x, kMax).size() == 1);
  CHECK(chunk(x, kMax).size() == 5);
  CHECK(chunk(x, 3).size() == 3);
  CHECK(chunk(x, 3, 1).size() == 3);
  CHECK(split(x, 0, 1).size() == 1);
  CHECK_THROWS_AS(split(x, 0, 0), RuntimeError);
  CHECK_THROWS_AS(chunk(x, 0), RuntimeError);
  CHECK_THROWS_AS(chunk(x, kMax, 1), RuntimeError);
}

TEST_CASE("view finds strides where there are some, and reshape copies where there are none") {
  const Tensor x = transpose(tensor(place(), {4, 6}), 0, 1);
  CHECK(strides(view(x, {2, 3, 2, 2})) == Ints{3, 1, 12, 6});
  CHECK_THROWS_AS(view(x, {24}), RuntimeError);
  const Tensor copy = reshape(x, {24});
  CHECK_FALSE(copy.is_alias_of(x));
  CHECK(strides(copy) == Ints{1});
  CHECK(sizes(view(tensor(place(), {0, 3}), {3, -1})) == Ints{3, 0});
  CHECK_THROWS_AS(view(tensor(place(), {0, 3}), {0, -1}), RuntimeError);
}

TEST_CASE("a view under another dtype keeps the bytes") {
  const Tensor x = tensor(place(), {2, 4});
  CHECK(sizes(view_dtype(x, DType::UInt8)) == Ints{2, 16});
  CHECK(sizes(view_dtype(x, DType::Complex128)) == Ints{2, 1});
  CHECK_THROWS_AS(view_dtype(transpose(x, 0, 1), DType::Float64), RuntimeError);
  CHECK_THROWS_AS(view_dtype(tensor(place(), {3}), DType::Float64), RuntimeError);
  CHECK_THROWS_AS(view_dtype(tensor(place(), {}), DType::Float64), RuntimeError);
}

TEST_CASE("undefined tensors are refused") {
  const Tensor none;
  CHECK_THROWS_AS(transpose(none, 0, 0), Error);
  CHECK_THROWS_AS(transpose_(none, 0, 0), Error);
  CHECK_THROWS_AS(as_strided_(none, {1}, {1}), Error);
  CHECK_THROWS_AS(squeeze_(none), Error);
  CHECK_THROWS_AS(view(none, {1}), Error);
  CHECK_THROWS_AS(reshape(none, {1}), Error);
  CHECK_THROWS_AS(detach_(none), Error);
  CHECK_THROWS_AS(unbind(none), Error);
  CHECK_THROWS_AS(expand_as(tensor(place(), {1}), none), Error);
  CHECK_THROWS_AS(resize_(none, {1}), Error);
  CHECK_THROWS_AS(set_(none), Error);
  CHECK_THROWS_AS(set__source_Tensor(tensor(place(), {1}), none), Error);
  CHECK_THROWS_AS(item(none), Error);
  CHECK_FALSE(none.defined());
}

TEST_CASE("set_ and resize_ grow the storage that they need, and change nothing when they cannot") {
  const Tensor x = tensor(place(), {2});
  CHECK(sizes(resize_(x, {3, 4})) == Ints{3, 4});
  CHECK(x.storage()->nbytes() >= 48);
  CHECK_THROWS_AS(resize_(x, {kMax, 8}), RuntimeError);
  CHECK_THROWS_AS(resize_(x, {-1}), RuntimeError);
  CHECK_THROWS_AS(resize_(x, {2}, MemoryFormat::ChannelsLast), RuntimeError);
  const Tensor y = tensor(x.device(), {2});
  CHECK_THROWS_AS(set__source_Storage_storage_offset(x, y.storage(), kMax, {1}, {1}), RuntimeError);
  CHECK_THROWS_AS(set__source_Storage_storage_offset(x, y.storage(), 0, {1, 2}, {1}), RuntimeError);
  CHECK_THROWS_AS(set__source_Storage(x, Storage()), RuntimeError);
  CHECK(sizes(x) == Ints{3, 4});
  CHECK(sizes(set__source_Storage(x, y.storage())) == Ints{2});
  CHECK(x.is_alias_of(y));
  CHECK(sizes(set_(x)) == Ints{0});
  CHECK_FALSE(x.is_alias_of(y));
}

TEST_CASE("set_ to as many elements keeps the strides") {
  const Tensor x = empty_strided_on(place(), {3}, {2}, DType::Float32), y = tensor(x.device(), {3});
  CHECK(strides(set__source_Storage(x, y.storage())) == Ints{2});
}

TEST_CASE("movedim finds a dimension out of range before one that appears twice") {
  CHECK_THROWS_AS(movedim(tensor(place(), {2}), {0, -1, 5}, {0, 0, 0}), IndexError);
  CHECK_THROWS_AS(movedim(tensor(place(), {2}), {0, -1}, {0, 0}), RuntimeError);
}

TEST_CASE("set_ with a part of a tensor counts from its first element") {
  const Tensor base = tensor(place(), {5});
  const Tensor t = tensor(base.device(), {1});
  set__source_Tensor_storage_offset(t, slice(base, 0, 2, 5, 1), -1, {2}, {1});
  CHECK(t.storage_offset() == 1);
  CHECK(t.is_alias_of(base));
  CHECK_THROWS_AS(set__source_Tensor_storage_offset(t, slice(base, 0, 0, 5, 2), 0, {2}, {1}),
                  RuntimeError);
}

TEST_CASE("an empty list is refused by cat and stack alike with and without an out",
          "[ops][views]") {
  const Tensor out = tensor(place(), {2});
  CHECK_THROWS_AS(cat(TensorList(), 0), ValueError);
  CHECK_THROWS_AS(cat_out(TensorList(), 0, out), ValueError);
  CHECK_THROWS_AS(stack(TensorList(), 0), RuntimeError);
  CHECK_THROWS_AS(stack_out(TensorList(), 0, out), RuntimeError);
}

}  // namespace
}  // namespace sb
