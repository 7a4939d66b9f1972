// Two small networks for 8 x 8 images of digits.

#ifndef SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_MODELS_H_
#define SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_MODELS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/tensor.h"

namespace digits {

// Parameters and statistics by name.
using NamedTensors = std::map<std::string, sb::Tensor, std::less<>>;

class Model {
 public:
  virtual ~Model() = default;
  // Logarithms of probabilities [n, 10] of images [n, 64]. `training` chooses the statistics of
  // batch norm: those of the batch, which move the running ones, or the running ones.
  virtual sb::Tensor log_probabilities(const sb::Tensor& images, bool training) = 0;

  // What training changes, each requiring a gradient.
  std::vector<sb::Tensor> parameters() const;
  // Parameters, and statistics where there are some: what a file should hold.
  const NamedTensors& state() const { return state_; }

 protected:
  // `start` holds more than the model's own tensors; it takes copies on `device` of those that
  // begin with `prefix`.
  Model(const NamedTensors& start, std::string_view prefix, sb::Device device);
  const sb::Tensor& get(const std::string& name) const { return state_.at(name); }
  void add_statistics(const std::string& name, const sb::Tensor& tensor) { state_[name] = tensor; }

 private:
  NamedTensors state_;
};

// "mlp": 64-64-10. "cnn": two convolutions with batch norm and pooling. Throws sb::ValueError for
// anything else.
std::unique_ptr<Model> make_model(std::string_view name, const NamedTensors& start,
                                  sb::Device device);

}  // namespace digits

#endif  // SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_MODELS_H_
