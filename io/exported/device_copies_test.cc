#include "switchboard/io/exported/device_copies.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"

namespace sb::io {
namespace {

TEST_CASE("copies share memory where the tensors do", "[io][device_copies]") {
  const Tensor whole = empty_on(DeviceType::CPU, {2, 3}, DType::Float32);
  for (int i = 0; i < 6; ++i) whole.data<float>()[i] = static_cast<float>(i);
  const Tensor column = alias_with(whole, {2}, {3}, 1);
  const Tensor other = empty_on(DeviceType::CPU, {2, 3}, DType::Float32);

  DeviceCopies copies(DeviceType::CPU);
  const Tensor column_there = copies.copy(column), whole_there = copies.copy(whole);
  CHECK_FALSE(whole_there.is_alias_of(whole));
  CHECK(whole_there.is_alias_of(column_there));
  CHECK_FALSE(whole_there.is_alias_of(copies.copy(other)));
  CHECK(column_there.sizes() == column.sizes());
  CHECK(column_there.strides() == column.strides());
  CHECK(column_there.storage_offset() == 1);
  whole_there.data<float>()[4] = 40;
  CHECK(column_there.data<float>()[3] == 40);
  CHECK(whole.data<float>()[4] == 4);
}

}  // namespace
}  // namespace sb::io
