// A device that gives an elementwise operator its arithmetic, and gets the rest from ops.

#include "switchboard/ops/cpu/elementwise.h"

#include <complex>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"

namespace sb::dummy {
namespace {

TEST_CASE("all forms of an operator run the arithmetic that its device registered", "[dummy]") {
  reset_counts();
  const Tensor x = tensor_of<float>(kSecond, {2, 2}, {-1, 2, -3, 4});
  const Tensor y = sb::abs(x);
  CHECK(y.device() == kSecond);
  CHECK(y.storage()->device() == kSecond);
  CHECK(storage_of<float>(y) == std::vector<float>{1, 2, 3, 4});
  const Tensor out = tensor_of<float>(kSecond, {0}, {});
  CHECK(abs_out(x, out).is_same(out));  // resized
  CHECK(out.sizes() == IntArrayRef({2, 2}));
  CHECK(storage_of<float>(out) == std::vector<float>{1, 2, 3, 4});
  abs_(x);
  CHECK(storage_of<float>(x) == std::vector<float>{1, 2, 3, 4});
  CHECK(out.storage()->device() == kSecond);
  CHECK(kernel_counts().at("aten::abs") == 3);
  CHECK(fallback_counts().empty());
}

TEST_CASE("the kernel of a device serves every dtype that the operator has", "[dummy]") {
  const Tensor ints = tensor_of<int64_t>(kSecond, {3}, {-1, 2, -3});
  CHECK(storage_of<int64_t>(sb::abs(ints)) == std::vector<int64_t>{1, 2, 3});
  const Tensor complex = tensor_of<std::complex<float>>(kSecond, {2}, {{3, -4}, {-1, 0}});
  const Tensor sizes = sb::abs(complex);
  CHECK(sizes.dtype() == DType::Float32);
  CHECK(sizes.storage()->device() == kSecond);
  CHECK(storage_of<float>(sizes) == std::vector<float>{5, 1});
}

TEST_CASE("the kernel of a device sees strides, and its output has those of the CPU's", "[dummy]") {
  const Tensor x = alias_transposed(tensor_of<float>(kFirst, {2, 3}, {-1, 2, -3, 4, -5, 6}), 0, 1);
  const Tensor y = sb::abs(x);
  CHECK(y.strides() == IntArrayRef({1, 3}));
  CHECK(storage_of<float>(y) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the checks of an operator come before a device's kernel", "[dummy]") {
  reset_counts();
  const Tensor x = tensor_of<float>(kFirst, {2}, {-1, 2});
  const Tensor out = tensor_of<int32_t>(kFirst, {2}, {7, 8});
  CHECK_THROWS_AS(abs_out(x, out), Error);
  CHECK(storage_of<int32_t>(out) == std::vector<int32_t>{7, 8});
  CHECK(kernel_counts().empty());
}

TEST_CASE("a device has one kernel for an operator, and CPU and Meta none", "[dummy]") {
  const auto kernel = [](TensorIterator&, const void*) {};
  CHECK_THROWS_AS(register_elementwise(abs_arithmetic, DeviceType::PrivateUse1, kernel), Error);
  CHECK_THROWS_AS(register_elementwise(neg_arithmetic, DeviceType::CPU, kernel), ValueError);
  CHECK_THROWS_AS(register_elementwise(neg_arithmetic, DeviceType::Meta, kernel), ValueError);
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
