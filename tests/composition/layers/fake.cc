#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

Layer fake_layer() {
  return {.name = "fake",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& inputs) {
              FakeTensorMode mode;
              const FakeTensorModeGuard guard(mode);
              return f(mode.from_tensors(inputs));
            };
          },
          .words = {"fake", "data", "shape rule"}};
}

}  // namespace sb::composition
