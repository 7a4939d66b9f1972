#include <complex>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using Complex = std::complex<double>;
using test::tensor_of;
using test::values_of;

Tensor complex_leaf() {
  const Tensor t = tensor_of({2}, {0, 0}, DType::Complex128);
  t.data<Complex>()[0] = {1, 2};
  t.data<Complex>()[1] = {-0.5, 0.25};
  set_requires_grad(t);
  return t;
}
Complex element(const Tensor& t, int i) { return resolve_conj(t).data<Complex>()[i]; }

template <auto& op>
void check(const Tensor& input) {
  // Squared, so that there is a second derivative.
  const DifferentiableFunction f = [](const Tensors& in) {
    const Tensor y = op(in[0]);
    return Tensors{mul(y, y)};
  };
  CHECK(gradcheck_report(f, {input}).to_string() == "");
  CHECK(gradgradcheck_report(f, {input}).to_string() == "");
}

TEST_CASE("views with lazy bits and views of parts have derivatives") {
  const Tensor z = complex_leaf();
  check<conj>(z);
  check<_conj>(z);
  check<conj_physical>(z);
  check<_conj_physical>(z);
  check<_neg_view>(z);
  check<resolve_conj>(z);
  check<resolve_neg>(z);
  check<real>(z);
  check<imag>(z);
  check<view_as_real>(z);
  const Tensor pairs = tensor_of({2, 2}, {1, 2, 3, -4}, DType::Float64);
  set_requires_grad(pairs);
  check<view_as_complex>(pairs);
  check<real>(pairs);
}

TEST_CASE("conj_physical_ is derived") {
  const DifferentiableFunction f = [](const Tensors& in) {
    return Tensors{conj_physical_(mul(in[0], in[0]))};
  };
  CHECK(gradcheck_report(f, {complex_leaf()}).to_string() == "");
}

TEST_CASE("what is written to the real part, to a conjugate or to a negative has its gradient") {
  const Tensor z = complex_leaf();
  const Tensor x = tensor_of({2}, {3, 5}, DType::Float64);
  set_requires_grad(x);
  const Tensor base = clone(z);
  mul_(real(base), x);
  backward({real(sum_all(base))});
  CHECK(element(grad_of(z), 0) == Complex(3, 0));
  CHECK(values_of(grad_of(x)) == std::vector<double>{1, -0.5});

  const Tensor w = complex_leaf();
  const Tensor other = clone(w);
  mul_Scalar_(conj(other), Complex(0, 1));  // the elements become -i w
  mul_Scalar_(_neg_view(other), 3);
  backward({other}, {tensor_of({2}, {1, 1}, DType::Complex128)});
  CHECK(element(grad_of(w), 0) == Complex(0, 3));
}

TEST_CASE("a result that is a view of the base keeps it as its base") {
  const Tensor z = complex_leaf();
  CHECK(base_of(real(z)).is_same(z));
  CHECK(base_of(conj(z)).is_same(z));
  CHECK(grad_fn(conj(z)));
}

}  // namespace
}  // namespace sb
