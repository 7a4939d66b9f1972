#include "switchboard/dispatch/schema/type.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

using Modifier = Type::Modifier;
constexpr Modifier kOptional{TypeModifier::Optional, std::nullopt};
constexpr Modifier kList{TypeModifier::List, std::nullopt};
constexpr Modifier kPair{TypeModifier::List, 2};

Type type_of(BaseType base, std::vector<Modifier> modifiers = {}) {
  return {base, "", std::move(modifiers)};
}

TEST_CASE("a base type is found by its spelling in a schema", "[dispatch][type]") {
  CHECK(find_base_type("Tensor") == BaseType::Tensor);
  CHECK(find_base_type("ScalarType") == BaseType::DType);
  CHECK(find_base_type("SymInt") == BaseType::SymInt);
  CHECK(find_base_type("tensor") == std::nullopt);
  CHECK(find_base_type("") == std::nullopt);  // not the spelling of a class
}

TEST_CASE("a type is spelled as its base with modifiers from the inside out", "[dispatch][type]") {
  CHECK(type_of(BaseType::Tensor).to_string() == "Tensor");
  CHECK(type_of(BaseType::Tensor, {kOptional, kList}).to_string() == "Tensor?[]");
  CHECK(type_of(BaseType::Tensor, {kList, kOptional}).to_string() == "Tensor[]?");
  CHECK(type_of(BaseType::Int, {kPair, kOptional}).to_string() == "int[2]?");
  CHECK(Type{BaseType::Class, "__torch__.torch.classes.ns.Name", {kOptional}}.to_string() ==
        "__torch__.torch.classes.ns.Name?");
}

TEST_CASE("a type code keeps what decides the C++ type, and no list length", "[dispatch][type]") {
  const Type sized = type_of(BaseType::Int, {kPair, kOptional});
  const Type unsized = type_of(BaseType::Int, {kList, kOptional});
  CHECK(sized.code() == unsized.code());
  CHECK(sized != unsized);
  CHECK(to_string(sized.code()) == "int[]?");
  CHECK(type_of(BaseType::Tensor, {kOptional, kList}).code() !=
        type_of(BaseType::Tensor, {kList, kOptional}).code());
}

TEST_CASE("a type code is taken apart from the outside in", "[dispatch][type]") {
  const TypeCode code = type_of(BaseType::Tensor, {kOptional, kList}).code();
  CHECK(base_of(code) == BaseType::Tensor);
  CHECK(outer_modifier(code) == TypeModifier::List);
  CHECK(outer_modifier(without_outer(code)) == TypeModifier::Optional);
  CHECK(without_outer(without_outer(code)) == type_code(BaseType::Tensor));
  CHECK(outer_modifier(type_code(BaseType::Int)) == TypeModifier::None);
  CHECK(without_outer(type_code(BaseType::Int)) == type_code(BaseType::Int));
}

TEST_CASE("an optional of an optional is the same optional", "[dispatch][type]") {
  const TypeCode once = with_modifier(type_code(BaseType::Int), TypeModifier::Optional);
  CHECK(with_modifier(once, TypeModifier::Optional) == once);
}

TEST_CASE("a type nested deeper than a code holds has the deep code", "[dispatch][type]") {
  CHECK(type_of(BaseType::Int, {kList, kList, kList, kList}).code() != kDeepType);
  const TypeCode deep = type_of(BaseType::Int, {kList, kList, kList, kList, kList}).code();
  CHECK(deep == kDeepType);
  CHECK(with_modifier(deep, TypeModifier::Optional) == kDeepType);
  CHECK(to_string(kDeepType) == "(deeply nested type)");
}

TEST_CASE("an optional list is a list, a list of optionals is not optional", "[dispatch][type]") {
  CHECK(type_of(BaseType::Int, {kList, kOptional}).is_list());
  CHECK(type_of(BaseType::Int, {kList, kOptional}).is_optional());
  CHECK(type_of(BaseType::Int, {kOptional, kList}).is_list());
  CHECK_FALSE(type_of(BaseType::Int, {kOptional, kList}).is_optional());
  CHECK_FALSE(type_of(BaseType::Int, {kOptional}).is_list());
}

}  // namespace
}  // namespace sb
