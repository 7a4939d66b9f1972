// Functions as values: what higher-order operators take.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_CALLABLE_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_CALLABLE_H_

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// A function from values to values, which travels in an IValue. Never changed.
class Callable final : public OpaqueObject {
 public:
  using Function = std::function<std::vector<IValue>(std::vector<IValue>)>;

  // Throws ValueError for an empty function.
  explicit Callable(Function function) : function_(std::move(function)) {
    SB_CHECK_VALUE(function_ != nullptr, "Callable: expected a function, got an empty one");
  }

  std::vector<IValue> operator()(std::vector<IValue> arguments) const {
    return function_(std::move(arguments));
  }
  const Function& function() const { return function_; }
  std::string_view class_name() const override { return "sb.Callable"; }

  static IValue make(Function function) {
    return IValue(IntrusivePtr<OpaqueObject>(make_intrusive<Callable>(std::move(function))));
  }
  // The function in a value; nullptr if it holds something else.
  static IntrusivePtr<Callable> find(const IValue& value) {
    if (!value.is_Object()) return nullptr;
    const IntrusivePtr<OpaqueObject> object = value.to_object();
    Callable* const callable = dynamic_cast<Callable*>(object.get());
    return callable ? IntrusivePtr<Callable>::share(callable) : nullptr;
  }
  // The same; throws TypeError naming what came.
  static IntrusivePtr<Callable> from(const IValue& value) {
    IntrusivePtr<Callable> callable = find(value);
    SB_CHECK_TYPE(callable, "expected a Callable, got ", value.to_string());
    return callable;
  }

  // The value with f(function) in the place of each function in it, those in lists included. f
  // takes an IntrusivePtr<Callable> and gives a Function.
  template <class F>
  static IValue map(const IValue& value, F&& f) {
    if (const IntrusivePtr<Callable> function = find(value)) return make(f(function));
    if (!value.is_List()) return value;
    std::vector<IValue> items;
    for (const IValue& item : value.to_list()) items.push_back(map(item, f));
    return items;
  }

 private:
  Function function_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_CALLABLE_H_
