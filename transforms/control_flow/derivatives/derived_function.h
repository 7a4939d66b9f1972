// A function that a higher-order operator takes, recorded so that its gradient is a function, too.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_DERIVED_FUNCTION_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_DERIVED_FUNCTION_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/node.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::control_flow {

// For a scope, calls go to no mode but a fake one: what is prepared beside the program is no part
// of it.
class BesideProgram {
 public:
  BesideProgram();

 private:
  DispatchMode* const fake_ = get_mode(ModeKey::Fake);
  NoModesGuard no_modes_;
  std::optional<ModeGuard> active_;
};

// The function runs once, when this is made, on copies of its inputs, and is recorded twice: by
// autograd and by a trace. The trace goes on when a gradient is wanted: autograd's own backward of
// what was recorded runs in it, so that the gradient is the one of the function as it is written,
// Functions and no_grad included. What it computed is a graph of
//
//   (inputs..., captured tensors..., gradients of results...) -> gradients of inputs
//
// that computes the function again as far as it has to. For any number of threads.
class DerivedFunction {
 public:
  // `layer` goes into errors. Those inputs require gradients for which `needed` is true. `captured`
  // has the tensors that functions use without having been given them: those that are there already
  // are inputs of this one in any case, and what it captures is added. Throws NotImplementedError
  // where the function draws random numbers, as its gradient would draw others; RuntimeError if it
  // writes to what it has not made; and what it throws.
  DerivedFunction(const FunctionArgument& f, const std::string& layer,
                  const std::vector<Tensor>& inputs, const std::vector<bool>& needed,
                  std::vector<Tensor>* captured);

  // Refuses functions that look at memory by strides and an offset: for gradients that are called
  // with other slices, or with what was kept, of other strides. NotImplementedError.
  void refuse_as_strided();
  // Takes what functions that came later have captured as inputs, too.
  void take_captured(const std::vector<Tensor>& captured);

  size_t num_results() const { return results_.size(); }
  // Of the run on copies.
  const std::vector<Tensor>& results() const { return results_; }
  // Whether the result was computed from what requires a gradient.
  bool derives(size_t result) const;
  // From which inputs, captured ones behind the others, it was computed so that a gradient passes.
  std::vector<bool> inputs_of(size_t result) const;

  // A gradient that is being made.
  struct Gradient {
    std::vector<size_t> inputs;
    std::vector<Tensor> of_inputs;  // undefined where nothing comes
    std::vector<Tensor> came;       // of those of which only the data tell: whether they come
    // Whether that of an input comes, whatever the data say.
    bool is_sure(size_t i) const { return of_inputs[i].defined() && !came[i].defined(); }
    std::vector<const Node*> placeholders;
    size_t begin = 0, end = 0;  // of its nodes
  };
  // The gradients of the inputs with these numbers by those of these results, which are dense. Of
  // the first `unsure` results the gradient may not come: behind all gradients the function that
  // computes these takes, for each, whether it does.
  Gradient differentiate(const std::vector<size_t>& results, const std::vector<size_t>& inputs,
                         size_t unsure = 0);
  // The function that computes those of its gradients for which `kept` is true: zeros where nothing
  // comes. Behind them it gives, for each of `unsure`, numbers of inputs, whether one comes.
  IValue function_of(Gradient gradient, const std::vector<bool>& kept,
                     const std::vector<size_t>& unsure = {});

 private:
  // Runs f as a part of the trace. Gives the number of its first node behind the inputs.
  size_t go_on(const std::function<void()>& f, std::vector<Tensor>* captured);
  // Nodes behind the inputs, which inputs that come later do not move.
  size_t num_recorded() { return trace_.graph().size() - trace_.graph().num_inputs(); }
  void add_input(const Tensor& tensor);
  void take_input(const Tensor& tensor);
  void check_recorded();

  std::string name_;  // for errors: "higher_order::cond: true_fn: under TracingMode"
  std::mutex mutex_;
  TracingMode trace_;
  std::vector<Tensor> inputs_;
  std::vector<const Node*> placeholders_;  // of inputs_
  std::vector<Tensor> results_;
  // The places of inputs_ and results_ in the function's graph of gradients. The program may take a
  // tensor that the function captured out of it (detach_).
  std::vector<Edge> ends_, begins_;
  size_t end_ = 0;  // of the nodes of the function itself
  // Why the gradient has none itself; or empty.
  std::string derived_once_;
};

// The places where `flags` is true.
std::vector<size_t> places(const std::vector<bool>& flags);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_DERIVED_FUNCTION_H_
