// The mode that watches a program and writes down what it needs.

#ifndef SWITCHBOARD_TOOLS_PLAN_PLANNER_H_
#define SWITCHBOARD_TOOLS_PLAN_PLANNER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/tools/plan/op_cost.h"
#include "switchboard/tools/plan/plan.h"

namespace sb::plan {

// Records each call that reaches it: what it costs, and which memory is there meanwhile. The calls
// go on below it, so that a program is planned on fake tensors without its machine, or on real
// ones while it runs. As `FlopCounterMode`, with memory.
//
//   FakeTensorMode fake;
//   FakeTensorModeGuard fake_guard(fake);
//   Tensor w = sb::empty({4096, 4096}, ...), x = ...;       // before: not in the plan
//   Planner planner;
//   planner.add_input(w, "w");
//   planner.add_input(x, "x");
//   { ModeGuard guard(&planner); y = f(x, w); }
//   Plan plan = planner.finish();
//
// It sees what arrives below autograd: composite operators as what they are made of. Memory is
// known by its storage: views share it, and it is there as long as any of them is, or a handle to
// one. When a storage dies is found at the next call, which is as exact as a plan by calls can be;
// each call looks at every storage that lives. What a kernel takes and gives back by itself is not
// seen. A call that throws is not recorded.
//
// For one thread at a time.
class Planner : public DispatchMode {
 public:
  // `costs` must outlive the planner.
  explicit Planner(const CostTable& costs = CostTable::standard()) : costs_(costs) {}

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "Planner"; }

  // Says that the tensor is a weight or an input and what it is called. Its storage then counts
  // from here on, or from the call that made it if the planner saw that. A storage that the planner
  // meets as an argument, and nobody declared, counts as an input from the beginning. RuntimeError
  // for an undefined tensor.
  void add_input(const Tensor& tensor, const std::string& name);
  // Calls from here on belong to this part of the program: the name of a node or of a layer.
  void set_label(std::string label) { label_ = std::move(label); }

  // Ends the plan and gives it away; the planner then begins anew. What is still alive outlives the
  // plan: weights, inputs, results that the caller holds.
  Plan finish();

 private:
  // A weak reference keeps the address from being used again, but no memory alive.
  struct Live {
    WeakIntrusivePtr<StorageImpl> storage;
    size_t index;  // in plan_.storages
  };
  struct Known {
    size_t index;   // in plan_.storages
    size_t nbytes;  // when it was met: a storage that has other bytes now was resized
  };
  // What is looked up once for each operator.
  struct KnownOp {
    std::string name;
    const OpCost* cost;
    bool decomposes;
  };

  const KnownOp& known(const OperatorHandle& op);
  // Finds out which storages have died since the last call.
  void bury();
  // Gives the storage's index in the plan; nullopt for a tensor that has none.
  std::optional<size_t> find(const Tensor& tensor) const;
  size_t add(const Tensor& tensor, bool is_input, size_t born);
  void meet_argument(const Tensor& tensor);
  // After a call: storages that it made, or resized.
  void meet_result(const Tensor& tensor);

  const CostTable& costs_;
  Plan plan_;
  std::string label_;
  std::vector<Live> live_;
  absl::flat_hash_map<const StorageImpl*, Known> index_;  // of what is in live_
  absl::flat_hash_map<const OperatorEntry*, KnownOp> ops_;
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_PLANNER_H_
