#include "switchboard/dispatch/schema/schema_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/scalar_type_number.h"
#include "switchboard/dispatch/schema/typed_value.h"

namespace sb {
namespace {

// Limits that no schema comes near, so that a hostile one costs little.
constexpr size_t kMaxText = size_t{1} << 16;
constexpr size_t kMaxModifiers = 16;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Most of a schema is words: a table is quicker than comparisons.
constexpr auto kIsWord = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c)
    table[c] = is_word_start(static_cast<char>(c)) || is_digit(static_cast<char>(c));
  return table;
}();
constexpr bool is_word(char c) { return kIsWord[static_cast<unsigned char>(c)]; }

// Types of PyTorch's that are left out here on purpose.
constexpr std::string_view kRefusedTypes[] = {
    "AnyClassType", "AnyEnumType", "AnyList", "AnyTuple", "Await",    "Capsule",  "Dict",
    "Dimname",      "Future",      "None",    "NoneType", "Optional", "PyObject", "QScheme",
    "Quantizer",    "RRef",        "Stream",  "SymBool",  "SymFloat", "Tuple",    "Union",
};

// Recursive descent over the text, without a token list. Spaces are skipped before a token.
class Parser {
 public:
  // `what` is what an error message calls the text.
  Parser(std::string_view what, std::string_view text) : what_(what), text_(text) {
    SB_CHECK(text.size() <= kMaxText, what, " of ", text.size(), " characters: expected at most ",
             kMaxText);
  }

  FunctionSchema schema() {
    FunctionSchema result;
    result.name = name();
    expect('(');
    result.arguments.reserve(count_arguments());
    if (!take(')')) arguments(result.arguments);
    if (!take("->")) expected("'->'");
    refuse_dots();
    if (!take('(')) {
      return_value(result.returns.emplace_back());
    } else if (!take(')')) {
      do {
        refuse_dots();
        return_value(result.returns.emplace_back());
      } while (take(','));
      if (!take(')')) expected("',' or ')'");
    }
    end();
    return result;
  }

  OperatorName operator_name() {
    OperatorName result = name();
    end();
    return result;
  }

 private:
  // --- characters ---

  // The character at an offset from here, or NUL beyond the end. (NUL is no token's character.)
  char at(size_t offset = 0) const {
    return pos_ + offset < text_.size() ? text_[pos_ + offset] : '\0';
  }
  void skip_spaces() {
    while (is_space(at())) ++pos_;
  }
  bool take(char c) {
    skip_spaces();
    if (at() != c) return false;
    ++pos_;
    return true;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (text_.substr(pos_, token.size()) != token) return false;
    pos_ += token.size();
    return true;
  }
  void expect(char c) {
    if (!take(c)) expected(std::string{'\'', c, '\''});
  }
  // The word at this very place; empty if there is none.
  std::string_view word() {
    const size_t begin = pos_;
    if (!is_word_start(at())) return {};
    size_t end = begin + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    pos_ = end;
    return text_.substr(begin, end - begin);
  }
  std::string_view expect_word(std::string_view what) {
    skip_spaces();
    const std::string_view result = word();
    if (result.empty()) expected(what);
    return result;
  }
  void end() {
    skip_spaces();
    if (pos_ != text_.size()) expected("end of text");
  }

  // --- errors ---

  [[noreturn, gnu::cold, gnu::noinline]] void fail(size_t pos, std::string_view message) const {
    // A long text is shown in part; each byte takes one column.
    constexpr size_t kBefore = 120, kAfter = 60;
    const size_t begin = pos > kBefore ? pos - kBefore : 0;
    const size_t end = std::min(text_.size(), pos + kAfter);
    std::string shown(begin > 0 ? "..." : "");
    const size_t caret = shown.size() + pos - begin;
    for (const char c : text_.substr(begin, end - begin))
      shown += is_space(c) ? ' ' : c > ' ' && c < 0x7f ? c : '?';
    if (end < text_.size()) shown += "...";
    SB_THROW(RuntimeError, what_, " \"", shown, "\": ", message, " at column ", pos + 1, "\n",
             shown, "\n", std::string(caret, ' '), "^");
  }
  [[noreturn, gnu::cold, gnu::noinline]] void expected(std::string_view what) {
    skip_spaces();
    expected_at(pos_, what);
  }
  [[noreturn, gnu::cold, gnu::noinline]] void expected_at(size_t pos, std::string_view what) const {
    fail(pos, str_cat("expected ", what, " but got ", describe(pos)));
  }
  // What stands at a place: "'self'", "'('", "byte 0x00", "end of text".
  std::string describe(size_t pos) const {
    if (pos >= text_.size()) return "end of text";
    const char c = text_[pos];
    size_t end = pos;
    while (end < text_.size() && end < pos + 40 && is_word(text_[end])) ++end;
    if (end > pos) return str_cat("'", text_.substr(pos, end - pos), "'");
    if (c >= ' ' && c < 0x7f) return str_cat("'", std::string_view(&c, 1), "'");
    constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    return std::string("byte 0x") + kHex[byte >> 4] + kHex[byte & 15];
  }
  void refuse_dots() {
    skip_spaces();
    if (at() == '.' && text_.substr(pos_, 3) == "...")
      fail(pos_, "a variable number of values is not supported");
  }

  // --- names ---

  OperatorName name() {
    skip_spaces();
    const size_t begin = pos_;
    expect_word("a name");
    if (at() == ':') {
      ++pos_;
      if (at() != ':') expected("':'");
      ++pos_;
      expect_word_here("a name");
    }
    OperatorName result{std::string(text_.substr(begin, pos_ - begin)), {}};
    if (at() == '.') {
      ++pos_;
      const size_t overload = pos_;
      result.overload = expect_word_here("an overload name");
      if (result.overload == "default" || result.overload.starts_with("__"))
        fail(overload, str_cat("'", result.overload, "' is not a legal overload name"));
    }
    return result;
  }
  // A word without spaces before it, inside of a name.
  std::string_view expect_word_here(std::string_view what) {
    const std::string_view result = word();
    if (result.empty()) expected_at(pos_, what);
    return result;
  }

  // --- arguments and returns ---

  // At least the number of arguments.
  size_t count_arguments() const {
    size_t n = 1;
    for (size_t i = text_.find(',', pos_); i != text_.npos; i = text_.find(',', i + 1)) ++n;
    return n;
  }

  void arguments(std::vector<Argument>& list) {
    bool kwarg_only = false, seen_default = false;
    do {
      skip_spaces();
      const size_t begin = pos_;
      if (take('*')) {
        if (kwarg_only) fail(begin, "a second '*'");
        kwarg_only = true;
        continue;
      }
      refuse_dots();
      Argument& argument = list.emplace_back();
      argument.kwarg_only = kwarg_only;
      type(argument.type, argument.alias);
      skip_spaces();
      const size_t name_pos = pos_;
      argument.name.append(expect_word("an argument's name"));
      for (size_t i = 0; i + 1 < list.size(); ++i) {
        if (list[i].name == argument.name)
          fail(name_pos, str_cat("a second argument '", argument.name, "'"));
      }
      if (take('=')) {
        seen_default = true;
        default_value(argument);
      } else if (seen_default && !kwarg_only &&
                 (!argument.type.is_list() || argument.type.is_optional())) {
        // Lists are exempt, as in PyTorch: old schemas have them.
        fail(name_pos,
             str_cat("argument '", argument.name, "' without a default after one with a default"));
      }
    } while (take(','));
    if (!take(')')) expected("',' or ')'");
  }

  void return_value(Return& result) {
    type(result.type, result.alias);
    skip_spaces();
    result.name.append(word());
  }

  // --- types ---

  void type(Type& type, std::optional<AliasInfo>& alias) {
    skip_spaces();
    const size_t begin = pos_;
    if (at() == '(') fail(pos_, "tuple types are not supported");
    const std::string_view base = expect_word("a type");
    if (const std::optional<BaseType> found = find_base_type(base)) {
      type.base = *found;
    } else if (base == "__torch__") {
      class_type(type, begin);
    } else if (stands_for_any_type(base)) {
      type.base = BaseType::Class;
      type.class_name = base;
    } else {
      refuse_type(begin, base);
    }
    alias_annotation(type, alias);
    while (true) {
      if (take('?')) {
        if (!type.is_optional()) add_modifier(type, {TypeModifier::Optional, std::nullopt});
      } else if (take('[')) {
        Type::Modifier list{TypeModifier::List, std::nullopt};
        if (!take(']')) {
          list.length = list_length();
          expect(']');
        }
        add_modifier(type, list);
        alias_annotation(type, alias);
      } else {
        return;
      }
    }
  }
  void add_modifier(Type& type, Type::Modifier modifier) const {
    if (type.modifiers.size() == kMaxModifiers) fail(pos_ - 1, "a type is nested too deeply");
    type.modifiers.push_back(modifier);
  }
  [[noreturn, gnu::cold]] void refuse_type(size_t pos, std::string_view name) const {
    if (std::find(std::begin(kRefusedTypes), std::end(kRefusedTypes), name) !=
        std::end(kRefusedTypes))
      fail(pos, str_cat("type '", name, "' is not supported"));
    if (name[0] >= 'a' && name[0] <= 'z')
      fail(pos, str_cat("unknown type '", name,
                        "' (a type variable is one letter, with or without digits behind it)"));
    fail(pos, str_cat("unknown type '", name, "'"));
  }

  // __torch__.torch.classes.NAMESPACE.NAME, after its first word.
  void class_type(Type& type, size_t begin) {
    constexpr std::string_view kPrefix = "__torch__.torch.classes.";
    if (text_.substr(begin, kPrefix.size()) != kPrefix)
      fail(begin, str_cat("expected a class type '", kPrefix, "NAMESPACE.NAME' but got '",
                          text_.substr(begin, pos_ - begin), "'"));
    pos_ = begin + kPrefix.size();
    expect_word_here("a namespace");
    if (at() != '.') expected_at(pos_, "'.'");
    ++pos_;
    expect_word_here("a class's name");
    type.base = BaseType::Class;
    type.class_name = text_.substr(begin, pos_ - begin);
  }

  int64_t list_length() {
    skip_spaces();
    const size_t begin = pos_;
    int64_t length = 0;
    while (is_digit(at())) {
      length = std::min(length * 10 + (at() - '0'), kMaxSizedList + 1);
      ++pos_;
    }
    if (pos_ == begin) expected("']' or a list's length");
    if (length > kMaxSizedList)
      expected_at(begin, str_cat("a list's length of at most ", kMaxSizedList));
    return length;
  }

  void alias_annotation(const Type& type, std::optional<AliasInfo>& alias) {
    skip_spaces();
    if (at() == '!' || at() == '(') some_alias_annotation(type, alias);
  }
  [[gnu::noinline]] void some_alias_annotation(const Type& type, std::optional<AliasInfo>& alias) {
    const size_t begin = pos_;
    AliasInfo info;
    if (take('!')) {
      info.before.push_back(str_cat("$", num_fresh_sets_++));
      info.after = info.before;
      info.is_write = true;
    } else {
      ++pos_;
      alias_sets(info.before);
      info.is_write = take('!');
      std::string_view next = info.is_write ? "'->' or ')'" : "'|', '!', '->' or ')'";
      if (take("->")) {
        alias_sets(info.after);
        next = "'|' or ')'";
      } else {
        info.after = info.before;
      }
      if (!take(')')) expected(next);
    }
    if (alias) fail(begin, "a second alias annotation");
    info.position = type.modifiers.size();
    alias = std::move(info);
  }
  void alias_sets(std::vector<std::string>& sets) {
    do {
      if (take('*'))
        sets.emplace_back("*");
      else
        sets.emplace_back(expect_word("an alias set"));
    } while (take('|'));
    if (sets.size() > 1) {
      std::sort(sets.begin(), sets.end());
      sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    }
  }

  // --- default values ---

  // Reads a value and then makes it one of the argument's type.
  void default_value(Argument& argument) {
    skip_spaces();
    const size_t begin = pos_;
    IValue value = literal(argument.type);
    if (internal::widen_literal(argument.type, argument.type.modifiers.size(), &value)) {
      argument.default_value = std::move(value);
    } else {
      fail(begin, str_cat("expected a default value of type ", argument.type.to_string(),
                          " but got ", text_.substr(begin, std::min<size_t>(pos_ - begin, 80))));
    }
  }

  IValue literal(const Type& type, size_t depth = 0) {
    skip_spaces();
    const char c = at();
    if (c == '[') return list_literal(type, depth);
    if (c == '"' || c == '\'') return string_literal(type.base);
    if (is_word_start(c)) return word_literal(type.base);
    if (is_digit(c) || c == '-' || c == '.') return number_literal(type.base);
    expected("a default value");
  }

  IValue list_literal(const Type& type, size_t depth) {
    if (depth == kMaxModifiers) fail(pos_, "a list is nested too deeply");
    ++pos_;
    std::vector<IValue> elements;
    if (take(']')) return IValue(std::move(elements));
    do {
      elements.push_back(literal(type, depth + 1));
    } while (take(','));
    if (!take(']')) expected("',' or ']'");
    return IValue(std::move(elements));
  }

  IValue word_literal(BaseType base) {
    const size_t begin = pos_;
    const std::string_view name = word();
    if (name == "None") return IValue();
    if (name == "True") return IValue(true);
    if (name == "False") return IValue(false);
    switch (base) {
      case BaseType::Int:
        if (name == "Mean") return IValue(1);  // at::Reduction::Mean
        break;
      case BaseType::DType:
        if (const auto dtype = find_dtype(name)) return IValue(*dtype);
        break;
      case BaseType::Layout:
        if (const auto layout = find_layout(name)) return IValue(*layout);
        break;
      case BaseType::MemoryFormat:
        if (const auto format = find_memory_format(name)) return IValue(*format);
        break;
      default:
        break;
    }
    expected_at(begin, "a default value");
  }

  IValue number_literal(BaseType base) {
    const size_t begin = pos_;
    const bool complex = base == BaseType::Complex || base == BaseType::Scalar;
    const IValue first = number(base);
    if (!complex) return enumerator(base, first, begin);
    if (at() == 'j') {
      ++pos_;
      return IValue(std::complex<double>(0, first.to_double()));
    }
    if (at() != '+' && at() != '-') return first;
    if (at() == '+') ++pos_;
    const IValue second = number(base);
    if (at() != 'j') expected_at(pos_, "'j'");
    ++pos_;
    return IValue(std::complex<double>(first.to_double(), second.to_double()));
  }

  // An Int or a Double; always a Double where the schema wants a float.
  IValue number(BaseType base) {
    const bool negative = take('-');
    skip_spaces();
    const size_t begin = pos_;
    bool is_float = base == BaseType::Float || base == BaseType::Complex;
    while (is_digit(at())) ++pos_;
    size_t digits = pos_ - begin;
    if (at() == '.') {
      ++pos_;
      is_float = true;
      while (is_digit(at())) ++pos_, ++digits;
    }
    if (digits == 0) expected_at(begin, "a number");
    if (at() == 'e' || at() == 'E') {
      const size_t sign = at(1) == '+' || at(1) == '-';
      if (is_digit(at(1 + sign))) {
        is_float = true;
        pos_ += 1 + sign;
        while (is_digit(at())) ++pos_;
      }
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + pos_;
    if (is_float) {
      double v = 0;
      if (std::from_chars(first, last, v).ec != std::errc())
        fail(begin, "a number that does not fit double");
      return IValue(negative ? -v : v);
    }
    uint64_t v = 0;
    const auto error = std::from_chars(first, last, v).ec;
    if (error != std::errc() || v > static_cast<uint64_t>(INT64_MAX) + negative)
      fail(begin, "a number that does not fit int64");
    return IValue(static_cast<int64_t>(negative ? 0 - v : v));
  }

  // PyTorch prints a dtype, layout or memory format as its number.
  IValue enumerator(BaseType base, const IValue& value, size_t pos) const {
    if (!value.is_Int()) return value;
    const int64_t i = value.to_int();
    switch (base) {
      case BaseType::DType:
        if (const auto dtype = internal::dtype_of_scalar_type_number(i)) return IValue(*dtype);
        expected_at(pos, "the number of a dtype");
      case BaseType::Layout:
        if (i >= 0 && i <= static_cast<int>(Layout::Mkldnn)) return IValue(static_cast<Layout>(i));
        expected_at(pos, "the number of a layout");
      case BaseType::MemoryFormat:
        if (i >= 0 && i <= static_cast<int>(MemoryFormat::ChannelsLast3d))
          return IValue(static_cast<MemoryFormat>(i));
        expected_at(pos, "the number of a memory format");
      case BaseType::SymInt:
        if (i < -(int64_t{1} << 62)) fail(pos, "a number that does not fit SymInt");
        return value;
      default:
        return value;
    }
  }

  IValue string_literal(BaseType base) {
    const size_t begin = pos_;
    const char quote = at();
    ++pos_;
    std::string value;
    while (at() != quote) {
      if (pos_ == text_.size()) fail(begin, "a string that does not end");
      const char c = at();
      if (c == '\n' || c == '\0') expected_at(pos_, "the end of a string");
      value += c == '\\' ? escape() : c;
      if (c != '\\') ++pos_;
    }
    ++pos_;
    if (base != BaseType::Device) return IValue(std::move(value));
    try {
      return IValue(Device(value));
    } catch (const Error& e) {
      fail(begin, str_cat("expected a device: ", e.what()));
    }
  }
  char escape() {
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    const size_t begin = pos_++;
    if (const size_t i = kLetters.find(at()); i != std::string_view::npos) {
      ++pos_;
      return kMeanings[i];
    }
    int value = 0;
    for (int i = 0; i < 3; ++i) {
      if (at() < '0' || at() > '7') fail(begin, "an unknown escape in a string");
      value = value * 8 + (at() - '0');
      ++pos_;
    }
    if (value > 0xff) fail(begin, "an unknown escape in a string");
    return static_cast<char>(value);
  }

  std::string_view what_, text_;
  size_t pos_ = 0;
  int num_fresh_sets_ = 0;
};

}  // namespace

FunctionSchema parse_schema(std::string_view text) { return Parser("schema", text).schema(); }

// Here because it is a part of the same grammar.
OperatorName OperatorName::parse(std::string_view text) {
  return Parser("operator name", text).operator_name();
}

bool stands_for_any_type(std::string_view name) {
  if (name == "Any") return true;
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_identifier(std::string_view text) {
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9');
}

}  // namespace sb
