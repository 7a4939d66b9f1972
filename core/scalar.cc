#include "switchboard/core/scalar.h"

#include <charconv>
#include <cmath>

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

// A double as Python's repr writes it: the shortest digits that read back as the same value, and an
// exponent outside of [1e-4, 1e16). `point` says whether whole numbers end in ".0".
std::string python_repr(double v, bool point) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[64];
  const double magnitude = std::fabs(v);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), v,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  SB_ASSERT(error == std::errc());
  std::string text(buffer, end);
  if (!scientific && point && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace

DType Scalar::dtype() const {
  switch (kind_) {
    case DType::Float64:
      return default_dtype();
    case DType::Complex128:
      return to_complex(default_dtype());
    default:
      return kind_;
  }
}

Scalar Scalar::operator-() const {
  switch (kind_) {
    case DType::Float64:
      return Scalar(-value_.d);
    case DType::Complex128:
      return Scalar(std::complex<double>(-value_.z[0], -value_.z[1]));
    case DType::Int64:
      // Wraps around, as tensors of int64 do.
      return Scalar(static_cast<int64_t>(-static_cast<uint64_t>(value_.i)));
    default:
      SB_THROW(RuntimeError, "operator -: expected a number, got bool ", to_string());
  }
}

bool Scalar::operator==(const Scalar& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case DType::Float64:
      return value_.d == other.value_.d;
    case DType::Complex128:
      return value_.z[0] == other.value_.z[0] && value_.z[1] == other.value_.z[1];
    default:
      return value_.i == other.value_.i;
  }
}

std::string Scalar::to_string() const {
  switch (kind_) {
    case DType::Bool:
      return value_.i ? "True" : "False";
    case DType::Float64:
      return python_repr(value_.d, true);
    case DType::Complex128: {
      const std::string imaginary = python_repr(value_.z[1], false) + "j";
      if (value_.z[0] == 0 && !std::signbit(value_.z[0])) return imaginary;
      const bool signed_text = imaginary[0] == '-';
      return str_cat("(", python_repr(value_.z[0], false), signed_text ? "" : "+", imaginary, ")");
    }
    default:
      return str_cat(value_.i);
  }
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  return out << scalar.to_string();
}

}  // namespace sb
