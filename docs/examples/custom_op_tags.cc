// Operators that return what they write to.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/objects/out_variant.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto into = [](const Tensor& x, double by, const Tensor& out) {
    return sb::copy_(out, x * by);
  };
  const sb::CustomOp scale = sb::custom_op("mylib::scale", "(Tensor x, float by) -> Tensor",
                                           [](const Tensor& x, double by) { return x * by; });
  const sb::CustomOp scale_ =
      sb::custom_op("mylib::scale_", "(Tensor(a!) x, float by) -> Tensor(a!)",
                    [](const Tensor& x, double by) { return x *= by; }, {.tags = sb::Tag::inplace});
  const sb::CustomOp scale_into =
      sb::custom_op("mylib::scale_into", "(Tensor x, float by, *, Tensor(a!) out) -> Tensor(a!)",
                    into, {.tags = sb::Tag::out});

  const Tensor x = sb::ones({2}), out = sb::empty({2});
  std::cout << std::boolalpha << scale_(x, 3.0).is_same(x) << "\n";
  scale_into.op().call({x, 2.0}, {{"out", out}});
  std::cout << out << "\n";
  // doc: end
  // doc: begin
  try {
    sb::custom_op("mylib::other_", "(Tensor(a!) x) -> Tensor", [](const Tensor& t) { return t; },
                  {.tags = sb::Tag::inplace});
  } catch (const sb::ValueError& error) {
    std::cout << error.what() << "\n";
  }
  const auto show = [](const std::optional<sb::OpOverload>& op) {
    std::cout << (op ? op->to_string() : "none") << "\n";
  };
  show(sb::to_out_variant(sb::lookup_op("aten::relu")));
  show(sb::to_out_variant(scale));  // looks among the overloads of mylib::scale
  const sb::RegistrationHandle said = sb::register_out_variant(scale, scale_into);
  show(sb::lookup_manual_out_variant(scale));
  std::cout << sb::lookup_op("aten::sum").has_tag(sb::Tag::reduction) << "\n";
  // doc: end
}
