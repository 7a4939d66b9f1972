#include "switchboard/io/recording/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

std::string number_text(double v) {
  std::string text = absl::StrFormat("%.17g", v);
  const std::string shorter = absl::StrFormat("%.9g", v);
  return std::strtod(shorter.c_str(), nullptr) == v ? shorter : text;
}
}  // namespace

NumberType number_type(DType dtype, std::string_view bytes) {
  const auto finite = [&](auto zero) {
    for (size_t i = 0; i + sizeof(zero) <= bytes.size(); i += sizeof(zero)) {
      auto v = zero;
      std::memcpy(&v, bytes.data() + i, sizeof(v));
      if (!std::isfinite(v)) return false;
    }
    return true;
  };
  if ((dtype == DType::Float32 || dtype == DType::Complex64) && finite(0.0f))
    return {"float", 4, true};
  if ((dtype == DType::Float64 || dtype == DType::Complex128) && finite(0.0))
    return {"double", 8, true};
  const size_t size = std::min<size_t>(8, itemsize(dtype));
  // What is no number keeps its bits.
  return {str_cat(is_floating_point(dtype) || is_complex(dtype) ? "u" : "", "int",
                  std::to_string(8 * size), "_t"),
          size, false};
}

std::string numbers_text(const NumberType& type, std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i + type.bytes <= bytes.size(); i += type.bytes) {
    if (!text.empty()) text += ", ";
    if (type.real) {
      float f;
      double d;
      std::memcpy(&f, bytes.data() + i, sizeof(f));
      if (type.bytes == 8) std::memcpy(&d, bytes.data() + i, sizeof(d));
      text += number_text(type.bytes == 4 ? f : d);
      continue;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, type.bytes);
    if (type.cpp[0] == 'u') {
      text += absl::StrFormat("0x%x", bits);
    } else {
      const int shift = static_cast<int>(64 - 8 * type.bytes);
      const int64_t v = static_cast<int64_t>(bits << shift) >> shift;
      text += v == INT64_MIN ? "INT64_MIN" : str_cat(v);
    }
  }
  return text;
}

std::string real_text(double v, const char* infinity, const char* nan) {
  if (std::isnan(v)) return nan;
  if (std::isinf(v)) return str_cat(v < 0 ? "-" : "", infinity);
  const std::string text = number_text(v);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string string_literal(std::string_view text) {
  return "\"" + absl::CEscape(to_absl(text)) + "\"";
}

}  // namespace sb::io
