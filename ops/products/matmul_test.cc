#include "switchboard/ops/products/matmul.h"

#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// 1, 2, 3, ... in row-major order.
Tensor counted(IntArrayRef sizes, DType dtype = DType::Float32) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float64);
  std::iota(x.data<double>(), x.data<double>() + x.numel(), 1.0);
  return cast_copy(x, dtype);
}
Tensor full(IntArrayRef sizes, float value) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float32);
  std::fill_n(x.data<float>(), x.numel(), value);
  return x;
}
// The product by the definition.
Tensor naive_mm(const Tensor& a, const Tensor& b) {
  const Tensor out = full({a.size(0), b.size(1)}, 0);
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < b.size(1); ++j) {
      for (int64_t k = 0; k < a.size(1); ++k) {
        out.data<float>()[i * b.size(1) + j] += a.data<float>()[i * a.stride(0) + k * a.stride(1)] *
                                                b.data<float>()[k * b.stride(0) + j * b.stride(1)];
      }
    }
  }
  return out;
}
Tensor strided(const Tensor& x) {
  const Tensor y = empty_strided_on(x.device(), x.sizes(), {2 * x.size(1) * 3, 3}, x.dtype());
  return copy_(y, x);
}
Tensor transposed_storage(const Tensor& x) { return t(contiguous(t(x))); }

TEST_CASE("mm multiplies operands of any strides into an out of any strides") {
  const Tensor a0 = counted({5, 7});
  const Tensor b0 = counted({7, 4});
  const Tensor expected = naive_mm(a0, b0);
  const auto layouts = [](const Tensor& x) {
    return std::vector<Tensor>{contiguous(x), transposed_storage(x), strided(x)};
  };
  for (const Tensor& a : layouts(a0)) {
    for (const Tensor& b : layouts(b0)) {
      CHECK(equal(mm(a, b), expected));
      for (const Tensor& out : layouts(full({5, 4}, NAN))) {
        CHECK(mm_out(a, b, out).is_same(out));
        CHECK(equal(out, expected));
      }
      CHECK(equal(mm_out(a, b, full({0}, 0)), expected));
    }
  }
}

TEST_CASE("mm computes in every dtype but bool") {
  const DType dtype = GENERATE(DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64,
                               DType::Float16, DType::BFloat16, DType::Float32, DType::Float64,
                               DType::Complex64, DType::Complex128);
  const Tensor product = mm(counted({2, 3}, dtype), counted({3, 2}, dtype));
  CHECK(product.dtype() == dtype);
  CHECK(equal(product, cast_copy(naive_mm(counted({2, 3}), counted({3, 2})), dtype)));
  CHECK_THROWS_AS(mm(counted({2, 2}, DType::Bool), counted({2, 2}, DType::Bool)),
                  NotImplementedError);
}

TEST_CASE("integer products wrap") {
  const Tensor x = counted({1, 1}, DType::Int64);
  x.data<int64_t>()[0] = INT64_MAX;
  CHECK(item(mm(x, x)).to<int64_t>() == 1);
  const Tensor y = counted({1, 1}, DType::Int8);
  y.data<int8_t>()[0] = 127;
  CHECK(item(mm(y, y)).to<int64_t>() == 1);
}

TEST_CASE("addmm ignores what self holds where beta is 0, and the operands where alpha is 0") {
  const Tensor nan = full({2, 2}, NAN);
  const Tensor one = full({2, 2}, 1);
  CHECK(equal(addmm(nan, one, one, 0), full({2, 2}, 2)));
  CHECK(equal(addmm(one, nan, one, 2, 0), full({2, 2}, 2)));
  CHECK(equal(addmm(full({2}, 3), full({2, 0}, 0), full({0, 2}, 0), 2), full({2, 2}, 6)));
  CHECK(equal(addmv(full({2}, NAN), one, full({2}, 1), 0), full({2}, 2)));
}

TEST_CASE("an out that is also an operand gets the right product") {
  const Tensor x = counted({2, 2});
  const Tensor expected = naive_mm(x, x);
  CHECK(equal(mm_out(x, x, x), expected));
  const Tensor y = counted({2, 2});
  CHECK(addmm_(y, y, t(y), 0).is_same(y));
  CHECK(equal(y, naive_mm(counted({2, 2}), t(counted({2, 2})))));
}

TEST_CASE("a product that is refused leaves its out alone") {
  const Tensor a = counted({2, 3});
  const Tensor out = full({2, 2}, 7);
  CHECK_THROWS_AS(mm_out(a, a, out), RuntimeError);
  CHECK_THROWS_AS(mm_out(a, counted({3, 2}, DType::Float64), out), RuntimeError);
  CHECK_THROWS_AS(mm_out(a, t(a), counted({2, 2}, DType::Float64)), RuntimeError);
  CHECK_THROWS_AS(mm_out(a, t(a), expand(full({1}, 7), {2, 2})), RuntimeError);
  CHECK_THROWS_AS(addmm(counted({3}), a, t(a)), RuntimeError);
  CHECK_THROWS_AS(addmm(out, a, t(a), std::complex<double>(0, 1)), RuntimeError);
  CHECK_THROWS_AS(mm(a, Tensor()), Error);
  CHECK_THROWS_AS(linear(a, Tensor()), Error);
  CHECK_THROWS_AS(matmul(Tensor(), a), Error);
  CHECK(equal(out, full({2, 2}, 7)));
}

TEST_CASE("meta products have the shapes of real ones") {
  const auto meta = [](IntArrayRef sizes) {
    return empty_on(DeviceType::Meta, sizes, DType::Float32);
  };
  CHECK(mm(meta({2, 3}), meta({3, 4})).sizes() == IntArrayRef({2, 4}));
  CHECK(matmul(meta({5, 1, 2, 3}), meta({4, 3, 6})).sizes() == IntArrayRef({5, 4, 2, 6}));
  CHECK(linear(meta({7, 2, 3}), meta({4, 3}), meta({4})).sizes() == IntArrayRef({7, 2, 4}));
  CHECK_THROWS_AS(mm(meta({2, 3}), meta({2, 3})), RuntimeError);
}

TEST_CASE("matmul of batches is the products of their matrices") {
  const Tensor a = counted({2, 3, 4});
  const Tensor b = counted({4, 5});
  const Tensor product = matmul(a, b);
  for (int64_t i = 0; i < 2; ++i) {
    CHECK(equal(sb::select(product, 0, i), naive_mm(sb::select(a, 0, i), b)));
  }
  const Tensor c = counted({2, 1, 4, 5});
  const Tensor broadcast = matmul(a, c);
  CHECK(broadcast.sizes() == IntArrayRef({2, 2, 3, 5}));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      CHECK(equal(sb::select(sb::select(broadcast, 0, i), 0, j),
                  naive_mm(sb::select(a, 0, j), sb::select(sb::select(c, 0, i), 0, 0))));
    }
  }
}

TEST_CASE("a matrix by a batch is contiguous, in dimensions of size 1 too") {
  const auto strides = [](std::vector<int64_t> self, std::vector<int64_t> other) {
    return test::strides_of(matmul(ones(self), ones(other)));
  };
  CHECK(strides({2, 3}, {2, 3, 1}) == test::Sizes{2, 1, 1});
  CHECK(strides({1, 3}, {2, 3, 4}) == test::Sizes{4, 4, 1});
  CHECK(strides({2, 3}, {2, 3, 4}) == test::Sizes{8, 4, 1});
}

}  // namespace
}  // namespace sb
