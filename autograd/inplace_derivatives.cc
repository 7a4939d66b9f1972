#include "switchboard/autograd/inplace_derivatives.h"

#include <mutex>

#include "absl/container/flat_hash_set.h"

namespace sb::internal {
namespace {

struct Names {
  std::mutex mutex;
  absl::flat_hash_set<std::string> names;
};
// Never destroyed: calls may come while the program ends.
Names& own_derivatives() {
  static Names* const names = new Names;
  return *names;
}

}  // namespace

void note_own_derivative(std::string_view op) {
  const std::lock_guard<std::mutex> lock(own_derivatives().mutex);
  own_derivatives().names.emplace(op);
}

bool has_own_derivative(const std::string& op) {
  const std::lock_guard<std::mutex> lock(own_derivatives().mutex);
  return own_derivatives().names.contains(op);
}

}  // namespace sb::internal
