// absl::StrCat for our text, which is std::string_view.

#ifndef SWITCHBOARD_CORE_STR_CAT_H_
#define SWITCHBOARD_CORE_STR_CAT_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace sb {

namespace internal {
// Debian's Abseil has a string_view of its own, which does not convert from the standard one.
inline absl::string_view as_str_cat_part(std::string_view v) { return {v.data(), v.size()}; }
template <class T>
requires(!std::is_convertible_v<const T&, std::string_view>) const T& as_str_cat_part(const T& v) {
  return v;
}
}  // namespace internal

// Joins strings and numbers, as absl::StrCat does; takes std::string_view too.
template <class... Parts>
std::string str_cat(const Parts&... parts) {
  return absl::StrCat(internal::as_str_cat_part(parts)...);
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_STR_CAT_H_
