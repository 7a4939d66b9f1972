// absl::StrCat for our text, which is std::string_view.

#ifndef SWITCHBOARD_CORE_STR_CAT_H_
#define SWITCHBOARD_CORE_STR_CAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace sb {

namespace internal {

// Compiled once, in str_cat.cc: absl::StrCat would be compiled for each list of types that a
// message is made of, and for each length of a literal.
void append_part(std::string* text, std::string_view part);
void append_part(std::string* text, int64_t part);
void append_part(std::string* text, uint64_t part);
void append_part(std::string* text, double part);

// True if Wide holds every T. Not of char, which might be meant as a number: Abseil refuses it.
template <class T, class Wide>
inline constexpr bool widens_to =
    std::is_arithmetic_v<T> && !std::is_same_v<T, char> &&
    std::is_floating_point_v<T> == std::is_floating_point_v<Wide> &&
    std::is_signed_v<T> == std::is_signed_v<Wide> && sizeof(T) <= sizeof(Wide);

template <class T>
void append_any(std::string* text, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    append_part(text, std::string_view(part));
  } else if constexpr (widens_to<T, int64_t>) {
    append_part(text, static_cast<int64_t>(part));
  } else if constexpr (widens_to<T, uint64_t>) {
    append_part(text, static_cast<uint64_t>(part));
  } else if constexpr (widens_to<T, double>) {
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
