#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

Layer fake_layer() {
  return {.name = "fake",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& inputs) {
              if (inputs.empty()) {
                const FakeTensorMode mode;
                const FakeTensorModeGuard guard(mode);
                return f(inputs);
              }
              const ModeGuard guard(maybe_get_fake_mode(inputs[0]));
              return f(inputs);
            };
          },
          .inputs = [](const Tensors& inputs) { return FakeTensorMode().from_tensors(inputs); },
          .words = {"fake", "data", "shape rule"}};
}

}  // namespace sb::composition
