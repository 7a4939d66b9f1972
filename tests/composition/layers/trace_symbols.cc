#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

Layer trace_symbols_layer() {
  return {.name = "trace_symbols",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan& plan) -> TensorFunction {
            return [f = std::move(f), &plan](const Tensors& inputs) {
              FakeTensorMode fake({.shape_env = ShapeEnv::create()});
              const Tensors symbolic = fake.from_tensors(copy_by_operators(inputs, plan).inputs);
              const Graph graph = [&] {
                const FakeTensorModeGuard guard(fake);
                return trace(f, symbolic);
              }();
              graph.lint();
              return graph.run(inputs);
            };
          },
          .words = {"trac", "graph", "fake", "data", "shape rule", "symbol",
                    // A shape with a symbol that data tell.
                    "[u"}};
}

}  // namespace sb::composition
