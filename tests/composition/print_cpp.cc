#include "switchboard/tests/composition/print_cpp.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/call_text.h"

namespace sb::composition {
namespace {

class Printer {
 public:
  std::string body(const Block& block, const std::string& indent) {
    std::string text;
    const size_t first = names_.size();
    for (const Step& step : block.steps) names_.push_back(name(count_++, step));
    frames_.push_back({first, inputs_name()});
    for (size_t i = 0; i < block.steps.size(); ++i) text += line(block.steps[i], first + i, indent);
    text += str_cat(indent, "return Tensors{", absl::StrJoin(texts(block.outputs), ", "), "};\n");
    frames_.pop_back();
    names_.resize(first);
    return text;
  }
  std::string inputs_name() const { return frames_.empty() ? "in" : str_cat("in", depth_of_next_); }

 private:
  struct FrameNames {
    size_t first;
    std::string inputs;
  };

  static std::string name(size_t i, const Step&) { return str_cat("t", i); }

  std::string text(const Ref& ref) const {
    const FrameNames& frame = frames_[frames_.size() - 1 - ref.depth];
    return ref.step == Ref::kInputs
               ? str_cat(frame.inputs, "[", ref.index, "]")
               : str_cat(names_[frame.first + static_cast<size_t>(ref.step)], "[", ref.index, "]");
  }
  std::vector<std::string> texts(const std::vector<Ref>& refs) const {
    std::vector<std::string> all;
    for (const Ref& ref : refs) all.push_back(text(ref));
    return all;
  }
  std::string list(const Value& value) const {
    std::vector<std::string> all;
    for (const std::optional<Ref>& ref : value.refs)
      all.push_back(ref ? text(*ref) : "std::nullopt");
    return str_cat("{", absl::StrJoin(all, ", "), "}");
  }
  std::string code(const Value& value) const {
    switch (value.kind) {
      case Value::Kind::Plain:
        return internal::code_of(value.plain);
      case Value::Kind::Tensor:
        return value.refs[0] ? text(*value.refs[0]) : "IValue()";
      case Value::Kind::Tensors:
        return str_cat("Tensors", list(value));
      case Value::Kind::OptionalTensors:
        return str_cat("std::vector<std::optional<Tensor>>", list(value));
    }
    return "";
  }

  std::string line(const Step& step, size_t i, const std::string& indent) {
    const std::string call = step.op ? operator_call(step) : higher_order_call(step, indent);
    const bool results = !step.op || !step.op->schema().returns.empty();
    return str_cat(indent, results ? str_cat("const Tensors ", names_[i], " = ") : "", call, ";\n");
  }
  std::string operator_call(const Step& step) const {
    const FunctionSchema& schema = step.op->schema();
    const auto is_default = [&](size_t i) {
      const std::optional<IValue>& value = schema.arguments[i].default_value;
      return value && step.arguments[i].kind == Value::Kind::Plain &&
             (value->is_None() ? step.arguments[i].plain.is_None()
                               : is_same_constant(*value, step.arguments[i].plain));
    };
    size_t count = 0;
    while (count < schema.arguments.size() && !schema.arguments[count].kwarg_only) ++count;
    std::vector<std::string> positional, keyword;
    for (size_t i = count; i < schema.arguments.size(); ++i)
      if (!is_default(i))
        keyword.push_back(
            str_cat("{\"", schema.arguments[i].name, "\", ", code(step.arguments[i]), "}"));
    while (count > 0 && is_default(count - 1)) --count;
    for (size_t i = 0; i < count; ++i) positional.push_back(code(step.arguments[i]));
    return str_cat("call(\"", step.name(), "\", {", absl::StrJoin(positional, ", "), "}",
                   keyword.empty() ? "" : str_cat(", {", absl::StrJoin(keyword, ", "), "}"), ")");
  }
  std::string function(const Block& block, const std::string& indent) {
    ++depth_of_next_;
    std::string text = str_cat("[&](const Tensors& ", inputs_name(), ") {\n");
    text += body(block, indent + "  ");
    --depth_of_next_;
    return text + indent + "}";
  }
  std::string higher_order_call(const Step& step, const std::string& indent) {
    std::vector<std::string> functions;
    for (const Block& block : step.blocks) functions.push_back(function(block, indent));
    const std::string all = absl::StrJoin(functions, ", ");
    const auto arguments = [&](size_t i) { return list(step.arguments[i]); };
    switch (step.callee) {
      case Callee::Cond:
        return str_cat("cond(", text(*step.arguments[0].refs[0]), ", ", all, ", ", arguments(1),
                       ")");
      case Callee::WhileLoop:
        return str_cat("while_loop(", all, ", ", arguments(0), ")");
      default:
        return str_cat(to_string(step.callee), "(", all, ", ", arguments(0), ", ", arguments(1),
                       ")");
    }
  }

  std::vector<std::string> names_;
  std::vector<FrameNames> frames_;
  size_t count_ = 0, depth_of_next_ = 0;
};

bool has_callee(const Block& block, Callee callee) {
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const Step& step) {
    return step.callee == callee ||
           std::any_of(step.blocks.begin(), step.blocks.end(),
                       [&](const Block& inner) { return has_callee(inner, callee); });
  });
}

FunctionSchema schema_of_inputs(size_t n) {
  FunctionSchema schema;
  for (size_t i = 0; i < n; ++i) {
    schema.arguments.emplace_back();
    schema.arguments.back().name = str_cat("x", i);
  }
  return schema;
}

}  // namespace

std::string test_code(const Program& program, std::string_view layers, const std::string& title,
                      const std::string& comment) {
  std::string text =
      "#include \"catch2/catch.hpp\"\n"
      "#include \"switchboard/custom_ops/opcheck/test_arguments.h\"\n"
      "#include \"switchboard/tests/composition/law.h\"\n";
  for (Callee callee : {Callee::Cond, Callee::WhileLoop, Callee::Map, Callee::Scan})
    if (has_callee(program.block, callee))
      text +=
          str_cat("#include \"switchboard/transforms/control_flow/", to_string(callee), ".h\"\n");
  const internal::PlanCode inputs =
      internal::code_of(schema_of_inputs(program.inputs.values.size()), program.inputs);
  text += str_cat("\nTEST_CASE(", internal::string_code(title), ") {\n  using namespace sb;\n",
                  "  using composition::call;\n  using Tensors = std::vector<Tensor>;\n",
                  inputs.declarations, "  const auto f = [](const Tensors& in) {\n",
                  Printer().body(program.block, "    "), "  };\n  // ",
                  absl::StrReplaceAll(comment, {{"\n", " "}}), "\n  CHECK(composition::broken_by(",
                  internal::string_code(layers), ", f, {", absl::StrJoin(inputs.values, ", "),
                  "}) == \"\");\n}\n");
  return text;
}

}  // namespace sb::composition
