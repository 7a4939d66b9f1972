#include "switchboard/dispatch/schema/type.h"

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

std::string_view base_name(BaseType base) {
  switch (base) {
#define SB_BASE(name, text) \
  case BaseType::name:      \
    return text;
    SB_FORALL_BASE_TYPES(SB_BASE)
#undef SB_BASE
  }
  return "";
}

}  // namespace

TypeCode Type::code() const {
  TypeCode code = type_code(base);
  for (const Modifier& m : modifiers) code = with_modifier(code, m.kind);
  return code;
}

bool Type::is_list() const {
  size_t n = modifiers.size();
  while (n > 0 && modifiers[n - 1].kind == TypeModifier::Optional) --n;
  return n > 0;
}

std::string Type::to_string() const {
  std::string out(base == BaseType::Class ? class_name : base_name(base));
  for (const Modifier& m : modifiers) out += m.to_string();
  return out;
}

std::string Type::Modifier::to_string() const {
  if (kind == TypeModifier::Optional) return "?";
  return length ? str_cat("[", *length, "]") : "[]";
}

std::string to_string(TypeCode code) {
  if (code == kDeepType) return "(deeply nested type)";
  const BaseType base = base_of(code);
  std::string out(base == BaseType::Class ? "class" : base_name(base));
  for (int shift = 8; shift < 16; shift += 2) {
    const auto modifier = static_cast<TypeModifier>((code >> shift) & 3);
    if (modifier == TypeModifier::Optional) out += '?';
    if (modifier == TypeModifier::List) out += "[]";
  }
  return out;
}

}  // namespace sb
