// Derivatives of products of reflections.

#include "switchboard/ops/linalg/householder.h"

#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/derivatives/matrix_gradients.h"
#include "switchboard/ops/views/cat.h"

namespace sb {
namespace {

// The v of column i.
Tensor reflection(const Tensor& a, int64_t i) {
  const Tensor column = narrow(a, -1, i, 1);
  const Tensor parts[] = {zeros_like(narrow(column, -2, 0, i)), ones_like(narrow(column, -2, i, 1)),
                          narrow(column, -2, i + 1, a.size(-2) - i - 1)};
  return cat(parts, -2);
}

struct OfReflections {
  Tensor a, tau, c;
};

// Of a, tau and C in H_1 ... H_k C, or in H_k^H ... H_1^H C: the factors are taken off one by one.
// What each is applied to is computed again, as C's columns would not suffice to go back.
OfReflections reflections_gradient(const Tensor& grad, const Tensor& a, const Tensor& tau,
                                   const Tensor& c, bool adjoint) {
  const int64_t count = tau.size(-1);
  std::vector<int64_t> order;  // of the factors, as they are applied
  for (int64_t k = 0; k < count; ++k) order.push_back(adjoint ? k : count - 1 - k);
  const auto scale_of = [&](int64_t i) {
    const Tensor t = unsqueeze(narrow(tau, -1, i, 1), -1);
    return adjoint ? conj(t) : t;
  };
  std::vector<Tensor> inputs;
  Tensor x = c;
  for (const int64_t i : order) {
    inputs.push_back(x);
    const Tensor v = reflection(a, i);
    x = sub(x, mul(scale_of(i), matmul(v, matmul(mH(v), x))));
  }
  std::vector<Tensor> of_a(static_cast<size_t>(count)), of_tau(static_cast<size_t>(count));
  Tensor g = grad;
  for (size_t k = order.size(); k-- > 0;) {
    const int64_t i = order[k];
    const Tensor v = reflection(a, i), scale = scale_of(i), input = inputs[k];
    const Tensor w = matmul(mH(v), input);  // v^H X
    const Tensor g_v = matmul(mH(v), g);    // v^H G
    const Tensor of_scale = neg(matmul(g_v, mH(w)));
    of_tau[static_cast<size_t>(i)] = squeeze_dim(adjoint ? conj(of_scale) : of_scale, -1);
    const Tensor of_v =
        neg(add(mul(conj(scale), matmul(g, mH(w))), mul(scale, matmul(input, mH(g_v)))));
    const Tensor parts[] = {zeros_like(narrow(of_v, -2, 0, i + 1)),
                            narrow(of_v, -2, i + 1, a.size(-2) - i - 1)};
    of_a[static_cast<size_t>(i)] = cat(parts, -2);
    g = sub(g, mul(conj(scale), matmul(v, g_v)));
  }
  const int64_t rest = a.size(-1) - count;
  if (rest > 0 || count == 0) of_a.push_back(zeros_like(narrow(a, -1, count, rest)));
  if (count == 0) of_tau.push_back(zeros_like(tau));
  return {cat(of_a, -1), cat(of_tau, -1), g};
}

std::array<Tensor, 2> product_gradients(const Tensor& grad, const Tensor& a, const Tensor& tau) {
  const Tensor square =
      eye_m(a.sym_size(-2), a.sym_size(-1), a.dtype(), std::nullopt, a.device(), std::nullopt);
  const OfReflections of = reflections_gradient(grad, a, tau, expand_as(square, a), false);
  return {of.a, of.tau};
}

// C Q is (Q^H C^H)^H.
std::array<Tensor, 3> ormqr_gradients(const Tensor& grad, const Tensor& a, const Tensor& tau,
                                      const Tensor& c, bool left, bool transposed) {
  if (left) {
    const OfReflections of = reflections_gradient(grad, a, tau, c, transposed);
    return {of.a, of.tau, of.c};
  }
  const OfReflections of = reflections_gradient(mH(grad), a, tau, mH(c), !transposed);
  return {of.a, of.tau, mH(of.c)};
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, linalg_householder_product,
         SB_GRAD((input, tau), (grad, input, tau), product_gradients(grad, input, tau)));
  derive(m, ormqr,
         SB_GRAD((self, input2, input3), (grad, self, input2, input3, left, transpose),
                 ormqr_gradients(grad, self, input2, input3, left, transpose)));
}

}  // namespace sb
