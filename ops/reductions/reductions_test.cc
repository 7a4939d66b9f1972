#include "switchboard/ops/reductions/reductions.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// 1, 2, 3, ... in row-major order.
Tensor counted(IntArrayRef sizes) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float32);
  std::iota(x.data<float>(), x.data<float>() + x.numel(), 1.0F);
  return x;
}
Tensor full(IntArrayRef sizes, float value) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float32);
  std::fill_n(x.data<float>(), x.numel(), value);
  return x;
}

TEST_CASE("sums of many small floats lose nothing that matters") {
  const Tensor x = full({1 << 20}, 0.1F);
  CHECK(item(sum(x)).to<double>() == Approx(104857.6).epsilon(1e-6));
  CHECK(item(mean(cast_copy(x, DType::BFloat16))).to<double>() == Approx(0.1).epsilon(0.01));
}

TEST_CASE("reductions agree along every dimension, whatever the strides") {
  const Tensor x = counted({3, 4, 5});
  const Tensor p = permute(contiguous(permute(x, {2, 0, 1})), {1, 2, 0});
  for (int64_t dim = 0; dim < 3; ++dim) {
    CHECK(equal(sum(x, {dim}), sum(p, {dim})));
    CHECK(equal(amax(x, {dim}), amax(p, {dim})));
    CHECK(equal(argmin(x, dim, true), argmin(p, dim, true)));
  }
  CHECK(equal(sum(x, {0, 2}, true), sum(sum(x, {0}, true), {2}, true)));
}

TEST_CASE("reducing nothing gives the identity, or an error where there is none") {
  const Tensor x = full({0, 3}, 0);
  CHECK(equal(sum(x, {0}), full({3}, 0)));
  CHECK(equal(prod(x, 0), full({3}, 1)));
  CHECK(std::isnan(item(mean(x)).to<double>()));
  CHECK(item(all(x)).to<bool>());
  CHECK_FALSE(item(any(x)).to<bool>());
  CHECK_THROWS_AS(amax(x), RuntimeError);
  CHECK_THROWS_AS(amax(x, {0}), IndexError);
  CHECK(amax(x, {1}).sizes() == IntArrayRef({0}));
  CHECK_THROWS_AS(argmax(x), IndexError);
  CHECK_THROWS_AS(max_dim(x, 0), IndexError);
}

TEST_CASE("any and all see the real part of a complex number, as a conversion to bool does") {
  const Tensor x = to_dtype(full({2}, 0), DType::Complex64);
  x.data<std::complex<float>>()[0] = {0, 1};
  x.data<std::complex<float>>()[1] = {0, -1.5f};
  CHECK_FALSE(item(any(x)).to<bool>());
  CHECK_FALSE(item(all(x)).to<bool>());
  x.data<std::complex<float>>()[1] = {2, 0};
  CHECK(item(any(x)).to<bool>());
}

TEST_CASE("NaN is the largest and the smallest number, and the first of it is found") {
  const Tensor x = counted({4});
  x.data<float>()[1] = NAN;
  x.data<float>()[2] = NAN;
  CHECK(std::isnan(item(max_all(x)).to<double>()));
  CHECK(std::isnan(item(min_all(x)).to<double>()));
  CHECK(item(argmax(x)).to<int64_t>() == 1);
  CHECK(item(std::get<1>(min_dim(x, 0))).to<int64_t>() == 1);
}

TEST_CASE("a reduction that is refused leaves its outs alone") {
  const Tensor x = counted({2, 3});
  const Tensor out = full({3}, 7);
  const Tensor indices = cast_copy(out, DType::Int64);
  CHECK_THROWS_AS(sum_dim_out(x, IntArrayRef({0}), false, DType::Float64, out), RuntimeError);
  CHECK_THROWS_AS(sum_dim_out(x, IntArrayRef({0, 0}), false, std::nullopt, out), RuntimeError);
  CHECK_THROWS_AS(max_dim_out(x, 0, false, out, out), RuntimeError);
  CHECK_THROWS_AS(max_dim_out(x, 2, false, out, indices), IndexError);
  CHECK_THROWS_AS(argmax_out(x, 0, false, out), RuntimeError);
  CHECK_THROWS_AS(any_dim_out(x, 0, false, out), RuntimeError);
  CHECK_THROWS_AS(sum(Tensor()), Error);
  CHECK_THROWS_AS(max_dim(Tensor(), 0), Error);
  CHECK_THROWS_AS(sum_all_out(x, std::nullopt, Tensor()), Error);
  CHECK(equal(out, full({3}, 7)));
}

TEST_CASE("an out that is part of the input gets the right sums") {
  const Tensor x = counted({2, 3});
  const Tensor expected = sum(x, {0});
  CHECK(
      equal(sum_dim_out(x, IntArrayRef({0}), false, std::nullopt, sb::select(x, 0, 0)), expected));
}

TEST_CASE("cat and stack join what unbind and split take apart") {
  const Tensor x = counted({3, 4, 5});
  for (int64_t dim = 0; dim < 3; ++dim) {
    CHECK(equal(stack(unbind(x, dim), dim), x));
    CHECK(equal(cat(split(x, 2, dim), dim), x));
  }
  const Tensor nothing = full({0}, 0);
  CHECK(equal(cat(std::vector<Tensor>{nothing, x, nothing}, 1), x));
  CHECK_THROWS_AS(cat(std::vector<Tensor>{}), ValueError);
  CHECK_THROWS_AS(cat(std::vector<Tensor>{x, Tensor()}), Error);
  CHECK_THROWS_AS(cat(std::vector<Tensor>{x, x}, 3), IndexError);
  CHECK_THROWS_AS(stack(std::vector<Tensor>{x, nothing}), RuntimeError);
  CHECK_THROWS_AS(cat_out(std::vector<Tensor>{narrow(x, 0, 0, 1)}, 0, x), RuntimeError);
}

TEST_CASE("any and all look over several dimensions at once, over all, or over none") {
  const OperatorHandle any_dims = default_dispatcher().find_op_or_throw("aten::any.dims");
  const OperatorHandle all_dims = default_dispatcher().find_op_or_throw("aten::all.dims");
  const Tensor x = test::tensor_of({2, 2, 2}, {0, 1, 0, 0, 1, 1, 0, 1});
  const auto run = [&](const OperatorHandle& op, const Tensor& self, IValue dims, bool keepdim) {
    return op.call({self, std::move(dims), keepdim})[0].to_tensor();
  };
  const std::vector<int64_t> two = {0, -1};
  CHECK(test::values_of(run(any_dims, x, two, false)) == std::vector<double>{1, 1});
  CHECK(test::values_of(run(all_dims, slice(x, 0, 1), two, true)) == std::vector<double>{1, 0});
  CHECK(run(any_dims, x, two, true).sizes() == IntArrayRef{1, 2, 1});
  CHECK(run(all_dims, x, IValue(), false).dim() == 0);
  CHECK(run(any_dims, x, std::vector<int64_t>(), false).sizes() == x.sizes());
  CHECK(run(all_dims, test::tensor_of({}, {5}), std::vector<int64_t>{0}, false).dtype() ==
        DType::Bool);
  CHECK_THROWS_AS(run(any_dims, x, std::vector<int64_t>{0, 0}, false), RuntimeError);
  CHECK_THROWS_AS(run(any_dims, x, std::vector<int64_t>{3}, false), IndexError);
}

}  // namespace
}  // namespace sb
