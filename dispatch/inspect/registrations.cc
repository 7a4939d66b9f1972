#include "switchboard/dispatch/inspect/registrations.h"

namespace sb {

std::vector<std::string> registrations_at(const Dispatcher& dispatcher, DispatchKey key) {
  const std::vector<OperatorHandle> ops = dispatcher.all_ops();
  std::vector<std::string> names;
  dispatcher.inspect([&] {
    for (const OperatorHandle& op : ops)
      if (!op.entry().kernels_at(key).empty()) names.push_back(op.name().to_string());
  });
  return names;
}

}  // namespace sb
