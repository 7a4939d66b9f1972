#include "switchboard/core/print/number_format.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sb {
namespace {

std::string pad_left(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

}  // namespace

FloatFormat::FloatFormat(absl::Span<const double> values) {
  // Zeros, infinities and NaNs fit any format and do not choose one.
  double smallest = INFINITY;
  double largest = 0;
  for (double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    smallest = std::min(smallest, std::fabs(v));
    largest = std::max(largest, std::fabs(v));
    whole_ &= v == std::ceil(v);
  }
  if (largest == 0) return;
  scientific_ = largest / smallest > 1000.0 || largest > 1.0e8 || (!whole_ && smallest < 1.0e-4);
  for (double v : values) {
    if (std::isfinite(v) && v != 0) width_ = std::max(width_, unpadded(v).size());
  }
}

std::string FloatFormat::unpadded(double value) const {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (scientific_) return absl::StrFormat("%.4e", value);
  if (whole_) return absl::StrFormat("%.0f.", value);
  return absl::StrFormat("%.4f", value);
}

std::string FloatFormat::operator()(double value) const {
  return pad_left(unpadded(value), width_);
}

IntFormat::IntFormat(absl::Span<const int64_t> values, bool is_bool) : is_bool_(is_bool) {
  for (int64_t v : values) width_ = std::max(width_, unpadded(v).size());
}

std::string IntFormat::unpadded(int64_t value) const {
  if (is_bool_) return value ? "True" : "False";
  return absl::StrCat(value);
}

std::string IntFormat::operator()(int64_t value) const { return pad_left(unpadded(value), width_); }

}  // namespace sb
