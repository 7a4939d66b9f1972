// Trains a network on the digits, and tells how well it does.

#ifndef SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_TRAINING_H_
#define SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_TRAINING_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"
#include "switchboard/examples/digits_training/models.h"
#include "switchboard/examples/digits_training/optimizers.h"

namespace digits {

// 1,437 images to train with and 360 to test with, in the order of the file.
struct Data {
  sb::Tensor train_images, test_images;  // float32 [n, 64], 0 to 1
  sb::Tensor train_labels, test_labels;  // int64 [n]
};
// From a safetensors file of `images` (uint8 [1797, 64], 0 to 16) and `labels`.
Data read_digits(const std::string& path, sb::Device device);

// One step on images [n, 64] and labels [n]. Gives the loss before it.
sb::Tensor training_step(Model& model, Optimizer& optimizer, const sb::Tensor& images,
                         const sb::Tensor& labels);

using Step = std::function<sb::Tensor(Model&, Optimizer&, const sb::Tensor& images,
                                      const sb::Tensor& labels)>;

struct Epoch {
  int number;       // from 1
  double loss;      // mean of its steps
  double accuracy;  // of the 360 test images, 0 to 1
};
struct Report {
  std::vector<double> first_losses;  // of the first ten steps
  double accuracy = 0;
};

// Trains for some epochs in batches of 32: the first in the order of the data, the others shuffled,
// the same way in each run. Calls `progress` after each epoch.
Report train(Model& model, const std::string& optimizer, const Data& data, int epochs,
             const std::function<void(const Epoch&)>& progress, const Step& step = training_step);

}  // namespace digits

#endif  // SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_TRAINING_H_
