// The strides that an operator is to get.

#include <iostream>

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/custom_ops/layout_constraint.h"
#include "switchboard/dispatch/dispatcher.h"

int main() {
  // doc: begin
  const auto asked_of = [](const sb::OpOverload& op) {
    std::cout << op << ": " << to_string(sb::get_layout_constraint_tag(op)) << "\n";
  };
  const sb::CustomOp strict("mylib::strict", "(Tensor x) -> Tensor");
  const sb::CustomOp dense("mylib::dense", "(Tensor x) -> Tensor",
                           {.tags = {sb::Tag::needs_contiguous_strides}});
  asked_of(strict);
  asked_of(dense);
  asked_of(sb::OpOverload(sb::default_dispatcher().find_op_or_throw("aten::relu")));
  // doc: end
}
