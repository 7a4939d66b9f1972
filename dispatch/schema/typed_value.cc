#include "switchboard/dispatch/schema/typed_value.h"

#include <algorithm>
#include <utility>

#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb {
namespace {

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
      return v.is_scalar();
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
      return stands_for_any_type(type.class_name) ||
             (v.is_Object() && v.to_object()->class_name() == type.class_name);
  }
  return false;
}

template <class T, class F>
IValue pack_as(const std::vector<IValue>& elements, F&& element_value) {
  std::vector<T> list;
  list.reserve(elements.size());
  for (const IValue& v : elements) list.push_back(element_value(v));
  return IValue(std::move(list));
}

}  // namespace

namespace internal {

bool is_optional_at(const Type& type, size_t depth) {
  return depth > 0 && type.modifiers[depth - 1].kind == TypeModifier::Optional;
}

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

bool widen_literal(const Type& type, size_t depth, IValue* v) {
  if (fits(type, depth, *v)) return true;
  while (is_optional_at(type, depth)) --depth;
  if (depth == 0) {
    if (type.base == BaseType::Float && v->is_Int()) return *v = v->to_double(), true;
    if (type.base != BaseType::Complex || !(v->is_Int() || v->is_Double())) return false;
    return *v = v->to_complex(), true;
  }
  std::optional<std::vector<IValue>> list = elements_of(*v);
  if (!list) {
    const std::optional<int64_t> length = type.modifiers[depth - 1].length;
    if (depth != 1 || !v->is_scalar() || !length || *length < 0 || *length > kMaxSizedList)
      return false;
    list.emplace(static_cast<size_t>(*length), *v);
  }
  for (IValue& element : *list)
    if (!widen_literal(type, depth - 1, &element)) return false;
  *v = pack(type, depth - 1, *std::move(list));
  return true;
}

}  // namespace internal
}  // namespace sb
