// A fake call that may be answered from the cache.

#ifndef SWITCHBOARD_FAKE_CACHED_CALL_H_
#define SWITCHBOARD_FAKE_CACHED_CALL_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/typed_frame.h"
#include "switchboard/fake/dispatch_cache.h"

namespace sb::internal {

class FakeMode;
struct FakeArguments;
struct FakeOp;

// Gives what the cache remembers for the arguments on the end of the stack, or else runs the call
// and has the cache remember it, if it can. Reasons against remembering are counted, and looked for
// only where the cache has nothing. As `FakeTensorMode._cached_dispatch_impl`.
void run_cached(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                const FakeArguments& arguments, Stack* stack, absl::FunctionRef<void()> run);

// Gives what the cache remembers for a call, or changes nothing, counts nothing and returns false.
// A call on a stack must have nothing special among its arguments; a typed one is looked through,
// and may have symbols.
bool give_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                     const TypedFrame& frame);
bool give_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts, Stack* stack);

// Whether run_cached() would give what the cache remembers, for these arguments.
bool is_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                   const FakeArguments& arguments, absl::Span<const IValue> given);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CACHED_CALL_H_
