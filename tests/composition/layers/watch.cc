#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

Layer watch_layer() {
  return {.name = "watch",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan&) -> TensorFunction {
            return [f = std::move(f)](const Tensors& inputs) {
              LoggingMode logging;
              CountingMode counting;
              SchemaCheckMode checking;
              const TraceCalls calls([](const std::string&) {});
              const ModeGuard below(&checking), middle(&counting), above(&logging);
              return f(inputs);
            };
          },
          // The errors of SchemaCheckMode end with the schema that is wrong.
          .words = {"LoggingMode", "CountingMode", "SchemaCheckMode", "; schema: "}};
}

}  // namespace sb::composition
