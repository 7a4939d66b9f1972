// What converting values from and to tensors needs of operators, which stand above this folder.

#ifndef SWITCHBOARD_DISPATCH_VALUES_TENSOR_CONVERSIONS_H_
#define SWITCHBOARD_DISPATCH_VALUES_TENSOR_CONVERSIONS_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// Calls of operators, so that modes see them and fake tensors answer with symbols.
struct TensorConversions {
  IValue (*item)(const Tensor&);               // the number in a tensor of one element
  std::vector<Tensor> (*rows)(const Tensor&);  // what lies along the first dimension
  Tensor (*wrap)(const Scalar&);               // a 0-dim wrapped number
};

// Set as the program starts, by the room that has the operators; until then no tensor is taken for
// a number or a list, and no number for a tensor.
void set_tensor_conversions(const TensorConversions& conversions);
// nullptr while nobody has set them.
const TensorConversions* tensor_conversions();

// Says of operators by name, all overloads together ("aten::add"), that a number may stand for each
// of their Tensor arguments. PyTorch keeps such a set of names; here each family tells its own,
// where it defines them.
void take_numbers_for_tensors(std::initializer_list<std::string_view> operators);
bool takes_numbers_for_tensors(std::string_view op);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_VALUES_TENSOR_CONVERSIONS_H_
