#include "switchboard/dispatch/objects/effects.h"

namespace sb {
namespace {

constinit thread_local const OrderedEffectGuard* innermost = nullptr;

}  // namespace

OrderedEffectGuard::OrderedEffectGuard(const OperatorHandle& op)
    : op_(&op.entry()), outer_(innermost) {
  innermost = this;
}

OrderedEffectGuard::~OrderedEffectGuard() { innermost = outer_; }

bool has_ordered_effect(const OperatorHandle& op) {
  for (const OrderedEffectGuard* guard = innermost; guard; guard = guard->outer_)
    if (guard->op_ == &op.entry()) return true;
  return false;
}

}  // namespace sb
