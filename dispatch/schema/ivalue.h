// A value of any schema type: what boxed kernels take from the stack and put there.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_IVALUE_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_IVALUE_H_

#include <complex>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/layout.h"
#include "switchboard/core/scalar.h"
#include "switchboard/core/storage.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/tensor.h"

namespace sb {

// The base of user-defined class values (schema class types).
class OpaqueObject : public IntrusiveTarget {
 public:
  // The qualified name of the class, as schemas spell it.
  virtual std::string_view class_name() const = 0;
};

// As `c10::IValue`: 16 bytes; numbers, devices and tensors inline, the others behind a count.
// DType, Layout and MemoryFormat are values of their own here (PyTorch boxes them as ints).
//
// to_x() throws TypeError naming what was expected and what came, unless is_x() holds.
class IValue {
 public:
  // From SymInt on: counted objects.
#define SB_FORALL_IVALUE_TAGS(X) \
  X(None)                        \
  X(Tensor)                      \
  X(Int)                         \
  X(Double)                      \
  X(Bool)                        \
  X(Device)                      \
  X(DType)                       \
  X(Layout)                      \
  X(MemoryFormat)                \
  X(SymInt)                      \
  X(SymFloat)                    \
  X(SymBool)                     \
  X(Complex)                     \
  X(String)                      \
  X(IntList)                     \
  X(SymIntList)                  \
  X(DoubleList)                  \
  X(BoolList) X(TensorList) X(OptionalTensorList) X(List) X(Generator) X(Storage) X(Object)
  enum class Tag : uint8_t {
#define SB_TAG(name) name,
    SB_FORALL_IVALUE_TAGS(SB_TAG)
#undef SB_TAG
  };

  IValue() noexcept : tag_(Tag::None) { payload_.i = 0; }
  IValue(std::nullopt_t) noexcept : IValue() {}  // NOLINT: all of these are values
  IValue(const Tensor& v) : tag_(Tag::Tensor) { new (&payload_.tensor) Tensor(v); }
  IValue(Tensor&& v) noexcept : tag_(Tag::Tensor) { new (&payload_.tensor) Tensor(std::move(v)); }
  IValue(int64_t v) noexcept : tag_(Tag::Int) { payload_.i = v; }
  IValue(int v) noexcept : IValue(static_cast<int64_t>(v)) {}
  IValue(double v) noexcept : tag_(Tag::Double) { payload_.d = v; }
  IValue(bool v) noexcept : tag_(Tag::Bool) {
    payload_.i = 0;
    payload_.b = v;
  }
  IValue(sb::Device v) noexcept : tag_(Tag::Device) { payload_.device = v; }
  IValue(sb::DType v) noexcept : tag_(Tag::DType) { payload_.i = static_cast<int64_t>(v); }
  IValue(sb::Layout v) noexcept : tag_(Tag::Layout) { payload_.i = static_cast<int64_t>(v); }
  IValue(sb::MemoryFormat v) noexcept : tag_(Tag::MemoryFormat) {
    payload_.i = static_cast<int64_t>(v);
  }
  IValue(const SymInt& v);    // a plain one becomes Int
  IValue(const SymFloat& v);  // Double
  IValue(const SymBool& v);   // Bool
  IValue(const Scalar& v);    // Bool, Int, Double or Complex, or a symbol
  IValue(std::complex<double> v);
  IValue(std::string v);
  IValue(std::string_view v) : IValue(std::string(v)) {}
  IValue(const char* v) : IValue(std::string(v)) {}
  IValue(std::vector<int64_t> v);
  IValue(std::vector<SymInt> v);  // an IntList if all are plain
  IValue(std::vector<double> v);
  IValue(std::vector<bool> v);
  IValue(std::vector<Tensor> v);
  IValue(std::vector<std::optional<Tensor>> v);
  IValue(std::vector<IValue> v);  // a list of anything else
  IValue(sb::Generator v);        // None if null
  IValue(sb::Storage v);          // the same
  IValue(IntrusivePtr<OpaqueObject> v);
  template <class T>
  IValue(std::optional<T> v) : IValue() {
    if (v) *this = IValue(*std::move(v));
  }

  IValue(const IValue& other) noexcept : tag_(other.tag_) {
    if (tag_ == Tag::Tensor) {
      new (&payload_.tensor) Tensor(other.payload_.tensor);
    } else {
      copy_bits(other);
      if (is_object_tag(tag_)) payload_.object->retain();
    }
  }
  // A moved-from IValue is None.
  IValue(IValue&& other) noexcept : tag_(std::exchange(other.tag_, Tag::None)) { copy_bits(other); }
  IValue& operator=(const IValue& other) noexcept { return *this = IValue(other); }
  IValue& operator=(IValue&& other) noexcept {
    if (this != &other) {
      destroy();
      tag_ = std::exchange(other.tag_, Tag::None);
      copy_bits(other);
    }
    return *this;
  }
  ~IValue() { destroy(); }

  Tag tag() const { return tag_; }
  // "Tensor", "Int", ...: what error messages call it.
  std::string_view tag_name() const;

#define SB_TAG(name) \
  bool is_##name() const { return tag_ == Tag::name; }
  SB_FORALL_IVALUE_TAGS(SB_TAG)
#undef SB_TAG
  // Returns whether it is a number that is not known yet: SymInt, SymFloat or SymBool.
  bool is_symbolic() const { return tag_ >= Tag::SymInt && tag_ <= Tag::SymBool; }
  // Bool, Int, Double, Complex, or a symbol: what a Scalar can be made from.
  bool is_scalar() const {
    return is_Int() || is_Double() || is_Bool() || is_Complex() || is_symbolic();
  }

  const Tensor& to_tensor() const& {
    expect(Tag::Tensor);
    return payload_.tensor;
  }
  // For a value that is_Tensor().
  const Tensor& unchecked_tensor() const& { return payload_.tensor; }
  const Tensor& unchecked_tensor() && = delete;
  Tensor to_tensor() && {
    expect(Tag::Tensor);
    tag_ = Tag::None;
    Tensor result(std::move(payload_.tensor));
    payload_.i = 0;
    return result;
  }
  int64_t to_int() const {  // Int, or a SymInt with a guard
    if (__builtin_expect(tag_ != Tag::Int, 0)) return int_from_other();
    return payload_.i;
  }
  double to_double() const;  // Double or Int, or a SymFloat or SymInt with a guard
  bool to_bool() const {
    expect(Tag::Bool);
    return payload_.b;
  }
  sb::Device to_device() const {
    expect(Tag::Device);
    return payload_.device;
  }
  sb::DType to_dtype() const {
    expect(Tag::DType);
    return static_cast<sb::DType>(payload_.i);
  }
  sb::Layout to_layout() const {
    expect(Tag::Layout);
    return static_cast<sb::Layout>(payload_.i);
  }
  sb::MemoryFormat to_memory_format() const {
    expect(Tag::MemoryFormat);
    return static_cast<sb::MemoryFormat>(payload_.i);
  }
  SymInt to_sym_int() const;                // Int or SymInt
  SymFloat to_sym_float() const;            // Double or SymFloat
  SymBool to_sym_bool() const;              // Bool or SymBool
  Scalar to_scalar() const;                 // Bool, Int, Double, Complex, or a symbol
  std::complex<double> to_complex() const;  // Complex, Double or Int
  // Of a temporary, a copy: what these show lives as long as the value.
  std::string_view to_string_view() const&;
  std::string to_string_view() &&;
  IntArrayRef to_int_list() const&;  // IntList
  std::vector<int64_t> to_int_list() &&;
  SymIntArrayRef to_sym_int_list() const&;  // IntList or SymIntList
  std::vector<SymInt> to_sym_int_list() &&;
  absl::Span<const double> to_double_list() const&;
  std::vector<double> to_double_list() &&;
  const std::vector<bool>& to_bool_list() const&;
  std::vector<bool> to_bool_list() &&;
  TensorList to_tensor_list() const&;
  std::vector<Tensor> to_tensor_list() &&;
  OptionalTensorList to_optional_tensor_list() const&;
  std::vector<std::optional<Tensor>> to_optional_tensor_list() &&;
  const std::vector<IValue>& to_list() const&;
  std::vector<IValue> to_list() &&;
  sb::Generator to_generator() const;
  sb::Storage to_storage() const;
  IntrusivePtr<OpaqueObject> to_object() const;

  // Calls f(const Tensor&) for every tensor in the value, those in lists included, in order.
  template <class F>
  void for_each_tensor(F&& f) const {
    if (is_Tensor()) {
      f(payload_.tensor);
    } else if (is_TensorList()) {
      for (const Tensor& t : to_tensor_list()) f(t);
    } else if (is_OptionalTensorList()) {
      for (const std::optional<Tensor>& t : to_optional_tensor_list())
        if (t) f(*t);
    } else if (is_List()) {
      for (const IValue& v : to_list()) v.for_each_tensor(f);
    }
  }

  // The value as text, for error messages and traces: "3", "[1, 2]", "float32[2, 3] on cpu".
  std::string to_string() const;

 private:
  static constexpr bool is_object_tag(Tag tag) { return tag >= Tag::SymInt; }

  void expect(Tag tag) const {
    if (__builtin_expect(tag_ != tag, 0)) throw_wrong_tag(tag);
  }
  [[noreturn, gnu::cold]] void throw_wrong_tag(Tag expected) const;
  int64_t int_from_other() const;
  template <class T>
  const T& object(Tag tag) const;
  template <class T>
  void set_object(Tag tag, T value);
  void set_node(Tag tag, const SymNode* node);
  IntrusivePtr<const SymNode> node() const;  // of a symbol

  void copy_bits(const IValue& other) noexcept {
    __builtin_memcpy(static_cast<void*>(&payload_), static_cast<const void*>(&other.payload_),
                     sizeof(payload_));
  }
  void destroy() noexcept {
    if (tag_ == Tag::Tensor)
      payload_.tensor.~Tensor();
    else if (is_object_tag(tag_))
      payload_.object->release();
  }

  union Payload {
    Payload() {}
    ~Payload() {}
    int64_t i;
    double d;
    bool b;
    sb::Device device;
    Tensor tensor;
    IntrusiveTarget* object;
  } payload_;
  Tag tag_;
};
static_assert(sizeof(IValue) == 16);

// The arguments of a boxed call, and then its results. A kernel takes its arguments from the end
// and puts its results in their place.
using Stack = std::vector<IValue>;

// The values that users give to a call and get from it. An element that is taken from a temporary
// leaves it: `op(x)[0].to_tensor_list()` does not show what is gone.
class Arguments : public std::vector<IValue> {
 public:
  using vector::vector;
  Arguments(std::vector<IValue> values) : vector(std::move(values)) {}  // NOLINT: the same thing

  IValue& operator[](size_t i) & { return vector::operator[](i); }
  const IValue& operator[](size_t i) const& { return vector::operator[](i); }
  IValue operator[](size_t i) && { return std::move(vector::operator[](i)); }
  IValue& at(size_t i) & { return vector::at(i); }
  const IValue& at(size_t i) const& { return vector::at(i); }
  IValue at(size_t i) && { return std::move(vector::at(i)); }
  IValue& front() & { return vector::front(); }
  const IValue& front() const& { return vector::front(); }
  IValue front() && { return std::move(vector::front()); }
  IValue& back() & { return vector::back(); }
  const IValue& back() const& { return vector::back(); }
  IValue back() && { return std::move(vector::back()); }
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_IVALUE_H_
