// The _foreach_ operators: one operator on every tensor of a list.
//
//   define_foreach(m, "aten::_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) ->
//   "
//                     "Tensor[]", "aten::add.Tensor");
//
// defines _foreach_add.List, _foreach_add_.List and _foreach_add.List_out, for every device that
// has add.Tensor.

#ifndef SWITCHBOARD_OPS_FOREACH_FOREACH_H_
#define SWITCHBOARD_OPS_FOREACH_FOREACH_H_

#include <concepts>
#include <string_view>

#include "switchboard/dispatch/library.h"

namespace sb {

enum class ForeachForms { Functional, FunctionalAndOut, All };

// The operator that a call runs for each element: "aten::add.Tensor". Its in-place form is of the
// same overload (add_.Tensor) unless another one is named.
struct ForeachElement {
  std::string_view functional, inplace;

  template <std::convertible_to<std::string_view> Name>
  ForeachElement(const Name& name, std::string_view inplace_name = {})
      : functional(name), inplace(inplace_name) {}
};

// Defines the operator of that functional schema and the forms of it that `forms` says. A call runs
// `element` for each element of the first list, with that element of every other list and with all
// else as it is; arguments that the schema lacks take their defaults. The in-place form runs
// element's in-place form or, where there is none, copies the results to `self`. `element` is
// looked up when a call needs it: a program links the families of those that it uses.
//
// Calls throw RuntimeError where lists are empty or of different lengths, where there is no tensor
// at all, or where a tensor outside of the lists is not 0-dim, and what `element` throws. One that
// throws has written to no argument, unless the reason was in the elements; nor, but for the
// in-place form, where it ran out of memory.
void define_foreach(Library& m, std::string_view schema, ForeachElement element,
                    ForeachForms forms = ForeachForms::All,
                    SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FOREACH_FOREACH_H_
