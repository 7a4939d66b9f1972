#include "switchboard/autograd/deep_stack.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <exception>

#include "switchboard/core/error.h"

// Sanitizers must be told of another stack.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sb::internal {
namespace {

constexpr size_t kStackBytes = size_t{8} << 20;

class StackMemory {
 public:
  StackMemory() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    memory_ = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    SB_CHECK(memory_ != MAP_FAILED, "backward: no memory for another stack of ", kStackBytes,
             " bytes");
    // Beyond its end a stack must not grow into what lies there.
    mprotect(memory_, page, PROT_NONE);
  }
  ~StackMemory() { munmap(memory_, kStackBytes); }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  void* data() const { return memory_; }

 private:
  void* memory_;
};

// Tells a sanitizer which stack runs.
class SanitizedSwitch {
 public:
#if defined(__SANITIZE_ADDRESS__)
  void leave_for(const StackMemory& stack) {
    __sanitizer_start_switch_fiber(&fake_, stack.data(), kStackBytes);
  }
  void arrive() { __sanitizer_finish_switch_fiber(nullptr, &caller_, &caller_bytes_); }
  void leave_for_caller() { __sanitizer_start_switch_fiber(nullptr, caller_, caller_bytes_); }
  void return_to_caller() { __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr); }

 private:
  void* fake_ = nullptr;
  const void* caller_ = nullptr;
  size_t caller_bytes_ = 0;
#elif defined(__SANITIZE_THREAD__)
  SanitizedSwitch() : caller_(__tsan_get_current_fiber()), own_(__tsan_create_fiber(0)) {}
  ~SanitizedSwitch() { __tsan_destroy_fiber(own_); }
  // Not instrumented: what is entered as one fiber must not be left as another.
  [[gnu::no_sanitize("thread")]] void leave_for(const StackMemory&) {
    __tsan_switch_to_fiber(own_, 0);
  }
  void arrive() {}
  [[gnu::no_sanitize("thread")]] void leave_for_caller() { __tsan_switch_to_fiber(caller_, 0); }
  void return_to_caller() {}

 private:
  void* caller_;
  void* own_;
#else
  void leave_for(const StackMemory&) {}
  void arrive() {}
  void leave_for_caller() {}
  void return_to_caller() {}
#endif
};

struct Call {
  absl::FunctionRef<void()> f;
  std::exception_ptr error;
  ucontext_t caller;
  SanitizedSwitch sanitized;
};
constinit thread_local Call* starting = nullptr;

[[gnu::no_sanitize("thread")]] void begin_call() {
  Call& call = *starting;
  call.sanitized.arrive();
  try {
    call.f();
  } catch (...) {  // nothing may leave the stack, which ends here
    call.error = std::current_exception();
  }
  call.sanitized.leave_for_caller();
}

}  // namespace

void run_on_new_stack(absl::FunctionRef<void()> f) {
  const StackMemory stack;
  Call call{f, nullptr, {}, {}};
  ucontext_t own;
  SB_ASSERT(getcontext(&own) == 0);
  own.uc_stack.ss_sp = stack.data();
  own.uc_stack.ss_size = kStackBytes;
  own.uc_link = &call.caller;
  makecontext(&own, begin_call, 0);
  starting = &call;
  call.sanitized.leave_for(stack);
  SB_ASSERT(swapcontext(&call.caller, &own) == 0);
  call.sanitized.return_to_caller();
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace sb::internal
