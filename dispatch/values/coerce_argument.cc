#include "switchboard/dispatch/values/coerce_argument.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/scalar_type_number.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/schema/typed_value.h"
#include "switchboard/dispatch/values/tensor_conversions.h"

namespace sb {
namespace {

using internal::elements_of;
using internal::fits;
using internal::is_optional_at;
using internal::list_tag;
using internal::pack;

constexpr int64_t kNumLayouts = static_cast<int64_t>(Layout::Mkldnn) + 1;
constexpr int64_t kNumFormats = static_cast<int64_t>(MemoryFormat::ChannelsLast3d) + 1;

// The number that PyTorch has for it where a name of a dtype, layout or format stands for an int.
std::optional<IValue> number_of_name(const IValue& v) {
  if (v.is_DType()) return IValue(internal::scalar_type_number(v.to_dtype()));
  if (v.is_Layout()) return IValue(static_cast<int64_t>(v.to_layout()));
  if (v.is_MemoryFormat()) return IValue(static_cast<int64_t>(v.to_memory_format()));
  return std::nullopt;
}

// As int(v) of a float; nullopt for what no int64 is.
std::optional<IValue> truncate(double v) {
  if (!(v >= -9223372036854775808.0 && v < 9223372036854775808.0)) return std::nullopt;
  return IValue(static_cast<int64_t>(v));
}

// Makes values those of a schema's types, as PyTorch does for `torch.ops`.
class Coercion {
 public:
  explicit Coercion(const FunctionSchema& schema) : schema_(schema) {}

  // Makes the value one of the type. False, with the value as it was, if it cannot be one.
  bool run(const Type& type, IValue& v) { return run(type, type.modifiers.size(), false, v); }
  // Where it cannot, what is to be said besides the types; may be empty.
  const std::string& reason() const { return reason_; }

 private:
  bool run(const Type& type, size_t depth, bool in_list, IValue& v);
  bool run_list(const Type& type, size_t element_depth, IValue& v);
  bool convert_base(const Type& type, bool in_list, IValue& v);
  bool assign(IValue& v, std::optional<IValue> made) {
    if (made) v = *std::move(made);
    return made.has_value();
  }

  // The number in a tensor of one element; nullopt, with the reason, if it has none to give.
  std::optional<IValue> item(const Tensor& tensor);
  std::optional<IValue> as_int(const IValue& v, bool keeps_symbols);
  std::optional<IValue> as_double(const IValue& v);
  std::optional<IValue> as_complex(const IValue& v);
  std::optional<IValue> as_bool(const IValue& v);
  std::optional<IValue> as_tensor(const IValue& v);
  std::optional<IValue> as_device(const IValue& v);
  // The elements of a list of any tag, and of a value that is taken for a list; nullopt if it is
  // none.
  std::optional<std::vector<IValue>> elements(const Type& type, size_t element_depth,
                                              const IValue& v);

  const FunctionSchema& schema_;
  std::string reason_;
};

std::optional<IValue> Coercion::item(const Tensor& tensor) {
  const TensorConversions* const conversions = tensor_conversions();
  if (!conversions || !tensor.defined()) return std::nullopt;
  reason_ = tensor.describe();
  // Sizes that are symbols are not guarded for what may be another overload's argument.
  if (tensor.dim() != 0 && (tensor.is_symbolic() || tensor.numel() != 1)) return std::nullopt;
  try {
    return conversions->item(tensor);
  } catch (const Error& error) {
    reason_ = error.what();
    return std::nullopt;
  }
}

std::optional<IValue> Coercion::as_int(const IValue& v, bool keeps_symbols) {
  switch (v.tag()) {
    case IValue::Tag::Int:
      return v;
    case IValue::Tag::Bool:
      return IValue(int64_t{v.to_bool()});
    case IValue::Tag::SymInt:
      return keeps_symbols ? v : IValue(v.to_int());
    case IValue::Tag::SymFloat:
      return truncate(v.to_double());
    case IValue::Tag::SymBool:
      return IValue(int64_t{v.to_sym_bool().guard_bool()});
    case IValue::Tag::Tensor: {
      const std::optional<IValue> number = item(v.unchecked_tensor());
      if (!number) return std::nullopt;
      if (number->is_Double()) return truncate(number->to_double());
      return number->is_Tensor() ? std::nullopt : as_int(*number, keeps_symbols);
    }
    default:
      return std::nullopt;
  }
}

std::optional<IValue> Coercion::as_double(const IValue& v) {
  if (v.is_Bool()) return IValue(v.to_bool() ? 1.0 : 0.0);
  if (v.is_Tensor()) {
    const std::optional<IValue> number = item(v.unchecked_tensor());
    return number && !number->is_Tensor() ? as_double(*number) : std::nullopt;
  }
  if (v.is_Double() || v.is_Int() || v.is_SymInt() || v.is_SymFloat()) return IValue(v.to_double());
  return std::nullopt;
}

std::optional<IValue> Coercion::as_complex(const IValue& v) {
  if (v.is_Complex()) return v;
  if (v.is_Tensor()) {
    const std::optional<IValue> number = item(v.unchecked_tensor());
    return number && !number->is_Tensor() ? as_complex(*number) : std::nullopt;
  }
  const std::optional<IValue> real = as_double(v);
  return real ? std::optional<IValue>(real->to_complex()) : std::nullopt;
}

std::optional<IValue> Coercion::as_bool(const IValue& v) {
  if (v.is_None()) return IValue(false);
  if (v.is_SymBool()) return IValue(v.to_sym_bool().guard_bool());
  if (v.is_Tensor()) {
    const std::optional<IValue> number = item(v.unchecked_tensor());
    return number && !number->is_Tensor() ? as_bool(*number) : std::nullopt;
  }
  if (v.is_scalar()) return IValue(v.to_scalar().settled().to<std::complex<double>>() != 0.0);
  return std::nullopt;
}

std::optional<IValue> Coercion::as_tensor(const IValue& v) {
  if (v.is_None()) return IValue(Tensor());
  const TensorConversions* const conversions = tensor_conversions();
  if (!v.is_scalar() || !conversions || !takes_numbers_for_tensors(schema_.name.name))
    return std::nullopt;
  return IValue(conversions->wrap(v.to_scalar()));
}

std::optional<IValue> Coercion::as_device(const IValue& v) {
  if (!v.is_String()) return std::nullopt;
  try {
    return IValue(Device(v.to_string_view()));
  } catch (const Error& error) {
    reason_ = error.what();
    return std::nullopt;
  }
}

bool Coercion::convert_base(const Type& type, bool in_list, IValue& v) {
  switch (type.base) {
    case BaseType::Tensor:
      return !in_list && assign(v, as_tensor(v));
    case BaseType::Int:
      return assign(v, number_of_name(v)) || assign(v, as_int(v, false));
    case BaseType::SymInt:
      return assign(v, as_int(v, true));
    case BaseType::Float:
      return assign(v, as_double(v));
    case BaseType::Bool:
      return assign(v, as_bool(v));
    case BaseType::Complex:
      return assign(v, as_complex(v));
    case BaseType::Scalar:
      return !v.is_MemoryFormat() && assign(v, number_of_name(v));
    case BaseType::Device:
      return assign(v, as_device(v));
    case BaseType::DType:
    case BaseType::Layout:
    case BaseType::MemoryFormat: {
      const std::optional<IValue> number = as_int(v, false);
      if (!number) return false;
      const int64_t i = number->to_int();
      if (type.base == BaseType::DType) {
        const std::optional<DType> dtype = internal::dtype_of_scalar_type_number(i);
        if (dtype) v = *dtype;
        return dtype.has_value();
      }
      const bool layout = type.base == BaseType::Layout;
      if (i < 0 || i >= (layout ? kNumLayouts : kNumFormats)) return false;
      v = layout ? IValue(static_cast<Layout>(i)) : IValue(static_cast<MemoryFormat>(i));
      return true;
    }
    default:
      return false;
  }
}

std::optional<std::vector<IValue>> Coercion::elements(const Type& type, size_t element_depth,
                                                      const IValue& v) {
  if (std::optional<std::vector<IValue>> list = elements_of(v)) return list;
  const bool generic = list_tag(type, element_depth) == IValue::Tag::List ||
                       list_tag(type, element_depth) == IValue::Tag::OptionalTensorList;
  if (v.is_String() && generic && type.base == BaseType::Str) {
    std::vector<IValue> letters;
    for (const char c : v.to_string_view()) letters.push_back(std::string(1, c));
    return letters;
  }
  if (!v.is_Tensor() || !v.unchecked_tensor().defined() || v.unchecked_tensor().dim() == 0 ||
      !tensor_conversions() || !(generic || type.base == BaseType::SymInt))
    return std::nullopt;
  const std::vector<Tensor> rows = tensor_conversions()->rows(v.unchecked_tensor());
  return std::vector<IValue>(rows.begin(), rows.end());
}

bool Coercion::run_list(const Type& type, size_t element_depth, IValue& v) {
  std::optional<std::vector<IValue>> list = elements(type, element_depth, v);
  if (!list) {
    const std::optional<int64_t> length = type.modifiers[element_depth].length;
    const bool repeats = (type.base == BaseType::Int && (v.is_Int() || v.is_Bool())) ||
                         (type.base == BaseType::Float && v.is_Double());
    if (!repeats || element_depth != 0 || !length || *length < 0 || *length > kMaxSizedList ||
        !run(type, 0, true, v))
      return false;
    if (type.base == BaseType::Int)  // the common case, without a vector of IValues
      v = IValue(std::vector<int64_t>(static_cast<size_t>(*length), v.to_int()));
    else
      v = pack(type, 0, std::vector<IValue>(static_cast<size_t>(*length), v));
    return true;
  }
  for (IValue& element : *list) {
    // A list of plain numbers takes fewer things for one than a number does.
    const bool plain = element_depth == 0;
    if (plain && type.base == BaseType::Int && number_of_name(element)) return false;
    if (plain && type.base == BaseType::SymInt && element.is_Tensor() &&
        !(element.unchecked_tensor().defined() &&
          is_integral(element.unchecked_tensor().dtype(), /*include_bool=*/false)))
      return false;
    if (!run(type, element_depth, true, element)) return false;
  }
  v = pack(type, element_depth, *std::move(list));
  return true;
}

bool Coercion::run(const Type& type, size_t depth, bool in_list, IValue& v) {
  if (fits(type, depth, v)) return true;
  while (is_optional_at(type, depth)) --depth;
  return depth == 0 ? convert_base(type, in_list, v) : run_list(type, depth - 1, v);
}

// What a value would be called in a schema: "int", "Tensor[]", "[int, None]".
std::string kind_of(const IValue& v, int depth = 0) {
  switch (v.tag()) {
    case IValue::Tag::Int:
      return "int";
    case IValue::Tag::Double:
      return "float";
    case IValue::Tag::Bool:
      return "bool";
    case IValue::Tag::Complex:
      return "complex";
    case IValue::Tag::String:
      return "str";
    case IValue::Tag::DType:
      return "ScalarType";
    case IValue::Tag::IntList:
      return "int[]";
    case IValue::Tag::SymInt:
      return "SymInt";
    case IValue::Tag::SymFloat:
      return "SymFloat";
    case IValue::Tag::SymBool:
      return "SymBool";
    case IValue::Tag::SymIntList:
      return "SymInt[]";
    case IValue::Tag::DoubleList:
      return "float[]";
    case IValue::Tag::BoolList:
      return "bool[]";
    case IValue::Tag::TensorList:
      return "Tensor[]";
    case IValue::Tag::OptionalTensorList:
      return "Tensor?[]";
    case IValue::Tag::Object:
      return std::string(v.to_object()->class_name());
    case IValue::Tag::List: {
      if (depth == 2) return "list";
      std::string out = "[";
      size_t n = 0;
      for (const IValue& element : v.to_list()) {
        if (n > 0) out += ", ";
        if (n++ == 4) {
          out += "...";
          break;
        }
        out += kind_of(element, depth + 1);
      }
      return out + "]";
    }
    default:  // None, Tensor, Device, Layout, ...: a schema calls them by the same names
      return std::string(v.tag_name());
  }
}

}  // namespace

std::optional<IValue> coerce_argument(const FunctionSchema& schema, size_t i, IValue value) {
  if (!Coercion(schema).run(schema.arguments.at(i).type, value)) return std::nullopt;
  return value;
}

namespace internal {

std::string argument_text(const FunctionSchema& schema, size_t i) {
  return str_cat(schema.name.to_string(), ": argument ", i, " '", schema.arguments[i].name, "'");
}

void coerce_at(const FunctionSchema& schema, size_t i, IValue& v) {
  const Type& type = schema.arguments[i].type;
  if (fits(type, type.modifiers.size(), v)) return;
  Coercion coercion(schema);
  if (coercion.run(type, v)) return;
  SB_THROW(TypeError, argument_text(schema, i), ": expected ", type.to_string(), ", got ",
           kind_of(v),
           coercion.reason().empty() ? std::string() : str_cat(" (", coercion.reason(), ")"));
}

void check_stacked(const FunctionSchema& schema, size_t i, const IValue& v) {
  const Type& type = schema.arguments[i].type;
  if (fits(type, type.modifiers.size(), v)) return;
  // What reading a number from the stack converts.
  const bool is_number =
      type.base == BaseType::Int || type.base == BaseType::Float || type.base == BaseType::Complex;
  if (is_number && !type.is_list() && (v.is_Int() || v.is_SymInt() || v.is_SymFloat())) return;
  SB_THROW(TypeError, argument_text(schema, i), ": expected ", type.to_string(), ", got ",
           kind_of(v));
}

}  // namespace internal
}  // namespace sb
