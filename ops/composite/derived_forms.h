// Functional forms of operators that alias or mutate, derived from their schemas.
//
//   define_view_copy(m, select);            // select_copy.int and select_copy.int_out
//   define_functional_form(m, resize_);     // resize and resize.out

#ifndef SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_
#define SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_

#include <string_view>

#include "switchboard/dispatch/library.h"

namespace sb {

// For the view "aten::f.o(Tensor(a) self, ...) -> Tensor(a)", or one that gives a list: defines
// f_copy.o, which calls `callee` (f.o itself if none is given) and copies what still shares self's
// memory, and its out= form. Throws what the view throws.
void define_view_copy(Library& m, std::string_view view_schema, std::string_view callee = {},
                      SourceLocation where = SourceLocation::current());
template <class Tag>
void define_view_copy(Library& m, const Op<Tag>&, std::string_view callee = {},
                      SourceLocation where = SourceLocation::current()) {
  define_view_copy(m, std::string_view(Tag::schema), callee, where);
}

// For the in-place operator "aten::f_.o(Tensor(a!) self, ...) -> Tensor(a!)": defines f.o, which
// calls it on a copy of self, and its out= form.
void define_functional_form(Library& m, std::string_view inplace_schema,
                            SourceLocation where = SourceLocation::current());
template <class Tag>
void define_functional_form(Library& m, const Op<Tag>&,
                            SourceLocation where = SourceLocation::current()) {
  define_functional_form(m, std::string_view(Tag::schema), where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_DERIVED_FORMS_H_
