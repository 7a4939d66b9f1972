// What cond, while_loop, map and scan share: their arguments, the functions that they call, and the
// rules that are the same for all of them.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_CONTROL_FLOW_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_CONTROL_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/ops/outputs/output_plan.h"

namespace sb::control_flow {

// A function among the arguments of a higher-order operator, from tensors to tensors. It goes by
// the name of the argument in errors: "higher_order::cond: true_fn: ...".
class FunctionArgument {
 public:
  // Throws TypeError, naming the argument, unless the value is a Callable.
  FunctionArgument(std::string_view op, std::string_view name, const IValue& value);

  // Throws TypeError for a result that is no tensor, RuntimeError for an undefined one, and what
  // the function throws.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const;
  // The same where a layer calls it whatever the data say: a RuntimeError of the function's own,
  // which the program might never have seen, says so. `layer` is "under TracingMode"; errors with
  // the word `own` are the layer's, and stay as they are.
  std::vector<Tensor> call_regardless(const std::vector<Tensor>& arguments, std::string_view layer,
                                      std::string_view own) const;
  // "higher_order::cond: true_fn".
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  IntrusivePtr<Callable> function_;
};

// The arguments of a call; TypeError unless there are that many.
const std::vector<IValue>& arguments_of(std::string_view op, const std::vector<IValue>& stack,
                                        size_t expected);
// The tensors of an argument that is a list of tensors. TypeError, naming the argument, for
// anything else, RuntimeError for an undefined tensor.
std::vector<Tensor> tensors_of(std::string_view op, std::string_view name, const IValue& value);
std::vector<IValue> values_of(const std::vector<Tensor>& tensors);

// The one element of a bool tensor. Errors start with `who`: DataDependentOutputError where there
// is no data to read.
bool truth_of(std::string_view who, const Tensor& tensor);
// The same for an integer.
int64_t integer_of(std::string_view who, const Tensor& tensor);

// RuntimeError unless the tensors that `op` takes slices of, its argument xs, are there, have a
// first dimension, and agree in it; where it needs one slice at least, unless there is one. Of a
// size that is a symbol, what can be told.
enum class Slices : uint8_t { AnyNumber, OneAtLeast };
void check_slices(std::string_view op, const std::vector<Tensor>& xs,
                  Slices needed = Slices::OneAtLeast);

// Whether two tensors of the same sizes have the same strides, where these matter.
bool same_strides(const Tensor& a, const Tensor& b);

// What tensors must agree in: dtypes and devices, then sizes, then strides. Those of a graph, or of
// fake tensors, stand for whatever the data say.
enum class Agree : uint8_t { DTypes, Sizes, GraphDTypes, GraphSizes, GraphStrides };
// Throws RuntimeError, naming the result and both metadata, unless `got`, the results of the
// function `who`, are as many tensors as `expected`, which are those `of`, and agree with them.
// Strides of dimensions without a second element do not matter.
void check_same_metadata(std::string_view who, const std::vector<Tensor>& got, std::string_view of,
                         const std::vector<Tensor>& expected, Agree agree);
// The same for the strides alone, of result `i`.
void check_same_strides(std::string_view who, size_t i, const Tensor& got, std::string_view of,
                        const Tensor& expected);

// Whether nothing replaces or records a call with these keys: then what it does is what its
// functions do, one call after the other.
bool runs_plainly(DispatchKeySet keys, const Stack& stack);

// Clones each result that shares memory with one of `given`, or with another result: a later write
// to one must not reach the other.
void make_apart(std::vector<Tensor>* results, const std::vector<Tensor>& given);

// Lets calls pass over lazy conjugation and negation: the operators that the functions call see to
// these.
void pass_lazy_bits(HigherOrderOperator* op);

// The rule at Autograd. Where no mode replaces or records the call, the operator is plain control
// flow: what its functions call is recorded as it runs, captured tensors included. Under
// functionalisation the values below are recorded so. Under any other mode the call runs below
// autograd; where a tensor, given or captured, requires a gradient, it gets a node of its own,
// whose backward calls the operator again (derivatives/). NotImplementedError, naming the operator,
// the mode and the tensor, where the program does not link these.
OperatorBase::Rule autograd_rule(const HigherOrderOperator& op);

// Runs a call that is not plain control flow, and of which a tensor requires a gradient. `layer`
// goes into errors: "under TracingMode"; `below` are the keys of the call
// below autograd. derivatives/ sets it.
using DerivedCall = void (*)(const HigherOrderOperator& op, const std::string& layer,
                             DispatchKeySet below, Stack* stack);
inline constinit DerivedCall derived_call = nullptr;

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_CONTROL_FLOW_H_
