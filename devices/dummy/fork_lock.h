// A lock that the child of a fork finds free.

#ifndef SWITCHBOARD_DEVICES_DUMMY_FORK_LOCK_H_
#define SWITCHBOARD_DEVICES_DUMMY_FORK_LOCK_H_

#include <pthread.h>

#include <mutex>

namespace sb::dummy {

// Takes `mutex()` around every fork from now on: a stream's thread may have it, and the child has
// no such thread. For mutexes that live as long as the process; once for each.
template <auto mutex>
void hold_across_forks() {
  pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
}

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_FORK_LOCK_H_
