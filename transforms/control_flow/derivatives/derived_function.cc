#include "switchboard/transforms/control_flow/derivatives/derived_function.h"

#include <string_view>
#include <typeinfo>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/autograd/engine.h"
#include "switchboard/autograd/function_node.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/memory_operators.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"

namespace sb::control_flow {
namespace {

TraceOptions options_for(const std::string& function) {
  TraceOptions options{
      .pure_function = function, .without_effects_in = function, .keep_no_grad = true};
  if (const auto* const around = dynamic_cast<const TracingMode*>(get_mode(ModeKey::Proxy)))
    options.refuse_data_dependent = around->options().refuse_data_dependent;
  return options;
}

bool is_random(const Node& call) { return call.op().entry().has_tag(Tag::nondeterministic_seeded); }
// Whether it has an effect, and is there for something else, too.
bool is_effect_of_use(const Node& call) {
  const FunctionSchema& schema = call.op().schema();
  return call.token() != 0 && (!schema.returns.empty() || schema.is_mutable());
}

// Copies nodes into another graph, without their effects, which have been had.
class NodeCopier {
 public:
  explicit NodeCopier(Graph* to) : to_(to) {}

  void add_input(const Node* from) { made_[from] = to_->placeholder(from->name(), from->meta()); }
  void add(const Node* from) {
    Node* copy = nullptr;
    switch (from->kind()) {
      case Node::Kind::Placeholder:
      case Node::Kind::Output:
        return;
      case Node::Kind::Constant:
        copy = to_->constant(from->constant());
        break;
      case Node::Kind::Call:
        if (from->token() != 0) return;  // and nothing else: see check_recorded()
        copy = to_->call_bound(from->op(), arguments(*from));
        break;
      case Node::Kind::HigherOrder:
        if (from->higher_order().is_impure()) return;  // it is there for its effect alone
        copy = to_->call_higher_order(from->shared_higher_order(), arguments(*from));
        break;
      case Node::Kind::GetItem:
        copy = to_->get_item(made_.at(from->arguments().at(0).node()), from->item());
        break;
    }
    copy->set_meta(from->meta());
    copy->set_number(from->number());
    made_[from] = copy;
  }
  GraphArg argument(const GraphArg& from) const {
    if (Node* const node = from.node()) return made_.at(node);
    if (const Subgraph* const sub = from.subgraph())
      return Subgraph{sub->name, without_effects(sub->graph)};
    const GraphArg::List* const list = from.list();
    if (!list) return from;
    GraphArg::List copy;
    copy.tag = list->tag;
    for (const GraphArg& item : list->items) copy.items.push_back(argument(item));
    return copy;
  }

 private:
  static std::shared_ptr<const Graph> without_effects(const std::shared_ptr<const Graph>& graph) {
    if (graph->num_tokens() == 0) return graph;
    auto copy = std::make_shared<Graph>();
    NodeCopier copier(copy.get());
    for (size_t i = 0; i < graph->size(); ++i) {
      const Node& node = (*graph)[i];
      if (node.kind() == Node::Kind::Placeholder)
        copier.add_input(&node);
      else if (node.kind() == Node::Kind::Output)
        copy->output(copier.arguments(node));
      else
        copier.add(&node);
    }
    return copy;
  }
  std::vector<GraphArg> arguments(const Node& from) const {
    std::vector<GraphArg> copies;
    for (const GraphArg& a : from.arguments()) copies.push_back(argument(a));
    return copies;
  }

  Graph* to_;
  absl::flat_hash_map<const Node*, Node*> made_;
};

Tensor zeros_like_dense(const Tensor& t) {
  return zeros_like(detach(t), std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                    MemoryFormat::Contiguous);
}

// Makes an input a tensor that was computed, so that it is not an error of autograd's to write to
// it. No backward goes beyond it.
class InputNode final : public GradNode {
 public:
  std::string name() const override { return "an argument of a function"; }
  TensorVector apply(TensorVector) override { return {}; }
};

// The function that is recorded now.
thread_local DerivedFunction* recording = nullptr;

}  // namespace

BesideProgram::BesideProgram() {
  if (fake_) active_.emplace(fake_);
}

std::vector<size_t> places(const std::vector<bool>& flags) {
  std::vector<size_t> found;
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) found.push_back(i);
  return found;
}

DerivedFunction::DerivedFunction(const FunctionArgument& f, const std::string& layer,
                                 const std::vector<Tensor>& inputs, const std::vector<bool>& needed,
                                 std::vector<Tensor>* captured)
    : name_(str_cat(f.name(), ": ", layer)), trace_(options_for(name_)) {
  const BesideProgram beside;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor stand_in;
    {
      const internal::BelowRecordingGuard below;
      stand_in = own_copy(inputs[i]);
    }
    if (needed[i]) internal::set_history(stand_in, make_intrusive<InputNode>());
    add_input(stand_in);
  }
  take_captured(*captured);
  const size_t known = captured->size();
  go_on(
      [&] {
        try {
          results_ = f({inputs_.begin(), inputs_.begin() + inputs.size()});
        } catch (const Error& error) {
          // It runs whatever the data say, and what this trace refuses is for the gradient's sake.
          const bool is_plain =
              typeid(error) == typeid(NotImplementedError) || typeid(error) == typeid(RuntimeError);
          if (!is_plain || std::string_view(error.what()).find(name_) != std::string_view::npos)
            throw;
          rethrow_with_context(error, str_cat(name_, ": run for its gradient: "));
        }
        // A result may be what no operator of the function was called with.
        for (const Tensor& result : results_) trace_.argument_of(result);
      },
      captured);
  for (size_t i = known; i < captured->size(); ++i) {
    placeholders_.push_back(&trace_.graph()[inputs_.size()]);
    take_input((*captured)[i]);
  }
  for (const Tensor& result : results_) begins_.push_back(gradient_edge(result));
  end_ = num_recorded();
  check_recorded();
}

void DerivedFunction::add_input(const Tensor& tensor) {
  placeholders_.push_back(trace_.add_input(tensor, str_cat("arg", inputs_.size())));
  take_input(tensor);
}

void DerivedFunction::take_input(const Tensor& tensor) {
  inputs_.push_back(tensor);
  ends_.push_back(gradient_edge(tensor));
}

void DerivedFunction::take_captured(const std::vector<Tensor>& captured) {
  for (const Tensor& tensor : captured)
    if (!trace_.find(tensor)) add_input(tensor);
}

size_t DerivedFunction::go_on(const std::function<void()>& f, std::vector<Tensor>* captured) {
  const size_t begin = num_recorded();
  const GradModeGuard on(true);
  struct Recording {
    DerivedFunction* const outer;
    ~Recording() { recording = outer; }
  } const scope{std::exchange(recording, this)};
  trace_.resume(f, captured);
  return begin;
}

// Backward through a Function is in the trace as what it calls; what it would be derived as, is
// not.
void DerivedFunction::check_recorded() {
  const std::string random = find_operator(trace_.graph(), is_random);
  SB_CHECK_NOT_IMPLEMENTED(random.empty(), name_, ": ", random,
                           " draws random numbers, and a gradient would draw them again; draw "
                           "them outside of the function, or call it under no_grad");
  const std::string effect = find_operator(trace_.graph(), is_effect_of_use);
  SB_CHECK_NOT_IMPLEMENTED(effect.empty(), name_, ": ", effect,
                           " has an effect, and a gradient would need what it computes again, "
                           "without the effect; call it outside of the function, or under no_grad");
  absl::flat_hash_set<std::string> derived_by_operator;
  const Graph& graph = trace_.graph();
  for (size_t i = 0; i < graph.size(); ++i)
    if (graph[i].kind() == Node::Kind::Call)
      derived_by_operator.insert(internal::backward_name(graph[i].op().name().to_string()));
  absl::flat_hash_set<const GradNode*> seen;
  for (const Edge& end : ends_)
    if (end) seen.insert(end.node.get());
  std::vector<NodePtr> waiting;
  for (const Edge& begin : begins_)
    if (begin) waiting.push_back(begin.node);
  while (!waiting.empty()) {
    const NodePtr node = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (dynamic_cast<const internal::FunctionNode*>(node.get()) &&
        !derived_by_operator.contains(node->name()))
      derived_once_ = str_cat(name_, ": the second derivative of ", node->name(),
                              " is not known there: it is a graph of what it called");
    for (const Edge& edge : node->edges())
      if (edge) waiting.push_back(edge.node);
  }
  // What is in a function inside of another one is in that one's graph, too.
  if (recording && !derived_once_.empty()) recording->derived_once_ = derived_once_;
}

void DerivedFunction::refuse_as_strided() {
  const std::string found = internal::find_look_at_memory(trace_.graph());
  SB_CHECK_NOT_IMPLEMENTED(found.empty(), name_, ": ", found,
                           " looks at memory, which a gradient has no more as it was; use views "
                           "that go by sizes");
}

bool DerivedFunction::derives(size_t result) const { return static_cast<bool>(begins_[result]); }

std::vector<bool> DerivedFunction::inputs_of(size_t result) const {
  absl::flat_hash_set<const GradNode*> seen;
  for (const Edge& end : ends_)
    if (end) seen.insert(end.node.get());
  std::vector<bool> found(inputs_.size());
  std::vector<Edge> waiting{begins_[result]};
  while (!waiting.empty()) {
    const Edge edge = std::move(waiting.back());
    waiting.pop_back();
    if (!edge) continue;
    for (size_t i = 0; i < ends_.size(); ++i)
      if (ends_[i] == edge) found[i] = true;
    if (!seen.insert(edge.node.get()).second) continue;
    for (const Edge& next : edge.node->edges()) waiting.push_back(next);
  }
  return found;
}

DerivedFunction::Gradient DerivedFunction::differentiate(const std::vector<size_t>& results,
                                                         const std::vector<size_t>& inputs,
                                                         size_t unsure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const BesideProgram beside;
  Gradient gradient;
  internal::BackwardRun run;
  run.keep_graph = run.create_graph = run.cut = true;
  std::vector<Tensor> of_results, came_to_results(results.size());
  for (const size_t i : results) {
    const BelowAutogradGuard below;
    // Gradients come dense, whatever strides the result has.
    of_results.push_back(ones_like(detach(results_[i]), std::nullopt, std::nullopt, std::nullopt,
                                   std::nullopt, MemoryFormat::Contiguous));
    gradient.placeholders.push_back(trace_.add_input(of_results.back(), str_cat("grad", i)));
  }
  for (size_t r = 0; r < unsure; ++r) {
    const BelowAutogradGuard below;
    came_to_results[r] = new_full(detach(inputs_[0]), {}, true, DType::Bool);
    gradient.placeholders.push_back(
        trace_.add_input(came_to_results[r], str_cat("came", results[r])));
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const Edge& begin = begins_[results[r]];
    if (!begin) continue;
    run.roots.push_back(begin);
    run.grads.push_back(of_results[r]);
    run.grads_came.push_back(came_to_results[r]);
  }
  std::vector<size_t> captured;
  gradient.inputs = inputs;
  gradient.of_inputs.resize(inputs.size());
  gradient.came.resize(inputs.size());
  std::vector<Tensor> came;
  run.came = &came;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge& end = ends_[inputs[i]];
    if (!end) continue;
    run.captures.push_back(end);
    captured.push_back(i);
  }
  std::vector<Tensor> others;
  gradient.begin = go_on(
      [&] {
        if (run.roots.empty() || run.captures.empty()) return;
        const std::vector<Tensor> grads = internal::run_backward(run);
        came.resize(captured.size());
        for (size_t i = 0; i < captured.size(); ++i) {
          if (grads[i].defined()) gradient.of_inputs[captured[i]] = grads[i];
          gradient.came[captured[i]] = came[i];
        }
      },
      &others);
  gradient.end = num_recorded();
  SB_CHECK_NOT_IMPLEMENTED(
      others.empty(), name_, ": its gradient uses ", others.front().describe(),
      ", which it has from outside and which the function itself does not use");
  return gradient;
}

IValue DerivedFunction::function_of(Gradient gradient, const std::vector<bool>& kept,
                                    const std::vector<size_t>& unsure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const BesideProgram beside;
  std::vector<Tensor> results, others;
  // Dense results of their own, so that they do not depend on the way that gradients have taken.
  const size_t last = go_on(
      [&] {
        for (const size_t i : places(kept)) {
          const Tensor& grad = gradient.of_inputs[i];
          results.push_back(grad.defined() ? clone(grad, MemoryFormat::Contiguous)
                                           : zeros_like_dense(inputs_[gradient.inputs[i]]));
        }
        for (const size_t i : unsure) {
          const Tensor& came = gradient.came[i];
          const bool comes = gradient.of_inputs[i].defined();
          results.push_back(came.defined() ? came : new_full(inputs_[0], {}, comes, DType::Bool));
        }
      },
      &others);
  auto graph = std::make_shared<Graph>();
  NodeCopier copier(graph.get());
  for (const Node* const placeholder : placeholders_) copier.add_input(placeholder);
  for (const Node* const placeholder : gradient.placeholders) copier.add_input(placeholder);
  const size_t inputs = trace_.graph().num_inputs();
  const auto copy = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) copier.add(&trace_.graph()[inputs + i]);
  };
  copy(0, end_);
  copy(gradient.begin, gradient.end);
  copy(last, num_recorded());
  std::vector<GraphArg> returned;
  for (const Tensor& result : results)
    returned.push_back(copier.argument(trace_.argument_of(result)));
  graph->output(std::move(returned));
  graph->eliminate_dead_code();
  return Callable::make([run = internal::graph_function(std::move(graph)),
                         derived_once = derived_once_](std::vector<IValue> values) {
    if (!derived_once.empty() && is_grad_enabled()) {
      for (const IValue& value : values) {
        value.for_each_tensor(
            [&](const Tensor& t) { SB_CHECK_NOT_IMPLEMENTED(!requires_grad(t), derived_once); });
      }
    }
    return run(std::move(values));
  });
}

}  // namespace sb::control_flow
