// The way of a call: through modes, rules, transforms and kernels that pass it on, to the kernel
// that computes. Nothing runs.
//
// A kernel's code is no data. What it does with a call, besides, its owner says here, beside the
// registration of the kernel:
//
//   SB_LIBRARY_IMPL(_, Conjugate, m) { m.fallback(resolve); }
//   const ExplainFallback resolving(DispatchKey::Conjugate, [](CallPath& path, const PathCall& c) {
//     path.enter(c.op, c.keys & DispatchKeySet::below(DispatchKey::Conjugate), c.arguments);
//   });
//
// Where nobody has said it, the way ends at a kernel of a backend and at a composite kernel. A
// fallback, and a kernel at any other key, "decides".
//
// Where all kernels at a key go on in one way, the owner of the key says it once
// (ExplainConvention). Those at BackendSelect go on with the device that is given. Derivatives,
// which are those in folders of that name and those of register_autograd(), go on below autograd
// and ADInplaceOrView.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_CALL_PATH_H_
#define SWITCHBOARD_DISPATCH_INSPECT_CALL_PATH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/inspect/computed_table.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {

// What a call comes to on its way.
struct PathStep {
  enum class Kind : uint8_t {
    Kernel,   // at a key; traces show it
    KeyRule,  // a higher-order operator's own rule at a key
    Other,    // a mode, a rule for one, a function transform, a function that was given
  };
  enum class Onward : uint8_t {
    Ends,     // here: it computes
    GoesOn,   // with the next step
    Decides,  // by code of its own, which may go on with the next step, if there is one
    Fails,    // there is no kernel, or what is there cannot be called
  };
  Kind kind = Kind::Kernel;
  Onward onward = Onward::Ends;
  std::string op;  // "aten::add.Tensor"; on its way a call may become one of another operator
  // Of a kernel or a key rule: the slot. Of another step: what it is, "mode LoggingMode".
  TableRow row = {};
  std::string what = {};
};

// A call that has come to a kernel or a mode.
struct PathCall {
  const OperatorHandle& op;
  DispatchKeySet keys;     // that the kernel gets
  const Stack& arguments;  // on its end
};

// Takes the steps of a call, in order.
class CallPath {
 public:
  const std::vector<PathStep>& steps() const { return steps_; }

  // For those who say how calls go on. It goes on as redispatch_boxed(keys, arguments), or as a
  // call of its own, call_boxed(arguments), on this thread as it is: guards that the kernel has
  // while it calls are held here too. Both at most once in one explanation.
  void enter(const OperatorHandle& op, DispatchKeySet keys, const Stack& arguments);
  void call(const OperatorHandle& op, const Stack& arguments);
  // The last step's own code decides; what is said next is one way that it may take.
  void decides();
  // The call ends in an error there, for that reason.
  void fails(const std::string& why);
  // Something that is no kernel: "mode LoggingMode".
  void passes(const std::string& op, std::string what);
  void add(PathStep step);

 private:
  std::vector<PathStep> steps_;
};

// "AutogradCPU  runs, and goes on  ops/add.cc:31  [autograd kernel, from Autograd]": a line for
// each step, and one before those of another operator. What comes after a step that decides "may
// run".
std::string to_string(const std::vector<PathStep>& path);

using ExplainCall = void (*)(CallPath& path, const PathCall& call);

// Says how calls go on from the backend fallback that is registered at a key (of a functionality or
// an alias: at each of its keys) in the same source file. A constant of the program, made as it
// starts; calls never read it.
class ExplainFallback {
 public:
  ExplainFallback(DispatchKey key, ExplainCall explain,
                  SourceLocation where = SourceLocation::current());
  ExplainFallback(const ExplainFallback&) = delete;
  ExplainFallback& operator=(const ExplainFallback&) = delete;
};

// The same for the operators' own kernels that are registered at a key in the same source file.
class ExplainKernels {
 public:
  ExplainKernels(DispatchKey key, ExplainCall explain,
                 SourceLocation where = SourceLocation::current());
  ExplainKernels(const ExplainKernels&) = delete;
  ExplainKernels& operator=(const ExplainKernels&) = delete;
};

// The same, for those who register kernels for their callers: of all that is registered in the
// file of `where`, or at that very place. May be said again and again.
void explain_kernels(DispatchKey key, ExplainCall explain, SourceLocation where);
void explain_kernel(DispatchKey key, ExplainCall explain, SourceLocation where);

// The same for the operators' own kernels at a key wherever they are registered: what all do that
// are put there. What ExplainKernels says of those of a file comes first.
class ExplainConvention {
 public:
  ExplainConvention(DispatchKey key, ExplainCall explain);
  ExplainConvention(const ExplainConvention&) = delete;
  ExplainConvention& operator=(const ExplainConvention&) = delete;
};

namespace internal {
// "runs", "runs, and goes on", "may run, and decides", "fails: no kernel".
std::string_view verdict_text(const PathStep& step, bool certain = true);
// Why a slot without a kernel cannot be entered: "fails: no kernel", "fails: ambiguous", "fails:
// refused".
std::string_view missing_text(const TableRow& row);
// The lines of the steps from `first` on.
std::string path_text(const std::vector<PathStep>& path, size_t first);
// Whether calls with these argument keys run a CompositeImplicitAutograd kernel.
bool is_implicit_composite(const OperatorHandle& op, DispatchKeySet keys);
// The functionalities whose kernels on a backend calls pass over; under the dispatcher's lock.
DispatchKeySet passed_over_on(const OperatorEntry& entry, Backend backend);
// The keys of a call with these keys of arguments, by an operator's kernels of this moment; under
// the dispatcher's lock.
DispatchKeySet call_keys(const OperatorEntry& entry, DispatchKeySet arguments);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_CALL_PATH_H_
