// An object as an argument, which is a value.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

namespace demo {

// doc: begin
constexpr char kRange[] = "__torch__.torch.classes.demo.Range";

struct Range final : sb::ConstantObject {
  Range(double l, double h) : low(l), high(h) {}
  std::string_view class_name() const override { return kRange; }
  bool equals(const sb::ConstantObject& other) const override {
    const auto& range = static_cast<const Range&>(other);
    return range.low == low && range.high == high;
  }
  std::string to_string() const override { return sb::str_cat("Range(", low, ", ", high, ")"); }
  double low, high;
};

SB_LIBRARY(demo, m) {
  m.own(sb::register_custom_class<Range>(kRange));
  m.define(sb::str_cat("scale(Tensor x, ", kRange, " range) -> Tensor"));
  m.impl("scale", sb::DispatchKey::CompositeExplicitAutograd,
         [](const sb::OperatorHandle&, sb::DispatchKeySet, sb::Stack* stack) {
           const auto object = (*stack)[1].to_object();
           const auto& range = static_cast<const Range&>(*object);
           *stack = {(*stack)[0].to_tensor() * (range.high - range.low) + range.low};
         });
}
// doc: end

}  // namespace demo

int main() {
  // doc: begin
  using Values = std::vector<sb::IValue>;
  const auto range = [](double low, double high) {
    return sb::IValue(
        sb::IntrusivePtr<sb::OpaqueObject>(sb::make_intrusive<demo::Range>(low, high)));
  };
  const sb::OpOverload scale(*sb::default_dispatcher().find_op("demo::scale"));
  const sb::Graph graph =
      sb::trace_values([&](const Values& in) { return scale.call(in); },
                       {sb::ones({2}), range(-1, 1)}, {.input_names = {"x", "range"}});
  std::cout << graph.to_string() << graph.run_values({sb::ones({2}), range(-1, 1)})[0].to_tensor()
            << "\n";
  try {
    graph.run_values({sb::ones({2}), range(0, 1)});
  } catch (const sb::ValueError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
