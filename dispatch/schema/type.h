// The types of a schema's arguments and returns: a base, then any of `?`, `[]` and `[N]` behind it.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_TYPE_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb {

// X(enumerator, spelling in a schema). `Class` is any other type, named by its qualified name, as
// "__torch__.torch.classes.ns.Name".
#define SB_FORALL_BASE_TYPES(X)   \
  X(Tensor, "Tensor")             \
  X(Int, "int")                   \
  X(SymInt, "SymInt")             \
  X(Float, "float")               \
  X(Bool, "bool")                 \
  X(Complex, "complex")           \
  X(Scalar, "Scalar")             \
  X(Str, "str")                   \
  X(DType, "ScalarType")          \
  X(Layout, "Layout")             \
  X(MemoryFormat, "MemoryFormat") \
  X(Device, "Device")             \
  X(Generator, "Generator")       \
  X(Storage, "Storage")           \
  X(Class, "")

enum class BaseType : uint8_t {
#define SB_BASE(name, text) name,
  SB_FORALL_BASE_TYPES(SB_BASE)
#undef SB_BASE
};

// The base of that spelling; nullopt where it is none of the named ones.
constexpr std::optional<BaseType> find_base_type(std::string_view name) {
  // In steps that cost a compiler little, as it asks this for every operator that a file sees.
  const char* const first = name.data();
  const size_t size = name.size();
  if (size == 0) return std::nullopt;
#define SB_BASE(enumerator, text) \
  if (size == sizeof(text) - 1 && *first == text[0] && name == text) return BaseType::enumerator;
  SB_FORALL_BASE_TYPES(SB_BASE)
#undef SB_BASE
  return std::nullopt;
}

// A type without the lengths of its lists and the names of its classes, in 32 bits: what decides
// the C++ type. The base is in the low 8 bits; then two bits a modifier, the innermost lowest.
using TypeCode = uint32_t;
enum class TypeModifier : uint8_t { None, Optional, List };

constexpr TypeCode type_code(BaseType base) { return static_cast<TypeCode>(base); }
constexpr BaseType base_of(TypeCode code) { return static_cast<BaseType>(code & 0xff); }
// The outermost modifier, and the code without it.
constexpr TypeModifier outer_modifier(TypeCode code) {
  for (int shift = 14; shift >= 8; shift -= 2)
    if ((code >> shift) & 3) return static_cast<TypeModifier>((code >> shift) & 3);
  return TypeModifier::None;
}
constexpr TypeCode without_outer(TypeCode code) {
  for (int shift = 14; shift >= 8; shift -= 2)
    if ((code >> shift) & 3) return code & ~(TypeCode{3} << shift);
  return code;
}

// `code` with one more modifier outside the others; `T??` is `T?`. At most four are kept; deeper
// nesting than any schema has gives kDeepType, which has no C++ type.
inline constexpr TypeCode kDeepType = ~TypeCode{0};
constexpr TypeCode with_modifier(TypeCode code, TypeModifier modifier) {
  if (code == kDeepType) return kDeepType;
  if (modifier == TypeModifier::Optional && outer_modifier(code) == modifier) return code;
  for (int shift = 8; shift < 16; shift += 2) {
    if (((code >> shift) & 3) == 0) return code | (static_cast<TypeCode>(modifier) << shift);
  }
  return kDeepType;
}
// The longest sized list, `int[N]`, that a schema may have: a number given for such a list is
// repeated N times.
inline constexpr int64_t kMaxSizedList = 1024;

// A schema type in full.
struct Type {
  struct Modifier {
    TypeModifier kind = TypeModifier::None;
    std::optional<int64_t> length;  // of a sized list, `int[2]`
    std::string to_string() const;  // "?", "[]" or "[2]"
    bool operator==(const Modifier&) const = default;
  };

  BaseType base = BaseType::Tensor;
  std::string class_name;           // of a Class
  std::vector<Modifier> modifiers;  // innermost first: `int[2]?` is {List 2, Optional}

  TypeCode code() const;
  bool is_optional() const {
    return !modifiers.empty() && modifiers.back().kind == TypeModifier::Optional;
  }
  // Returns whether it is a list, or an optional list.
  bool is_list() const;
  // Returns whether a value of it can hold a tensor: Tensor under any modifiers.
  bool has_tensor() const { return base == BaseType::Tensor; }
  // As the schema spells it: "Tensor?[]", "int[2]?".
  std::string to_string() const;
  bool operator==(const Type&) const = default;
};

// "Tensor?[]": a code as a schema would spell it.
std::string to_string(TypeCode code);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_TYPE_H_
