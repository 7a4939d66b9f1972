#include "switchboard/ops/quantized/quantize.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/quantized/fake_quantize.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::Sizes;
using test::strides_of;
using test::tensor_of;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("quantize_per_tensor rounds to the nearest step, ties to even", "[quantized]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2, 3}, {-0.5, 0.5, 1.5, 2.5, 0.24, -1.26}, DType::Float32, place);
  const Tensor q = quantize_per_tensor(x, 0.5, 3, DType::QUInt8);
  CHECK(q.dtype() == DType::QUInt8);
  CHECK(q.device() == x.device());
  CHECK(q_scale(q) == 0.5);
  CHECK(q_zero_point(q) == 3);
  CHECK(holds(int_repr(q), {2, 4, 6, 8, 3, 0}));
  CHECK(int_repr(q).dtype() == DType::UInt8);
  CHECK(holds(dequantize(q), {-0.5, 0.5, 1.5, 2.5, 0, -1.5}));
  CHECK(
      holds(int_repr(quantize_per_tensor(
                tensor_of({4}, {0.5, 1.5, -0.5, -1.5}, DType::Float32, place), 1, 0, DType::QInt8)),
            {0, 2, 0, -2}));
}

TEST_CASE("what does not fit goes to the end of the range, NaN to the lower one", "[quantized]") {
  const Tensor x = tensor_of({5}, {kInf, -kInf, 1e30, -1e30, NAN});
  CHECK(holds(int_repr(quantize_per_tensor(x, 1, 5, DType::QInt8)), {127, -128, 127, -128, -128}));
  CHECK(holds(int_repr(quantize_per_tensor(x, 1, 5, DType::QUInt8)), {255, 0, 255, 0, 0}));
  CHECK(holds(int_repr(quantize_per_tensor(x, 1, 5, DType::QInt32)),
              {2147483647.0, -2147483648.0, 2147483647.0, -2147483648.0, -2147483648.0}));
}

TEST_CASE("a quantized tensor keeps channels-last strides, and no others", "[quantized]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = empty({2, 3, 4, 5}, DType::Float32, std::nullopt, place, std::nullopt,
                         MemoryFormat::ChannelsLast);
  CHECK(strides_of(quantize_per_tensor(x, 0.1, 0, DType::QInt8)) == Sizes{60, 1, 15, 3});
  const Tensor t = transpose(empty({2, 3}, DType::Float32, std::nullopt, place), 0, 1);
  CHECK(strides_of(quantize_per_tensor(t, 0.1, 0, DType::QInt8)) == Sizes{2, 1});
}

TEST_CASE("views and clones of a quantized tensor keep its scale", "[quantized]") {
  const Tensor q = quantize_per_tensor(tensor_of({2, 2}, {1, 2, 3, 4}), 0.5, 0, DType::QInt8);
  const Tensor column = select(transpose(q, 0, 1), 0, 1);
  CHECK(q_scale(column) == 0.5);
  CHECK(holds(dequantize(column), {2, 4}));
  CHECK(holds(dequantize(clone(column)), {2, 4}));
  CHECK(q_scale(clone(column)) == 0.5);
}

TEST_CASE("only operators with a kernel at the quantized key take quantized tensors",
          "[quantized]") {
  const Tensor q = quantize_per_tensor(tensor_of({2}, {1, 2}), 0.5, 0, DType::QInt8);
  CHECK(q.key_set().has(DispatchKey::QuantizedCPU));
  CHECK_FALSE(q.key_set().has(DispatchKey::CPU));
  CHECK_THROWS_AS(add(q, q), NotImplementedError);
  CHECK_THROWS_WITH(add(q, q), Catch::Contains("QuantizedCPU"));
  CHECK_THROWS_AS(add(tensor_of({2}, {1, 2}), q), NotImplementedError);
}

TEST_CASE("no other operator makes a quantized tensor", "[quantized]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float32, place);
  for (DType dtype : {DType::QInt8, DType::QUInt8, DType::QInt32}) {
    CHECK_THROWS_AS(empty({2}, dtype, std::nullopt, place), RuntimeError);
    CHECK_THROWS_AS(empty({2, 1, 1, 1, 1, 1}, dtype, std::nullopt, place), RuntimeError);
    CHECK_THROWS_AS(empty_like(x, dtype), RuntimeError);
    CHECK_THROWS_AS(to_dtype(x, dtype), RuntimeError);
    CHECK_THROWS_AS(view_dtype(x, dtype), RuntimeError);
  }
  CHECK_THROWS_WITH(empty({2}, DType::QInt8),
                    "a tensor of qint8 is made by quantize_per_tensor, with a scale");
  CHECK_THROWS_WITH(view_dtype(x, DType::QInt32), Catch::Contains("only quantized tensors"));
}

TEST_CASE("the opposite of int_repr takes int8, uint8 and int32", "[quantized]") {
  const Tensor q = _make_per_tensor_quantized_tensor(tensor_of({2}, {1, -2}, DType::Int8), 0.25, 1);
  CHECK(q.dtype() == DType::QInt8);
  CHECK(holds(dequantize(q), {0, -0.75}));
  CHECK_THROWS_WITH(_make_per_tensor_quantized_tensor(tensor_of({1}, {1}), 1, 0),
                    Catch::Contains("expected int8, uint8 or int32, got"));
}

TEST_CASE("scales may come in tensors, one for each tensor of a list", "[quantized]") {
  const Tensor scales = tensor_of({2}, {0.5, 2}, DType::Float64);
  const Tensor zeros = tensor_of({2}, {0, 1}, DType::Int64);
  const std::vector<Tensor> xs = {tensor_of({1}, {1}), tensor_of({1}, {4})};
  const std::vector<Tensor> qs = quantize_per_tensor_tensors(xs, scales, zeros, DType::QInt8);
  REQUIRE(qs.size() == 2);
  CHECK(holds(int_repr(qs[0]), {2}));
  CHECK(holds(int_repr(qs[1]), {3}));
  CHECK(holds(dequantize_tensors(qs)[1], {4}));
  CHECK_THROWS_AS(quantize_per_tensor_tensors({xs.data(), 1}, scales, zeros, DType::QInt8),
                  RuntimeError);
}

TEST_CASE("quantize_per_tensor says what it wants", "[quantized]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float32, place);
  CHECK_THROWS_WITH(quantize_per_tensor(to_dtype(x, DType::Float64), 1, 0, DType::QInt8),
                    Catch::Contains("argument self: expected float32, got float64"));
  CHECK_THROWS_WITH(quantize_per_tensor(x, 1, 0, DType::Int8),
                    Catch::Contains("argument dtype: expected qint8, quint8 or qint32, got int8"));
  CHECK_THROWS_WITH(quantize_per_tensor(x, 1, 128, DType::QInt8),
                    Catch::Contains("argument zero_point: expected a number from -128 to 127"));
  CHECK_THROWS_WITH(quantize_per_tensor(x, 1, -1, DType::QUInt8), Catch::Contains("from 0 to 255"));
  CHECK_THROWS_WITH(int_repr(x), Catch::Contains("expected a quantized tensor"));
  CHECK_THROWS_WITH(q_scale(x), Catch::Contains("expected a quantized tensor"));
  CHECK_THROWS_WITH(quantize_per_tensor(Tensor(), 1, 0, DType::QInt8),
                    Catch::Contains("self' is an undefined tensor"));
  CHECK(holds(dequantize(x), {1, 2}));
}

TEST_CASE("a quantized tensor prints as PyTorch's", "[quantized]") {
  const Tensor q = quantize_per_tensor(tensor_of({2}, {1, -2}), 0.5, 3, DType::QUInt8);
  CHECK(to_string(q) == R"(tensor([ 1.0000, -1.5000], size=(2,), dtype=torch.quint8,
       quantization_scheme=torch.per_tensor_affine, scale=0.5, zero_point=3))");
}

TEST_CASE("a device has arithmetic of its own, once", "[quantized]") {
  const auto kernel = [](const Tensor&, const Tensor&) {};
  CHECK_THROWS_AS(register_quantize_kernel(DeviceType::CPU, kernel), ValueError);
  register_quantize_kernel(DeviceType::XPU, kernel);
  CHECK_THROWS_AS(register_quantize_kernel(DeviceType::XPU, kernel), RuntimeError);
}

TEST_CASE("fake_quantize rounds to steps within a range, and says what was in it", "[quantized]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({5}, {-1, 0.2, 0.3, 1, 100}, DType::Float32, place);
  const auto [output, mask] = fake_quantize_per_tensor_affine_cachemask(x, 0.5, 1, 0, 5);
  CHECK(holds(output, {-0.5, 0, 0.5, 1, 2}));
  CHECK(mask.dtype() == DType::Bool);
  CHECK(holds(mask, {0, 1, 1, 1, 0}));
  const Tensor rows = tensor_of({2, 2}, {0.3, 9, 0.3, 9}, DType::Float32, place);
  const Tensor scales = tensor_of({2}, {0.5, 2}, DType::Float32, place);
  const Tensor zeros = tensor_of({2}, {0, 1}, DType::Int32, place);
  CHECK(holds(fake_quantize_per_channel_affine(rows, scales, zeros, 0, 0, 4), {0.5, 2, 0, 6}));
  CHECK_THROWS_WITH(fake_quantize_per_tensor_affine(x, 0.5, 9, 0, 5),
                    Catch::Contains("argument zero_point"));
  CHECK_THROWS_AS(fake_quantize_per_tensor_affine(x, 0.5, 1, 5, 0), RuntimeError);
  CHECK_THROWS_AS(fake_quantize_per_channel_affine(x, scales, zeros, 0, 0, 4), RuntimeError);
  CHECK_THROWS_AS(fake_quantize_per_tensor_affine(zeros, 0.5, 1, 0, 5), NotImplementedError);
}

}  // namespace
}  // namespace sb
