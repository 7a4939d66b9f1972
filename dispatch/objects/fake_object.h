// Operators that take objects of registered classes, and the fake stand-ins of such objects.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_FAKE_OBJECT_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_FAKE_OBJECT_H_

#include <string>
#include <string_view>

#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// A stand-in for an object of a class while a program is traced or runs on fake tensors: of the
// same class for schemas, but no kernel can use it. As `FakeScriptObject`.
class FakeObject : public OpaqueObject {
 public:
  explicit FakeObject(std::string class_name);
  std::string_view class_name() const override { return class_name_; }

 private:
  std::string class_name_;
};

// Returns whether some argument on the end of the stack is a FakeObject, in a list too.
bool has_fake_object(const OperatorHandle& op, const Stack& stack);

// Calls an operator on fake stand-ins. Kernels do not run: at each key, highest first, the mode
// that is active, or the operator's own rule (OperatorBase), handles the call. Keys above the
// backends without a kernel or a rule are passed over, and so are fallthroughs, those too that were
// registered since. Throws RuntimeError if only a kernel is left; but a kernel at Meta, as fake
// rules are, takes stand-ins of classes derived from FakeObject, which have a state of their own.
// As `TorchBindOpOverload._dispatch_in_python`. Every boxed call with a stand-in comes here by
// itself: of an OperatorHandle or OpOverload, of a mode, of a graph that runs; and every
// redispatch, with its own keys.
void call_with_fake_objects(const OperatorHandle& op, Stack* stack);
// The same at one key, which may be an alias key.
void call_with_fake_objects_at(const OperatorHandle& op, DispatchKey key, Stack* stack);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_FAKE_OBJECT_H_
