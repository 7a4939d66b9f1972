#include "switchboard/fake/creation.h"

#include <execinfo.h>

#include "absl/debugging/symbolize.h"
#include "absl/strings/str_cat.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb {

Creation Creation::of_call(std::string call) {
  constexpr int kMostFrames = 64;
  Creation creation;
  creation.call = std::move(call);
  if (const SymReason* const reason = SymReason::current()) {
    creation.reason = reason->reason();
    creation.where = reason->where();
  }
  creation.stack.resize(kMostFrames);
  // By the unwind tables: the build has no frame pointers, by which Abseil would go.
  const int frames = backtrace(creation.stack.data(), kMostFrames);
  creation.stack.resize(static_cast<size_t>(frames));
  return creation;
}

std::string Creation::to_string() const {
  std::string text = call;
  if (!reason.empty()) {
    absl::StrAppend(&text, "\n  in ", reason, " at ", where.file_name(), ":", where.line());
  }
  for (void* const address : stack) {
    char name[256];
    if (absl::Symbolize(static_cast<char*>(address) - 1, name, sizeof(name))) {
      absl::StrAppend(&text, "\n  ", name);
    }
  }
  return text;
}

}  // namespace sb
