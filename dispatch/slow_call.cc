#include "switchboard/dispatch/slow_call.h"

#include <string>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {
namespace {

// "argument 0 'self' {CPU, AutogradCPU}; argument 1 'other' {Meta}": the tensors of a call.
std::string describe_arguments(const OperatorEntry& entry, const Stack& stack) {
  const FunctionSchema& schema = entry.schema();
  const size_t n = schema.arguments.size();
  std::vector<std::string> parts;
  for (size_t i = 0; i < n && n <= stack.size(); ++i) {
    stack[stack.size() - n + i].for_each_tensor([&](const Tensor& t) {
      parts.push_back(
          str_cat("argument ", i, " '", schema.arguments[i].name, "' ", to_string(t.key_set())));
    });
  }
  return parts.empty() ? "no tensor arguments" : absl::StrJoin(parts, "; ");
}

[[noreturn, gnu::cold]] void throw_no_kernel(const OperatorEntry& entry, DispatchKeySet keys,
                                             const Stack& stack) {
  const DispatchKey key = keys.highest_key();
  const std::string op = entry.name().to_string();
  const std::string key_name(to_string(key));
  const Resolution why = entry.dispatcher().resolve(entry, key);
  if (why.rule == ResolutionRule::AmbiguousAutogradOther) {
    SB_THROW(RuntimeError, op, ": ambiguous at AutogradOther: it has a CompositeImplicitAutograd ",
             "kernel and a kernel of a backend without an autograd key of its own; registered: ",
             entry.dispatcher().describe_kernels(entry),
             "; a kernel at AutogradOther resolves it; ", describe_arguments(entry, stack));
  }
  SB_THROW(NotImplementedError, op, ": no kernel for ", key_name, "; ",
           describe_arguments(entry, stack),
           "; registered: ", entry.dispatcher().describe_kernels(entry),
           "; to mend it, register a kernel for this operator, or a fallback, at ", key_name);
}

}  // namespace

void run_boxed(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys, Stack* stack) {
  SB_CHECK(stack->size() >= entry->num_arguments(), entry->name().to_string(), ": expected ",
           entry->num_arguments(), " values on the stack, got ", stack->size());
  if (!kernel) throw_no_kernel(*entry, keys, *stack);
  ObservedCall observed(entry, keys, kernel);
  run_unobserved(entry, kernel, keys, stack);
}

void throw_wrong_returns(const OperatorEntry& entry, int64_t left) {
  SB_THROW(RuntimeError, entry.name().to_string(), ": a boxed kernel left ", left,
           " values on the stack, the schema has ", entry.num_returns(), " returns");
}

OperatorEntry* bind_typed_op(std::string_view name, const CppSignature& signature,
                             std::atomic<TableHolder*>* holder) {
  TableHolder* const held = holder->load(std::memory_order_acquire);
  if (held != &unbound_op) {
    OperatorEntry* const entry = static_cast<OperatorEntry*>(held);
    if (!entry->dead()) return entry;
  }
  const OperatorHandle op = default_dispatcher().find_op_or_throw(name);
  op.entry().check_signature(signature);
  holder->store(&op.entry(), std::memory_order_release);
  return &op.entry();
}

}  // namespace sb::internal
