// Classes of a program's own whose objects operators take, and what layers may make of an object.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_CUSTOM_CLASS_H_
#define SWITCHBOARD_DISPATCH_INSPECT_CUSTOM_CLASS_H_

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/source_location.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// An object that is a value, as a number is: it never changes, and two that are equal do the same
// in every call. Objects of different classes are not equal.
class ConstantObject : public OpaqueObject {
 public:
  // `other` is of the same registered class.
  virtual bool equals(const ConstantObject& other) const = 0;
  // The object as code, for graphs and logs: "Padding(left=1, right=2)". Equal for equal objects.
  virtual std::string to_string() const = 0;
};

namespace internal {

using GuardedValues = std::function<std::vector<IValue>(const OpaqueObject&)>;

// `is_object` tells the objects of the class from others that only have its name.
RegistrationHandle register_custom_class(std::string_view name, bool constant,
                                         bool (*is_object)(const OpaqueObject&),
                                         GuardedValues guarded, SourceLocation where);

}  // namespace internal

// Says what the objects of a class are, as long as the handle lives. As
// `torch.library.register_custom_class`. `name` is the one that schemas spell and that objects give
// as class_name(): "__torch__.torch.classes.NAMESPACE.NAME".
//
// A class derived from ConstantObject is constant: a trace holds its objects in the graph, as it
// holds numbers, and takes only an equal one where an object was an input. Operators that take no
// other objects have no ordered effect for them.
//
// Any other class is symbolic: its objects have an identity and a state. One that a trace got as an
// input is an input of the graph, and may be another one when the graph runs, if `guarded` gives
// the values for it that it gave then: numbers, strings and lists of them, which the trace burns
// in. Operators that take such an object have an ordered effect, unless register_effect() says
// otherwise. A class that nobody registers is symbolic, with nothing guarded.
//
// ValueError for a name that no class in a schema can have; RuntimeError, naming both places, for a
// class that is registered already. Thread-safe.
template <std::derived_from<OpaqueObject> T>
RegistrationHandle register_custom_class(
    std::string_view name,
    std::type_identity_t<std::vector<IValue> (*)(const T&)> guarded = nullptr,
    SourceLocation where = SourceLocation::current()) {
  constexpr bool kConstant = std::derived_from<T, ConstantObject>;
  internal::GuardedValues values;
  if (guarded) {
    SB_CHECK_TYPE(!kConstant, "register_custom_class: ", name,
                  ": a constant class is guarded by equals(), and by no values");
    values = [guarded](const OpaqueObject& object) {
      const auto* const mine = dynamic_cast<const T*>(&object);  // or a stand-in
      return mine ? guarded(*mine) : std::vector<IValue>();
    };
  }
  const auto is_object = [](const OpaqueObject& o) {
    return dynamic_cast<const T*>(&o) != nullptr;
  };
  return internal::register_custom_class(name, kConstant, is_object, std::move(values), where);
}

// Returns whether a class is registered as constant. Thread-safe, as the next ones.
bool is_constant_class(std::string_view name);

// The object, if it is of a class that is registered as constant; otherwise nullptr.
const ConstantObject* constant_object(const IValue& value);

// What register_custom_class() has as `guarded` of the object; empty without one.
std::vector<IValue> guarded_values(const OpaqueObject& object);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_CUSTOM_CLASS_H_
