#include "switchboard/dispatch/objects/qualified_name.h"

#include <string>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb {

OperatorName parse_qualified_name(std::string_view text) {
  auto check = [&](bool good, std::string_view fault) {
    SB_CHECK_VALUE(good, "operator name '", text, "': ", fault,
                   "; expected 'namespace::name' or 'namespace::name.overload'");
  };
  const size_t colons = text.find("::");
  check(colons != std::string_view::npos, "no namespace");
  const std::string_view ns = text.substr(0, colons);
  std::string_view name = text.substr(colons + 2);
  check(name.find(':') == std::string_view::npos, "more than one '::'");
  std::string_view overload;
  if (const size_t dot = name.find('.'); dot != std::string_view::npos) {
    overload = name.substr(dot + 1);
    name = name.substr(0, dot);
    check(overload.find('.') == std::string_view::npos, "more than one '.'");
    check(is_identifier(overload), "the overload is not an identifier");
  }
  check(is_identifier(ns), "the namespace is not an identifier");
  check(is_identifier(name), "the name is not an identifier");
  if (overload == "default") overload = {};
  return {std::string(text.substr(0, colons + 2)).append(name), std::string(overload)};
}

}  // namespace sb
