#include "switchboard/examples/digits_training/training.h"

#include <memory>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/generator.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace digits {
namespace {

using sb::Tensor;

constexpr int64_t kTrain = 1437, kBatch = 32;
constexpr size_t kFirstSteps = 10;

double number(const Tensor& t) { return sb::item(sb::to(t, sb::Device("cpu"))).to<double>(); }

double accuracy_of(Model& model, const Data& data) {
  const sb::NoGradGuard no_grad;
  const Tensor guess = sb::argmax(model.log_probabilities(data.test_images, false), 1);
  return number(sb::mean_all(sb::to_dtype(sb::eq(guess, data.test_labels), sb::DType::Float32)));
}

}  // namespace

Data read_digits(const std::string& path, sb::Device device) {
  const sb::TensorMap file = sb::load_tensors(path);
  const Tensor images =
      sb::to(sb::div_Scalar(sb::to_dtype(file.at("images"), sb::DType::Float32), 16), device);
  const Tensor labels = sb::to(sb::to_dtype(file.at("labels"), sb::DType::Int64), device);
  const int64_t test = images.size(0) - kTrain;
  return {sb::narrow(images, 0, 0, kTrain), sb::narrow(images, 0, kTrain, test),
          sb::narrow(labels, 0, 0, kTrain), sb::narrow(labels, 0, kTrain, test)};
}

Tensor training_step(Model& model, Optimizer& optimizer, const Tensor& images,
                     const Tensor& labels) {
  const Tensor loss = sb::nll_loss(model.log_probabilities(images, true), labels);
  optimizer.zero_grad();
  sb::backward(loss);
  optimizer.step();
  return sb::detach(loss);
}

Report train(Model& model, const std::string& optimizer_name, const Data& data, int epochs,
             const std::function<void(const Epoch&)>& progress, const Step& step) {
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(optimizer_name, model.parameters());
  const sb::Device device = data.train_images.device();
  const sb::Generator generator = sb::make_cpu_generator(0);
  Report report;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Tensor order =
        sb::to(epoch == 1 ? sb::arange(kTrain) : sb::randperm_generator(kTrain, generator), device);
    double total = 0;
    int64_t steps = 0;
    for (int64_t begin = 0; begin < kTrain; begin += kBatch, ++steps) {
      const Tensor batch = sb::narrow(order, 0, begin, std::min(kBatch, kTrain - begin));
      const Tensor images = sb::index_select(data.train_images, 0, batch);
      const Tensor labels = sb::index_select(data.train_labels, 0, batch);
      const double value = number(step(model, *optimizer, images, labels));
      total += value;
      if (report.first_losses.size() < kFirstSteps) report.first_losses.push_back(value);
    }
    report.accuracy = accuracy_of(model, data);
    progress({epoch, total / static_cast<double>(steps), report.accuracy});
  }
  return report;
}

}  // namespace digits
