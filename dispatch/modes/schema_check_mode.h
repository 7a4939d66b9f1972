// A mode that finds operators that write, or share memory, without their schemas saying so.

#ifndef SWITCHBOARD_DISPATCH_MODES_SCHEMA_CHECK_MODE_H_
#define SWITCHBOARD_DISPATCH_MODES_SCHEMA_CHECK_MODE_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/modes/mode.h"

namespace sb {

struct SchemaCheckOptions {
  // A copy on the CPU of a tensor whose memory cannot be read here. Without it, what happens to
  // the data of such tensors is only seen where the write was counted (Tensor::version).
  std::function<Tensor(const Tensor&)> to_cpu = nullptr;
};

// Lets each call that reaches it go on, and compares what happened with the schema. As
// `SchemaCheckMode`. Throws RuntimeError, after the call, if
//
// - an argument that is not declared as written, `Tensor(a!)`, has other elements, sizes, strides,
//   offset, dtype or storage than before. Elements may differ where it shared its storage with an
//   argument that is declared so. Elements are compared as bytes, so that a NaN is itself;
// - a result shares the storage of an argument and no alias set, `(a)`, that both have, nor a
//   wildcard, `(*)`, says so; it may share it through another argument on the same storage;
// - a result is an argument that is not declared as written: operators below autograd return views,
//   not their inputs. Those that autograd goes through may, as they belong above: with a kernel at
//   CompositeImplicitAutograd, or Tag::derived_through;
// - two results share storage and no alias set says so.
//
// Results may share memory in spite of the schema where the operator says so by
// Tag::maybe_aliasing_or_mutating, or has a kernel at CompositeImplicitAutograd: the operators that
// such a kernel calls are checked.
// Meta and fake tensors have no data: only their metadata and storages are compared. A call
// that throws is not checked. For one thread at a time.
class SchemaCheckMode : public DispatchMode {
 public:
  explicit SchemaCheckMode(SchemaCheckOptions options = {}) : options_(std::move(options)) {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "SchemaCheckMode"; }
  // Higher-order operators have no schema to check; what their functions call is checked.
  bool only_watches() const override { return true; }
  bool is_schema_check() const override { return true; }

  // The operators whose calls went through, in order.
  const std::vector<std::string>& checked() const { return checked_; }
  // Lists what they declared and did, as "aten::add_.Tensor: argument 0 'self' was written to" and
  // "aten::view: result 0 shares the storage of argument 0 'self'".
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Call;

  SchemaCheckOptions options_;
  std::vector<std::string> checked_;
  std::vector<std::string> notes_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_SCHEMA_CHECK_MODE_H_
