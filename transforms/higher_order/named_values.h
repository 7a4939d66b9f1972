// Arguments by name, as operators without a schema take them: a list of pairs of a name and a
// value.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_NAMED_VALUES_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_NAMED_VALUES_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::higher_order {

using NamedValue = std::pair<std::string, IValue>;

// The pairs as one argument.
IValue pairs_of(const std::vector<NamedValue>& values);
// The elements of a list of any kind. TypeError, that begins with `who` and `what`, for another
// value.
std::vector<IValue> items_of(std::string_view who, std::string_view what, const IValue& list);

// Such an argument, read; its values are taken one by one.
class NamedValues {
 public:
  // TypeError, that begins with `who` and `what`, for anything but such pairs, ValueError for a
  // name that comes twice.
  NamedValues(std::string_view who, std::string_view what, const IValue& pairs);

  // Takes a value away; nullopt where there is none of that name.
  std::optional<IValue> take(std::string_view name);
  // The same; TypeError where there is none.
  IValue expect(std::string_view name);
  // The value, which stays; nullptr where there is none.
  const IValue* find(std::string_view name) const;
  // Those that nobody took, in their order.
  std::vector<NamedValue> rest() && { return std::move(values_); }

 private:
  std::string who_, what_;
  std::vector<NamedValue> values_;
};

}  // namespace sb::higher_order

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_NAMED_VALUES_H_
