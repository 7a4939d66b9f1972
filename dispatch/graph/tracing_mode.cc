#include "switchboard/dispatch/graph/tracing_mode.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/graph/memory_operators.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/explain_mode.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/modes/trace_hooks.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb {
namespace {

thread_local TracingMode* innermost_trace = nullptr;

constexpr internal::TraceHooks kHooks{
    .gave_view_or_copy = [](const Tensor& self, const Tensor& result, std::string_view op,
                            internal::ViewOrCopyBy by) {
      if (innermost_trace) innermost_trace->note_view_or_copy(self, result, op, by);
    }};
[[maybe_unused]] const bool hooked = (internal::trace_hooks = &kHooks, true);

const ExplainMode explain_trace(typeid(TracingMode), [](CallPath& path, DispatchMode& mode,
                                                        const PathCall& c) {
  const auto& trace = static_cast<const TracingMode&>(mode);
  const bool runs = trace.paused() || trace.options().without_effects_in.empty() ||
                    !WithoutEffects::concerns(c.op, c.arguments);
  if (runs) path.call(c.op, c.arguments);
});

std::optional<NodeMeta> meta_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional(NodeMeta::of(tensor)) : std::nullopt;
}

// Whether calls with the tensor are functionalised before a trace sees them.
bool is_functional(const Tensor& tensor) {
  const ModeData* const data = tensor.impl()->mode_data().get();
  return tensor.key_set().has(DispatchKey::Functionalize) ||
         (data && data->mode().mode_key() == ModeKey::Functional);
}

}  // namespace

// Makes a trace the innermost one for a scope: the one around it, and the one that it is a subgraph
// of, record nothing meanwhile.
class TracingMode::Active {
 public:
  explicit Active(TracingMode* mode)
      : outer_(std::exchange(innermost_trace, mode)),
        outer_pause_(outer_),
        parent_pause_(mode->parent_) {}
  ~Active() { innermost_trace = outer_; }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  class Pause {
   public:
    explicit Pause(TracingMode* mode)
        : mode_(mode), was_paused_(mode && std::exchange(mode->paused_, true)) {}
    ~Pause() {
      if (mode_) mode_->paused_ = was_paused_;
    }

   private:
    TracingMode* mode_;
    bool was_paused_;
  };

  TracingMode* outer_;
  Pause outer_pause_;
  Pause parent_pause_;
};

TracingMode::TracingMode(TraceOptions options) : options_(std::move(options)) {}
TracingMode::~TracingMode() = default;

Node* TracingMode::find(const Tensor& tensor) const {
  const auto found = nodes_.find(tensor.impl());
  return found == nodes_.end() ? nullptr : found->second.node;
}

void TracingMode::track(const Tensor& tensor, Node* node) {
  if (!tensor.defined()) return;
  const auto [it, is_new] = nodes_.try_emplace(tensor.impl());
  if (is_new) it->second.tensor = WeakIntrusivePtr<TensorImpl>(tensor.impl());
  it->second.node = node;
}

// An error may come from an operator whose functions were told.
void TracingMode::note_told(const Node& node) {
  for (TracingMode* mode = this; mode; mode = mode->parent_) mode->assumptions_.note_told(node);
}

void TracingMode::track_value(Node* node, const IValue& value) {
  if (value.is_Tensor()) {
    node->set_meta(meta_of(value.unchecked_tensor()));
    note_told(*node);
    track(value.unchecked_tensor(), node);
  } else if (value.is_TensorList()) {
    const TensorList list = value.to_tensor_list();
    for (size_t i = 0; i < list.size(); ++i) track_value(graph_.get_item(node, i), list[i]);
  } else if (value.is_OptionalTensorList()) {
    const OptionalTensorList list = value.to_optional_tensor_list();
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i]) track_value(graph_.get_item(node, i), *list[i]);
  } else if (value.is_List()) {
    track_items(node, value.to_list());
  } else if (value.is_symbolic()) {
    node->set_number(internal::symbolic_number(value));
    note_told(*node);
  } else if (value.is_Object()) {
    IntrusivePtr<OpaqueObject> object = value.to_object();
    const OpaqueObject* const key = object.get();
    objects_[key] = {std::move(object), node};
  }
}

namespace {

// Whether there is something in a result that a trace knows again.
bool can_track(const IValue& value) {
  if (value.is_Object() || value.is_symbolic()) return true;
  if (value.is_List())
    return std::any_of(value.to_list().begin(), value.to_list().end(), can_track);
  bool has_tensor = false;
  value.for_each_tensor([&](const Tensor&) { has_tensor = true; });
  return has_tensor;
}

}  // namespace

void TracingMode::track_items(Node* node, const std::vector<IValue>& results) {
  for (size_t i = 0; i < results.size(); ++i)
    if (can_track(results[i])) track_value(graph_.get_item(node, i), results[i]);
}

void TracingMode::track_results(Node* node, const std::vector<IValue>& results) {
  if (results.size() == 1 && node->kind() != Node::Kind::HigherOrder)
    track_value(node, results[0]);
  else
    track_items(node, results);
}

GraphArg TracingMode::tensor_argument(const Tensor& tensor) {
  if (!tensor.defined()) return IValue(tensor);
  if (Node* const node = find(tensor)) return node_for_use(tensor, node);
  if (tensor.impl()->is_wrapped_number()) return IValue(tensor);
  const Node* const outside = find_outside(tensor);
  if (outside || captures_all_) {
    SB_CHECK(captured_, "trace: the subgraph uses '", outside->name(), "' (", tensor.describe(),
             ") of the graph around it, which is not among its inputs");
    captured_->push_back(tensor);
    return lift(tensor, str_cat("arg", graph_.num_inputs()));
  }
  from_outside_.push_back(tensor);
  return graph_.constant(tensor);
}

Node* TracingMode::node_for_use(const Tensor& tensor, Node* node) {
  constexpr std::string_view kDetach = "aten::detach";
  const auto is_detach = [&](const Node* n) {
    return n->kind() == Node::Kind::Call && n->op().name().to_string() == kDetach;
  };
  if (!internal::grad_hooks->requires_grad(tensor)) {
    if (!without_grad_.contains(node) || is_detach(node)) return node;
    Node* const detached =
        graph_.call_bound(default_dispatcher().find_op_or_throw(kDetach), {node});
    detached->set_meta(node->meta());
    track(tensor, detached);
    return detached;
  }
  // A result that autograd saved: it keeps a detached one and gives that its history back.
  if (internal::grad_hooks->is_saved(tensor))
    while (is_detach(node)) node = node->arguments().front().node();
  return node;
}

const Node* TracingMode::find_outside(const Tensor& tensor) const {
  for (const TracingMode* outer = parent_; outer; outer = outer->parent_)
    if (const Node* const node = outer->find(tensor)) return node;
  return nullptr;
}

Node* TracingMode::lift(const Tensor& tensor, const std::string& name) {
  Node* const node = graph_.late_placeholder(name, NodeMeta::of(tensor));
  track(tensor, node);
  from_outside_.push_back(tensor);
  return node;
}

void TracingMode::check_writes(const OperatorHandle& op, const std::vector<IValue>& arguments) {
  if (!op.schema().is_mutable()) return;
  const std::vector<Argument>& declared = op.schema().arguments;
  for (size_t a = 0; a < declared.size(); ++a) {
    if (!declared[a].is_write()) continue;
    arguments[a].for_each_tensor([&](const Tensor& written) {
      assumptions_.check_write(written);
      note_write(op.name().to_string(), written);
    });
  }
}

// Memory tells it: what the function makes is new, and its inputs share memory with nothing else.
void TracingMode::note_write(std::string_view who, const Tensor& written) {
  const bool pure = !options_.pure_function.empty();
  if (!written.defined() || (!pure && !options_.before_write_outside)) return;
  if (!find(written)) tensor_argument(written);
  for (const Tensor& outside : from_outside_) {
    if (!outside.is_same(written) && !outside.is_alias_of(written)) continue;
    if (options_.before_write_outside) options_.before_write_outside(outside);
    if (!pure) continue;
    const Node* const node = find(outside);
    const bool is_input = node && node->kind() == Node::Kind::Placeholder;
    SB_THROW(RuntimeError, options_.pure_function, ": ", who, " writes to ",
             is_input ? "the input '" : "the constant '",
             node ? node->name() : graph_.constant(outside)->name(), "'; it must write to a clone");
  }
}

GraphArg TracingMode::object_argument(const IValue& value) const {
  const IntrusivePtr<OpaqueObject> object = value.to_object();
  const auto found = objects_.find(object.get());
  if (found != objects_.end()) return found->second.node;
  for (const TracingMode* outer = parent_; outer; outer = outer->parent_) {
    const auto outside = outer->objects_.find(object.get());
    SB_CHECK_NOT_IMPLEMENTED(
        outside == outer->objects_.end(),
        options_.without_effects_in.empty() ? "trace: a subgraph" : options_.without_effects_in,
        ": uses '", outside->second.node->name(), "' of the traced graph around it, ",
        value.to_string(), "; only tensors can be captured");
  }
  return value;
}

GraphArg TracingMode::argument_of(const IValue& value) {
  if (value.is_Tensor()) return tensor_argument(value.unchecked_tensor());
  GraphArg::List list;
  list.tag = value.tag();
  if (value.is_TensorList()) {
    for (const Tensor& t : value.to_tensor_list()) list.items.push_back(tensor_argument(t));
  } else if (value.is_OptionalTensorList()) {
    for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
      list.items.push_back(t ? tensor_argument(*t) : GraphArg());
  } else if (value.is_List()) {
    for (const IValue& item : value.to_list()) list.items.push_back(argument_of(item));
  } else if (value.is_Object()) {
    return object_argument(value);
  } else {
    return value;
  }
  return list;
}

void TracingMode::check_data_dependent(const OperatorHandle& op,
                                       const std::vector<IValue>& arguments,
                                       const std::vector<IValue>& results) const {
  if (!options_.refuse_data_dependent || !op.entry().has_tag(Tag::data_dependent_output)) return;
  // A symbol is what each run of the graph gives.
  if (std::ranges::all_of(results, &IValue::is_symbolic)) return;
  for (const IValue& argument : arguments) {
    argument.for_each_tensor([&](const Tensor& t) {
      const Node* const node = find(t);
      SB_CHECK_KIND(DataDependentOutputError, !node, op.name().to_string(),
                    ": the result depends on the data of '", node->name(), "' (", t.describe(),
                    "), and would be burnt into the graph as a constant; ",
                    "TraceOptions::refuse_data_dependent = false allows that");
    });
  }
}

void TracingMode::check_effect(const OperatorHandle& op) const {
  if (!options_.refuse_data_dependent) return;
  for (const Return& result : op.schema().returns) {
    const bool known = result.type.has_tensor() || result.type.base == BaseType::Class;
    SB_CHECK_KIND(DataDependentOutputError, known, op.name().to_string(),
                  ": the operator has an effect, so that what it gives may be another ",
                  result.type.to_string(),
                  " in each run, and would be burnt into the graph as a "
                  "constant; TraceOptions::refuse_data_dependent = false allows that");
  }
}

const TraceAssumptions::OtherLayout* TracingMode::find_other_layout(const Tensor& tensor) const {
  for (const TracingMode* mode = this; mode && tensor.defined(); mode = mode->parent_) {
    const Node* const node = mode->assumptions_.has_layouts() ? mode->find(tensor) : nullptr;
    if (const auto* const layout = node ? mode->assumptions_.find_other_layout(node) : nullptr)
      return layout;
  }
  return nullptr;
}

void TracingMode::note_view_or_copy(const Tensor& self, const Tensor& result, std::string_view op,
                                    internal::ViewOrCopyBy by) {
  // What stands for values of this trace is not seen in it.
  const bool is_seen = find(self) || !is_functional(self);
  assumptions_.note_view_or_copy(self, result, op, by, find_other_layout(self), is_seen);
}

void TracingMode::check_layouts(const OperatorHandle& op,
                                const std::vector<IValue>& arguments) const {
  if (!internal::looks_at_memory(op)) return;
  const bool copies = internal::copies_memory(op);
  for (const IValue& argument : arguments) {
    argument.for_each_tensor([&](const Tensor& t) {
      const TraceAssumptions::OtherLayout* const layout = find_other_layout(t);
      SB_CHECK_NOT_IMPLEMENTED(!layout || !(layout->has_memory || copies), op.name().to_string(),
                               ": under TracingMode: ", layout->who,
                               " carries tensors that a graph has contiguous, and this looks at "
                               "the memory of what is computed of them; carry contiguous ones");
    });
  }
}

// A function that an operator takes is traced though it may not run with the data: an error of an
// operator in it says whose it is.
void TracingMode::call_named(const OperatorHandle& op, Stack* stack) const {
  try {
    op.call_boxed(stack);
  } catch (const Error& error) {
    const std::string name = op.name().to_string();
    const bool named = std::string_view(error.what()).find(name) != std::string_view::npos;
    // What is of another kind holds more than a message.
    if (named || options_.without_effects_in.empty() || error.kind() != "RuntimeError") throw;
    rethrow_with_context(error,
                         str_cat(options_.without_effects_in, ": under TracingMode: ", name, ": "));
  }
}

void TracingMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  if (paused_) {
    op.call_boxed(stack);
    return;
  }
  const size_t base = stack->size() - op.entry().num_arguments();
  const auto first = stack->begin() + static_cast<ptrdiff_t>(base);
  const std::vector<IValue> arguments(first, stack->end());
  check_writes(op, arguments);
  check_layouts(op, arguments);
  assumptions_.check_call(op, arguments);
  if (has_ordered_effect(op)) check_effect(op);
  const bool without_grad = options_.keep_no_grad && !internal::grad_hooks->is_grad_enabled();
  if (without_grad) check_no_grad_write(op, arguments);
  const bool passed_over = !options_.without_effects_in.empty() &&
                           WithoutEffects::pass_over(options_.without_effects_in, op, stack);
  if (!passed_over) call_named(op, stack);
  const std::vector<IValue> results(stack->begin() + static_cast<ptrdiff_t>(base), stack->end());
  check_data_dependent(op, arguments, results);

  std::vector<GraphArg> given;
  given.reserve(arguments.size());
  for (const IValue& argument : arguments) given.push_back(argument_of(argument));
  Node* const node = graph_.call_bound(op, std::move(given));
  track_results(node, results);
  if (!without_grad) return;
  for (const IValue& result : results) {
    result.for_each_tensor([&](const Tensor& t) {
      if (t.defined() && (is_floating_point(t.dtype()) || is_complex(t.dtype())))
        without_grad_.insert(find(t));
    });
  }
}

void TracingMode::check_no_grad_write(const OperatorHandle& op,
                                      const std::vector<IValue>& arguments) const {
  const std::vector<Argument>& declared = op.schema().arguments;
  for (size_t a = 0; a < declared.size(); ++a) {
    if (!declared[a].is_write()) continue;
    arguments[a].for_each_tensor([&](const Tensor& t) {
      SB_CHECK_NOT_IMPLEMENTED(
          !internal::grad_hooks->requires_grad(t), options_.pure_function, ": ",
          op.name().to_string(), " writes under no_grad to ", t.describe(),
          ", which was computed from what requires a gradient; write to a clone of it");
    });
  }
}

Node* TracingMode::add_input(const Tensor& tensor, const std::string& name) {
  SB_CHECK(tensor.defined(), "trace: input ", graph_.num_inputs(), " '", name,
           "': expected a tensor, got an undefined one");
  const Node* const known = find(tensor);
  SB_CHECK(!known, "trace: input ", graph_.num_inputs(), " '", name,
           "': the tensor is known already, as '", known->name(), "'");
  return lift(tensor, name);
}

Node* TracingMode::add_input(IntrusivePtr<OpaqueObject> object, const std::string& name) {
  SB_CHECK_VALUE(object, "trace: input ", graph_.num_inputs(), " '", name, "': got no object");
  Node* const node = graph_.object_placeholder(name, *object);
  // An equal one is what the graph will get, so that it can hold this one.
  if (node->object_guard()->equal_to.is_None()) track_value(node, IValue(std::move(object)));
  return node;
}

Graph TracingMode::finish(const std::vector<Tensor>& results) {
  return finish_values({results.begin(), results.end()});
}

Graph TracingMode::finish_values(const std::vector<IValue>& results) {
  assumptions_.check_results(results, from_outside_);
  std::vector<GraphArg> returned;
  for (const IValue& result : results) returned.push_back(argument_of(result));
  graph_.output(std::move(returned));
  assumptions_.check_graph(graph_);
  assumptions_ = {};
  nodes_.clear();
  objects_.clear();
  return std::move(graph_);
}

Tensor TracingMode::take_input(const Tensor& tensor, const std::string& name) {
  SB_CHECK_NOT_IMPLEMENTED(!tensor.defined() || !is_functional(tensor), "trace: input ",
                           graph_.num_inputs(), ", ", tensor.describe(),
                           ", belongs to a program that runs functionalised, and a trace sees "
                           "what lies below that: trace outside of it");
  Node* const known = find(tensor);
  if (known && !parent_) {
    // What is done to one of them is done to both: the shape, and history, too.
    graph_.same_placeholder(name, known);
    return tensor;
  }
  // A function that is called again may be given two tensors then.
  Tensor taken = known ? Tensor(tensor.impl()->shallow_copy()) : tensor;
  add_input(taken, name);
  return taken;
}

Graph TracingMode::record(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                          const std::vector<Tensor>& inputs) {
  const auto of_values = [&](const std::vector<IValue>& values) -> std::vector<IValue> {
    std::vector<Tensor> tensors;
    for (const IValue& value : values) tensors.push_back(value.to_tensor());
    const std::vector<Tensor> results = f(tensors);
    return {results.begin(), results.end()};
  };
  return record_values(of_values, {inputs.begin(), inputs.end()});
}

Graph TracingMode::record_values(
    const std::function<std::vector<IValue>(const std::vector<IValue>&)>& f,
    const std::vector<IValue>& inputs) {
  const std::vector<std::string>& names = options_.input_names;
  SB_CHECK_VALUE(names.size() <= inputs.size(), "trace: got ", names.size(), " input names and ",
                 inputs.size(), " inputs");
  std::vector<IValue> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : str_cat("arg", i);
    if (inputs[i].is_Object()) {
      add_input(inputs[i].to_object(), name);
      given.push_back(inputs[i]);
      continue;
    }
    SB_CHECK_TYPE(inputs[i].is_Tensor(), "trace: input ", i, " '", name,
                  "': expected a tensor or an object of a class, got ", inputs[i].tag_name(),
                  "; numbers are burnt in");
    given.emplace_back(take_input(inputs[i].unchecked_tensor(), name));
  }
  if (captured_) {
    for (const Tensor& tensor : *captured_) {
      lift(find(tensor) ? Tensor(tensor.impl()->shallow_copy()) : tensor,
           str_cat("arg", graph_.num_inputs()));
    }
  }
  const std::vector<IValue> results = [&] {
    Active active(this);
    ModeGuard guard(this);
    try {
      return f(given);
    } catch (const Error& error) {
      assumptions_.rethrow(error);
    }
  }();
  return finish_values(results);
}

Graph TracingMode::trace_subgraph(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& inputs, const TraceOptions& options, std::vector<Tensor>* captured) {
  TracingMode mode(options);
  mode.parent_ = this;
  mode.captured_ = captured;
  mode.captures_all_ = captures_all_ && captured;
  return mode.record(f, inputs);
}

void TracingMode::resume(const std::function<void()>& f, std::vector<Tensor>* captured) {
  captured_ = captured;
  captures_all_ = true;
  const Active active(this);
  const ModeGuard guard(this);
  f();
}

namespace {

void check_not_batched(const Tensor& input) {
  SB_CHECK_NOT_IMPLEMENTED(!input.key_set().has(DispatchKey::FuncTorchBatched),
                           "trace: inside of vmap, got ", input.describe(),
                           ", which stands for a batch; trace the program with vmap in it");
}

}  // namespace

Graph trace(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
            const std::vector<Tensor>& inputs, const TraceOptions& options) {
  for (const Tensor& input : inputs) check_not_batched(input);
  return TracingMode(options).record(f, inputs);
}

Graph trace_values(const std::function<std::vector<IValue>(const std::vector<IValue>&)>& f,
                   const std::vector<IValue>& inputs, const TraceOptions& options) {
  for (const IValue& input : inputs)
    if (input.is_Tensor()) check_not_batched(input.unchecked_tensor());
  return TracingMode(options).record_values(f, inputs);
}

}  // namespace sb
