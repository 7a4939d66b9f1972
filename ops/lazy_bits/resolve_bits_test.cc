#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Complex = std::complex<double>;

Tensor complex_tensor(std::vector<int64_t> sizes, const std::vector<Complex>& values) {
  Tensor t = empty_on(DeviceType::CPU, sizes, DType::Complex128);
  std::copy(values.begin(), values.end(), t.data<Complex>());
  return t;
}
// What the tensor means, whatever lies in memory.
std::vector<Complex> values(const Tensor& t) {
  const Tensor plain = clone(t, MemoryFormat::Contiguous);
  REQUIRE_FALSE(plain.impl()->is_conj());
  REQUIRE_FALSE(plain.impl()->is_neg());
  return {plain.data<Complex>(), plain.data<Complex>() + plain.numel()};
}
const Complex i(0, 1);

TEST_CASE("a view of a conjugate is a conjugate of the same memory") {
  const Tensor x = complex_tensor({2, 2}, {1. + i, 2. + i, 3. - i, 4.});
  const Tensor z = conj(x);
  for (const Tensor& view : {transpose(z, 0, 1), select(z, 0, 1), expand(z, {3, 2, 2}),
                             as_strided(z, {2}, {1}), reshape(z, {4}), detach(z)}) {
    CHECK(view.is_alias_of(x));
    CHECK(view.impl()->is_conj());
  }
  CHECK(values(transpose(z, 0, 1)) == std::vector<Complex>{1. - i, 3. + i, 2. - i, 4.});
  CHECK_FALSE(conj(z).impl()->is_conj());
  transpose_(z, 0, 1);
  CHECK(z.impl()->is_conj());
  CHECK(z.is_alias_of(x));
}

TEST_CASE("arithmetic sees what a tensor means, and its result has no bits") {
  const Tensor x = complex_tensor({2}, {1. + i, 2. + i});
  CHECK(values(conj(x) + x) == std::vector<Complex>{2., 4.});
  CHECK(values(_neg_view(conj(x)) + x) == std::vector<Complex>{2. * i, 2. * i});
  CHECK_FALSE((conj(x) + conj(x)).impl()->is_conj());
}

TEST_CASE("what is written to a conjugate reads as written") {
  const Tensor x = complex_tensor({2}, {1. + i, 2. + i});
  const Tensor z = _neg_view(conj(x));
  CHECK(mul_Scalar_(z, Scalar(i)).is_same(z));
  CHECK(values(z) == std::vector<Complex>{-1. - i, -1. - 2. * i});
  CHECK(values(x) == std::vector<Complex>{1. - i, 1. - 2. * i});
  const Tensor y = complex_tensor({2}, {5. + i, 6.});
  CHECK(add_out(y, y, 1, z).is_same(z));
  CHECK(values(z) == std::vector<Complex>{10. + 2. * i, 12.});
}

TEST_CASE("copy_ resolves a bit that only one side has") {
  const Tensor x = complex_tensor({1}, {1. + i});
  const bool to_conj = GENERATE(false, true), from_conj = GENERATE(false, true);
  const bool to_neg = GENERATE(false, true), from_neg = GENERATE(false, true);
  const auto with = [](Tensor t, bool is_conj, bool is_neg) {
    if (is_conj) t = conj(t);
    return is_neg ? _neg_view(t) : t;
  };
  const Tensor from = with(x, from_conj, from_neg);
  const Tensor to = with(complex_tensor({1}, {9.}), to_conj, to_neg);
  copy_(to, from);
  CHECK(values(to) == values(from));
  CHECK(values(x) == std::vector<Complex>{1. + i});
}

TEST_CASE("one tensor as two arguments, written to through its bit") {
  const Tensor x = complex_tensor({1}, {1. + i});
  const Tensor z = conj(x);
  mul_(z, z);
  CHECK(values(z) == std::vector<Complex>{-2. * i});
  copy_(x, conj(x));
  CHECK(values(x) == std::vector<Complex>{-2. * i});
}

TEST_CASE("the imaginary part of a conjugate is a negative view") {
  const Tensor x = complex_tensor({2}, {1. + 3. * i, 2. + 4. * i});
  const Tensor part = imag(conj(x));
  CHECK(part.impl()->is_neg());
  CHECK(part.is_alias_of(x));
  CHECK(test::holds(clone(part), {-3, -4}));
  mul_Scalar_(part, 2);
  CHECK(values(x) == std::vector<Complex>{1. + 6. * i, 2. + 8. * i});
  CHECK(test::holds(clone(real(conj(x))), {1, 2}));
  CHECK_THROWS_AS(view_as_real(conj(x)), RuntimeError);
}

TEST_CASE("a bool tensor has no negative view") {
  CHECK_THROWS_WITH(_neg_view(zeros({2}, DType::Bool)), Catch::Contains("expected numbers"));
}

TEST_CASE("a call that throws leaves a conjugate as it was") {
  const Tensor z = conj(complex_tensor({2}, {1. + i, 2.}));
  CHECK_THROWS_AS(add_(z, complex_tensor({3}, {1., 1., 1.})), RuntimeError);
  CHECK(values(z) == std::vector<Complex>{1. - i, 2.});
  CHECK(z.impl()->is_conj());
  resize_(z, {1});
  CHECK(z.impl()->is_conj());
}

}  // namespace
}  // namespace sb
