#include "switchboard/core/tensor.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"

namespace sb {
namespace {

TEST_CASE("a Tensor is one word", "[core][tensor]") { CHECK(sizeof(Tensor) == sizeof(void*)); }

TEST_CASE("an undefined tensor has keys and nothing else", "[core][tensor]") {
  const Tensor t;
  CHECK_FALSE(t.defined());
  CHECK(t.key_set() == kUndefinedTensorKeys);
  CHECK(t.dim() == 0);
  CHECK(t.numel() == 0);
  CHECK(t.describe() == "undefined tensor");
  CHECK_THROWS_AS(t.data_ptr(), RuntimeError);
  CHECK_FALSE(t.is_alias_of(t));
  CHECK(Tensor(t.impl()->shallow_copy()).is_same(t));
}

TEST_CASE("undefined tensors are not counted", "[core][tensor]") {
  const uint32_t before = undefined_tensor_impl()->use_count();
  {
    const Tensor a;
    const Tensor b = a;
    const Tensor c(IntrusivePtr<TensorImpl>::share(undefined_tensor_impl()));
    const Tensor d(nullptr);
    CHECK_FALSE(d.defined());
  }
  CHECK(undefined_tensor_impl()->use_count() == before);
}

TEST_CASE("copies name the same tensor, and a moved-from one is undefined", "[core][tensor]") {
  Tensor a = empty_on(DeviceType::CPU, {2}, DType::Float32);
  Tensor b = a;
  CHECK(b.is_same(a));
  CHECK(a.use_count() == 2);
  const Tensor c = std::move(b);
  CHECK_FALSE(b.defined());
  CHECK(a.use_count() == 2);
  a = a;
  CHECK(a.is_same(c));
  a = Tensor();
  CHECK(c.use_count() == 1);
}

TEST_CASE("sizes and strides are asked by dimension, from either end", "[core][tensor]") {
  const Tensor t = empty_on(DeviceType::CPU, {2, 3}, DType::Float64);
  CHECK(t.size(0) == 2);
  CHECK(t.size(-1) == 3);
  CHECK(t.stride(-2) == 3);
  CHECK(t.nbytes() == 48);
  CHECK_THROWS_AS(t.size(2), IndexError);
  CHECK_THROWS_AS(t.size(-3), IndexError);
  CHECK_THROWS_AS(t.size(INT64_MIN), IndexError);
  CHECK_THROWS_WITH(t.size(2), Catch::Contains("[-2, 1]"));
  CHECK_THROWS_AS(empty_on(DeviceType::CPU, {}, DType::Float64).size(0), IndexError);
}

TEST_CASE("data is given as its own type only", "[core][tensor]") {
  const Tensor t = empty_on(DeviceType::CPU, {1}, DType::Float32);
  CHECK(t.data<float>() == t.data_ptr());
  CHECK(t.data<const float>() == t.data_ptr());
  CHECK_THROWS_AS(t.data<double>(), TypeError);
  CHECK_THROWS_WITH(t.data<double>(), Catch::Contains("float64") && Catch::Contains("float32[1]"));
}

TEST_CASE("a meta tensor has no data, and says so", "[core][tensor]") {
  const Tensor t = empty_on(DeviceType::Meta, {2}, DType::Float32);
  CHECK_THROWS_AS(t.data_ptr(), RuntimeError);
  CHECK_THROWS_WITH(t.data_ptr(), Catch::Contains("meta"));
  CHECK_NOTHROW(empty_on(DeviceType::Meta, {0}, DType::Float32).data_ptr());
  CHECK_NOTHROW(empty_on(DeviceType::CPU, {0}, DType::Float32).data_ptr());
}

TEST_CASE("a tensor describes itself", "[core][tensor]") {
  CHECK(empty_on(DeviceType::CPU, {2, 3}, DType::Float32).describe() == "float32[2, 3] on cpu");
  CHECK(empty_on(DeviceType::Meta, {}, DType::Bool).describe() == "bool[] on meta");
}

}  // namespace
}  // namespace sb
