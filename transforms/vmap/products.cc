// Products of vectors and matrices: a batch of them is what matmul multiplies.

#include <complex>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/rules.h"
#include "switchboard/transforms/vmap/shapes.h"

namespace sb::batching {
namespace {

// Multiplies two factors of which one has a batch in front, or both.
using Product = Tensor (*)(const Tensor& a, const Tensor& b);

Tensor matrix_by_matrix(const Tensor& a, const Tensor& b) { return matmul(a, b); }
Tensor matrix_by_vector(const Tensor& a, const Tensor& b) {
  return squeeze_dim(matmul(a, unsqueeze(b, -1)), -1);
}
Tensor vector_by_vector(const Tensor& a, const Tensor& b) {
  return squeeze_dim(matrix_by_vector(unsqueeze(a, -2), b), -1);
}

struct Rule {
  Product product;
  int64_t rank;      // of the product of one example
  size_t num_added;  // arguments in front of the factors that the product is added to
};

const Rule* find_rule(const std::string& name) {
  static const auto* const rules = new absl::flat_hash_map<std::string_view, Rule>{
      {"aten::mm", {matrix_by_matrix, 2, 0}},      {"aten::bmm", {matrix_by_matrix, 3, 0}},
      {"aten::mv", {matrix_by_vector, 1, 0}},      {"aten::dot", {vector_by_vector, 0, 0}},
      {"aten::addmm", {matrix_by_matrix, 2, 1}},   {"aten::addmv", {matrix_by_vector, 1, 1}},
      {"aten::baddbmm", {matrix_by_matrix, 3, 1}},
  };
  const auto found = rules->find(name);
  return found == rules->end() ? nullptr : &found->second;
}

// A value of an example of fewer dimensions, as one that the product can be added to.
Tensor with_rank(Tensor value, int64_t rank) {
  while (value.dim() <= rank) value = unsqueeze(value, 1);
  return value;
}

// beta * self + alpha * product.
Tensor added(const BatchedCall& call, const Tensor& product, int64_t rank) {
  const auto number = [&](std::string_view name) {
    return call.argument(*call.op().schema().find_argument(name)).to_scalar();
  };
  const Scalar beta = number("beta"), alpha = number("alpha");
  // Where beta is 0, what self holds does not count.
  if (beta.to<std::complex<double>>() == 0.0) return mul_Scalar(product, alpha);
  const Tensor& self = call.argument(0).to_tensor();
  const std::optional<Tensor> value = call.value_of(self);
  const Tensor addend = value ? with_rank(*value, rank) : self;
  return add(beta == Scalar(1) ? addend : mul_Scalar(addend, beta), product, alpha);
}

}  // namespace

std::optional<std::vector<IValue>> product_rule(const BatchedCall& call) {
  const Rule* const rule = find_rule(call.op().name().to_string());
  if (!rule) return std::nullopt;
  // What the operator refuses, matmul may take.
  if (!try_on_meta(call.op(), meta_arguments(call.arguments()))) return std::nullopt;
  const auto factor = [&](size_t i) {
    const Tensor& tensor = call.argument(rule->num_added + i).to_tensor();
    return call.value_of(tensor).value_or(tensor);
  };
  const Tensor product = rule->product(factor(0), factor(1));
  return call.batched_results({rule->num_added > 0 ? added(call, product, rule->rank) : product});
}

}  // namespace sb::batching
