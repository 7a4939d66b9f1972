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

#include <string_view>

#include "switchboard/dispatch/library.h"

namespace sb {

enum class ForeachForms { FunctionalAndOut, All };

// Defines the operator of that functional schema, its out= form and, for All, its in-place form. A
// call runs the operator named `element` for each element of `self`, with that element of every
// other list and with all else as it is; arguments that the schema lacks take their defaults. The
// in-place form runs element's in-place form (add_.Tensor) or, where there is none, copies the
// results to `self`. `element` is looked up when a call needs it: a program links the families of
// those that it uses.
//
// Calls throw RuntimeError where lists are empty or of different lengths, NotImplementedError where
// there is no tensor at all, and what `element` throws. One that throws has written to no argument,
// unless the reason was in the elements; nor, but for the in-place form, where it ran out of
// memory.
void define_foreach(Library& m, std::string_view schema, std::string_view element,
                    ForeachForms forms = ForeachForms::All,
                    SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FOREACH_FOREACH_H_
