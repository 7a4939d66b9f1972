// Destroys tables and kernels once no call on another thread can be using them.
//
// Registrations replace tables while other threads call. A call takes no lock and counts nothing
// that threads share: it notes, in a word of its own thread, that a call is under way, before it
// looks at anything that a registration could take away. A registration hands what it takes away to
// retire(), and it is destroyed once every thread was seen without a call under way. The price is
// paid on that side: a barrier on all threads of the process (membarrier, of Linux 4.14), at
// registrations that follow calls. Nothing more is destroyed where the system has no such barrier,
// and once a thread has called an operator from the destructor of a pthread key, after its
// thread_local variables are gone.

#ifndef SWITCHBOARD_DISPATCH_RECLAIM_H_
#define SWITCHBOARD_DISPATCH_RECLAIM_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace sb::internal {

// Counts the calls under way on this thread, one inside the other. The highest bit is set while the
// thread is not known to retire(): until its first call, and while it ends.
inline constexpr uint32_t kUnknownThread = uint32_t{1} << 31;
inline constinit thread_local std::atomic<uint32_t> calls_under_way{kUnknownThread};

[[gnu::cold]] void know_this_thread();

// Says that a call is under way on this thread. What an operator's atomic pointers gave inside of
// the scope stays alive until its end.
class CallPin {
 public:
  CallPin() {
    const uint32_t calls = calls_under_way.load(std::memory_order_relaxed) + 1;
    calls_under_way.store(calls, std::memory_order_relaxed);
    if (calls & kUnknownThread) [[unlikely]]
      know_this_thread();
    // The processor's part of this fence is the other side's.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~CallPin() {
    calls_under_way.store(calls_under_way.load(std::memory_order_relaxed) - 1,
                          std::memory_order_release);
  }
  CallPin(const CallPin&) = delete;
  CallPin& operator=(const CallPin&) = delete;
};

// Destroys `object` at a later reclaim(), once every call that is now under way on any thread has
// ended. No new call may find it. Thread-safe.
void retire(std::shared_ptr<const void> object);

// Destroys what has been retired and is out of use. Destructors run on this thread, which must hold
// no lock of a dispatcher.
void reclaim();

// Counts the retired objects that still wait; for tests.
size_t retired_objects();

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_RECLAIM_H_
