// Plans of arguments as text: a line for people, and a test for the compiler.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/argument_plan.h"
#include "switchboard/dispatch/inspect/call_text.h"

namespace sb::internal {
namespace {

template <class List>
std::string joined(const List& list) {
  return absl::StrJoin(list, ", ");
}

// Of a number, so that it reads back as it is.
std::string number_text(double x) {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return x < 0 ? "-INFINITY" : "INFINITY";
  char text[40];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, x);
    if (std::strtod(text, nullptr) == x) break;
  }
  return text;
}
std::string number_text(std::complex<double> z) {
  if (z.imag() == 0) return number_text(z.real());
  return str_cat("std::complex<double>(", number_text(z.real()), ", ", number_text(z.imag()), ")");
}
// A double, where an int would be another value.
std::string double_text(double x) {
  const std::string text = number_text(x);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

// The name of the enumerator, which the name of the dtype is but for capitals.
std::string dtype_text(DType dtype) {
  static constexpr std::array<std::string_view, kNumDTypes> names = {
#define SB_DTYPE(name, text, bytes) #name,
      SB_FORALL_DTYPES(SB_DTYPE)
#undef SB_DTYPE
  };
  return str_cat("DType::", names[static_cast<size_t>(dtype)]);
}

std::string memory_format_text(MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return "MemoryFormat::Contiguous";
    case MemoryFormat::Preserve:
      return "MemoryFormat::Preserve";
    case MemoryFormat::ChannelsLast:
      return "MemoryFormat::ChannelsLast";
    default:
      return "MemoryFormat::ChannelsLast3d";
  }
}

}  // namespace

std::string string_code(std::string_view text) {
  return str_cat("\"", absl::StrReplaceAll(std::string(text), {{"\\", "\\\\"}, {"\"", "\\\""}}),
                 "\"");
}

std::string code_of(const IValue& value) {
  using Tag = IValue::Tag;
  switch (value.tag()) {
    case Tag::Int:
      return str_cat(value.to_int());
    case Tag::Double:
      return double_text(value.to_double());
    case Tag::Bool:
      return value.to_bool() ? "true" : "false";
    case Tag::Complex:
      return number_text(value.to_complex() + std::complex<double>(0, 0)).find("std::") == 0
                 ? number_text(value.to_complex())
                 : str_cat("std::complex<double>(", number_text(value.to_complex().real()), ", 0)");
    case Tag::String:
      return string_code(value.to_string_view());
    case Tag::DType:
      return dtype_text(value.to_dtype());
    case Tag::Device:
      return str_cat("Device(", string_code(sb::to_string(value.to_device())), ")");
    case Tag::Layout:
      return "Layout::Strided";
    case Tag::MemoryFormat:
      return memory_format_text(value.to_memory_format());
    case Tag::IntList:
      return str_cat("std::vector<int64_t>{", joined(value.to_int_list()), "}");
    case Tag::DoubleList: {
      std::vector<std::string> parts;
      for (double x : value.to_double_list()) parts.push_back(number_text(x));
      return str_cat("std::vector<double>{", joined(parts), "}");
    }
    case Tag::BoolList: {
      std::vector<std::string> parts;
      for (bool b : value.to_bool_list()) parts.push_back(b ? "true" : "false");
      return str_cat("std::vector<bool>{", joined(parts), "}");
    }
    case Tag::List: {
      std::vector<std::string> parts;
      for (const IValue& v : value.to_list()) parts.push_back(code_of(v));
      return str_cat("std::vector<IValue>{", joined(parts), "}");
    }
    default:
      return "IValue()";
  }
}

namespace {

bool is_default(const Argument& argument, const ValuePlan& value) {
  return argument.default_value && value.kind == ValuePlan::Kind::Plain &&
         (is_same_constant(*argument.default_value, value.plain) ||
          (argument.default_value->is_None() && value.plain.is_None()));
}

// The variables of a test.
class TestWriter {
 public:
  TestWriter(const FunctionSchema& schema, const ArgumentPlan& plan)
      : schema_(schema), plan_(plan) {
    for (size_t i = 0; i < plan.values.size(); ++i) {
      const ValuePlan& value = plan.values[i];
      for (size_t k = 0; k < value.tensors.size(); ++k) {
        if (!value.tensors[k]) continue;
        std::string name = identifier(schema.arguments[i].name);
        if (value.kind != ValuePlan::Kind::Tensor) name += str_cat("_", k);
        names_.try_emplace(*value.tensors[k], std::move(name));
      }
    }
  }

  std::string lines() const { return declarations() + call_line(); }
  std::string declarations() const {
    std::string text;
    for (size_t m = 0; m < plan_.memories.size(); ++m)
      if (!is_whole(m)) text += declaration(str_cat("memory", m), whole_text(m, {}));
    for (size_t t = 0; t < plan_.tensors.size(); ++t) text += tensor_line(t);
    return text;
  }

  std::string value_code(const ValuePlan& value) const {
    if (value.kind == ValuePlan::Kind::Plain) return code_of(value.plain);
    std::vector<std::string> parts;
    for (const std::optional<size_t>& t : value.tensors)
      parts.push_back(t                                                ? names_.at(*t)
                      : value.kind == ValuePlan::Kind::OptionalTensors ? "std::nullopt"
                                                                       : "Tensor()");
    if (value.kind == ValuePlan::Kind::Tensor) return parts[0];
    const bool optional = value.kind == ValuePlan::Kind::OptionalTensors;
    return str_cat("std::vector<", optional ? "std::optional<Tensor>" : "Tensor", ">{",
                   joined(parts), "}");
  }

 private:
  // Names that C++ does not take, or that the test uses.
  static std::string identifier(const std::string& name) {
    static const std::vector<std::string> taken = {
        "auto",  "bool",   "char",     "const", "default", "do",      "double",   "else",  "float",
        "for",   "if",     "int",      "long",  "new",     "opcheck", "or",       "and",   "not",
        "short", "signed", "register", "this",  "sb",      "switch",  "template", "using", "while"};
    return std::find(taken.begin(), taken.end(), name) == taken.end() ? name : name + "_";
  }
  static std::string declaration(const std::string& name, const std::string& value) {
    return str_cat("  const Tensor ", name, " = ", value, ";\n");
  }

  // Whether one tensor that lies as a new one does is all that there is of the memory.
  bool is_whole(size_t memory) const {
    size_t users = 0;
    bool whole = true;
    for (const TensorPlan& t : plan_.tensors) {
      if (t.memory != memory) continue;
      ++users;
      whole = whole && t.lies_as_new() && t.offset == 0 &&
              t.numel() == static_cast<int64_t>(plan_.memories[memory].elements.size());
    }
    return users == 1 && whole;
  }
  // Without sizes, of one dimension.
  std::string whole_text(size_t memory, const std::optional<std::vector<int64_t>>& sizes) const {
    const MemoryPlan& m = plan_.memories[memory];
    std::vector<std::string> elements;
    for (const std::complex<double>& z : m.elements) elements.push_back(number_text(z));
    return str_cat("tensor_with({", sizes ? joined(*sizes) : str_cat(m.elements.size()), "}, ",
                   dtype_text(m.dtype), ", {", joined(elements), "}",
                   m.device.is_cpu() ? "" : str_cat(", Device(\"", to_string(m.device), "\")"),
                   ")");
  }
  std::string tensor_line(size_t i) const {
    const TensorPlan& t = plan_.tensors[i];
    std::string value =
        is_whole(t.memory)
            ? whole_text(t.memory, t.sizes)
            : str_cat("view_of(memory", t.memory, ", {", joined(t.sizes), "}, {", joined(t.strides),
                      "}", t.offset ? str_cat(", ", t.offset) : "", ")");
    if (t.requires_grad) value = str_cat("requiring_grad(", value, ")");
    return declaration(names_.at(i), value);
  }

  std::string call_line() const {
    size_t count = 0;
    while (count < plan_.values.size() && !schema_.arguments[count].kwarg_only) ++count;
    const size_t positional_end = count;
    while (count > 0 && is_default(schema_.arguments[count - 1], plan_.values[count - 1])) --count;
    std::vector<std::string> positional, keyword;
    for (size_t i = 0; i < count; ++i) positional.push_back(value_code(plan_.values[i]));
    for (size_t i = positional_end; i < plan_.values.size(); ++i) {
      if (is_default(schema_.arguments[i], plan_.values[i])) continue;
      keyword.push_back(
          str_cat("{\"", schema_.arguments[i].name, "\", ", value_code(plan_.values[i]), "}"));
    }
    return str_cat("  opcheck(\"", schema_.name.to_string(), "\", {", joined(positional), "}",
                   keyword.empty() ? "" : str_cat(", {", joined(keyword), "}"), ");\n");
  }

  const FunctionSchema& schema_;
  const ArgumentPlan& plan_;
  std::map<size_t, std::string> names_;  // of tensors
};

// A comment in a function, in lines that are not too long.
std::string comment(const std::string& message) {
  constexpr size_t kWidth = 95;
  std::string text, line;
  const auto end_line = [&] {
    if (!line.empty()) text += str_cat("  //", line, "\n");
    line.clear();
  };
  for (const absl::string_view word : absl::StrSplit(message, absl::ByAnyChar(" \n"))) {
    if (line.size() + 1 + word.size() > kWidth) end_line();
    line += str_cat(" ", std::string(word));
  }
  end_line();
  return text;
}

}  // namespace

PlanCode code_of(const FunctionSchema& schema, const ArgumentPlan& plan) {
  const TestWriter writer(schema, plan);
  PlanCode code;
  code.declarations = writer.declarations();
  for (const ValuePlan& value : plan.values) code.values.push_back(writer.value_code(value));
  return code;
}

std::string call_text(const FunctionSchema& schema, const ArgumentPlan& plan) {
  const auto tensor = [&](const std::optional<size_t>& i) -> std::string {
    if (!i) return "None";
    const TensorPlan& t = plan.tensors[*i];
    const MemoryPlan& m = plan.memory_of(t);
    std::string text = type_text(m.dtype, t.sizes, m.device);
    if (!t.is_contiguous()) text += str_cat(" strides [", joined(t.strides), "]");
    if (t.offset != 0) text += str_cat(" offset ", t.offset);
    if (plan.shares_memory(*i)) text += str_cat(" on memory ", t.memory);
    if (t.requires_grad) text += " requiring a gradient";
    return text;
  };
  const auto value = [&](size_t i) -> std::string {
    const ValuePlan& v = plan.values[i];
    if (v.kind == ValuePlan::Kind::Plain) return v.plain.to_string();
    if (v.kind == ValuePlan::Kind::Tensor) return tensor(v.tensors[0]);
    std::vector<std::string> parts;
    for (const auto& t : v.tensors) parts.push_back(tensor(t));
    return str_cat("[", joined(parts), "]");
  };
  return str_cat(
      schema.name.to_string(), "(",
      arguments_text(
          schema, [&](size_t i) { return is_default(schema.arguments[i], plan.values[i]); }, value),
      ")");
}

std::string test_text(const FunctionSchema& schema, const ArgumentPlan& plan,
                      const std::string& check, const std::string& message) {
  return str_cat(
      "#include \"catch2/catch.hpp\"\n"
      "#include \"switchboard/custom_ops/opcheck/opcheck.h\"\n"
      "#include \"switchboard/custom_ops/opcheck/test_arguments.h\"\n"
      "\n"
      "TEST_CASE(",
      string_code(str_cat(schema.name.to_string(), " passes opcheck: ", check)),
      ") {\n"
      "  using namespace sb;\n",
      comment(message), TestWriter(schema, plan).lines(), "}\n");
}

}  // namespace sb::internal
