#include "switchboard/dispatch/inspect/call_text.h"

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/dispatch/inspect/custom_class.h"

namespace sb {
namespace {

template <class List, class F>
std::string list_text(const List& list, F&& text) {
  std::vector<std::string> parts;
  for (const auto& element : list) parts.push_back(text(element));
  return str_cat("[", absl::StrJoin(parts, ", "), "]");
}

}  // namespace

std::string type_text(DType dtype, SymIntArrayRef sizes, Device device) {
  const auto append = [](std::string* text, const SymInt& size) { *text += size.to_string(); };
  return str_cat(to_string(dtype), "[", absl::StrJoin(sizes, ", ", append), "]",
                 device.is_cpu() ? "" : str_cat(" on ", to_string(device)));
}

std::string type_text(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  return type_text(tensor.dtype(), tensor.sym_sizes(), tensor.device());
}

std::string value_text(const IValue& value, const std::function<std::string(const Tensor&)>& text) {
  if (value.is_Tensor()) return text(value.unchecked_tensor());
  if (value.is_TensorList()) return list_text(value.to_tensor_list(), text);
  if (value.is_OptionalTensorList()) {
    return list_text(value.to_optional_tensor_list(), [&](const std::optional<Tensor>& t) {
      return t ? text(*t) : std::string("None");
    });
  }
  if (value.is_List())
    return list_text(value.to_list(), [&](const IValue& v) { return value_text(v, text); });
  if (const ConstantObject* const object = constant_object(value)) return object->to_string();
  return value.to_string();
}

std::string wrapped_number_text(const Tensor& tensor) {
  if (const Scalar* const symbol = symbolic_number_of(tensor)) return symbol->to_string();
  if (!tensor.impl()->is_wrapped_number() || !tensor.is_cpu() || tensor.impl()->mode_data() ||
      tensor.numel() != 1 || !tensor.storage() || !tensor.storage()->data()) {
    return "";
  }
  switch (tensor.dtype()) {
    case DType::Bool:
      return Scalar(*tensor.data<bool>()).to_string();
    case DType::Int64:
      return Scalar(*tensor.data<int64_t>()).to_string();
    case DType::Float64:
      return Scalar(*tensor.data<double>()).to_string();
    case DType::Complex128:
      return Scalar(*tensor.data<std::complex<double>>()).to_string();
    default:  // wrapped_scalar_tensor makes no others
      return "";
  }
}

bool is_same_constant(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  bool has_tensor = false;
  a.for_each_tensor([&](const Tensor&) { has_tensor = true; });
  b.for_each_tensor([&](const Tensor&) { has_tensor = true; });
  if (a.is_Object()) {
    const ConstantObject* const constant = constant_object(a);
    const ConstantObject* const other = constant_object(b);
    return constant && other && constant->class_name() == other->class_name() &&
           constant->equals(*other);
  }
  // The text of numbers, strings and lists says their value in full, that of a storage does not.
  if (has_tensor || a.is_Storage() || a.is_Generator()) return false;
  return a.to_string() == b.to_string();
}

std::string arguments_text(const FunctionSchema& schema,
                           const std::function<bool(size_t)>& is_default,
                           const std::function<std::string(size_t)>& text) {
  std::vector<std::string> parts;
  bool skipped = false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    if (is_default(i)) {
      skipped = true;
    } else if (argument.kwarg_only || skipped) {
      parts.push_back(str_cat(argument.name, "=", text(i)));
    } else {
      parts.push_back(text(i));
    }
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace sb
