#include "switchboard/dispatch/objects/library_handle.h"

#include <map>
#include <mutex>
#include <utility>

namespace sb::internal {
namespace {

// Those of all handles. Never destroyed, as a released handle leaves its library here.
struct Libraries {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::map<const Library*, std::unique_ptr<Library>> all;
};
Libraries& libraries() {
  static Libraries* const libraries = new Libraries;
  return *libraries;
}

}  // namespace

RegistrationHandle library_handle(std::unique_ptr<Library> library) {
  const Library* const key = library.get();
  {
    const std::lock_guard<std::mutex> lock(libraries().mutex);
    libraries().all.emplace(key, std::move(library));
  }
  return RegistrationHandle([key] {
    std::unique_ptr<Library> closing;  // without the lock, as it may own other handles
    const std::lock_guard<std::mutex> lock(libraries().mutex);
    const auto found = libraries().all.find(key);
    closing = std::move(found->second);
    libraries().all.erase(found);
  });
}

}  // namespace sb::internal
