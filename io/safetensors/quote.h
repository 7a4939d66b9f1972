// Names from files, fit for a message.

#ifndef SWITCHBOARD_IO_SAFETENSORS_QUOTE_H_
#define SWITCHBOARD_IO_SAFETENSORS_QUOTE_H_

#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sb::io {

// Debian's Abseil keeps its own string_view.
inline absl::string_view to_absl(std::string_view text) { return {text.data(), text.size()}; }

// 'text', with control characters escaped and its end left out where it is long: a name that a
// hostile file chose can neither rewrite a terminal nor flood it.
inline std::string quote(std::string_view text) {
  constexpr size_t kShown = 120;
  const absl::string_view shown = to_absl(text.substr(0, kShown));
  return absl::StrCat("'", absl::CHexEscape(shown), shown.size() < text.size() ? "'..." : "'");
}

// A message that may show names as they are, with what is not ASCII text escaped, and its end left
// out where it is long.
inline std::string escape_message(std::string_view message) {
  constexpr size_t kShown = 400;
  const absl::string_view shown = to_absl(message.substr(0, kShown));
  return absl::StrCat(absl::StrReplaceAll(absl::CHexEscape(shown), {{"\\'", "'"}, {"\\\"", "\""}}),
                      shown.size() < message.size() ? "..." : "");
}

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_QUOTE_H_
