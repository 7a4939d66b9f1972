// Tags that follow from an operator's schema: those of in-place and out= forms.

#include <string>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

bool has_tag(const char* op, Tag tag) {
  return default_dispatcher().find_op_or_throw(op).entry().has_tag(tag);
}

TEST_CASE("every operator of ATen with an out= argument is tagged out, and no other") {
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    if (op.name().ns() != "aten") continue;
    CAPTURE(op.schema().to_string());
    bool has_out = false;
    for (const Argument& a : op.schema().arguments) has_out = has_out || a.is_out();
    CHECK(op.entry().has_tag(Tag::out) == has_out);
  }
}

TEST_CASE("every operator of ATen that is in place by its name and schema is tagged inplace") {
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    const FunctionSchema& schema = op.schema();
    if (op.name().ns() != "aten" || op.entry().has_tag(Tag::out)) continue;
    CAPTURE(schema.to_string());
    const bool is_inplace = !schema.arguments.empty() && schema.arguments[0].is_write() &&
                            schema.name.name.back() == '_';
    CHECK(op.entry().has_tag(Tag::inplace) == is_inplace);
  }
}

TEST_CASE("forms have the tags of their operator") {
  CHECK(has_tag("aten::add_.Tensor", Tag::inplace));
  CHECK(has_tag("aten::add.out", Tag::out));
  CHECK_FALSE(has_tag("aten::add.Tensor", Tag::inplace));
  CHECK(has_tag("aten::sum.dim_IntList", Tag::reduction));
  CHECK(has_tag("aten::sum.IntList_out", Tag::reduction));
  CHECK_FALSE(has_tag("aten::add.Tensor", Tag::reduction));
  CHECK(has_tag("aten::transpose_", Tag::inplace));
  CHECK(has_tag("aten::transpose_", Tag::inplace_view));
}

}  // namespace
}  // namespace sb
