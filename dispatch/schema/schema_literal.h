// Schema strings at compile time: an operator's C++ signature from its schema literal.
//
// This reads only what C++ needs to know: the types and names of arguments and returns, and the
// text of the defaults. A literal that it cannot read does not compile; everything else about a
// schema is checked by the run-time parser when the operator is registered.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_

#include <cstddef>
#include <string_view>

#include "switchboard/dispatch/schema/type.h"

namespace sb {

struct SchemaLiteral {
  struct Value {
    TypeCode type = 0;
    std::string_view name;   // of a return: may be empty
    size_t list_length = 0;  // of a sized list, `int[2]`; 0 where there is none
    bool has_default = false;
    bool is_aliased = false;  // has an alias annotation: `Tensor(a)`
    bool is_written = false;  // `Tensor(a!)`
    std::string_view default_text;
  };

  std::string_view name;  // "aten::add.Tensor"
  size_t num_arguments = 0;
  size_t num_returns = 0;
  const Value* arguments = nullptr;
  const Value* returns = nullptr;

  // Arguments that a call must give: all but the trailing ones with defaults.
  constexpr size_t num_required() const {
    size_t n = num_arguments;
    while (n > 0 && arguments[n - 1].has_default) --n;
    return n;
  }
};

namespace internal {

// Room for the arguments and the returns of a schema.
consteval size_t max_schema_values(std::string_view text) {
  size_t n = 2;
  const char* const s = text.data();
  const size_t end = text.size();
  for (size_t i = 0; i != end; ++i) n += s[i] == ',';
  return n;
}

template <size_t n>
struct SchemaValues {
  SchemaLiteral::Value values[n];  // the arguments, then the returns
  size_t name_length = 0;
  size_t num_arguments = 0;
  size_t num_returns = 0;
};

// Characters that end a word.
struct WordEnds {
  constexpr WordEnds() {
    for (char c : {' ', '(', ')', '?', '[', ']', ',', '='}) at[static_cast<size_t>(c)] = true;
  }
  bool at[128] = {};
};
inline constexpr WordEnds word_ends;

// One function that looks at each character once, as the compiler evaluates it for every operator
// that a file sees. A throw in a constant expression is a compile error at the literal.
template <size_t n>
consteval SchemaValues<n> read_schema(std::string_view text) {
  SchemaValues<n> schema{};
  const char* const s = text.data();
  const size_t end = text.size();
  size_t i = 0, count = 0;
  char c = 0;  // s[i]
  while (c != '(') {
    if (i == end) throw "the schema lacks its arguments";
    c = s[i++];
  }
  schema.name_length = i - 1;
  bool returns = false, one_return = false;
  while (true) {
    do {
      if (i == end) throw "the schema ends too early";
      c = s[i++];
    } while (c == ' ' || c == ',' || c == '*');
    if (c == ')') {
      if (returns) break;
      returns = true;
      schema.num_arguments = count;
      do {
        if (i == end) throw "the schema lacks '->'";
        c = s[i++];
      } while (c == ' ' || c == '-');
      if (c != '>') throw "the schema lacks '->'";
      do {
        if (i == end) throw "the schema lacks its returns";
        c = s[i++];
      } while (c == ' ');
      one_return = c != '(';
      if (one_return) --i;
      continue;
    }
    if (count == n) throw "the schema has too many values";
    SchemaLiteral::Value& value = schema.values[count++];
    size_t word = i - 1;
    while (i != end && !word_ends.at[static_cast<size_t>(c = s[i])]) ++i;
    value.type = type_code(find_base_type({s + word, i - word}).value_or(BaseType::Class));
    while (i != end && c != ' ' && c != ',' && c != ')') {
      if (c == '(') {  // alias annotation
        value.is_aliased = true;
        while (++i != end && (c = s[i]) != ')')
          if (c == '!') value.is_written = true;
      } else if (c == '?') {
        value.type = with_modifier(value.type, TypeModifier::Optional);
      } else if (c == '[') {
        size_t length = 0;
        while (++i != end && (c = s[i]) != ']') length = length * 10 + static_cast<size_t>(c - '0');
        value.list_length = length;
        value.type = with_modifier(value.type, TypeModifier::List);
      } else {
        throw "the schema has an unexpected character";
      }
      if (++i < end) c = s[i];
    }
    if (one_return) break;
    if (i == end || c != ' ') continue;
    word = ++i;
    while (i != end && !word_ends.at[static_cast<size_t>(c = s[i])]) ++i;
    value.name = {s + word, i - word};
    if (i == end || c != '=') continue;
    value.has_default = true;
    word = ++i;
    char quote = 0;
    for (int depth = 0; i != end; ++i) {
      c = s[i];
      if (quote) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']') {
        --depth;
      } else if (depth == 0 && (c == ',' || c == ')')) {
        break;
      }
    }
    value.default_text = {s + word, i - word};
  }
  schema.num_returns = count - schema.num_arguments;
  return schema;
}

template <class Tag>
inline constexpr auto schema_values = read_schema<max_schema_values(Tag::schema)>(Tag::schema);

// The schema of an operator's tag.
template <class Tag>
inline constexpr SchemaLiteral schema_literal{
    Tag::schema.substr(0, schema_values<Tag>.name_length), schema_values<Tag>.num_arguments,
    schema_values<Tag>.num_returns, schema_values<Tag>.values,
    schema_values<Tag>.values + schema_values<Tag>.num_arguments};

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_
