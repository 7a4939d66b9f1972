#include "switchboard/core/layout.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("layouts and memory formats are found by PyTorch's names", "[core][layout]") {
  for (Layout l : {Layout::Strided, Layout::Sparse, Layout::SparseCsr, Layout::Mkldnn}) {
    CHECK(find_layout(to_string(l)) == l);
  }
  for (MemoryFormat f : {MemoryFormat::Contiguous, MemoryFormat::Preserve,
                         MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    CHECK(find_memory_format(to_string(f)) == f);
  }
  CHECK(to_string(Layout::Sparse) == "sparse_coo");
  CHECK(to_string(MemoryFormat::ChannelsLast) == "channels_last");
  CHECK(find_layout("dense") == std::nullopt);
  CHECK(find_memory_format("") == std::nullopt);
}

}  // namespace
}  // namespace sb
