// Schema strings at compile time: an operator's C++ signature from its schema literal.
//
// This reads only what C++ needs to know: the types and names of arguments and returns, and the
// text of the defaults. A literal that it cannot read does not compile; everything else about a
// schema is checked by the run-time parser when the operator is registered.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "switchboard/dispatch/schema/type.h"

namespace sb {

struct SchemaLiteral {
  static constexpr size_t kMaxArguments = 32;
  static constexpr size_t kMaxReturns = 8;

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
  std::array<Value, kMaxArguments> arguments{};
  std::array<Value, kMaxReturns> returns{};

  // Arguments that a call must give: all but the trailing ones with defaults.
  constexpr size_t num_required() const {
    size_t n = num_arguments;
    while (n > 0 && arguments[n - 1].has_default) --n;
    return n;
  }
};

namespace internal {

class SchemaLiteralParser {
 public:
  consteval explicit SchemaLiteralParser(std::string_view text) : text_(text) {}

  consteval SchemaLiteral parse() {
    SchemaLiteral schema;
    while (peek() != '(') ++pos_;
    schema.name = text_.substr(0, pos_);
    expect('(');
    while (!accept(')')) {
      if (accept('*')) {
        accept(',');
        continue;
      }
      SchemaLiteral::Value& argument = schema.arguments.at(schema.num_arguments++);
      argument.type = type(&argument);
      argument.name = identifier();
      if (accept('=')) {
        argument.has_default = true;
        argument.default_text = default_text();
      }
      accept(',');
    }
    expect('-');
    expect('>');
    if (accept('(')) {
      while (!accept(')')) {
        SchemaLiteral::Value& result = schema.returns.at(schema.num_returns++);
        result.type = type(&result);
        result.name = identifier();
        accept(',');
      }
    } else {
      SchemaLiteral::Value& result = schema.returns.at(schema.num_returns++);
      result.type = type(&result);
    }
    return schema;
  }

 private:
  static constexpr bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }
  // A throw in a constant expression is a compile error at the literal.
  consteval char peek() {
    if (pos_ >= text_.size()) throw "the schema ends too early";
    return text_[pos_];
  }
  consteval void skip_spaces() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  consteval bool accept(char c) {
    skip_spaces();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  consteval void expect(char c) {
    if (!accept(c)) throw "the schema has an unexpected character";
  }
  consteval std::string_view identifier() {
    skip_spaces();
    const size_t begin = pos_;
    while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
    return text_.substr(begin, pos_ - begin);
  }
  // Notes the list's length and the annotation in `value`.
  consteval TypeCode type(SchemaLiteral::Value* value) {
    const std::string_view name = identifier();
    if (name.empty()) throw "the schema lacks a type";
    TypeCode code = type_code(find_base_type(name).value_or(BaseType::Class));
    while (pos_ < text_.size()) {
      if (accept_here('(')) {  // alias annotation
        value->is_aliased = true;
        for (; peek() != ')'; ++pos_) value->is_written = value->is_written || text_[pos_] == '!';
        ++pos_;
      } else if (accept_here('?')) {
        code = with_modifier(code, TypeModifier::Optional);
      } else if (accept_here('[')) {
        size_t length = 0;
        for (; peek() != ']'; ++pos_) length = length * 10 + static_cast<size_t>(peek() - '0');
        ++pos_;
        value->list_length = length;
        code = with_modifier(code, TypeModifier::List);
      } else {
        break;
      }
    }
    return code;
  }
  consteval bool accept_here(char c) {
    if (text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  consteval std::string_view default_text() {
    skip_spaces();
    const size_t begin = pos_;
    int depth = 0;
    char quote = 0;
    while (true) {
      const char c = peek();
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
      ++pos_;
    }
    return text_.substr(begin, pos_ - begin);
  }

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace internal

consteval SchemaLiteral parse_schema_literal(std::string_view text) {
  return internal::SchemaLiteralParser(text).parse();
}

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_LITERAL_H_
