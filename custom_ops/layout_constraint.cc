#include "switchboard/custom_ops/layout_constraint.h"

#include "switchboard/ops/outputs/builtin.h"

namespace sb {

std::optional<Tag> find_layout_constraint_tag(const OpOverload& op) {
  for (const Tag tag : {Tag::needs_exact_strides, Tag::needs_contiguous_strides,
                        Tag::needs_fixed_stride_order, Tag::flexible_layout})
    if (op.has_tag(tag)) return tag;
  return std::nullopt;
}

Tag get_layout_constraint_tag(const OpOverload& op) {
  return find_layout_constraint_tag(op).value_or(
      is_builtin_namespace(op.ns()) ? Tag::flexible_layout : Tag::needs_exact_strides);
}

}  // namespace sb
