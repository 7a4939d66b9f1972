// Runs blocks of registrations (SB_LIBRARY): at program start, or one after the other when a plugin
// has been loaded.

#ifndef SWITCHBOARD_DISPATCH_STATIC_LIBRARY_H_
#define SWITCHBOARD_DISPATCH_STATIC_LIBRARY_H_

#include <memory>
#include <optional>
#include <vector>

#include "switchboard/dispatch/library.h"

namespace sb::internal {

// One SB_LIBRARY block.
struct StaticBlock {
  LibraryKind kind;
  const char* ns;
  std::optional<DispatchKey> key;
  void (*fill)(Library&);
  SourceLocation where;
};

class StaticBlocks {
 public:
  // Fills a library for each block, in order, and gives them back. If one fails, what the earlier
  // ones registered is undone, and the error names the block.
  static std::vector<std::unique_ptr<Library>> fill(const std::vector<StaticBlock>& blocks);
};

// Collects the blocks that this thread meets in a scope, instead of running them: an exception must
// not leave the dynamic linker, which runs them. Scopes nest.
class CollectStaticBlocks {
 public:
  CollectStaticBlocks();
  ~CollectStaticBlocks();
  CollectStaticBlocks(const CollectStaticBlocks&) = delete;
  CollectStaticBlocks& operator=(const CollectStaticBlocks&) = delete;

  std::vector<StaticBlock> take() { return std::move(blocks_); }

 private:
  friend class StaticLibrary;
  std::vector<StaticBlock> blocks_;
  CollectStaticBlocks* outer_;
};

// Leaves a library open until the process ends: calls may come until then. Thread-safe.
void keep_open(std::unique_ptr<Library> library);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_STATIC_LIBRARY_H_
