#include "switchboard/dispatch/schema/ivalue.h"

#include <algorithm>

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

// What a list or a string lives in.
template <class T>
struct Holder final : IntrusiveTarget {
  explicit Holder(T v) : value(std::move(v)) {}
  T value;
};

std::string_view name_of(IValue::Tag tag) {
  switch (tag) {
#define SB_TAG(name)      \
  case IValue::Tag::name: \
    return #name;
    SB_FORALL_IVALUE_TAGS(SB_TAG)
#undef SB_TAG
  }
  return "";
}

[[gnu::cold]] std::string text_of(const SymInt& v) {
  return v.is_symbolic() ? v.node()->to_string() : str_cat(v.expect_int());
}

// "[1, 2]", where text(element) gives each part.
template <class List, class F>
std::string list_text(const List& list, F&& text) {
  std::string out = "[";
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ", ";
    first = false;
    out += text(element);
  }
  out += ']';
  return out;
}

}  // namespace

template <class T>
const T& IValue::object(Tag tag) const {
  expect(tag);
  return static_cast<const Holder<T>*>(payload_.object)->value;
}

template <class T>
void IValue::set_object(Tag tag, T value) {
  payload_.object = new Holder<T>(std::move(value));
  tag_ = tag;
}

IValue::IValue(const SymInt& v) : IValue() {
  if (!v.is_symbolic()) {
    tag_ = Tag::Int;
    payload_.i = v.expect_int();
    return;
  }
  set_node(Tag::SymInt, v.node());
}
IValue::IValue(const SymFloat& v) : IValue() {
  if (v.is_symbolic())
    set_node(Tag::SymFloat, v.node());
  else
    *this = IValue(v.expect_float());
}
IValue::IValue(const SymBool& v) : IValue() {
  if (v.is_symbolic())
    set_node(Tag::SymBool, v.node());
  else
    *this = IValue(v.expect_bool());
}

// Expressions are counted already: the payload is the node itself.
void IValue::set_node(Tag tag, const SymNode* node) {
  node->retain();
  payload_.object = const_cast<SymNode*>(node);
  tag_ = tag;
}
IntrusivePtr<const SymNode> IValue::node() const {
  return IntrusivePtr<const SymNode>::share(static_cast<const SymNode*>(payload_.object));
}

IValue::IValue(const Scalar& v) : IValue() {
  if (v.is_symbolic()) {
    const Tag tag = v.is_int() ? Tag::SymInt : v.is_bool() ? Tag::SymBool : Tag::SymFloat;
    set_node(tag, v.sym_value().node());
    return;
  }
  switch (v.kind()) {
    case DType::Bool:
      *this = IValue(v.to<bool>());
      break;
    case DType::Float64:
      *this = IValue(v.to<double>());
      break;
    case DType::Complex128:
      *this = IValue(v.to<std::complex<double>>());
      break;
    default:
      *this = IValue(v.to<int64_t>());
  }
}

IValue::IValue(std::complex<double> v) { set_object(Tag::Complex, v); }
IValue::IValue(std::string v) { set_object(Tag::String, std::move(v)); }
IValue::IValue(std::vector<int64_t> v) { set_object(Tag::IntList, std::move(v)); }
IValue::IValue(std::vector<SymInt> v) {
  if (std::any_of(v.begin(), v.end(), [](const SymInt& s) { return s.is_symbolic(); })) {
    set_object(Tag::SymIntList, std::move(v));
    return;
  }
  std::vector<int64_t> ints;
  ints.reserve(v.size());
  for (const SymInt& s : v) ints.push_back(s.expect_int());
  set_object(Tag::IntList, std::move(ints));
}
IValue::IValue(std::vector<double> v) { set_object(Tag::DoubleList, std::move(v)); }
IValue::IValue(std::vector<bool> v) { set_object(Tag::BoolList, std::move(v)); }
IValue::IValue(std::vector<Tensor> v) { set_object(Tag::TensorList, std::move(v)); }
IValue::IValue(std::vector<std::optional<Tensor>> v) {
  set_object(Tag::OptionalTensorList, std::move(v));
}
IValue::IValue(std::vector<IValue> v) { set_object(Tag::List, std::move(v)); }

// These are counted already: the payload is the object itself.
IValue::IValue(sb::Generator v) : IValue() {
  if (!v) return;
  payload_.object = v.leak();
  tag_ = Tag::Generator;
}
IValue::IValue(sb::Storage v) : IValue() {
  if (!v) return;
  payload_.object = v.leak();
  tag_ = Tag::Storage;
}
IValue::IValue(IntrusivePtr<OpaqueObject> v) : IValue() {
  if (!v) return;
  payload_.object = v.leak();
  tag_ = Tag::Object;
}

std::string_view IValue::tag_name() const { return name_of(tag_); }

void IValue::throw_wrong_tag(Tag expected) const {
  SB_THROW(TypeError, "expected ", name_of(expected), ", got ", tag_name());
}

int64_t IValue::int_from_other() const {
  if (!is_SymInt()) throw_wrong_tag(Tag::Int);
  return to_sym_int().guard_int();
}

double IValue::to_double() const {
  if (is_Double()) return payload_.d;
  if (is_SymFloat()) return to_sym_float().guard_float();
  if (is_SymInt()) return static_cast<double>(to_int());
  SB_CHECK_TYPE(is_Int(), "expected Double or Int, got ", tag_name());
  return static_cast<double>(payload_.i);
}

SymInt IValue::to_sym_int() const {
  if (is_Int()) return SymInt(payload_.i);
  SB_CHECK_TYPE(is_SymInt(), "expected Int or SymInt, got ", tag_name());
  return SymInt(node());
}
SymFloat IValue::to_sym_float() const {
  if (is_Double()) return SymFloat(payload_.d);
  SB_CHECK_TYPE(is_SymFloat(), "expected Double or SymFloat, got ", tag_name());
  return SymFloat(node());
}
SymBool IValue::to_sym_bool() const {
  if (is_Bool()) return SymBool(payload_.b);
  SB_CHECK_TYPE(is_SymBool(), "expected Bool or SymBool, got ", tag_name());
  return SymBool(node());
}

Scalar IValue::to_scalar() const {
  switch (tag_) {
    case Tag::Bool:
      return Scalar(payload_.b);
    case Tag::Int:
      return Scalar(payload_.i);
    case Tag::Double:
      return Scalar(payload_.d);
    case Tag::Complex:
      return Scalar(to_complex());
    case Tag::SymInt:
      return Scalar(to_sym_int());
    case Tag::SymFloat:
      return Scalar(to_sym_float());
    case Tag::SymBool:
      return Scalar(to_sym_bool());
    default:
      SB_THROW(TypeError, "expected Bool, Int, Double or Complex, got ", tag_name());
  }
}

std::complex<double> IValue::to_complex() const {
  if (is_Complex()) return object<std::complex<double>>(Tag::Complex);
  SB_CHECK_TYPE(is_Double() || is_Int(), "expected Complex, Double or Int, got ", tag_name());
  return to_double();
}

std::string_view IValue::to_string_view() const& { return object<std::string>(Tag::String); }
IntArrayRef IValue::to_int_list() const& { return object<std::vector<int64_t>>(Tag::IntList); }
SymIntArrayRef IValue::to_sym_int_list() const& {
  if (is_IntList()) return SymIntArrayRef(to_int_list());
  SB_CHECK_TYPE(is_SymIntList(), "expected IntList or SymIntList, got ", tag_name());
  return SymIntArrayRef(absl::Span<const SymInt>(object<std::vector<SymInt>>(Tag::SymIntList)));
}
absl::Span<const double> IValue::to_double_list() const& {
  return object<std::vector<double>>(Tag::DoubleList);
}
const std::vector<bool>& IValue::to_bool_list() const& {
  return object<std::vector<bool>>(Tag::BoolList);
}
TensorList IValue::to_tensor_list() const& { return object<std::vector<Tensor>>(Tag::TensorList); }
OptionalTensorList IValue::to_optional_tensor_list() const& {
  return object<std::vector<std::optional<Tensor>>>(Tag::OptionalTensorList);
}
const std::vector<IValue>& IValue::to_list() const& {
  return object<std::vector<IValue>>(Tag::List);
}

std::string IValue::to_string_view() && { return object<std::string>(Tag::String); }
std::vector<int64_t> IValue::to_int_list() && { return object<std::vector<int64_t>>(Tag::IntList); }
std::vector<SymInt> IValue::to_sym_int_list() && {
  const SymIntArrayRef list = std::as_const(*this).to_sym_int_list();
  return {list.begin(), list.end()};
}
std::vector<double> IValue::to_double_list() && {
  return object<std::vector<double>>(Tag::DoubleList);
}
std::vector<bool> IValue::to_bool_list() && { return object<std::vector<bool>>(Tag::BoolList); }
std::vector<Tensor> IValue::to_tensor_list() && {
  return object<std::vector<Tensor>>(Tag::TensorList);
}
std::vector<std::optional<Tensor>> IValue::to_optional_tensor_list() && {
  return object<std::vector<std::optional<Tensor>>>(Tag::OptionalTensorList);
}
std::vector<IValue> IValue::to_list() && { return object<std::vector<IValue>>(Tag::List); }

sb::Generator IValue::to_generator() const {
  expect(Tag::Generator);
  return sb::Generator::share(static_cast<GeneratorImpl*>(payload_.object));
}
sb::Storage IValue::to_storage() const {
  expect(Tag::Storage);
  return sb::Storage::share(static_cast<StorageImpl*>(payload_.object));
}
IntrusivePtr<OpaqueObject> IValue::to_object() const {
  expect(Tag::Object);
  return IntrusivePtr<OpaqueObject>::share(static_cast<OpaqueObject*>(payload_.object));
}

std::string IValue::to_string() const {
  switch (tag_) {
    case Tag::None:
      return "None";
    case Tag::Tensor:
      return payload_.tensor.describe();
    case Tag::Int:
      return str_cat(payload_.i);
    case Tag::Double:
    case Tag::Bool:
    case Tag::Complex:
      return to_scalar().to_string();
    case Tag::Device:
      return sb::to_string(payload_.device);
    case Tag::DType:
      return std::string(sb::to_string(to_dtype()));
    case Tag::Layout:
      return std::string(sb::to_string(to_layout()));
    case Tag::MemoryFormat:
      return std::string(sb::to_string(to_memory_format()));
    case Tag::SymInt:
    case Tag::SymFloat:
    case Tag::SymBool:
      return node()->to_string();
    case Tag::String:
      return str_cat("'", to_string_view(), "'");
    case Tag::IntList:
      return list_text(to_int_list(), [](int64_t v) { return str_cat(v); });
    case Tag::SymIntList:
      return list_text(to_sym_int_list(), text_of);
    case Tag::DoubleList:
      return list_text(to_double_list(), [](double v) { return Scalar(v).to_string(); });
    case Tag::BoolList:
      return list_text(to_bool_list(), [](bool v) { return v ? "True" : "False"; });
    case Tag::TensorList:
      return list_text(to_tensor_list(), [](const Tensor& t) { return t.describe(); });
    case Tag::OptionalTensorList:
      return list_text(to_optional_tensor_list(),
                       [](const std::optional<Tensor>& t) { return t ? t->describe() : "None"; });
    case Tag::List:
      return list_text(to_list(), [](const IValue& v) { return v.to_string(); });
    case Tag::Generator:
      return str_cat("generator on ",
                     sb::to_string(static_cast<GeneratorImpl*>(payload_.object)->device()));
    case Tag::Storage: {
      const auto* storage = static_cast<StorageImpl*>(payload_.object);
      return str_cat("storage of ", storage->nbytes(), " bytes on ",
                     sb::to_string(storage->device()));
    }
    case Tag::Object:
      return str_cat("object of ", static_cast<OpaqueObject*>(payload_.object)->class_name());
  }
  return "";
}

}  // namespace sb
