// Functional forms of operators that alias or mutate; see define/define.h.

#ifndef SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_
#define SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_

#include <string_view>

#include "switchboard/ops/define/define.h"

namespace sb {

template <class Tag>
void define_view_copy(Library& m, const Op<Tag>& op, std::string_view callee = {},
                      SourceLocation where = SourceLocation::current()) {
  extend(m, op, where).view_copy(callee);
}
template <class Tag>
void define_functional_form(Library& m, const Op<Tag>& op,
                            SourceLocation where = SourceLocation::current()) {
  extend(m, op, where).functional();
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_
