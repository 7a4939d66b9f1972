#include "switchboard/transforms/functionalization/functionalize.h"

#include "switchboard/tests/composition/layers.h"
#include "switchboard/transforms/functionalization/functional_mode.h"

namespace sb::composition {
namespace {
const std::vector<std::string_view> kWords = {"functional"};
constexpr Keeps kKeeps = {.strides = false, .sharing_of_results = false};
}  // namespace

Layer functionalize_layer() {
  return {.name = "functionalize",
          .wrap = [](TensorFunction f,
                     const internal::ArgumentPlan&) { return functionalize(std::move(f)); },
          .keeps = kKeeps,
          .words = kWords};
}

Layer functional_mode_layer() {
  return {.name = "functional_mode",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& inputs) {
              const FunctionalMode mode;
              return mode.functionalize(f)(inputs);
            };
          },
          .keeps = kKeeps,
          .words = kWords};
}

}  // namespace sb::composition
