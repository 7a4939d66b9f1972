#include "switchboard/custom_ops/layout_constraint.h"

#include "catch2/catch.hpp"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

Tag constraint_of(TagSet tags) {
  const CustomOp op("layout_test::f", "(Tensor x) -> Tensor", {.tags = tags});
  return get_layout_constraint_tag(op);
}

TEST_CASE("the strongest tag says what must be kept of strides") {
  CHECK(constraint_of({Tag::flexible_layout, Tag::needs_fixed_stride_order}) ==
        Tag::needs_fixed_stride_order);
  CHECK(constraint_of({Tag::needs_contiguous_strides, Tag::needs_fixed_stride_order}) ==
        Tag::needs_contiguous_strides);
  CHECK(constraint_of({Tag::needs_contiguous_strides, Tag::needs_exact_strides}) ==
        Tag::needs_exact_strides);
}

TEST_CASE("without one, operators that are built in take any layout, others the exact strides") {
  CHECK(constraint_of({}) == Tag::needs_exact_strides);
  const OpOverload relu(default_dispatcher().find_op_or_throw("aten::relu"));
  CHECK_FALSE(find_layout_constraint_tag(relu));
  CHECK(get_layout_constraint_tag(relu) == Tag::flexible_layout);
}

}  // namespace
}  // namespace sb
