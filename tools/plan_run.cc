#include "switchboard/tools/plan_run.h"

#include <string>
#include <vector>

#include "switchboard/tools/plan/planner.h"
#include "switchboard/tools/progress.h"
#include "switchboard/tools/value_checker.h"

namespace sb::tools {
namespace {

// Tells the planner which node runs, and shows how far the plan is.
class Labeller : public io::RunObserver {
 public:
  Labeller(plan::Planner& planner, const io::Graph& graph)
      : planner_(planner), graph_(graph), progress_("nodes planned", graph.nodes.size()) {}
  void on_node(const io::Graph& graph, size_t node) override {
    if (&graph == &graph_) progress_.set(node);
    planner_.set_label(label_of(graph.nodes[node]));
  }

 private:
  plan::Planner& planner_;
  const io::Graph& graph_;
  Progress progress_;
};

// The name that a user knows the input by: a weight's is dotted.
const std::string& name_of(const io::InputSpec& input) {
  return input.target.empty() ? input.name : input.target;
}

}  // namespace

plan::Plan plan_on(const RunPlace& place, const RunPlan& run, const PlanSizes& sizes) {
  Mover mover(place, sizes.env);
  std::vector<IValue> inputs = move_inputs(run, mover, sizes.values);
  for (const auto& [input, meta] : sizes.opened) inputs[input] = mover.make(meta, sizes.values);
  const io::Program& program = run.archive.program;
  plan::Planner planner;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_Tensor()) planner.add_input(inputs[i].to_tensor(), name_of(program.inputs[i]));
  Labeller labeller(planner, program.graph);
  const ModeGuard guard(&planner);
  const std::vector<IValue> outputs = run.runner.run(inputs, place.device, &labeller);
  return planner.finish();
}

}  // namespace sb::tools
