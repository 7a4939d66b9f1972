// A call trace as a file that ui.perfetto.dev and chrome://tracing open.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_CHROME_TRACE_H_
#define SWITCHBOARD_DISPATCH_INSPECT_CHROME_TRACE_H_

#include <iosfwd>
#include <memory>
#include <string>

#include "switchboard/dispatch/inspect/trace.h"

namespace sb {

// Writes the JSON array of the Trace Event Format: a complete event ("X") a kernel, named after its
// operator, with times in microseconds since the trace was opened and the key, the kernel's place
// and the depth as arguments ("threw": true if it threw). Thread-safe.
//
// Closing writes kernels that are still running, with the time until then and "unfinished": true,
// and makes the file whole; the viewers also open one that a crash cut short.
class ChromeTrace final : public TraceSink {
 public:
  // Replaces the file. Throws RuntimeError that names it if it cannot be written.
  explicit ChromeTrace(const std::string& path);
  // Writes to `out`, which must outlive the trace.
  explicit ChromeTrace(std::ostream& out);
  // Closes; an error is lost.
  ~ChromeTrace() override;

  // Ends the trace; what comes later is left out. Throws RuntimeError if not everything could be
  // written. Idempotent.
  void close();

  void kernel_started(const TraceEvent& event) override;
  void kernel_ended(const TraceEvent& event) override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_CHROME_TRACE_H_
