#include "switchboard/autograd/gradcheck_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "absl/strings/str_join.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {
namespace {

using Number = std::complex<double>;

bool is_nan(Number z) { return std::isnan(z.real()) || std::isnan(z.imag()); }

// As copy_ reads and writes every dtype, device and lazy bit.
void write(const Tensor& t, const GradcheckNumbers& numbers) {
  const NoGradGuard off;
  const Tensor z = empty_on(DeviceType::CPU, t.sizes(), DType::Complex128);
  if (!numbers.empty()) std::copy(numbers.begin(), numbers.end(), z.data<Number>());
  engine::copy_(t, z);
}

}  // namespace

GradcheckNumbers numbers_of(const Tensor& t) {
  const NoGradGuard off;
  const Tensor z = empty_on(DeviceType::CPU, t.sizes(), DType::Complex128);
  engine::copy_(z, t);
  const Number* const p = z.numel() > 0 ? z.data<Number>() : nullptr;
  return GradcheckNumbers(p, p + z.numel());
}

Tensor tensor_like(const Tensor& like, const GradcheckNumbers& numbers) {
  const Tensor t = empty_strided_on(like.device(), like.sizes(), like.strides(), like.dtype());
  write(t, numbers);
  if (requires_grad(like)) set_requires_grad(t);
  return t;
}

Tensor plain_tensor_like(const Tensor& like, const GradcheckNumbers& numbers) {
  const Tensor t = empty_on(like.device(), like.sizes(), like.dtype());
  write(t, numbers);
  return t;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const GradcheckNumbers x = numbers_of(a), y = numbers_of(b);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (is_nan(x[i]) && is_nan(y[i]))) continue;
    const double d = std::abs(x[i] - y[i]);
    largest = std::max(largest, std::isnan(d) ? kInfinity : d);
  }
  return largest;
}

std::vector<int64_t> element_index(const Tensor& t, size_t n) {
  std::vector<int64_t> index(static_cast<size_t>(t.dim()));
  int64_t rest = static_cast<int64_t>(n);
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = rest % t.sizes()[d];
    rest /= t.sizes()[d];
  }
  return index;
}

std::string text_of(const std::vector<int64_t>& index) {
  return str_cat("[", absl::StrJoin(index, ", "), "]");
}
std::string text_of(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", std::abs(x) < 1e-9 ? 0 : x);
  return text;
}
std::string text_of(Number z) {
  if (std::abs(z.imag()) < 1e-9) return text_of(z.real());
  return str_cat("(", text_of(z.real()), z.imag() < 0 ? "-" : "+", text_of(std::abs(z.imag())),
                 "j)");
}

}  // namespace sb::internal
