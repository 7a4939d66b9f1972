#include "switchboard/dispatch/schema/function_schema.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/scalar_type_number.h"

namespace sb {
namespace {

void append_names(std::string& out, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += '|';
    out += names[i];
  }
}

// In double quotes, with the escapes that PyTorch writes.
[[gnu::cold]] void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kEscaped = "\\'\"\a\b\f\n\r\t\v";
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    if (const size_t i = kEscaped.find(c); i != std::string_view::npos) {
      out += '\\';
      out += kLetters[i];
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += '\\';
      for (int shift = 6; shift >= 0; shift -= 3)
        out += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  out += '"';
}

// "1." and "0.10000000000000001", which read back as the same value.
[[gnu::cold]] void append_double(std::string& out, double v) {
  char buffer[32];
  const bool whole = std::fabs(v) < 1e10 && v == std::trunc(v);
  std::snprintf(buffer, sizeof(buffer), whole ? "%.0f." : "%.17g", v);
  out += buffer;
}

[[gnu::cold]] void append_complex(std::string& out, std::complex<double> v) {
  if (v.real() != 0 || std::signbit(v.real())) {
    append_double(out, v.real());
    if (!std::signbit(v.imag())) out += '+';
  }
  append_double(out, v.imag());
  out += 'j';
}

[[gnu::cold]] void append_value(std::string& out, const IValue& v);

template <class List, class F>
void append_list(std::string& out, const List& list, F&& append) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ", ";
    first = false;
    append(element);
  }
  out += ']';
}

// A default value. PyTorch holds dtypes, layouts and memory formats as numbers and prints those.
void append_value(std::string& out, const IValue& v) {
  switch (v.tag()) {
    case IValue::Tag::Double:
      append_double(out, v.to_double());
      break;
    case IValue::Tag::Complex:
      append_complex(out, v.to_complex());
      break;
    case IValue::Tag::String:
      append_quoted(out, v.to_string_view());
      break;
    case IValue::Tag::Device:
      append_quoted(out, to_string(v.to_device()));
      break;
    case IValue::Tag::DType:
      out += str_cat(internal::scalar_type_number(v.to_dtype()));
      break;
    case IValue::Tag::Layout:
      out += str_cat(static_cast<int>(v.to_layout()));
      break;
    case IValue::Tag::MemoryFormat:
      out += str_cat(static_cast<int>(v.to_memory_format()));
      break;
    case IValue::Tag::DoubleList:
      append_list(out, v.to_double_list(), [&out](double d) { append_double(out, d); });
      break;
    case IValue::Tag::List:
      append_list(out, v.to_list(), [&out](const IValue& element) { append_value(out, element); });
      break;
    default:
      out += v.to_string();
  }
}

[[gnu::cold]] void append_default(std::string& out, const Type& type, const IValue& v) {
  // `int[2] stride=1`, as native_functions.yaml writes it, where that reads back as [1, 1].
  if (type.base == BaseType::Int && v.is_IntList() && type.modifiers[0].length) {
    const IntArrayRef ints = v.to_int_list();
    if (ints.size() > 1 && ints.size() == static_cast<size_t>(*type.modifiers[0].length) &&
        std::all_of(ints.begin(), ints.end(), [&](int64_t i) { return i == ints[0]; })) {
      out += str_cat(ints[0]);
      return;
    }
  }
  append_value(out, v);
}

// The type with its alias annotation in the place that it was read from.
[[gnu::cold]] void append_type(std::string& out, const Type& type,
                               const std::optional<AliasInfo>& alias) {
  if (!alias) {
    out += type.to_string();
    return;
  }
  Type bare;
  bare.base = type.base;
  bare.class_name = type.class_name;
  out += bare.to_string();
  for (size_t i = 0; i <= type.modifiers.size(); ++i) {
    if (i == alias->position) {
      if (alias->before.size() == 1 && alias->before[0].front() == '$')
        out += '!';
      else
        out += str_cat("(", alias->to_string(), ")");
    }
    if (i < type.modifiers.size()) out += type.modifiers[i].to_string();
  }
}

}  // namespace

[[gnu::cold]] std::string AliasInfo::to_string() const {
  std::string out;
  append_names(out, before);
  if (is_write) out += '!';
  if (before != after) {
    out += " -> ";
    append_names(out, after);
  }
  return out;
}

[[gnu::cold]] std::string Argument::to_string() const {
  std::string out;
  append_type(out, type, alias);
  out += ' ';
  out += name;
  if (default_value) {
    out += '=';
    append_default(out, type, *default_value);
  }
  return out;
}

[[gnu::cold]] std::string Return::to_string() const {
  std::string out;
  append_type(out, type, alias);
  if (!name.empty()) {
    out += ' ';
    out += name;
  }
  return out;
}

std::optional<size_t> FunctionSchema::find_argument(std::string_view name) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return i;
  return std::nullopt;
}

bool FunctionSchema::is_mutable() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& a) { return a.is_write(); });
}

bool FunctionSchema::is_view() const {
  return !is_mutable() && std::any_of(arguments.begin(), arguments.end(),
                                      [](const Argument& a) { return a.alias.has_value(); });
}

[[gnu::cold]] std::string FunctionSchema::to_string() const {
  std::string out = name.to_string();
  out += '(';
  bool seen_kwarg_only = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += ", ";
    if (arguments[i].kwarg_only && !seen_kwarg_only) {
      out += "*, ";
      seen_kwarg_only = true;
    }
    out += arguments[i].to_string();
  }
  out += ") -> ";
  if (returns.size() == 1) return out + returns[0].to_string();
  out += '(';
  for (size_t i = 0; i < returns.size(); ++i) {
    if (i > 0) out += ", ";
    out += returns[i].to_string();
  }
  out += ')';
  return out;
}

std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) {
  return out << schema.to_string();
}

}  // namespace sb
