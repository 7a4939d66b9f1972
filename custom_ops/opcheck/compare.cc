#include "switchboard/custom_ops/opcheck/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>

#include "absl/strings/str_join.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"

namespace sb::internal {
namespace {

template <class T>
std::vector<T> elements_of(const Tensor& t) {
  const NoGradGuard off;
  const Tensor copy = empty_on(DeviceType::CPU, t.sizes(), dtype_of<T>);
  copy_(copy, t);
  const T* const p = copy.numel() > 0 ? copy.data<T>() : nullptr;
  return std::vector<T>(p, p + copy.numel());
}

std::string text_of(int64_t x) { return str_cat(x); }
std::string text_of(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", x);
  return text;
}
std::string text_of(std::complex<double> z) {
  if (z.imag() == 0) return text_of(z.real());
  return str_cat("(", text_of(z.real()), z.imag() < 0 ? "-" : "+", text_of(std::abs(z.imag())),
                 "j)");
}

bool is_close(int64_t a, int64_t b, Closeness) { return a == b; }
bool is_close(std::complex<double> a, std::complex<double> b, Closeness close) {
  const auto near = [&](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  if (near(a.real(), b.real()) && near(a.imag(), b.imag())) return true;
  // False for what is no number.
  return std::abs(a - b) <= close.atol + close.rtol * std::abs(a);
}

template <class T>
std::string differing_element_as(const Tensor& expected, const Tensor& got, Closeness close) {
  const std::vector<T> a = elements_of<T>(expected), b = elements_of<T>(got);
  for (size_t i = 0; i < a.size(); ++i) {
    if (is_close(a[i], b[i], close)) continue;
    std::vector<int64_t> index(expected.sizes().size());
    int64_t rest = static_cast<int64_t>(i);
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = rest % expected.sizes()[d];
      rest /= expected.sizes()[d];
    }
    return str_cat("element ", list_text(index), " is ", text_of(b[i]), ", not ", text_of(a[i]));
  }
  return "";
}

std::vector<std::string> sharing(const Run& run) {
  const std::vector<NamedTensor> arguments = run.argument_tensors(), results = run.result_tensors();
  std::vector<std::string> facts;
  for (size_t i = 0; i < results.size(); ++i) {
    const NamedTensor& result = results[i];
    for (const NamedTensor& argument : arguments) {
      if (result.tensor.is_same(argument.tensor))
        facts.push_back(str_cat(result.name, " is ", argument.name, " itself"));
      else if (result.tensor.is_alias_of(argument.tensor))
        facts.push_back(str_cat(result.name, " shares the storage of ", argument.name));
    }
    for (size_t k = 0; k < i; ++k) {
      if (result.tensor.is_same(results[k].tensor))
        facts.push_back(str_cat(result.name, " is ", results[k].name, " itself"));
      else if (result.tensor.is_alias_of(results[k].tensor))
        facts.push_back(str_cat(result.name, " shares the storage of ", results[k].name));
    }
  }
  return facts;
}

// The first of `a` that is not in `b`, or "".
std::string first_missing(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (const std::string& fact : a)
    if (std::find(b.begin(), b.end(), fact) == b.end()) return fact;
  return "";
}

std::vector<NamedTensor> only_written(std::vector<NamedTensor> tensors) {
  std::erase_if(tensors, [](const NamedTensor& t) { return !t.is_written; });
  return tensors;
}

}  // namespace

std::string list_text(IntArrayRef list) { return str_cat("[", absl::StrJoin(list, ", "), "]"); }

Closeness closeness(const OpCheckOptions& options, DType dtype) {
  Closeness close = [&]() -> Closeness {
    switch (to_real(dtype)) {
      case DType::Float16:
        return {1e-3, 1e-5};
      case DType::BFloat16:
        return {1.6e-2, 1e-5};
      case DType::Float32:
        return {1.3e-6, 1e-5};
      case DType::Float64:
        return {1e-7, 1e-7};
      default:
        return {0, 0};
    }
  }();
  close.rtol = options.rtol.value_or(close.rtol);
  close.atol = options.atol.value_or(close.atol);
  return close;
}

std::string differing_shape(const Tensor& expected, const Tensor& got) {
  if (expected.dtype() != got.dtype())
    return str_cat("dtype ", to_string(got.dtype()), ", not ", to_string(expected.dtype()));
  if (expected.sizes() != got.sizes())
    return str_cat("sizes ", list_text(got.sizes()), ", not ", list_text(expected.sizes()));
  return "";
}

std::string differing_element(const Tensor& expected, const Tensor& got, Closeness close) {
  if (is_quantized(expected.dtype())) return "";
  if (is_integral(expected.dtype(), true))
    return differing_element_as<int64_t>(expected, got, close);
  return differing_element_as<std::complex<double>>(expected, got, close);
}

std::string differing_tensors(const std::vector<NamedTensor>& expected,
                              const std::vector<NamedTensor>& got, const OpCheckOptions& options,
                              bool exact) {
  if (expected.size() != got.size()) return str_cat(got.size(), " tensors, not ", expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor &a = expected[i].tensor, &b = got[i].tensor;
    if (const std::string text = differing_shape(a, b); !text.empty())
      return str_cat(expected[i].name, " has ", text);
    const Closeness close = exact ? Closeness{0, 0} : closeness(options, a.dtype());
    if (const std::string text = differing_element(a, b, close); !text.empty())
      return str_cat(expected[i].name, ", ", text);
  }
  return "";
}

std::string differing_results(const Run& expected, const Run& got, const OpCheckOptions& options,
                              bool exact) {
  if (expected.results.size() != got.results.size())
    return str_cat(got.results.size(), " results, not ", expected.results.size());
  for (size_t i = 0; i < expected.results.size(); ++i) {
    const IValue &a = expected.results[i], &b = got.results[i];
    bool has_tensors = false;
    a.for_each_tensor([&](const Tensor&) { has_tensors = true; });
    b.for_each_tensor([&](const Tensor&) { has_tensors = true; });
    if (!has_tensors && a.to_string() != b.to_string())
      return str_cat("result ", i, " is ", b.to_string(), ", not ", a.to_string());
  }
  return differing_tensors(expected.result_tensors(), got.result_tensors(), options, exact);
}

std::string differing_arguments(const Run& expected, const Run& got, const OpCheckOptions& options,
                                bool exact) {
  return differing_tensors(only_written(expected.argument_tensors()),
                           only_written(got.argument_tensors()), options, exact);
}

std::string differing_sharing(const Run& expected, const Run& got, const Ways& ways) {
  const std::vector<std::string> a = sharing(expected), b = sharing(got);
  if (const std::string fact = first_missing(a, b); !fact.empty())
    return str_cat(fact, " in the ", ways.expected, " run, and not in the ", ways.got, " one");
  if (const std::string fact = first_missing(b, a); !fact.empty())
    return str_cat(fact, " in the ", ways.got, " run, and not in the ", ways.expected, " one");
  return "";
}

}  // namespace sb::internal
