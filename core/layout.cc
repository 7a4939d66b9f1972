#include "switchboard/core/layout.h"

#include <algorithm>
#include <iterator>

namespace sb {
namespace {

// In the order of the enumerators.
constexpr std::string_view kLayouts[] = {"strided", "sparse_coo", "sparse_csr", "_mkldnn"};
constexpr std::string_view kFormats[] = {"contiguous_format", "preserve_format", "channels_last",
                                         "channels_last_3d"};

template <class E, size_t N>
std::string_view name_of(const std::string_view (&names)[N], E value) {
  const size_t i = static_cast<size_t>(value);
  return i < N ? names[i] : "unknown";
}

template <class E, size_t N>
std::optional<E> find_in(const std::string_view (&names)[N], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<E>(found - std::begin(names));
}

}  // namespace

std::string_view to_string(Layout layout) { return name_of(kLayouts, layout); }
std::string_view to_string(MemoryFormat format) { return name_of(kFormats, format); }
std::ostream& operator<<(std::ostream& out, Layout layout) { return out << to_string(layout); }
std::ostream& operator<<(std::ostream& out, MemoryFormat f) { return out << to_string(f); }
std::optional<Layout> find_layout(std::string_view name) { return find_in<Layout>(kLayouts, name); }
std::optional<MemoryFormat> find_memory_format(std::string_view name) {
  return find_in<MemoryFormat>(kFormats, name);
}

}  // namespace sb
