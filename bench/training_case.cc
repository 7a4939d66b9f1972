#include "switchboard/bench/training_case.h"

#include <memory>

#include "switchboard/examples/digits_training/training.h"
#include "switchboard/ops/random/random_factories.h"

namespace sb::bench {

std::function<void()> training_case(const std::string& name) {
  const digits::NamedTensors start = {{"mlp.hidden.weight", randn({64, 64})},
                                      {"mlp.hidden.bias", randn({64})},
                                      {"mlp.out.weight", randn({10, 64})},
                                      {"mlp.out.bias", randn({10})}};
  const std::shared_ptr<digits::Model> model = digits::make_model("mlp", start, Device("cpu"));
  const std::shared_ptr<digits::Optimizer> optimizer =
      digits::make_optimizer(name, model->parameters());
  return [model, optimizer, images = rand({32, 64}), labels = randint(10, {32})] {
    digits::training_step(*model, *optimizer, images, labels);
  };
}

}  // namespace sb::bench
