// How many kernels ran at which key.

#ifndef SWITCHBOARD_TOOLS_CALL_COUNTER_H_
#define SWITCHBOARD_TOOLS_CALL_COUNTER_H_

#include <cstdint>
#include <map>

#include "switchboard/dispatch/slow_call.h"

namespace sb::tools {

// Kernels by the runtime key that they ran for: CPU, PrivateUse1, AutogradCPU, ...
using KernelCounts = std::map<DispatchKey, int64_t>;

// Counts this thread's kernels while it lives. The observer before it goes on seeing them.
class CallCounter : public CallObserver {
 public:
  CallCounter() : next_(dispatch_tls.observer), observe_(this) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override {
    ++counts_[keys.highest_key()];
    if (next_) next_->enter(op, keys, kernel);
  }
  void leave(const OperatorEntry& op, DispatchKeySet keys) override {
    if (next_) next_->leave(op, keys);
  }
  const KernelCounts& counts() const { return counts_; }

 private:
  KernelCounts counts_;
  CallObserver* next_;
  ObserveCalls observe_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_CALL_COUNTER_H_
