// A text that travels between ranks in a fixed number of bytes.

#ifndef SWITCHBOARD_DISTRIBUTED_TEXT_LINE_H_
#define SWITCHBOARD_DISTRIBUTED_TEXT_LINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace sb {

using TextLine = std::array<char, 512>;

// Ends in a zero; what is longer ends in dots.
inline TextLine text_line(std::string_view text) {
  TextLine line{};
  const size_t n = std::min(text.size(), line.size() - 1);
  std::copy_n(text.data(), n, line.begin());
  if (n < text.size()) std::fill_n(line.begin() + n - 3, 3, '.');
  return line;
}

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_TEXT_LINE_H_
