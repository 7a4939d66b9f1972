// The law of compositions, for tests: a function of tensors under layers does what it does alone,
// or throws an error that names the operator and the layer.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_LAW_H_
#define SWITCHBOARD_TESTS_COMPOSITION_LAW_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::composition {

// Calls an operator by its name; gives the tensors among its results, those in lists included.
std::vector<Tensor> call(std::string_view op, std::vector<IValue> arguments,
                         std::vector<std::pair<std::string, IValue>> keyword = {});

// How f under the layers ("grad, functionalize": from the inside out, see layers.h) breaks the law
// with these inputs: "" if it does not, or if the layers do not apply to it.
std::string broken_by(std::string_view layers, const TensorFunction& f,
                      const std::vector<Tensor>& inputs);
// The same under each of the stacks: a line for each that breaks the law.
std::string broken(const std::vector<std::string_view>& stacks, const TensorFunction& f,
                   const std::vector<Tensor>& inputs);

// What becomes of f under each of the stacks: "passed, refused by aten::add_, does not apply".
std::string verdicts(const std::vector<std::string_view>& stacks, const TensorFunction& f,
                     const std::vector<Tensor>& inputs);

// Traces f and runs the graph on other inputs: "kind: text" of the error, or "".
std::string error_of_graph(const TensorFunction& f, const std::vector<Tensor>& traced,
                           const std::vector<Tensor>& inputs);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_LAW_H_
