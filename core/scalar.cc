#include "switchboard/core/scalar.h"

#include <charconv>
#include <cmath>

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

// A double as Python's repr writes it: the shortest digits that read back as the same value, and an
// exponent outside of [1e-4, 1e16). `point` says whether whole numbers end in ".0".
[[gnu::cold]] std::string python_repr(double v, bool point) {
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

Scalar::Scalar(const SymInt& v) : Scalar() {
  if (v.is_symbolic()) {
    set_symbol(DType::Int64, v.node());
  } else {
    value_.i = v.expect_int();
  }
}
Scalar::Scalar(const SymFloat& v) : Scalar(0.0) {
  if (v.is_symbolic()) {
    set_symbol(DType::Float64, v.node());
  } else {
    value_.d = v.expect_float();
  }
}
Scalar::Scalar(const SymBool& v) : Scalar(false) {
  if (v.is_symbolic()) {
    set_symbol(DType::Bool, v.node());
  } else {
    value_.i = v.expect_bool();
  }
}

void Scalar::set_symbol(DType kind, const SymNode* node) {
  node->retain();
  tag_ = tag_of(kind) | kSymbolic;
  value_.node = node;
}

SymValue Scalar::sym_value() const {
  if (is_symbolic()) return SymValue(IntrusivePtr<const SymNode>::share(value_.node));
  switch (kind()) {
    case DType::Bool:
      return SymValue::of_bool(value_.i != 0);
    case DType::Int64:
      return SymValue::of_int(value_.i);
    case DType::Float64:
      return SymValue::of_float(value_.d);
    default:
      SB_THROW(TypeError, "expected a real number, got ", to_string());
  }
}

SymInt Scalar::to_sym_int() const {
  if (!is_symbolic()) return plain_to<int64_t>();
  switch (kind()) {
    case DType::Bool:
      return sym_int(SymBool(sym_value()));
    case DType::Float64:
      return sym_trunc(SymFloat(sym_value()));
    default:
      return SymInt(sym_value());
  }
}

SymFloat Scalar::to_sym_float() const {
  if (!is_symbolic()) return plain_to<double>();
  return is_floating_point() ? SymFloat(sym_value()) : sym_float(to_sym_int());
}

Scalar Scalar::settled(SourceLocation where) const {
  if (!is_symbolic()) return *this;
  switch (kind()) {
    case DType::Bool:
      return value_.node->guard_bool(where);
    case DType::Float64:
      return value_.node->guard_float(where);
    default:
      return value_.node->guard_int(where);
  }
}

DType Scalar::dtype() const {
  switch (kind()) {
    case DType::Float64:
      return default_dtype();
    case DType::Complex128:
      return to_complex(default_dtype());
    default:
      return kind();
  }
}

void Scalar::throw_overflow(double value, double max) {
  SB_THROW(RuntimeError, "value cannot be converted without overflow: ", Scalar(value).to_string(),
           " is beyond ", Scalar(max).to_string(), ", the largest number of the type");
}

Scalar Scalar::operator-() const {
  if (is_symbolic() && !is_bool())
    return is_int() ? Scalar(-SymInt(sym_value())) : Scalar(-SymFloat(sym_value()));
  switch (kind()) {
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
  if (tag_ != other.tag_) return false;
  if (is_symbolic()) return value_.node->is_same(*other.value_.node);
  switch (kind()) {
    case DType::Float64:
      return value_.d == other.value_.d;
    case DType::Complex128:
      return value_.z[0] == other.value_.z[0] && value_.z[1] == other.value_.z[1];
    default:
      return value_.i == other.value_.i;
  }
}

[[gnu::cold]] std::string Scalar::to_string() const {
  if (is_symbolic()) return value_.node->to_string();
  switch (kind()) {
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
