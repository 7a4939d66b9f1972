#include "switchboard/io/exported/parse_notes.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/json_tensor_meta.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {

void ParseNotes::check_members(const JsonValue& json, std::string_view what,
                               std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : json.members())
    if (std::ranges::find(known, name) == known.end())
      warnings_.insert(str_cat("unknown field ", quote(name), " of ", what, " is ignored"));
}

Expression ParseNotes::parse_sym(const JsonValue& json, std::string_view plain) {
  const auto [tag, value] = json.only_member();
  if (tag == plain) {
    if (tag == "as_int") return Expression(value.to_int());
    if (tag == "as_bool")
      return Expression(std::make_shared<ExpressionTerm>(
          ExpressionTerm{ExpressionTerm::Kind::Bool, int64_t{value.to_bool()}}));
    return Expression(std::make_shared<ExpressionTerm>(
        ExpressionTerm{ExpressionTerm::Kind::Float, 0, value.to_double()}));
  }
  if (tag != "as_expr") json.fail("unknown tag ", quote(tag));
  check_members(value, "a symbolic expression", {"expr_str", "hint"});
  const JsonValue text = value.at("expr_str");
  const auto [found, fresh] = parsed_.try_emplace(text.to_string());
  if (fresh) {
    try {
      found->second = Expression::parse(text.to_string());
    } catch (const NotImplementedError& error) {
      text.fail<NotImplementedError>(error.what());
    } catch (const Error& error) {
      text.fail(error.what());
    }
  }
  const Expression& expression = found->second;
  if (const auto symbol = expression.symbol())
    if (const auto hint = value.find("hint"))
      if (const auto number = hint->find("as_int"))
        hints_.emplace(*symbol, SymValue::of_int(number->to_int()));
  return expression;
}

ValueMeta ParseNotes::parse_value_meta(const JsonValue& json) {
  check_members(
      json, "a tensor's metadata",
      {"dtype", "sizes", "requires_grad", "device", "strides", "storage_offset", "layout"});
  const auto parse_all = [&](std::string_view member, const char* what) {
    std::vector<Expression> list;
    for (const JsonValue& element : json.at(member).elements()) {
      list.push_back(parse_sym(element, "as_int"));
      if (list.back().is_constant() && list.back().constant() < 0)
        element.fail(what, " is negative: ", list.back().constant());
    }
    return list;
  };
  ValueMeta meta{.dtype = parse_scalar_type(json.at("dtype")),
                 .sizes = parse_all("sizes", "a size"),
                 .strides = parse_all("strides", "a stride")};
  if (meta.strides.size() != meta.sizes.size())
    json.fail(meta.sizes.size(), " sizes but ", meta.strides.size(), " strides");
  if (const auto requires_grad = json.find("requires_grad"))
    meta.requires_grad = requires_grad->to_bool();
  parse_layout(json.at("layout"));
  parse_device(json.at("device"));
  if (!meta.is_static()) return meta;
  try {
    meta.at();
  } catch (const Error& error) {
    json.fail(error.what());
  }
  return meta;
}

}  // namespace sb::io
