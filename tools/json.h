// JSON as commands print it.

#ifndef SWITCHBOARD_TOOLS_JSON_H_
#define SWITCHBOARD_TOOLS_JSON_H_

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sb::tools {

using Json = nlohmann::ordered_json;

// With a line feed at its end. Text that is no UTF-8 has question marks in it.
inline std::string to_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
// A number that JSON does not have is text: "inf", "nan".
inline Json or_null(const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return value ? Json(*value) : Json();
  return std::isnan(*value) ? "nan" : *value < 0 ? "-inf" : "inf";
}

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_JSON_H_
