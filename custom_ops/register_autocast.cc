#include "switchboard/custom_ops/register_autocast.h"

#include <memory>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/library_handle.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb {
namespace {

class AutocastKernel {
 public:
  AutocastKernel(DispatchKey key, DeviceType device_type, DType dtype)
      : key_(key), device_type_(device_type), dtype_(dtype) {}

  DType dtype() const { return dtype_; }

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const ExcludeKeysGuard off{DispatchKeySet(key_)};
    const std::vector<Argument>& arguments = op.schema().arguments;
    const size_t base = stack->size() - arguments.size();
    for (size_t i = 0; i < arguments.size(); ++i) {
      (*stack)[base + i] = map_tensors((*stack)[base + i], [&](const Tensor& t) {
        if (!is_eligible(t) || t.dtype() == dtype_) return t;
        SB_CHECK(!arguments[i].is_write(), op.name().to_string(), ": argument '", arguments[i].name,
                 "' is written to, and autocast would write to a copy in ", to_string(dtype_),
                 " of ", t.describe(), "; give it in that dtype");
        return to(t, dtype_);
      });
    }
    op.call_boxed(stack);
  }

 private:
  bool is_eligible(const Tensor& t) const {
    return is_floating_point(t.dtype()) && t.dtype() != DType::Float64 &&
           t.device().type == device_type_;
  }

  DispatchKey key_;
  DeviceType device_type_;
  DType dtype_;
};

}  // namespace

void register_autocast(const OpIdentifier& op, std::string_view device_type, DType cast_inputs,
                       Library& lib, SourceLocation where) {
  const std::string name = op.name().to_string();
  lib.dispatcher().find_op_or_throw(name);
  const DispatchKey key = autocast_key_of(device_type);
  lib.impl(name, key, AutocastKernel(key, *find_device_type(device_type), cast_inputs), where);
}

RegistrationHandle register_autocast(const OpIdentifier& op, std::string_view device_type,
                                     DType cast_inputs, SourceLocation where) {
  auto lib = std::make_unique<Library>(Library::Kind::Fragment, std::string(op.name().ns()),
                                       std::nullopt, where);
  register_autocast(op, device_type, cast_inputs, *lib, where);
  return internal::library_handle(std::move(lib));
}

std::optional<DType> registered_autocast(const OperatorHandle& op, DeviceType device_type) {
  if (!is_autocast_available(device_type)) return std::nullopt;
  const DispatchKey key = autocast_key_of(to_string(device_type));
  const OperatorEntry& entry = op.entry();
  return entry.dispatcher().inspect([&]() -> std::optional<DType> {
    const RegisteredKernel* const registered = entry.resolve(key).kernel;
    if (!registered) return std::nullopt;
    using State = internal::BoxedFunctorState<AutocastKernel>;
    const auto* const cast = dynamic_cast<const State*>(registered->function.state.get());
    return cast ? std::optional(cast->functor.dtype()) : std::nullopt;
  });
}

}  // namespace sb
