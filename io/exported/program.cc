#include "switchboard/io/exported/program.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

int64_t number_of(const Expression& expression, const SymbolValues& symbols, const char* what) {
  const int64_t number = expression.evaluate_int(symbols).expect_int();
  SB_CHECK(number >= 0, what, " ", expression.to_string(), " is negative: ", number);
  return number;
}

}  // namespace

std::string TensorMeta::describe() const {
  return str_cat(to_string(dtype), "[", absl::StrJoin(sizes, ", "), "]");
}

bool ValueMeta::is_static() const {
  return std::ranges::all_of(sizes, &Expression::is_constant) &&
         std::ranges::all_of(strides, &Expression::is_constant);
}

TensorMeta ValueMeta::at(const SymbolValues& symbols) const {
  TensorMeta meta{.dtype = dtype, .requires_grad = requires_grad};
  for (const Expression& size : sizes) meta.sizes.push_back(number_of(size, symbols, "size"));
  for (const Expression& stride : strides)
    meta.strides.push_back(number_of(stride, symbols, "stride"));
  checked_mul(checked_numel(meta.sizes), static_cast<int64_t>(itemsize(dtype)));
  return meta;
}

bool ValueMeta::admits(const Tensor& tensor) const {
  if (tensor.dtype() != dtype || tensor.dim() != std::ssize(sizes)) return false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const SymInt given = tensor.sym_size(static_cast<int64_t>(i));
    if (sizes[i].is_constant() && !given.is_symbolic() && given.expect_int() != sizes[i].constant())
      return false;
  }
  return true;
}

std::string ValueMeta::describe() const {
  std::string text;
  for (const Expression& size : sizes) text += (text.empty() ? "" : ", ") + size.to_string();
  return str_cat(to_string(dtype), "[", text, "]");
}

std::string_view kind_of(const Argument& argument) {
  constexpr std::string_view kKinds[] = {"none",
                                         "tensor",
                                         "tensors",
                                         "optional_tensors",
                                         "int",
                                         "ints",
                                         "float",
                                         "floats",
                                         "bool",
                                         "bools",
                                         "string",
                                         "strings",
                                         "complex",
                                         "scalar_type",
                                         "layout",
                                         "memory_format",
                                         "device",
                                         "sym number",
                                         "sym_ints",
                                         "sym_floats",
                                         "sym_bools",
                                         "graph",
                                         "custom_obj",
                                         "token",
                                         "operator",
                                         "nested_tensors",
                                         "int_lists",
                                         "float_lists",
                                         "string_to_argument",
                                         "unknown"};
  static_assert(std::size(kKinds) == std::variant_size_v<Argument>);
  return kKinds[argument.index()];
}

void for_each_name(const Argument& argument, absl::FunctionRef<void(const std::string&)> f) {
  const auto visit = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, TensorRef> || std::is_same_v<T, SymRef> ||
                  std::is_same_v<T, ObjectRef> || std::is_same_v<T, TokenRef>) {
      f(value.name);
    } else if constexpr (std::is_same_v<T, TensorRefs>) {
      for (const TensorRef& ref : value) f(ref.name);
    } else if constexpr (std::is_same_v<T, OptionalTensorRefs>) {
      for (const auto& ref : value)
        if (ref) f(ref->name);
    } else if constexpr (std::is_same_v<T, std::vector<TensorRefs>>) {
      for (const TensorRefs& refs : value)
        for (const TensorRef& ref : refs) f(ref.name);
    } else if constexpr (std::is_same_v<T, SymInts> || std::is_same_v<T, SymFloats> ||
                         std::is_same_v<T, SymBools>) {
      for (const auto& number : value)
        if (const auto* ref = std::get_if<SymRef>(&number)) f(ref->name);
    } else if constexpr (std::is_same_v<T, ArgumentMap>) {
      for (const NamedArgument& entry : *value) for_each_name(entry.value, f);
    }
  };
  std::visit(visit, argument);
}

std::string Node::target() const { return overload.empty() ? op : str_cat(op, ".", overload); }

bool is_tensor(const InputSpec& input) {
  if (input.kind == InputKind::User) return std::holds_alternative<TensorRef>(input.value);
  return input.kind == InputKind::Parameter || input.kind == InputKind::Buffer ||
         input.kind == InputKind::TensorConstant;
}

bool is_result(OutputKind kind) {
  return kind == OutputKind::User || kind == OutputKind::Loss ||
         kind == OutputKind::GradientToParameter || kind == OutputKind::GradientToUserInput;
}

bool is_mutation(OutputKind kind) {
  return kind == OutputKind::BufferMutation || kind == OutputKind::ParameterMutation ||
         kind == OutputKind::UserInputMutation;
}

std::string_view to_string(Dialect dialect) {
  return dialect == Dialect::Training ? "TRAINING" : "ATEN";
}

const ValueMeta& Graph::meta_of(std::string_view name) const {
  const auto found = tensor_values.find(to_absl(name));
  SB_CHECK_VALUE(found != tensor_values.end(), place, ": no tensor_values entry ", quote(name));
  return found->second;
}

std::string Graph::place_of(size_t node) const {
  SB_CHECK_INDEX(node < nodes.size(), place, ": no node ", node, "; there are ", nodes.size());
  const std::string& name = nodes[node].name;
  return str_cat(place, "/nodes[", node, "]", name.empty() ? "" : str_cat(" (", name, ")"));
}

bool Program::is_dynamic() const {
  return std::ranges::any_of(inputs, [&](const InputSpec& input) {
    if (input.kind != InputKind::User) return false;
    if (std::holds_alternative<SymRef>(input.value)) return true;
    const auto* ref = std::get_if<TensorRef>(&input.value);
    return ref && !graph.meta_of(ref->name).is_static();
  });
}

}  // namespace sb::io
