#include "switchboard/tools/comparison.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/error.h"
#include "switchboard/tools/strided_elements.h"

namespace sb::tools {
namespace {

std::string list_text(IntArrayRef values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

// "[4, 2]" for the n-th element.
std::string index_text(int64_t n, IntArrayRef sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = n % sizes[d];
    n /= sizes[d];
  }
  return list_text(index);
}

template <class T>
std::string number_text(T value) {
  if constexpr (std::is_integral_v<T>)
    return absl::StrCat(static_cast<int64_t>(value));
  else if constexpr (is_complex(dtype_of<T>))
    return absl::StrFormat("%.9g%+.9gj", value.real(), value.imag());
  else
    return absl::StrFormat("%.9g", static_cast<double>(value));
}

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  std::vector<T> values;
  values.reserve(static_cast<size_t>(tensor.numel()));
  for_each_element<T>(tensor, [&](const T& value) { values.push_back(value); });
  return values;
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

// The difference of two elements, and how much it may be.
template <class T>
struct Gap {
  Gap(T result, T expected, const Tolerance& tolerance) {
    if constexpr (std::is_integral_v<T>) {
      // Two int64 may be further apart than one holds.
      difference = result == expected ? 0
                                      : std::max(1.0, std::abs(static_cast<double>(result) -
                                                               static_cast<double>(expected)));
    } else if constexpr (is_complex(dtype_of<T>)) {
      difference = std::hypot(distance(result.real(), expected.real()),
                              distance(result.imag(), expected.imag()));
      allowed = tolerance.absolute + tolerance.relative * std::abs(std::complex<double>(expected));
    } else {
      difference = distance(static_cast<double>(result), static_cast<double>(expected));
      allowed = tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected));
    }
  }
  // NaN in `allowed` allows nothing but NaN, infinity nothing but itself.
  bool outside() const {
    return difference > 0 && !(difference <= allowed && std::isfinite(difference));
  }
  double excess() const { return std::isfinite(allowed) ? difference - allowed : difference; }

  double difference = 0;
  double allowed = 0;
};

std::string accuracy_text(int64_t right, size_t all) {
  return absl::StrFormat("%d/%d %.2f%%", right, all,
                         100.0 * static_cast<double>(right) / static_cast<double>(all));
}

std::string r2_text(const std::vector<double>& predicted, const std::vector<double>& labels) {
  double mean = 0, residual = 0, total = 0;
  for (const double label : labels) mean += label / static_cast<double>(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    residual += (predicted[i] - labels[i]) * (predicted[i] - labels[i]);
    total += (labels[i] - mean) * (labels[i] - mean);
  }
  return absl::StrFormat("R2 %.4f", 1 - residual / total);
}

}  // namespace

Comparison compare(const Tensor& result, const Tensor& expected, const Tolerance& tolerance) {
  SB_ASSERT(result.dtype() == expected.dtype() && result.sizes() == expected.sizes());
  Comparison comparison;
  comparison.elements = result.numel();
  visit_dtype(result.dtype(), [&]<class T>() {
    const std::vector<T> got = elements<T>(result), wanted = elements<T>(expected);
    double worst = -1;
    for (size_t i = 0; i < got.size(); ++i) {
      const Gap<T> gap(got[i], wanted[i], tolerance);
      comparison.max_difference = std::max(comparison.max_difference, gap.difference);
      if (!gap.outside()) continue;
      ++comparison.outside;
      if (gap.excess() <= worst) continue;
      worst = gap.excess();
      comparison.worst =
          absl::StrCat(index_text(static_cast<int64_t>(i), result.sizes()), ": ",
                       number_text<T>(got[i]), ", expected ", number_text<T>(wanted[i]));
    }
  });
  return comparison;
}

std::optional<std::string> metadata_fault(const Tensor& tensor, const io::TensorMeta& meta,
                                          Device device) {
  if (!tensor.defined()) return "undefined, recorded " + meta.describe();
  if (tensor.dtype() != meta.dtype || tensor.sizes() != IntArrayRef(meta.sizes))
    return absl::StrCat(tensor.describe(), ", recorded ", meta.describe());
  if (tensor.numel() > 1 && tensor.strides() != IntArrayRef(meta.strides))
    return absl::StrCat("strides ", list_text(tensor.strides()), ", recorded ",
                        list_text(meta.strides));
  const bool there = tensor.device().type == device.type &&
                     (!device.has_index() || tensor.device().index == device.index);
  if (!there) return absl::StrCat(tensor.describe(), ", should be on ", to_string(device));
  return std::nullopt;
}

std::optional<std::string> score(const Tensor& output, const std::vector<double>& labels) {
  if (labels.empty() || is_complex(output.dtype())) return std::nullopt;
  std::vector<double> values;
  visit_dtype(output.dtype(), [&]<class T>() {
    if constexpr (!is_complex(dtype_of<T>))
      for_each_element<T>(output, [&](T v) { values.push_back(static_cast<double>(v)); });
  });
  if (values.size() == labels.size()) return r2_text(values, labels);
  if (output.dim() != 2 || output.size(0) != std::ssize(labels) || output.size(1) == 0)
    return std::nullopt;
  int64_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto row = values.begin() + static_cast<int64_t>(i) * output.size(1);
    const auto best = std::max_element(row, row + output.size(1)) - row;
    right += static_cast<double>(best) == labels[i];
  }
  return accuracy_text(right, labels.size());
}

}  // namespace sb::tools
