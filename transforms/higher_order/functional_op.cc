#include "switchboard/transforms/higher_order/functional_op.h"

#include <algorithm>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/registration.h"

namespace sb::higher_order {

OpOverload named_op(std::string_view who, const IValue& name) {
  SB_CHECK_TYPE(name.is_String(), who, ": op: expected the name of an operator, got ",
                name.tag_name());
  try {
    return lookup_op(std::string(name.to_string_view()));
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(who, ": op: "));
  }
}

OpOverload functional_op(std::string_view who, const IValue& name) {
  OpOverload op = named_op(who, name);
  const auto has_alias = [](const auto& argument) { return argument.alias.has_value(); };
  SB_CHECK(std::ranges::none_of(op.schema().arguments, has_alias) &&
               std::ranges::none_of(op.schema().returns, has_alias),
           who,
           ": op: expected one that neither writes to its arguments nor gives views of them, got ",
           op.schema().to_string());
  return op;
}

}  // namespace sb::higher_order
