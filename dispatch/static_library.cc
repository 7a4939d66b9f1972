#include "switchboard/dispatch/static_library.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {
namespace {

constinit thread_local CollectStaticBlocks* collecting = nullptr;

}  // namespace

CollectStaticBlocks::CollectStaticBlocks() : outer_(std::exchange(collecting, this)) {}
CollectStaticBlocks::~CollectStaticBlocks() { collecting = outer_; }

std::vector<std::unique_ptr<Library>> StaticBlocks::fill(const std::vector<StaticBlock>& blocks) {
  std::vector<std::unique_ptr<Library>> libraries;
  for (const StaticBlock& block : blocks) {
    try {
      libraries.push_back(std::make_unique<Library>(block.kind, block.ns, block.key, block.where));
      libraries.back()->origin_ = DefinitionOrigin::Static;
      libraries.back()->allow_override(false);
      block.fill(*libraries.back());
    } catch (const std::exception& error) {
      while (!libraries.empty()) libraries.pop_back();
      const std::string context = str_cat(to_string(block.where), ": registration failed: ");
      if (const auto* ours = dynamic_cast<const Error*>(&error))
        rethrow_with_context(*ours, context);
      SB_THROW(RuntimeError, context, error.what());
    }
  }
  return libraries;
}

void keep_open(std::unique_ptr<Library> library) {
  static std::mutex mutex;
  static auto* const open = new std::vector<std::unique_ptr<Library>>;
  std::lock_guard<std::mutex> lock(mutex);
  open->push_back(std::move(library));
}

StaticLibrary::StaticLibrary(LibraryKind kind, const char* ns, std::optional<DispatchKey> key,
                             void (*fill)(Library&), SourceLocation where) {
  const StaticBlock block{kind, ns, key, fill, where};
  if (collecting) {
    collecting->blocks_.push_back(block);
    return;
  }
  try {
    for (auto& library : StaticBlocks::fill({block})) keep_open(std::move(library));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

}  // namespace sb::internal
