// Layouts and memory formats: the order of a tensor's elements in memory.

#ifndef SWITCHBOARD_CORE_LAYOUT_H_
#define SWITCHBOARD_CORE_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace sb {

// As `torch.layout`. Only strided tensors can be made; the others exist so that schemas and error
// messages can name them.
enum class Layout : uint8_t { Strided, Sparse, SparseCsr, Mkldnn };

// As `torch.memory_format`. Preserve asks for the input's own format.
enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

// "strided", "sparse_coo", ... ; "contiguous_format", "channels_last", ...
std::string_view to_string(Layout layout);
std::string_view to_string(MemoryFormat format);
std::ostream& operator<<(std::ostream& out, Layout layout);
std::ostream& operator<<(std::ostream& out, MemoryFormat format);
std::optional<Layout> find_layout(std::string_view name);
std::optional<MemoryFormat> find_memory_format(std::string_view name);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_LAYOUT_H_
