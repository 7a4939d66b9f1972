#include "switchboard/examples/digits_training/models.h"

#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/views/views.h"

namespace digits {
namespace {

using sb::Tensor;

class Mlp final : public Model {
 public:
  Mlp(const NamedTensors& start, sb::Device device) : Model(start, "mlp.", device) {}

  Tensor log_probabilities(const Tensor& images, bool) override {
    const Tensor hidden =
        sb::relu(sb::linear(images, get("mlp.hidden.weight"), get("mlp.hidden.bias")));
    return sb::log_softmax(sb::linear(hidden, get("mlp.out.weight"), get("mlp.out.bias")), 1);
  }
};

class Cnn final : public Model {
 public:
  Cnn(const NamedTensors& start, sb::Device device) : Model(start, "cnn.", device) {
    for (const std::string norm : {"cnn.norm0", "cnn.norm1"}) {
      const Tensor weight = sb::detach(get(norm + ".weight"));
      add_statistics(norm + ".running_mean", sb::zeros_like(weight));
      add_statistics(norm + ".running_var", sb::ones_like(weight));
    }
  }

  Tensor log_probabilities(const Tensor& images, bool training) override {
    Tensor x = sb::view(images, {-1, 1, 8, 8});
    x = block(x, "0", training);
    x = block(x, "1", training);
    const Tensor flat = sb::flatten(x, 1);
    return sb::log_softmax(sb::linear(flat, get("cnn.out.weight"), get("cnn.out.bias")), 1);
  }

 private:
  Tensor block(const Tensor& x, const std::string& i, bool training) {
    constexpr double kMomentum = 0.1, kEpsilon = 1e-5;
    const std::string norm = "cnn.norm" + i;
    const Tensor convolved = sb::conv2d(x, get("cnn.conv" + i + ".weight"), {}, {1}, {1});
    const Tensor normal = sb::batch_norm(convolved, get(norm + ".weight"), get(norm + ".bias"),
                                         get(norm + ".running_mean"), get(norm + ".running_var"),
                                         training, kMomentum, kEpsilon, false);
    return sb::max_pool2d(sb::relu(normal), {2});
  }
};

}  // namespace

Model::Model(const NamedTensors& start, std::string_view prefix, sb::Device device) {
  for (const auto& [name, tensor] : start) {
    if (!std::string_view(name).starts_with(prefix)) continue;
    const Tensor parameter = sb::clone(sb::to(tensor, device));
    sb::set_requires_grad(parameter);
    state_[name] = parameter;
  }
}

std::vector<Tensor> Model::parameters() const {
  std::vector<Tensor> parameters;
  for (const auto& [name, tensor] : state_)
    if (sb::requires_grad(tensor)) parameters.push_back(tensor);
  return parameters;
}

std::unique_ptr<Model> make_model(std::string_view name, const NamedTensors& start,
                                  sb::Device device) {
  if (name == "mlp") return std::make_unique<Mlp>(start, device);
  SB_CHECK_VALUE(name == "cnn", "model: expected mlp or cnn, got ", name);
  return std::make_unique<Cnn>(start, device);
}

}  // namespace digits
