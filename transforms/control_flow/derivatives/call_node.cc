#include "switchboard/transforms/control_flow/derivatives/call_node.h"

#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "switchboard/autograd/saved_tensor.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::control_flow {
namespace {

using Rules = absl::flat_hash_map<const HigherOrderOperator*, DeriveRule>;
// Never destroyed: calls may come while the program ends.
Rules& rules() {
  static Rules* const rules = new Rules;
  return *rules;
}

void derive_call(const HigherOrderOperator& op, const std::string& layer, DispatchKeySet below,
                 Stack* stack) {
  const auto found = rules().find(&op);
  SB_CHECK_NOT_IMPLEMENTED(found != rules().end(), op.name(), ": ", layer,
                           ": a tensor requires a gradient, and the operator has none there");
  found->second({op, layer, below}, stack);
}

[[maybe_unused]] const bool registered = (derived_call = derive_call, true);

class CallNode final : public GradNode {
 public:
  CallNode(std::string name, Recorded recorded)
      : name_(std::move(name)), recorded_(std::move(recorded)) {
    for (const Tensor& input : recorded_.inputs) {
      inputs_.emplace_back(input);
      add_edge(gradient_edge(input));
    }
    for (const Tensor& other : recorded_.others) others_.emplace_back(other);
    recorded_.inputs.clear();
    recorded_.others.clear();
  }
  // Takes the results, and leaves what the call gives.
  Tensors finish() {
    Tensors& results = recorded_.results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (recorded_.derived[i])
        internal::set_history(results[i], NodePtr::share(this));
      else
        add_undefined_input();
    }
    for (size_t i = 0; i < results.size(); ++i) {
      // Of those that are returned only the number counts.
      if (i < recorded_.num_returned)
        results_.emplace_back();
      else if (recorded_.derived[i])
        results_.emplace_back().save_output(results[i], *this);
      else
        results_.emplace_back(results[i]);
    }
    results.resize(recorded_.num_returned);
    return std::move(results);
  }

  std::string name() const override { return name_; }
  TensorVector apply(TensorVector grads) override {
    std::function<Tensors(const Tensors&, const Tensors&, const Tensors&, const TensorVector&)>
        backward;
    {
      const std::lock_guard<std::mutex> lock(mutex());
      backward = recorded_.backward;
    }
    const Tensors inputs = unpack(inputs_), others = unpack(others_), results = unpack(results_);
    SB_CHECK(backward, name(),
             ": what was saved for it has been freed; call the first backward "
             "with retain_graph");
    const Tensors given = backward(inputs, others, results, grads);
    return {given.begin(), given.end()};
  }
  void release_saved() override {
    const std::lock_guard<std::mutex> lock(mutex());
    for (std::vector<SavedTensor>* const list : {&inputs_, &others_, &results_})
      for (SavedTensor& saved : *list) saved.release();
    recorded_.backward = nullptr;
  }

 private:
  Tensors unpack(const std::vector<SavedTensor>& list) {
    Tensors tensors;
    for (const SavedTensor& saved : list) tensors.push_back(saved.unpack(*this));
    return tensors;
  }

  std::string name_;
  Recorded recorded_;
  std::vector<SavedTensor> inputs_, others_, results_;
};

// A result that was given to the call, or is a view of what was, as a tensor that may have a
// history of its own.
void separate(const Tensors& inputs, Tensor* result) {
  const Tensor* of = nullptr;
  bool same = requires_grad(*result);
  const auto is_like = [&](const Tensor& t) {
    return t.dtype() == result->dtype() && t.key_set() == result->key_set();
  };
  for (const Tensor& input : inputs) {
    same = same || result->is_same(input);
    if (result->is_alias_of(input) && (!of || is_like(input))) of = &input;
  }
  if (same) {
    const internal::BelowRecordingGuard below;
    *result = alias(*result);
  }
  if (of) internal::note_view(*of, *result, internal::ViewOrigin::CustomFunction);
}

}  // namespace

Tensors DerivedCallSite::run(const HigherOrderOperator& which,
                             std::vector<IValue> arguments) const {
  const BelowAutogradGuard guard;
  which.redispatch_boxed(below, &arguments);
  return tensors_of(which.name(), "results", std::move(arguments));
}

bool register_derivative(const HigherOrderOperator& op, DeriveRule rule) {
  return rules().emplace(&op, std::move(rule)).second;
}

std::vector<bool> which_require_grad(const Tensors& tensors) {
  std::vector<bool> which;
  for (const Tensor& t : tensors) which.push_back(requires_grad(t));
  return which;
}

Tensors record(const DerivedCallSite& call, Recorded recorded) {
  bool any = false;
  for (const bool derived : recorded.derived) any = any || derived;
  if (!any) {
    recorded.results.resize(recorded.num_returned);
    return std::move(recorded.results);
  }
  for (size_t i = 0; i < recorded.results.size(); ++i)
    if (recorded.derived[i]) separate(recorded.inputs, &recorded.results[i]);
  const auto node =
      make_intrusive<CallNode>(str_cat(call.op.name(), " backward"), std::move(recorded));
  return node->finish();
}

Tensors spread(const Tensors& given, const std::vector<size_t>& wanted, size_t size) {
  Tensors all(size);
  for (size_t i = 0; i < wanted.size(); ++i) all[wanted[i]] = given[i];
  return all;
}

std::vector<size_t> defined_in(const TensorVector& grads, size_t begin, size_t end) {
  std::vector<size_t> found;
  for (size_t i = begin; i < end && i < grads.size(); ++i)
    if (grads[i].defined()) found.push_back(i);
  return found;
}

}  // namespace sb::control_flow
