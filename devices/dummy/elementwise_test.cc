// A device that gives an elementwise operator its arithmetic, and gets the rest from ops.

#include "switchboard/ops/elementwise.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/devices/dummy/host_alias.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/comparison.h"
#include "switchboard/ops/copy.h"

namespace sb::dummy {
namespace {

int runs = 0;

// Serves float tensors, contiguous or not.
void abs_kernel(TensorIterator& iterator, const void*) {
  ++runs;
  SB_CHECK(iterator.num_inputs() == 1 && iterator.common_dtype() == DType::Float32, "abs");
  HostAliases host;
  const Tensor out = host(iterator.output()), in = host(iterator.input(0));
  if (iterator.is_contiguous()) {
    for (int64_t i = 0; i < iterator.numel(); ++i) {
      out.data<float>()[i] = std::abs(in.data<float>()[i]);
    }
  } else {
    copy_(out, sb::abs(in));
  }
}

Library& abs_of_device() {
  static Library* const library = [] {
    register_elementwise(abs_arithmetic, DeviceType::PrivateUse1, abs_kernel);
    auto* const m = new Library(Library::Kind::Impl, "aten", DispatchKey::PrivateUse1);
    impl_elementwise(*m, sb::abs, DispatchKey::PrivateUse1);
    return m;
  }();
  return *library;
}

TEST_CASE("all forms of an operator run the arithmetic that its device registered", "[dummy]") {
  abs_of_device();
  runs = 0;
  const Tensor x = tensor_of<float>(kFirst, {2, 2}, {-1, 2, -3, 4});
  const Tensor y = sb::abs(x);
  CHECK(y.device() == kFirst);
  CHECK(storage_of<float>(y) == std::vector<float>{1, 2, 3, 4});
  const Tensor out = tensor_of<float>(kFirst, {0}, {});
  CHECK(abs_out(x, out).is_same(out));  // resized
  CHECK(out.sizes() == IntArrayRef({2, 2}));
  CHECK(storage_of<float>(out) == std::vector<float>{1, 2, 3, 4});
  abs_(x);
  CHECK(storage_of<float>(x) == std::vector<float>{1, 2, 3, 4});
  CHECK(runs == 3);
}

TEST_CASE("the kernel of a device sees strides, and its output has those of the CPU's", "[dummy]") {
  abs_of_device();
  const Tensor x = alias_transposed(tensor_of<float>(kFirst, {2, 3}, {-1, 2, -3, 4, -5, 6}), 0, 1);
  const Tensor y = sb::abs(x);
  CHECK(y.strides() == IntArrayRef({1, 3}));
  CHECK(storage_of<float>(y) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the checks of an operator come before a device's kernel", "[dummy]") {
  abs_of_device();
  runs = 0;
  const Tensor x = tensor_of<float>(kFirst, {2}, {-1, 2});
  const Tensor out = tensor_of<int32_t>(kFirst, {2}, {7, 8});
  CHECK_THROWS_AS(abs_out(x, out), Error);
  CHECK(storage_of<int32_t>(out) == std::vector<int32_t>{7, 8});
  CHECK(runs == 0);
}

TEST_CASE("a device has one kernel for an operator, and CPU and Meta none", "[dummy]") {
  abs_of_device();
  CHECK_THROWS_AS(register_elementwise(abs_arithmetic, DeviceType::PrivateUse1, abs_kernel), Error);
  CHECK_THROWS_AS(register_elementwise(neg_arithmetic, DeviceType::CPU, abs_kernel), ValueError);
  CHECK_THROWS_AS(register_elementwise(neg_arithmetic, DeviceType::Meta, abs_kernel), ValueError);
  CHECK_THROWS_AS(register_elementwise(neg_arithmetic, DeviceType::PrivateUse1, nullptr),
                  ValueError);
}

TEST_CASE("without a kernel of its own, the forms say that there is none", "[dummy]") {
  Library m(Library::Kind::Impl, "aten", DispatchKey::PrivateUse1);
  impl_elementwise(m, maximum, DispatchKey::PrivateUse1);
  const Tensor x = tensor_of<float>(kFirst, {2}, {-1, 2});
  CHECK_THROWS_AS(maximum(x, x), NotImplementedError);
}

}  // namespace
}  // namespace sb::dummy
