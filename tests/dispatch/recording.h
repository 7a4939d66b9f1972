// What the tests of this folder are written with: one operator in a dispatcher of its own, whose
// kernels write down that they ran.

#ifndef SWITCHBOARD_TESTS_DISPATCH_RECORDING_H_
#define SWITCHBOARD_TESTS_DISPATCH_RECORDING_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {

// The kernels that ran, in order. "CPU" is the kernel registered at CPU, at work for CPU; a kernel
// that a rule put into the slot of another key is "CompositeExplicitAutograd for CPU".
using Log = std::vector<std::string>;

// A boxed kernel that writes itself into a log, and then ends the call or passes it on below the
// key that it runs for.
struct RecordingKernel {
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const;

  Log* log;
  std::string label;
  bool passes = false;
};

// The operator demo::f, which returns nothing.
class Recorder {
 public:
  explicit Recorder(std::string_view schema = "f(Tensor[] xs, Tensor? y=None) -> ()");
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Registers kernels that end the call, that pass it on, or that fall through. The log calls a
  // kernel by the key that it is registered at.
  Recorder& ends_at(std::initializer_list<DispatchKey> keys);
  Recorder& passes_at(std::initializer_list<DispatchKey> keys);
  Recorder& falls_through_at(std::initializer_list<DispatchKey> keys);
  // Registers backend fallbacks; the log calls them "fallback".
  Recorder& fallback_at(std::initializer_list<DispatchKey> keys);
  Recorder& fallback_falls_through_at(std::initializer_list<DispatchKey> keys);
  // A kernel of any label, for a library that the test makes itself.
  RecordingKernel kernel(std::string label, bool passes = false) { return {&log_, label, passes}; }

  // Calls the operator, and tells what ran.
  Log call(Stack arguments);
  // The same with one tensor of exactly these keys, and for a set that a kernel would pass on.
  Log call(DispatchKeySet keys) { return call(one_tensor(keys)); }
  Log redispatch(DispatchKeySet keys);
  // Those that ran in the last call, if it threw.
  const Log& log() const { return log_; }

  // The rule that fills the slot of a key, as `sb table` spells it: "math kernel".
  std::string rule(DispatchKey key) const;
  // Every runtime key whose slot is filled by that rule, lowest first.
  std::vector<DispatchKey> keys_by(std::string_view rule) const;

  Dispatcher& dispatcher() { return dispatcher_; }
  Library& library() { return library_; }
  const OperatorHandle& op() const { return op_; }

 private:
  Stack one_tensor(DispatchKeySet keys) const;

  Log log_;
  Dispatcher dispatcher_;
  Library library_;
  Library fallbacks_;
  OperatorHandle op_;
};

}  // namespace sb

#endif  // SWITCHBOARD_TESTS_DISPATCH_RECORDING_H_
