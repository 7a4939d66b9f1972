#include "switchboard/dispatch/schema/coerce_argument.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

// These work on the first `depth` modifiers of a type: all of them for a value, fewer for the
// elements of a list.

bool fits_base(const Type& type, const IValue& v) {
  switch (type.base) {
    case BaseType::Tensor:
      return v.is_Tensor();
    case BaseType::Int:
      return v.is_Int();
    case BaseType::SymInt:
      return v.is_Int() || v.is_SymInt();
    case BaseType::Float:
      return v.is_Double();
    case BaseType::Bool:
      return v.is_Bool();
    case BaseType::Complex:
      return v.is_Complex();
    case BaseType::Scalar:
      return v.is_scalar() && !v.is_Bool();
    case BaseType::Str:
      return v.is_String();
    case BaseType::DType:
      return v.is_DType();
    case BaseType::Layout:
      return v.is_Layout();
    case BaseType::MemoryFormat:
      return v.is_MemoryFormat();
    case BaseType::Device:
      return v.is_Device();
    case BaseType::Generator:
      return v.is_Generator();
    case BaseType::Storage:
      return v.is_Storage();
    case BaseType::Class:
      return v.is_Object() && v.to_object()->class_name() == type.class_name;
  }
  return false;
}

bool is_optional_at(const Type& type, size_t depth) {
  return depth > 0 && type.modifiers[depth - 1].kind == TypeModifier::Optional;
}

// The tag of lists of such elements; List for those without a tag of their own.
IValue::Tag list_tag(const Type& type, size_t element_depth) {
  if (element_depth == 0) {
    switch (type.base) {
      case BaseType::Tensor:
        return IValue::Tag::TensorList;
      case BaseType::Int:
      case BaseType::SymInt:
        return IValue::Tag::IntList;
      case BaseType::Float:
        return IValue::Tag::DoubleList;
      case BaseType::Bool:
        return IValue::Tag::BoolList;
      default:
        return IValue::Tag::List;
    }
  }
  if (element_depth == 1 && type.base == BaseType::Tensor && is_optional_at(type, 1))
    return IValue::Tag::OptionalTensorList;
  return IValue::Tag::List;
}

// Whether the value is one of the type as it stands.
bool fits(const Type& type, size_t depth, const IValue& v) {
  while (is_optional_at(type, depth)) {
    if (v.is_None()) return true;
    --depth;
  }
  if (depth == 0) return fits_base(type, v);
  --depth;
  const IValue::Tag tag = list_tag(type, depth);
  if (tag != IValue::Tag::List)
    return v.tag() == tag || (v.is_SymIntList() && type.base == BaseType::SymInt && depth == 0);
  if (!v.is_List()) return false;
  const std::vector<IValue>& list = v.to_list();
  return std::all_of(list.begin(), list.end(),
                     [&](const IValue& element) { return fits(type, depth, element); });
}

// The elements of a list of any tag; nullopt if it is none.
std::optional<std::vector<IValue>> elements_of(const IValue& v) {
  const auto copy = [](const auto& list) { return std::vector<IValue>(list.begin(), list.end()); };
  switch (v.tag()) {
    case IValue::Tag::IntList:
      return copy(v.to_int_list());
    case IValue::Tag::SymIntList:
      return copy(v.to_sym_int_list());
    case IValue::Tag::DoubleList:
      return copy(v.to_double_list());
    case IValue::Tag::BoolList:
      return copy(v.to_bool_list());
    case IValue::Tag::TensorList:
      return copy(v.to_tensor_list());
    case IValue::Tag::OptionalTensorList:
      return copy(v.to_optional_tensor_list());
    case IValue::Tag::List:
      return v.to_list();
    default:
      return std::nullopt;
  }
}

template <class T, class F>
IValue pack_as(const std::vector<IValue>& elements, F&& element_value) {
  std::vector<T> list;
  list.reserve(elements.size());
  for (const IValue& v : elements) list.push_back(element_value(v));
  return IValue(std::move(list));
}

// A list of elements that fit already.
IValue pack(const Type& type, size_t element_depth, std::vector<IValue> elements) {
  switch (list_tag(type, element_depth)) {
    case IValue::Tag::TensorList:
      return pack_as<Tensor>(elements, [](const IValue& v) { return v.to_tensor(); });
    case IValue::Tag::OptionalTensorList:
      return pack_as<std::optional<Tensor>>(elements, [](const IValue& v) {
        return v.is_None() ? std::nullopt : std::optional<Tensor>(v.to_tensor());
      });
    case IValue::Tag::IntList:
      if (type.base == BaseType::SymInt)
        return pack_as<SymInt>(elements, [](const IValue& v) { return v.to_sym_int(); });
      return pack_as<int64_t>(elements, [](const IValue& v) { return v.to_int(); });
    case IValue::Tag::DoubleList:
      return pack_as<double>(elements, [](const IValue& v) { return v.to_double(); });
    case IValue::Tag::BoolList:
      return pack_as<bool>(elements, [](const IValue& v) { return v.to_bool(); });
    default:
      return IValue(std::move(elements));
  }
}

bool convert_base(const Type& type, IValue& v) {
  switch (type.base) {
    case BaseType::Int:
      if (!v.is_SymInt()) return false;
      v = IValue(v.to_int());
      return true;
    case BaseType::Float:
      if (!v.is_Int() && !v.is_SymInt() && !v.is_SymFloat()) return false;
      v = IValue(v.to_double());
      return true;
    case BaseType::Bool:
      if (!v.is_SymBool()) return false;
      v = IValue(v.to_sym_bool().guard_bool());
      return true;
    case BaseType::Complex:
      if (!v.is_Int() && !v.is_Double()) return false;
      v = IValue(v.to_complex());
      return true;
    case BaseType::Scalar:  // as PyTorch, to which Python's True is an int here
      if (!v.is_Bool()) return false;
      v = IValue(int64_t{v.to_bool()});
      return true;
    default:
      return false;
  }
}

// Makes the value one of the type. False, with the value as it was, if it cannot be one.
bool coerce(const Type& type, size_t depth, IValue& v) {
  if (fits(type, depth, v)) return true;
  while (is_optional_at(type, depth)) --depth;
  if (depth == 0) return convert_base(type, v);
  --depth;

  std::optional<std::vector<IValue>> elements = elements_of(v);
  if (!elements) {
    const std::optional<int64_t> length = type.modifiers[depth].length;
    const bool repeats = type.base == BaseType::Int || type.base == BaseType::SymInt ||
                         type.base == BaseType::Float || type.base == BaseType::Bool;
    if (!repeats || depth != 0 || !length || *length < 0 || *length > kMaxSizedList) return false;
    if (!coerce(type, depth, v)) return false;
    if (type.base == BaseType::Int)  // the common case, without a vector of IValues
      v = IValue(std::vector<int64_t>(static_cast<size_t>(*length), v.to_int()));
    else
      v = pack(type, depth, std::vector<IValue>(static_cast<size_t>(*length), v));
    return true;
  }
  for (IValue& element : *elements)
    if (!coerce(type, depth, element)) return false;
  v = pack(type, depth, *std::move(elements));
  return true;
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

std::optional<IValue> coerce_argument(const Argument& argument, IValue value) {
  if (!coerce(argument.type, argument.type.modifiers.size(), value)) return std::nullopt;
  return value;
}

namespace internal {

std::string argument_text(const FunctionSchema& schema, size_t i) {
  return str_cat(schema.name.to_string(), ": argument ", i, " '", schema.arguments[i].name, "'");
}

void coerce_at(const FunctionSchema& schema, size_t i, IValue& v) {
  const Type& type = schema.arguments[i].type;
  if (coerce(type, type.modifiers.size(), v)) return;
  SB_THROW(TypeError, argument_text(schema, i), ": expected ", type.to_string(), ", got ",
           kind_of(v));
}

}  // namespace internal
}  // namespace sb
