// One rule for all routes to functionalisation: what happens to a call on functional tensors,
// whether it came by the Functionalize key or by a mode.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZATION_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZATION_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/objects/functionalize_api.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/transforms/functionalization/functional_inputs.h"
#include "switchboard/transforms/functionalization/functional_tensor.h"
#include "switchboard/transforms/functionalization/history.h"

namespace sb {

// From plain tensors to plain tensors.
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// A route to functionalisation, for the time of one call.
class FunctionalizeContext : public FunctionalizeApi {
 public:
  // Whether the tensor is a functional one of this route.
  bool owns(const Tensor& tensor) const;
  // Whether the tensor is a functional one of the program around the function that runs.
  bool captured(const Tensor& tensor) const;
  // As FunctionalInputs::check_reach().
  void check_reach(const OperatorHandle& op, const FunctionalTensorImpl& viewed,
                   const Tensor& value) const;
  // A functional tensor with this value.
  Tensor wrap(const Tensor& value) const;
  // The value with every write so far in it, of captured ones too. A plain tensor has what was
  // written to its functional one; RuntimeError for one that has the Functionalize key by a
  // mistake.
  Tensor unwrap(const Tensor& tensor) const;
  // The same for every tensor in a value, of which backward inside of the program knows no more.
  IValue wrap(const IValue& value) const override;
  IValue unwrap(const IValue& value) const override;
  // Calls an operator on values, below functionalisation.
  void redispatch(const OperatorHandle& op, Stack* stack) const;
  void redispatch(const std::function<void()>& call) const override;
  // f, which higher-order operators take, as a function of values that calls no operator that
  // mutates. The function throws NotImplementedError where f writes to its arguments or to other
  // tensors that it has not made: nobody would see that. It may read those. RuntimeError where a
  // result is a functional tensor that f has captured, or a view of one.
  Callable::Function functionalize(Callable::Function f) const override = 0;
  // Runs what calls operators on functional tensors, one by one, in the place of a call of the
  // program.
  virtual void run_in_place(const std::function<void()>& call) const = 0;
  const IntrusivePtr<FunctionalOwner>& owner() const { return owner_; }
  // The functional tensor of a plain one that the program uses without having been given it, so
  // that its writes are seen by all; a functional one itself.
  Tensor functional(const Tensor& tensor) const;
  // The same for an argument that is written to. Errors name it: RuntimeError if the write would
  // be lost, NotImplementedError if the tensor is captured.
  Tensor functional_for_write(const OperatorHandle& op, size_t argument, const Tensor& t) const;

 protected:
  // `inputs` is where plain tensors are looked up; null where nobody would write to them.
  FunctionalizeContext(IntrusivePtr<FunctionalOwner> owner, FunctionalInputs* inputs)
      : owner_(std::move(owner)), inputs_(inputs) {}

 private:
  IntrusivePtr<FunctionalOwner> owner_;
  FunctionalInputs* inputs_;
};

// The routes by which rules of operators are installed (OperatorBase::impl_functionalize): the key,
// for the operators that take rules at keys, and the mode. As `CppFunctionalizeAPI` and
// `PythonFunctionalizeAPI`.
const FunctionalizeRoutes& functionalize_routes();

namespace internal {

// The general rule. Below it no operator mutates anything, but for one whose functional form does
// not exist, or has no derivative where a gradient needs the operator's: that works on a clone. If
// it throws, no tensor has changed. Each
// call with an ordered effect (dispatch/modes/effects.h) is one call of that operator below.
//
// Throws what the operator itself would, and NotImplementedError, naming the operator, for what has
// no functional meaning: another storage in the place of an argument's, memory that grows under
// several tensors, shapes changed by an operator that has no functional form.
void functionalize_call(const FunctionalizeContext& context, const OperatorHandle& op,
                        Stack* stack);

// How a call goes on from there.
void explain_functionalized(CallPath& path, const FunctionalizeContext& context,
                            const PathCall& call);

// For the time that a program runs functionalised. One inside of it is not functionalised again.
class RunningProgram {
 public:
  RunningProgram();
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Whether there is one on this thread.
  static bool any();

 private:
  std::optional<RecordsOfProgram> records_;  // of the outermost
};

// How a view is one of the storage of the functional tensor that it views.
struct ViewOfStorage {
  ViewChain chain;
  size_t lineage;
};
// `value` is what the step made of the viewed tensor's value.
ViewOfStorage view_of(const FunctionalTensorImpl& viewed, ViewStep step, const Tensor& value);

// The function of an operator that runs on this thread (call_on_values), for errors; empty if none.
std::string_view running_function();

// Whether a tensor belongs to a program around the one with this owner: that of the function of a
// higher-order operator, which has captured it.
bool is_captured(const FunctionalTensorImpl& tensor, const IntrusivePtr<FunctionalOwner>& owner);

// Throws NotImplementedError where a transform is on this thread, whose tensors would stand for
// functional ones, and functional ones for its tensors.
void check_no_transform(std::string_view who);

// Throws NotImplementedError, naming the function that runs, where it has captured a tensor that
// requires a gradient, of which the tensor's value knows nothing.
void check_captured_gradient(const Tensor& tensor, const Tensor& value);

// The inputs as functional tensors. Those that are functional and of the same owner stay.
std::vector<Tensor> wrap_inputs(FunctionalInputs* functional_inputs, TensorList inputs,
                                const IntrusivePtr<FunctionalOwner>& owner);

// What functions that an operator takes do besides giving results, for the operator's rule. While
// there is one, on a thread, a function may write to its arguments, and give what it has captured.
struct FunctionEffects {
  // `name` is that of the function, for errors.
  explicit FunctionEffects(std::string name) : who(std::move(name)), outer(current) {
    current = this;
  }
  ~FunctionEffects() { current = outer; }
  FunctionEffects(const FunctionEffects&) = delete;
  FunctionEffects& operator=(const FunctionEffects&) = delete;

  const std::string who;
  // Of the function that ran last: for each tensor among its arguments, what it holds now where the
  // function wrote to it; undefined elsewhere.
  std::vector<Tensor> written;
  // How a tensor lies in its memory.
  struct Layout {
    explicit Layout(const Tensor& t)
        : dtype(t.dtype()),
          sizes(t.sym_sizes().begin(), t.sym_sizes().end()),
          strides(t.sym_strides().begin(), t.sym_strides().end()),
          offset(t.sym_storage_offset()),
          keys(t.key_set()) {}

    DType dtype;
    std::vector<SymInt> sizes, strides;
    SymInt offset;
    DispatchKeySet keys;

    // Whether both are known to be the same.
    bool operator==(const Layout& other) const {
      return dtype == other.dtype && keys == other.keys && are_same(sizes, other.sizes) &&
             are_same(strides, other.strides) && known(offset == other.offset);
    }
  };
  // Its results that share memory with an argument: by number, and how they look at it.
  struct Shared {
    size_t result, argument;
    bool same;  // it is that very tensor
    Layout layout;
  };
  std::vector<Shared> shared;
  // Its results that share memory with a tensor of the program around it: by number. Instead of
  // them it gives copies.
  struct Captured {
    size_t result;
    Tensor tensor;
  };
  std::vector<Captured> captured;
  // Pairs of its results that share memory with each other: by number.
  std::vector<std::pair<size_t, size_t>> twins;

  // For a scope there is none.
  class None {
   public:
    None() : effects_(std::exchange(current, nullptr)) {}
    ~None() { current = effects_; }
    None(const None&) = delete;
    None& operator=(const None&) = delete;

   private:
    FunctionEffects* effects_;
  };

  FunctionEffects* const outer;
  static thread_local FunctionEffects* current;
};

// For FunctionalizeContext::functionalize: f on functional tensors of the arguments, and the values
// of its results. The caller has made the route active for functional_inputs.
std::vector<IValue> call_on_values(const Callable::Function& f, std::vector<IValue> arguments,
                                   FunctionalInputs* functional_inputs,
                                   const IntrusivePtr<FunctionalOwner>& owner);

// Whether autograd records nothing of the operator: it is not differentiable, and what it writes to
// keeps the history that it has.
bool passes_by_autograd(const OperatorHandle& op);
// Runs a CompositeImplicitAutograd kernel on functional tensors: what it calls is functionalised,
// one by one.
void call_composite(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONALIZATION_H_
