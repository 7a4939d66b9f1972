#include "switchboard/dispatch/objects/kept_kernel.h"

#include <algorithm>
#include <optional>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/values/bind_arguments.h"

namespace sb {

KeptKernel::KeptKernel(const OpOverload& op, const Resolution& found)
    : op_(op),
      function_(found.kernel->function),
      where_(found.kernel->where),
      registered_at_(found.source),
      id_(found.kernel->id),
      is_fallback_(found.rule == ResolutionRule::BackendFallback) {}

// A fallback is not asked for, as an operator's kernel over it may hide that it is gone.
bool KeptKernel::is_registered() const {
  const OperatorEntry& entry = op_.handle().entry();
  if (entry.dead()) return false;
  if (is_fallback_) return true;
  return entry.dispatcher().inspect([&] {
    const auto kernels = entry.kernels_at(registered_at_);
    return std::ranges::any_of(kernels, [&](const RegisteredKernel& k) { return k.id == id_; });
  });
}

void KeptKernel::call_boxed(DispatchKeySet keys, Stack* stack) const {
  SB_CHECK(is_registered(), op_.name(), ": the kept kernel at ", to_string(registered_at_),
           " is no longer registered; keep the library open that has it\nit was registered at: ",
           to_string(where_));
  function_.entries.boxed(function_.entries, op_.handle(), keys, stack);
}

Arguments KeptKernel::call(DispatchKeySet keys, Arguments positional,
                           KeywordArguments keyword) const {
  Stack stack = bind_arguments(op_.schema(), std::move(positional), std::move(keyword));
  call_boxed(keys, &stack);
  return stack;
}

KeptKernel get_kernel(const OpIdentifier& op, DispatchKey key) {
  const OpOverload found = lookup_op(op);
  SB_CHECK_VALUE(is_runtime_key(key), "get_kernel: ", found.name(),
                 ": expected a runtime key, as CPU, got ", to_string(key));
  const OperatorEntry& entry = found.handle().entry();
  return entry.dispatcher().inspect([&] {
    const Resolution resolution = entry.resolve(key);
    SB_CHECK(resolution.kernel && !resolution.kernel->function.entries.is_refusal() &&
                 !resolution.kernel->function.entries.is_fallthrough(),
             "get_kernel: ", found.name(), ": no kernel for ", to_string(key), " (",
             to_string(resolution.rule), "); registered: ", entry.describe_kernels());
    return KeptKernel(found, resolution);
  });
}

KeptKernel get_kernel(const OpIdentifier& op, std::string_view key) {
  const std::optional<DispatchKey> found = find_dispatch_key(key);
  SB_CHECK_VALUE(found.has_value(), "get_kernel: ", op.name().to_string(), ": '", key,
                 "' is no dispatch key");
  return get_kernel(op, *found);
}

}  // namespace sb
