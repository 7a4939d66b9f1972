// The defaults of a schema literal as C++ values, at compile time.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_DEFAULT_ARGUMENTS_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_DEFAULT_ARGUMENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/schema_literal.h"

namespace sb::internal {

// The text of a default, as a type, so that it can be read at compile time.
template <class Tag, size_t I>
struct DefaultText {
  static constexpr const SchemaLiteral::Value& argument = schema_literal<Tag>.arguments[I];
  static constexpr std::string_view text = argument.default_text;
  static constexpr size_t list_length = argument.list_length;
};

consteval int64_t parse_default_int(std::string_view text) {
  bool negative = false;
  if (!text.empty() && text[0] == '-') {
    negative = true;
    text.remove_prefix(1);
  }
  if (text.empty()) throw "a default is not an integer";
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') throw "a default is not an integer";
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

consteval bool parse_default_bool(std::string_view text) {
  if (text == "True") return true;
  if (text == "False") return false;
  throw "a default is not True or False";
}

// Decimal floats with an optional exponent; exact for the few digits that schemas have.
consteval double parse_default_double(std::string_view text) {
  double sign = 1, value = 0;
  int scale = 0, exponent = 0, exponent_sign = 1;
  bool fraction = false, in_exponent = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '-' && i == 0)
      sign = -1;
    else if (c == '-' && in_exponent)
      exponent_sign = -1;
    else if (c == '+' && in_exponent)
      continue;
    else if (c == '.')
      fraction = true;
    else if (c == 'e' || c == 'E')
      in_exponent = true;
    else if (c < '0' || c > '9')
      throw "a default is not a number";
    else if (in_exponent)
      exponent = exponent * 10 + (c - '0');
    else {
      value = value * 10 + (c - '0');
      if (fraction) --scale;
    }
  }
  int power = scale + exponent_sign * exponent;
  double factor = 1;
  for (int i = 0; i < (power < 0 ? -power : power); ++i) factor *= 10;
  return sign * (power < 0 ? value / factor : value * factor);
}

consteval size_t default_list_length(std::string_view text, size_t sized) {
  if (text[0] != '[') return sized;
  size_t n = 0;
  bool any = false;
  for (char c : text) {
    if (c == ',') ++n;
    if (c != '[' && c != ']' && c != ' ') any = true;
  }
  return any ? n + 1 : 0;
}

// `[0, 1]`, or one integer for every element of a sized list.
template <size_t N>
consteval std::array<int64_t, N> parse_default_ints(std::string_view text) {
  std::array<int64_t, N> values{};
  if (text[0] != '[') {
    for (int64_t& v : values) v = parse_default_int(text);
    return values;
  }
  size_t begin = 1;
  for (int64_t& v : values) {
    while (text[begin] == ' ') ++begin;
    size_t end = begin;
    while (text[end] != ',' && text[end] != ']') ++end;
    v = parse_default_int(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

template <class Text>
inline constexpr auto default_ints =
    parse_default_ints<default_list_length(Text::text, Text::list_length)>(Text::text);

// The default written in `Text` as a T.
template <class T>
struct DefaultValue;
template <>
struct DefaultValue<int64_t> {
  template <class Text>
  static int64_t get() {
    constexpr int64_t value = parse_default_int(Text::text);
    return value;
  }
};
template <>
struct DefaultValue<SymInt> {
  template <class Text>
  static SymInt get() {
    return DefaultValue<int64_t>::get<Text>();
  }
};
template <>
struct DefaultValue<double> {
  template <class Text>
  static double get() {
    constexpr double value = parse_default_double(Text::text);
    return value;
  }
};
template <>
struct DefaultValue<bool> {
  template <class Text>
  static bool get() {
    constexpr bool value = parse_default_bool(Text::text);
    return value;
  }
};
template <class Text>
consteval auto parse_default_number() {
  if constexpr (Text::text == "True" || Text::text == "False") {
    return parse_default_bool(Text::text);
  } else if constexpr (Text::text.find_first_of(".e") != std::string_view::npos) {
    return parse_default_double(Text::text);
  } else {
    return parse_default_int(Text::text);
  }
}
template <class Text>
inline constexpr Scalar default_scalar = parse_default_number<Text>();
// By reference: a call that leaves the argument out makes none, and destroys none.
template <>
struct DefaultValue<Scalar> {
  template <class Text>
  static const Scalar& get() {
    return default_scalar<Text>;
  }
};
template <>
struct DefaultValue<std::string_view> {
  template <class Text>
  static std::string_view get() {
    return Text::text.substr(1, Text::text.size() - 2);
  }
};
template <>
struct DefaultValue<MemoryFormat> {
  template <class Text>
  static MemoryFormat get() {
    static_assert(Text::text == "contiguous_format" || Text::text == "preserve_format");
    return Text::text == "contiguous_format" ? MemoryFormat::Contiguous : MemoryFormat::Preserve;
  }
};
template <>
struct DefaultValue<DType> {
  template <class Text>
  static DType get() {
    // Schemas that PyTorch prints have the number of int64, "4".
    constexpr bool is_long = Text::text == "long" || Text::text == "4";
    static_assert(is_long || Text::text == "float");
    return is_long ? DType::Int64 : DType::Float32;
  }
};
template <>
struct DefaultValue<IntArrayRef> {
  template <class Text>
  static IntArrayRef get() {
    return IntArrayRef(default_ints<Text>.data(), default_ints<Text>.size());
  }
};
template <>
struct DefaultValue<SymIntArrayRef> {
  template <class Text>
  static SymIntArrayRef get() {
    return DefaultValue<IntArrayRef>::get<Text>();
  }
};
template <class T>
struct DefaultValue<std::optional<T>> {
  template <class Text>
  static std::optional<T> get() {
    if constexpr (Text::text == "None")
      return std::nullopt;
    else
      return DefaultValue<T>::template get<Text>();
  }
};
template <class Span>
struct DefaultValue<OptionalSpan<Span>> {
  template <class Text>
  static OptionalSpan<Span> get() {
    if constexpr (Text::text == "None")
      return {};
    else
      return DefaultValue<Span>::template get<Text>();
  }
};
// Lists of tensors and scalars can only be empty by default.
template <class T>
struct DefaultValue<absl::Span<T>> {
  template <class Text>
  static absl::Span<T> get() {
    static_assert(Text::text == "[]");
    return {};
  }
};

template <class T, class Text>
decltype(auto) default_argument(Text) {
  return DefaultValue<T>::template get<Text>();
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_DEFAULT_ARGUMENTS_H_
