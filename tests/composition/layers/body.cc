#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/layers.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"

namespace sb::composition {

Layer body_layer() {
  return {.name = "body",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& inputs) {
              const Tensor yes = ones({}, DType::Bool);
              const auto in_map = [f](const Tensors& in) {
                const Tensor once = zeros({1});
                Tensors results = map([f, in](const Tensor&) { return f(in); }, {once});
                for (Tensor& t : results) t = select(t, 0, 0);
                return results;
              };
              return cond(
                  yes, in_map, [f](const Tensors& in) { return f(in); }, inputs);
            };
          },
          .keeps = {.strides = false},
          .pure_only = true,
          .words = {"cond", "map"}};
}

}  // namespace sb::composition
