#include "switchboard/dispatch/modes/function_transform.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/default_fallback.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/modes/scoped_stack.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace {

const internal::DefaultFallback front(DispatchKey::FuncTorchDynamicLayerFrontMode,
                                      make_kernel(&internal::call_transform));

const ExplainFallback explain_front(
    DispatchKey::FuncTorchDynamicLayerFrontMode, [](CallPath& path, const PathCall& c) {
      const internal::LoweredTransform lowered;
      const FunctionTransform* const transform = lowered.transform();
      if (!transform) return path.fails("no function transform is active");
      const internal::CallPin pin;
      const OperatorRules* const rules = internal::find_rules(c.op.entry());
      const bool has_rule = rules && rules->find_transform_rule(transform->type());
      path.passes(c.op.name().to_string(),
                  str_cat(has_rule ? "rule for the transform " : "transform ", transform->name()));
      path.decides();
    });

constinit thread_local internal::ScopedStack<FunctionTransform> transforms;

void update_front_key() {
  if (transforms.top())
    dispatch_tls.included |= DispatchKey::FuncTorchDynamicLayerFrontMode;
  else
    dispatch_tls.included -= DispatchKey::FuncTorchDynamicLayerFrontMode;
}

}  // namespace

std::string_view to_string(TransformType type) {
  switch (type) {
    case TransformType::Grad:
      return "Grad";
    case TransformType::Jvp:
      return "Jvp";
    case TransformType::Functionalize:
      return "Functionalize";
    case TransformType::Vmap:
      return "Vmap";
  }
  return "Grad";
}

FunctionTransformGuard::FunctionTransformGuard(FunctionTransform* transform) {
  SB_CHECK_VALUE(transform, "FunctionTransformGuard: expected a transform, got null");
  static thread_local const internal::FreeAtThreadEnd<FunctionTransform> free(&transforms);
  id_ = transforms.push(transform);
  update_front_key();
}

FunctionTransformGuard::~FunctionTransformGuard() {
  transforms.remove(id_);
  update_front_key();
}

FunctionTransform* current_transform() {
  const auto* const top = transforms.top();
  return top ? top->object : nullptr;
}

namespace internal {

LoweredTransform::LoweredTransform() {
  const auto* const top = transforms.top();
  transform_ = top ? top->object : nullptr;
  id_ = top ? top->id : 0;
  transforms.hide(id_);
  update_front_key();
}

LoweredTransform::~LoweredTransform() {
  transforms.unhide(id_);
  update_front_key();
}

void call_transform(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const LoweredTransform lowered;
  FunctionTransform* const transform = lowered.transform();
  SB_CHECK(transform, op.name().to_string(),
           ": entered at FuncTorchDynamicLayerFrontMode, but no function transform is active");
  const OperatorRules* const rules = find_rules(op.entry());
  const OperatorRules::TransformRule* const rule =
      rules ? rules->find_transform_rule(transform->type()) : nullptr;
  if (rule)
    (*rule)(*transform, keys, stack);
  else
    transform->call(op, keys, stack);
}

}  // namespace internal
}  // namespace sb
