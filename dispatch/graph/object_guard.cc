// Which objects a graph may be given.

#include <algorithm>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/inspect/custom_class.h"

namespace sb {
namespace {

std::string text(const IValue& value) {
  return value_text(value, [](const Tensor& t) { return type_text(t); });
}

bool are_same(const std::vector<IValue>& a, const std::vector<IValue>& b) {
  return std::ranges::equal(a, b, is_same_constant);
}

}  // namespace

ObjectGuard ObjectGuard::of(const OpaqueObject& object) {
  // The value only shares the object.
  IValue value(IntrusivePtr<OpaqueObject>::share(const_cast<OpaqueObject*>(&object)));
  const bool constant = constant_object(value);
  return {std::string(object.class_name()), constant ? std::move(value) : IValue(),
          constant ? std::vector<IValue>() : guarded_values(object)};
}

std::string ObjectGuard::mismatch(const IValue& value) const {
  const bool fits = value.is_Object() && value.to_object()->class_name() == class_name;
  if (!fits) return str_cat("expected an object of ", class_name, ", got ", text(value));
  if (!equal_to.is_None()) {
    if (is_same_constant(value, equal_to)) return "";
    return str_cat("expected ", text(equal_to), ", for which the graph was made, got ",
                   text(value));
  }
  std::vector<IValue> got = guarded_values(*value.to_object());
  // Nobody can ask a stand-in.
  if (got.empty() || are_same(got, values)) return "";
  return str_cat("expected an object of ", class_name, " with the values ", text(IValue(values)),
                 ", for which the graph was made, got ", text(IValue(std::move(got))));
}

}  // namespace sb
