// absl::StrCat for our text, which is std::string_view.

#ifndef SWITCHBOARD_CORE_STR_CAT_H_
#define SWITCHBOARD_CORE_STR_CAT_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace sb {

namespace internal {

// Elsewhere, as every message is made of these: absl::StrCat would be compiled for each list of
// types, and for each length of a literal.
void append_part(std::string* text, std::string_view part);
void append_part(std::string* text, int64_t part);
void append_part(std::string* text, uint64_t part);
void append_part(std::string* text, double part);

template <class T>
void append_any(std::string* text, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    append_part(text, std::string_view(part));
  } else if constexpr (std::signed_integral<T> && !std::same_as<T, char>) {
    append_part(text, static_cast<int64_t>(part));
  } else if constexpr (std::unsigned_integral<T> && !std::same_as<T, char>) {
    append_part(text, static_cast<uint64_t>(part));
  } else if constexpr (std::floating_point<T>) {
    append_part(text, static_cast<double>(part));
  } else {
    absl::StrAppend(text, part);
  }
}

}  // namespace internal

// Joins strings and numbers, as absl::StrCat does; takes std::string_view too.
template <class... Parts>
std::string str_cat(const Parts&... parts) {
  std::string text;
  (internal::append_any(&text, parts), ...);
  return text;
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_STR_CAT_H_
