// Modes: objects that see every call of a thread. What did a program call, how often, did its
// operators keep their word, and the program itself, as a graph that runs again.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

namespace demo {

using Tensors = std::vector<sb::Tensor>;

Tensors layer(const Tensors& in) {
  const sb::Tensor hidden = sb::relu(sb::mm(in[0], in[1]));
  hidden += 1;
  return {hidden * 2 - in[0]};
}

// A mode of one's own is one function. This one gives relu another meaning.
class LeakyMode : public sb::DispatchMode {
 public:
  void call(const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) override {
    if (op.name().name == "aten::relu") {
      // The mode is off while it runs: these calls go to the kernels.
      const sb::Tensor x = stack->back().to_tensor();
      stack->back() = sb::relu(x) - sb::relu(-x) * 0.5;
    } else {
      op.call_boxed(stack);
    }
  }
  std::string name() const override { return "LeakyMode"; }
};

// An operator that writes to its argument, which its schema does not say.
SB_OP(sneaky, "demo::sneaky(Tensor x) -> Tensor");
SB_LIBRARY(demo, m) {
  m.define(sneaky);
  m.impl(sneaky, sb::DispatchKey::CompositeExplicitAutograd, [](const sb::Tensor& x) {
    x += 1;
    return x * 2;
  });
}

}  // namespace demo

int main() {
  const sb::Tensor x = sb::full({2, 2}, 3.0), w = sb::full({2, 2}, -0.5);

  sb::LoggingMode log;
  sb::CountingMode count;
  {
    sb::ModeGuard counting(&count), logging(&log);
    demo::layer({x, w});
    demo::layer({x, w});
  }
  std::cout << "Logged:\n" << log.to_string() << "\nCounted:\n" << count.to_string();

  demo::LeakyMode leaky;
  std::cout << "\nWithout LeakyMode: " << demo::layer({x, w})[0] << "\n";
  {
    sb::ModeGuard guard(&leaky);
    std::cout << "With LeakyMode:    " << demo::layer({x, w})[0] << "\n";
  }

  const sb::Graph graph = sb::trace(demo::layer, {x, w}, {.input_names = {"x", "w"}});
  std::cout << "\nTraced:\n" << graph.to_string();
  std::cout << "Run again: " << graph.run({sb::ones({2, 2}), sb::ones({2, 2})})[0] << "\n";

  sb::SchemaCheckMode check;
  sb::ModeGuard guard(&check);
  demo::layer({x, w});
  try {
    demo::sneaky(x);
  } catch (const sb::RuntimeError& error) {
    std::cout << "\nChecked:\n" << error.what() << "\n";
  }
}
