// Whether an operator is what its tags say of its schema.

#ifndef SWITCHBOARD_DISPATCH_VALUES_CHECK_TAGS_H_
#define SWITCHBOARD_DISPATCH_VALUES_CHECK_TAGS_H_

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb::internal {

// Throws ValueError, with the reason and the schema, unless
//
// - one that is tagged inplace writes to its first positional argument, a Tensor, to no other, and
//   returns it alone,
// - one that is tagged out writes to keyword-only arguments alone, which are Tensors, and returns
//   all of them in their order.
//
// Of an operator that is built in, which may take lists, write to more, and return nothing, it asks
// only that the first argument, or a keyword-only one, is written to. As `_validate_inplace_schema`
// and `_validate_out_schema`.
void check_tags(const FunctionSchema& schema, TagSet tags, bool built_in);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_VALUES_CHECK_TAGS_H_
