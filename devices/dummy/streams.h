// The streams of both devices, and when their work runs.

#ifndef SWITCHBOARD_DEVICES_DUMMY_STREAMS_H_
#define SWITCHBOARD_DEVICES_DUMMY_STREAMS_H_

#include <memory>
#include <string>

#include "switchboard/devices/dummy/stream_queue.h"
#include "switchboard/devices/event_impl.h"
#include "switchboard/devices/stream.h"

namespace sb::dummy {

// Of each device: the default stream, 0, and those of the pool.
inline constexpr StreamId kStreamCount = 5;

// Sets and returns whether operators return only when their work is done, as with
// CUDA_LAUNCH_BLOCKING=1; true at first, unless the environment says SB_DUMMY_LAUNCH_BLOCKING=0.
// While it is false, the work runs on the stream's thread, and its errors come with the next
// synchronisation. For all threads; work that is under way stays so. Thread-safe, as everything
// here.
void set_launch_blocking(bool blocking);
bool launch_blocking();

// Lets operators of all threads return before their work is done, for a scope, and waits for it at
// the end. Errors that are left over then are dropped: synchronise first. Scopes of different
// threads must not overlap.
class AsynchronousLaunches {
 public:
  AsynchronousLaunches();
  ~AsynchronousLaunches();
  AsynchronousLaunches(const AsynchronousLaunches&) = delete;
  AsynchronousLaunches& operator=(const AsynchronousLaunches&) = delete;

 private:
  bool before_;
};

// Gives an operator's work to a stream, which exists. Runs it at once, on this thread, where
// launches block and the stream is idle; otherwise in the stream's order. Throws what the work
// throws, or, where it waited for a stream that was not idle, as synchronize_stream.
void run_on_stream(Stream stream, std::string op, Work work);
// The stream's later work waits for the work that `other` has now.
void wait_for_stream(Stream stream, Stream other);

bool is_idle(Stream stream);
// Wait for work, and throw the first error of the device's, whichever stream it failed in.
// RuntimeError in the work of a stream.
void synchronize_stream(Stream stream);
void synchronize_device(int8_t index);

// What the device guard says of streams and events. `index` and streams exist.
Stream current_stream_of(int8_t index);
void make_current(Stream stream) noexcept;
Stream next_pool_stream(int8_t index);
std::unique_ptr<EventImpl> make_event();

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_STREAMS_H_
