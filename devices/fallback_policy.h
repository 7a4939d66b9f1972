// Decides which operators may run on the CPU for a device that has no kernel for them.

#ifndef SWITCHBOARD_DEVICES_FALLBACK_POLICY_H_
#define SWITCHBOARD_DEVICES_FALLBACK_POLICY_H_

#include <optional>
#include <string_view>

namespace sb {

// For all devices and threads; true at first. While it is false, a call that reaches cpu_fallback
// throws NotImplementedError, which finds the operators that a device still lacks. Thread-safe, as
// everything here; calls under way go on.
void set_cpu_fallback_allowed(bool allowed);
// False, too, in any ForbidCpuFallback.
bool is_cpu_fallback_allowed();

// The same for one operator, by its name with the overload ("aten::sort.stable"), whatever holds
// for the others; nullopt: as the others. It need not exist (yet). ValueError for a name without a
// namespace.
void set_cpu_fallback_allowed_for(std::string_view op, std::optional<bool> allowed);
bool is_cpu_fallback_allowed_for(std::string_view op);

// Forbids the fallback for a scope, in all threads, but for the operators that are allowed by name.
// Scopes of one thread and of several may overlap.
class ForbidCpuFallback {
 public:
  ForbidCpuFallback();
  ~ForbidCpuFallback();
  ForbidCpuFallback(const ForbidCpuFallback&) = delete;
  ForbidCpuFallback& operator=(const ForbidCpuFallback&) = delete;
};

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_FALLBACK_POLICY_H_
