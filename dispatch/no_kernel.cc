#include "switchboard/dispatch/no_kernel.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/alias_keys.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb::internal {
namespace {

using K = DispatchKey;

// "argument 0 'x' is on cuda", of the first tensor that has the key; "" if none has.
[[gnu::cold]] std::string argument_with(K key, const FunctionSchema& schema, const Stack& stack) {
  const size_t n = schema.arguments.size();
  std::string text;
  for (size_t i = 0; i < n && n <= stack.size() && text.empty(); ++i) {
    stack[stack.size() - n + i].for_each_tensor([&](const Tensor& t) {
      if (!text.empty() || !t.key_set().has(key)) return;
      // A device says more than a key, where it is the device that gives the key.
      const bool from_device = dispatch_key_of(t.device().type) == key;
      text = str_cat("argument ", i, " '", schema.arguments[i].name, "' ",
                     from_device ? str_cat("is on ", to_string(t.device())) : "has that key");
    });
  }
  return text;
}

// "argument 0 'x' is an undefined tensor", of the first that is; "" if none is.
[[gnu::cold]] std::string undefined_argument(const FunctionSchema& schema, const Stack& stack) {
  const size_t n = schema.arguments.size();
  for (size_t i = 0; i < n && n <= stack.size(); ++i) {
    bool undefined = false;
    stack[stack.size() - n + i].for_each_tensor(
        [&](const Tensor& t) { undefined |= !t.defined(); });
    if (undefined)
      return str_cat("argument ", i, " '", schema.arguments[i].name, "' is an undefined tensor");
  }
  return "";
}

// Whether the call that fails is the first on this thread's stack: nobody but the program has then
// said what the thread excludes.
bool is_outermost_call() {
  return (calls_under_way.load(std::memory_order_relaxed) & ~kUnknownThread) <= 1;
}

// What the program may have excluded. Inside of another call that is not all that is excluded: a
// kernel for a functionality excludes it, and all above it, before it goes on to a backend. Those
// of backends are excluded by no kernel.
DispatchKeySet excluded_by_program() {
  const DispatchKeySet excluded = dispatch_tls.excluded() | DispatchKeySet::all_backends();
  return is_outermost_call() ? excluded : excluded & DispatchKeySet::below(K::BackendSelect);
}

// The highest key that the arguments have, the program excludes and the operator has a kernel of
// its own for; Undefined if there is none. Where a call goes wrong below a guard, this is what it
// missed. Fallbacks do not count: they compute nothing.
K excluded_kernel(const OperatorEntry& entry, DispatchKeySet arguments) {
  std::vector<K> keys = (arguments & excluded_by_program()).keys();
  std::reverse(keys.begin(), keys.end());
  return entry.dispatcher().inspect([&] {
    for (const K key : keys) {
      const Resolution found = entry.resolve(key);
      if (found.kernel && found.rule != ResolutionRule::BackendFallback &&
          !found.kernel->function.entries.is_fallthrough())
        return key;
    }
    return K::Undefined;
  });
}

[[gnu::cold]] std::string cause(const OperatorEntry& entry, K key, DispatchKeySet arguments,
                                const Stack& stack) {
  if (const std::string text = argument_with(key, entry.schema(), stack); !text.empty())
    return text;
  if (key != K::Undefined)
    return dispatch_tls.included.has(key) ? "this thread includes that key"
                                          : "the caller named that key";
  const std::string undefined = undefined_argument(entry.schema(), stack);
  if (!undefined.empty()) return undefined;
  return arguments.empty() ? "no argument gives a key" : "no key of the arguments is left";
}

// Where a kernel would have served the call, the likeliest place first.
[[gnu::cold]] std::string places(K key) {
  if (key == K::Undefined) return "BackendSelect or CompositeExplicitAutograd";
  const std::string at(to_string(key));
  if (alias_includes(K::CompositeExplicitAutograd, key))
    return at + " or CompositeExplicitAutograd";
  if (alias_includes(K::Autograd, key)) return at + " or Autograd, or a fallback at " + at;
  return str_cat(at, ", or a fallback there");
}

// Kernels of the namespace that nobody has defined an operator for, as after a slip in a name.
[[gnu::cold]] std::string misnamed(const OperatorEntry& entry) {
  const std::vector<std::string> names = entry.dispatcher().dangling_ops(entry.name().ns());
  return names.empty() ? ""
                       : str_cat("\nkernels without a definition: ", absl::StrJoin(names, ", "));
}

}  // namespace

void throw_no_kernel(const OperatorEntry& entry, DispatchKeySet keys, const Stack& stack) {
  const K key = keys.highest_key();
  const DispatchKeySet arguments = entry.argument_keys(stack);
  const std::string why = cause(entry, key, arguments, stack);
  const std::string registered =
      str_cat("\nregistered: ", entry.dispatcher().describe_kernels(entry), misnamed(entry));
  if (entry.dispatcher().resolve(entry, key).rule == ResolutionRule::AmbiguousAutogradOther) {
    SB_THROW(RuntimeError, entry.name().to_string(), ": ambiguous at AutogradOther (", why,
             "), between the CompositeImplicitAutograd kernel and that of a backend without an "
             "autograd key of its own; register one at AutogradOther",
             registered);
  }
  const K excluded = excluded_kernel(entry, arguments);
  const std::string missed = excluded == K::Undefined
                                 ? ""
                                 : str_cat("; this thread excludes ", to_string(excluded),
                                           ", which has one: call it without that, or");
  SB_THROW(NotImplementedError, entry.name().to_string(), ": no kernel for ", to_string(key), " (",
           why, ")", missed.empty() ? ";" : missed, " register one at ", places(key), registered);
}

}  // namespace sb::internal
