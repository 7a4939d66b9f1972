#include "switchboard/core/print/warning.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace sb {
namespace {

struct Current {
  absl::Mutex mutex;
  std::shared_ptr<const WarningHandler> handler;  // null: standard error
};
Current& current() {
  static Current* const current = new Current;
  return *current;
}

}  // namespace

void warn(const std::string& text) {
  std::shared_ptr<const WarningHandler> handler;
  {
    absl::MutexLock lock(&current().mutex);
    handler = current().handler;
  }
  // Without the lock: a handler may warn, or replace itself.
  if (handler)
    (*handler)(text);
  else
    std::fprintf(stderr, "warning: %s\n", text.c_str());
}

WarningHandler set_warning_handler(WarningHandler handler) {
  auto next = handler ? std::make_shared<const WarningHandler>(std::move(handler)) : nullptr;
  absl::MutexLock lock(&current().mutex);
  next.swap(current().handler);
  return next ? *next : nullptr;
}

}  // namespace sb
