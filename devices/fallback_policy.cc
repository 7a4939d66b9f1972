#include "switchboard/devices/fallback_policy.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "switchboard/core/error.h"

namespace sb {
namespace {

constinit std::atomic<bool> allowed_for_others{true};
constinit std::atomic<int> forbidding_scopes{0};

// Never destroyed: operators may be called after static destruction.
struct Exceptions {
  std::mutex mutex;
  std::map<std::string, bool, std::less<>> by_op;
  // So that nobody pays for exceptions that there are not.
  std::atomic<size_t> count{0};
};
Exceptions& exceptions() {
  static Exceptions& exceptions = *new Exceptions;
  return exceptions;
}

}  // namespace

void set_cpu_fallback_allowed(bool allowed) {
  allowed_for_others.store(allowed, std::memory_order_relaxed);
}
bool is_cpu_fallback_allowed() {
  return allowed_for_others.load(std::memory_order_relaxed) &&
         forbidding_scopes.load(std::memory_order_relaxed) == 0;
}

ForbidCpuFallback::ForbidCpuFallback() {
  forbidding_scopes.fetch_add(1, std::memory_order_relaxed);
}
ForbidCpuFallback::~ForbidCpuFallback() {
  forbidding_scopes.fetch_sub(1, std::memory_order_relaxed);
}

void set_cpu_fallback_allowed_for(std::string_view op, std::optional<bool> allowed) {
  const size_t colons = op.find("::");
  SB_CHECK_VALUE(
      colons != std::string_view::npos && colons != 0 && colons + 2 < op.size(),
      "set_cpu_fallback_allowed_for: expected a name such as \"aten::add.Tensor\", got \"", op,
      "\"");
  Exceptions& all = exceptions();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (allowed)
    all.by_op.insert_or_assign(std::string(op), *allowed);
  else
    all.by_op.erase(std::string(op));
  all.count.store(all.by_op.size(), std::memory_order_relaxed);
}

bool is_cpu_fallback_allowed_for(std::string_view op) {
  Exceptions& all = exceptions();
  if (all.count.load(std::memory_order_relaxed) != 0) {
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.by_op.find(op);
    if (found != all.by_op.end()) return found->second;
  }
  return is_cpu_fallback_allowed();
}

}  // namespace sb
