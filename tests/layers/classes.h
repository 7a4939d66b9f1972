// Classes of operators, by what the registry says of them, and a program for each.

#ifndef SWITCHBOARD_TESTS_LAYERS_CLASSES_H_
#define SWITCHBOARD_TESTS_LAYERS_CLASSES_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::layers {

using Tensors = std::vector<Tensor>;

struct OperatorClass {
  std::string_view name;
  // Whether an operator is of the class; nullptr for a class of higher-order operators.
  bool (*has)(const OperatorHandle& op);
  // The operator of the class that the program calls.
  std::string_view op;
  // A program of two float tensors, [2, 3] and [3]. What its calls leave behind, besides results
  // and what is in its inputs, it tells by leave().
  TensorFunction program;
};

const std::vector<OperatorClass>& operator_classes();

// Adds to what the thread has left behind, and takes it: "a, b".
void leave(std::string_view what);
std::string take_left();

}  // namespace sb::layers

#endif  // SWITCHBOARD_TESTS_LAYERS_CLASSES_H_
