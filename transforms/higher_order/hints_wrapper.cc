#include "switchboard/transforms/higher_order/hints_wrapper.h"

#include "switchboard/core/error.h"
#include "switchboard/transforms/higher_order/named_values.h"

namespace sb {
namespace {

constexpr std::string_view kName = "higher_order::hints_wrapper";

void check(const std::vector<IValue>& arguments) {
  SB_CHECK(arguments[2].is_List() && arguments[2].to_list().empty(), kName,
           ": kwargs: expected none, got ", arguments[2].to_string());
  SB_CHECK(arguments[3].is_List(), kName, ": hints: expected a list of pairs, got ",
           arguments[3].tag_name());
  for (const IValue& item : arguments[3].to_list()) {
    SB_CHECK(item.is_List() && item.to_list().size() == 2 && item.to_list()[0].is_String(), kName,
             ": hints: expected pairs of a string and a value, got ", item.to_string());
    const IValue& value = item.to_list()[1];
    SB_CHECK(value.is_Int() || value.is_Double() || value.is_Bool() || value.is_String(), kName,
             ": hints: '", item.to_list()[0].to_string_view(),
             "': expected an int, float, bool or string, got ", value.tag_name());
  }
  higher_order::NamedValues(kName, "hints", arguments[3]);  // refuses a key that comes twice
}

}  // namespace

const higher_order::BaseHop& hints_wrapper_hop() {
  static const auto* const hop =
      new higher_order::BaseHop({.name = "hints_wrapper",
                                 .parameters = {"body_fn", "args", "kwargs", "hints"},
                                 .function = 0,
                                 .operands = 1,
                                 .graph_name = "hints_wrapper_body_graph",
                                 .check = check});
  return *hop;
}

IValue hints_value(const Hints& hints) { return higher_order::pairs_of(hints); }

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& hints_wrapper_at_start = hints_wrapper_hop();
}  // namespace

}  // namespace sb
