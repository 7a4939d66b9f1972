#include "switchboard/transforms/control_flow/trace_control_flow.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/memory_operators.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/tag.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb::control_flow {

namespace {

// Whether it is for the program to look at the memory of the tensors at hand. Functionalisation
// itself looks at that of values, as they are in the graph.
bool has_memory() { return !internal::RunningProgram::any(); }

// The elements of its storage between which a tensor lies.
struct Extent {
  explicit Extent(const Tensor& t) : begin(t.storage_offset()), end(begin + (t.numel() != 0)) {
    for (int64_t d = 0; t.numel() != 0 && d < t.dim(); ++d) end += (t.size(d) - 1) * t.stride(d);
  }
  int64_t begin, end;
};

// Whether the tensors are copied as views of one memory. Functions that are functionalised record
// how views lie in it, which may differ when the graph runs: they share what is the same view, and
// nothing where they are called `again`, with other tensors.
bool share_memory(const Tensor& a, const Tensor& b, bool again) {
  if ((again && !has_memory()) || !a.is_alias_of(b) || a.dtype() != b.dtype() ||
      a.key_set() != b.key_set())
    return false;
  return has_memory() || (a.sizes() == b.sizes() && a.strides() == b.strides() &&
                          a.storage_offset() == b.storage_offset());
}

// Calls copy(t) with what is lazily conjugated or negated as it lies in memory, and gives the copy
// the bits: operators go by them.
Tensor with_lazy_bits(const Tensor& t, absl::FunctionRef<Tensor(const Tensor&)> copy) {
  const DispatchKeySet keys = t.key_set();
  const auto turned = [&](Tensor tensor) {
    if (keys.has(DispatchKey::Conjugate)) tensor = _conj(tensor);
    return keys.has(DispatchKey::Negative) ? _neg_view(tensor) : tensor;
  };
  return turned(copy(turned(t)));
}

}  // namespace

// The strides decide what is a view of what.
Tensor own_copy(const Tensor& given) {
  return with_lazy_bits(given, [](const Tensor& t) {
    if (t.is_symbolic()) return new_empty_strided(t, t.sym_sizes(), t.sym_strides());
    const Extent extent(t);
    const Tensor memory = as_strided(t, {extent.end - extent.begin}, {1}, extent.begin);
    return as_strided(clone(memory), t.sizes(), t.strides(), 0);
  });
}

// All of the tensors' memory: a function may look beyond what it is given (aten::as_strided). One
// that is functionalised records what memory it finds, which differs from one call of the function
// to the next, and gets the elements that its inputs have.
std::vector<Tensor> copies_to_trace(const std::vector<Tensor>& inputs, bool again) {
  std::vector<Tensor> copies, memories(inputs.size());
  std::vector<int64_t> begins(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    if (t.is_symbolic()) {
      copies.push_back(own_copy(t));
      continue;
    }
    size_t first = 0;  // of those that share its memory
    while (first < i && (!memories[first].defined() || !share_memory(inputs[first], t, again)))
      ++first;
    if (first == i) {
      Extent extent(t);
      if (has_memory()) {
        extent.begin = 0;
        extent.end = static_cast<int64_t>(t.storage()->nbytes() / t.itemsize());
      }
      for (size_t other = i + 1; other < inputs.size(); ++other) {
        if (inputs[other].is_symbolic() || !share_memory(inputs[other], t, again)) continue;
        if (inputs[other].numel() == 0) continue;  // wherever it begins, even behind the memory
        extent.begin = std::min(extent.begin, Extent(inputs[other]).begin);
        extent.end = std::max(extent.end, Extent(inputs[other]).end);
      }
      with_lazy_bits(t, [&](const Tensor& plain) {
        return memories[i] =
                   clone(as_strided(plain, {extent.end - extent.begin}, {1}, extent.begin));
      });
      begins[i] = extent.begin;
    }
    copies.push_back(with_lazy_bits(t, [&](const Tensor&) {
      return as_strided(memories[first], t.sizes(), t.strides(),
                        t.storage_offset() - begins[first]);
    }));
  }
  return copies;
}

namespace {

// Undoes what functions that are traced write to memory that is not theirs: it is for the graph to
// write there.
class Undo {
 public:
  Undo() = default;
  ~Undo() {
    const NoModesGuard no_modes;
    const internal::BelowRecordingGuard below;
    for (const auto& [memory, saved] : saved_) copy_(memory, saved);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void save(const Tensor& tensor) {
    for (const auto& [memory, saved] : saved_)
      if (memory.is_alias_of(tensor)) return;
    const NoModesGuard no_modes;
    const internal::BelowRecordingGuard below;
    const Tensor memory = flat_storage(tensor);
    saved_.emplace_back(memory, clone(memory));
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> saved_;
};

// The operator in the graph whose results are others for tensors that lie otherwise; or empty.
std::string find_dependence(const Graph& graph, bool with_memory) {
  const std::string looks = with_memory ? internal::find_look_at_memory(graph)
                                        : find_operator(graph, [](const Node& call) {
                                            return internal::copies_memory(call.op());
                                          });
  return looks.empty() ? internal::find_factorization(graph, [](const Node*) { return true; })
                       : looks;
}

// A graph that is traced on data has sizes burnt in that these tell.
void check_sizes(const FunctionToTrace& f, const Graph& graph,
                 const std::vector<Tensor>& captured) {
  const auto has_no_data = [](const Tensor& t) { return t.is_symbolic() || t.impl()->mode_data(); };
  if (!f.again || std::ranges::any_of(f.inputs, has_no_data) ||
      std::ranges::any_of(captured, has_no_data))
    return;
  const std::string op = find_operator(
      graph, [](const Node& call) { return call.op().entry().has_tag(Tag::dynamic_output_shape); });
  SB_CHECK_NOT_IMPLEMENTED(op.empty(), f.function.name(), ": under TracingMode: ", op,
                           " gives what has a size that data tell, in each call of the function "
                           "another, and a graph that is traced on data has that of the first; "
                           "trace on fake tensors with symbols");
}

}  // namespace

TracedFunctions trace_functions(TracingMode& mode, const std::vector<FunctionToTrace>& functions) {
  TracedFunctions traced;
  std::vector<Graph> graphs;
  for (const FunctionToTrace& f : functions) {
    std::vector<Tensor> copies = copies_to_trace(f.inputs, f.again), results;
    std::vector<bool> written(copies.size());
    std::vector<Tensor> captured_written;
    {
      Undo undo;
      const TraceOptions options{.refuse_data_dependent = mode.options().refuse_data_dependent,
                                 .without_effects_in = f.function.name(),
                                 .keep_no_grad = mode.options().keep_no_grad,
                                 .before_write_outside = [&](const Tensor& tensor) {
                                   for (size_t i = 0; i < copies.size(); ++i)
                                     if (copies[i].is_same(tensor)) return void(written[i] = true);
                                   captured_written.push_back(tensor);
                                   undo.save(tensor);
                                 }};
      graphs.push_back(mode.trace_subgraph(
          [&](const std::vector<Tensor>& given) {
            return results = f.function.call_regardless(given, "under TracingMode", "Tracing");
          },
          copies, options, &traced.captured));
    }
    check_sizes(f, graphs.back(), traced.captured);
    for (const Tensor& input : f.inputs) {
      const TraceAssumptions::OtherLayout* const layout = mode.find_other_layout(input);
      if (!layout) continue;
      const std::string looks = find_dependence(graphs.back(), layout->has_memory);
      SB_CHECK_NOT_IMPLEMENTED(looks.empty(), f.function.name(),
                               ": under TracingMode: ", layout->who,
                               " carries tensors that a graph has contiguous, and ", looks,
                               " looks at the memory of what is computed of them; carry "
                               "contiguous ones");
    }
    traced.results.push_back(std::move(results));
    // The call does the same to its own tensors.
    for (size_t i = 0; i < copies.size(); ++i)
      if (written[i]) mode.note_write(f.function.name(), f.inputs[i]);
    for (const Tensor& tensor : captured_written) mode.note_write(f.function.name(), tensor);
    traced.written.push_back(std::move(written));
  }
  for (size_t i = 0; i < graphs.size(); ++i) {
    // What only later functions capture.
    while (graphs[i].num_inputs() < functions[i].inputs.size() + traced.captured.size()) {
      const Tensor& tensor = traced.captured[graphs[i].num_inputs() - functions[i].inputs.size()];
      graphs[i].late_placeholder(str_cat("arg", graphs[i].num_inputs()), NodeMeta::of(tensor));
    }
    traced.graphs.push_back(
        Subgraph{functions[i].graph_name, std::make_shared<const Graph>(std::move(graphs[i]))});
  }
  return traced;
}

void check_branch(std::string_view who, const std::vector<Tensor>& got, std::string_view of,
                  const std::vector<Tensor>& expected) {
  const auto is_of_mode = [](const Tensor& t) { return t.impl()->mode_data() != nullptr; };
  check_same_metadata(
      who, got, of, expected,
      std::ranges::any_of(expected, is_of_mode) ? Agree::GraphDTypes : Agree::GraphStrides);
}

GraphArg argument_with_captured(TracingMode& mode, std::vector<Tensor> tensors,
                                const TracedFunctions& traced) {
  tensors.insert(tensors.end(), traced.captured.begin(), traced.captured.end());
  return mode.argument_of(tensors);
}

namespace {

// Whether two results of one function on the same numbers are the same but for the last digits.
bool are_alike(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  constexpr double kTolerance = 1e-2;
  if (is_floating_point(a.dtype()) || is_complex(a.dtype()))
    return allclose(a, b, kTolerance, kTolerance, /*equal_nan=*/true);
  return equal(a, b);
}

// Whether another run of the graph, without effects, gives what this one does.
bool gives_the_same(const Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    const bool is_random =
        node.kind() == Node::Kind::Call && node.op().entry().has_tag(Tag::nondeterministic_seeded);
    // What has an effect and gives nothing, as a check does, can be left out.
    const bool is_effect_alone = node.kind() == Node::Kind::Call &&
                                 node.op().schema().returns.empty() &&
                                 !node.op().schema().is_mutable();
    if (is_random || (node.token() != 0 && !is_effect_alone)) return false;
  }
  return true;
}

// Whether the graph of a function, given in `inputs` what the function gave, gives tensors that lie
// as these.
bool gives_alike(const Graph& graph, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& results, const std::vector<bool>& changed) {
  if (!gives_the_same(graph)) return false;
  const NoModesGuard no_modes;
  WithoutEffects without("a traced loop");
  const ModeGuard active(&without);
  const internal::BelowRecordingGuard below;
  std::vector<IValue> given, again;
  for (const Tensor& input : inputs) given.emplace_back(own_copy(input));
  try {
    again = graph.run_values(std::move(given));
  } catch (const Error&) {
    return false;  // the graph is one for other strides, or for other numbers
  }
  for (size_t i = 0; i < changed.size(); ++i)
    if (changed[i] && !same_strides(again[i].to_tensor(), results[i])) return false;
  return true;
}

// NotImplementedError where the graph gives other results when those inputs for which `changed` is
// true are contiguous: as_strided does, and what factorizes a matrix by rows or by columns.
void check_strides_do_not_matter(const FunctionArgument& function, const Graph& graph,
                                 const std::vector<Tensor>& inputs,
                                 const std::vector<bool>& changed) {
  constexpr DispatchKeySet kReplaced{DispatchKey::Python, DispatchKey::Functionalize};
  const auto has_no_data = [&](const Tensor& t) {
    return t.is_symbolic() || t.impl()->mode_data() || t.key_set().has_any(kReplaced) ||
           t.device().type == DeviceType::Meta;
  };
  if (std::ranges::any_of(inputs, has_no_data)) {
    const std::string looks = find_dependence(graph, has_memory());
    SB_CHECK_NOT_IMPLEMENTED(looks.empty(), function.name(), ": under TracingMode: ", looks,
                             " looks at the memory of what it carries, and a graph has that "
                             "contiguous; carry contiguous tensors");
    return;
  }
  if (!gives_the_same(graph)) return;
  const NoModesGuard no_modes;
  WithoutEffects without(function.name());
  const ModeGuard active(&without);
  const internal::BelowRecordingGuard below;
  const auto run = [&](bool as_contiguous) {
    std::vector<IValue> given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool dense = as_contiguous && i < changed.size() && changed[i];
      given.emplace_back(dense ? clone(inputs[i], MemoryFormat::Contiguous) : own_copy(inputs[i]));
    }
    return graph.run_values(std::move(given));
  };
  std::vector<IValue> as_they_lie, dense;
  try {
    as_they_lie = run(false);
    dense = run(true);
  } catch (const Error&) {
    return;  // the graph is one for other strides, or for other numbers
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    SB_CHECK_NOT_IMPLEMENTED(
        are_alike(as_they_lie[i].to_tensor(), dense[i].to_tensor()), function.name(),
        ": under TracingMode: its result ", i,
        " depends on how what it carries lies in memory, and a graph has that contiguous; "
        "carry contiguous tensors");
  }
}

// The same for what those inputs come to in later trips, which nothing shows in the first two: what
// the function hands on from one carried tensor to another, and matrices that are not symmetric
// then.
void check_strides_in_later_trips(const FunctionArgument& function, const Graph& graph,
                                  const std::vector<bool>& changed) {
  std::vector<const Node*> inputs, results;
  for (size_t i = 0; i < graph.size(); ++i) {
    if (graph[i].kind() == Node::Kind::Placeholder) inputs.push_back(&graph[i]);
    if (graph[i].kind() == Node::Kind::Output)
      for (const GraphArg& result : graph[i].arguments()) results.push_back(result.node());
  }
  std::vector<bool> reached = changed;
  const auto comes_of_reached = [&](const Node* node) {
    for (size_t i = 0; i < reached.size(); ++i)
      if (reached[i] && internal::comes_of(node, inputs[i])) return true;
    return false;
  };
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < reached.size(); ++i) {
      if (reached[i] || !results[i] || !comes_of_reached(results[i])) continue;
      reached[i] = more = true;
    }
  }
  std::string looks = internal::find_factorization(graph, comes_of_reached);
  if (looks.empty() && reached != changed && has_memory())
    looks = internal::find_look_at_memory(graph);
  SB_CHECK_NOT_IMPLEMENTED(looks.empty(), function.name(), ": under TracingMode: ", looks,
                           " looks at the memory of what comes, in a later trip, of what it "
                           "carries, and a graph has that contiguous; carry contiguous tensors");
}

// With the strides that its sizes give. Where sizes are symbols, a tensor that has no elements now
// is contiguous with any.
Tensor dense(const Tensor& t) {
  return t.is_symbolic() ? clone(t, MemoryFormat::Contiguous) : contiguous(t);
}

}  // namespace

std::optional<FixedStrides> fix_strides(TracingMode& mode, const FunctionArgument& function,
                                        std::vector<Tensor> carried, const TracedFunctions& traced,
                                        size_t which, std::vector<Tensor> inputs,
                                        const FixedBy& before) {
  const std::vector<Tensor>& results = traced.results[which];
  const std::vector<bool>& written = traced.written[which];
  if (results.size() < carried.size() || before.rounds > carried.size()) return std::nullopt;
  const Graph& graph = *traced.graphs[which].subgraph()->graph;
  const std::string factorizes = has_memory() ? "" : find_dependence(graph, /*with_memory=*/false);
  SB_CHECK_NOT_IMPLEMENTED(factorizes.empty(), function.name(), ": under TracingMode: ", factorizes,
                           " gives something else for what lies in memory otherwise, as the "
                           "values of a functionalised program may");
  const std::vector<Tensor> as_carried = carried;
  std::vector<bool> changed(carried.size());
  bool any = false;
  for (size_t i = 0; i < carried.size(); ++i) {
    changed[i] = results[i].dim() == carried[i].dim() && !same_strides(results[i], carried[i]);
    if (!changed[i]) continue;
    SB_CHECK_NOT_IMPLEMENTED(!written[i], function.name(), ": under TracingMode: it writes to ",
                             carried[i].describe(), ", argument ", i,
                             ", and gives other strides for it; write to a clone");
    any = true;
    const ModeGuard active(&mode);
    carried[i] = dense(carried[i]);
  }
  if (!any) return std::nullopt;
  inputs.insert(inputs.end(), traced.captured.begin(), traced.captured.end());
  // In the first trip, and in the next one.
  check_strides_do_not_matter(function, graph, inputs, changed);
  std::copy_n(results.begin(), changed.size(), inputs.begin());
  check_strides_do_not_matter(function, graph, inputs, changed);
  check_strides_in_later_trips(function, graph, changed);
  IValue fixed = Callable::make([function, changed](std::vector<IValue> values) {
    std::vector<Tensor> inputs;
    for (IValue& value : values) inputs.push_back(std::move(value).to_tensor());
    std::vector<Tensor> given = function(inputs);
    for (size_t i = 0; i < given.size() && i < changed.size(); ++i)
      if (changed[i]) given[i] = dense(given[i]);
    return values_of(given);
  });
  FixedBy by{function.name(), before.rounds + 1, before.as_given, before.as_carried};
  by.lies_alike = before.rounds == 0 && gives_alike(graph, inputs, results, changed);
  by.as_given.resize(changed.size());
  by.as_carried.resize(changed.size());
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!changed[i] || by.as_given[i].defined()) continue;
    by.as_given[i] = results[i];
    by.as_carried[i] = as_carried[i];
  }
  return FixedStrides{std::move(fixed), std::move(carried), std::move(by)};
}

void lay_out_as_given(TracingMode& mode, const FixedBy& fixed, bool has_trips, Stack* stack) {
  if (!has_memory()) return;
  const ModeGuard active(&mode);
  for (size_t i = 0; i < fixed.as_given.size(); ++i) {
    const Tensor& given = has_trips ? fixed.as_given[i] : fixed.as_carried[i];
    if (!given.defined()) continue;
    const Tensor& result = (*stack)[i].unchecked_tensor();
    if (result.dim() != given.dim()) continue;  // of all trips, one upon the other
    if (same_strides(result, given)) continue;
    // From the slowest dimension in memory to the fastest, and back.
    std::vector<int64_t> order(static_cast<size_t>(given.dim())), back(order.size());
    std::iota(order.begin(), order.end(), 0);
    const SymIntArrayRef strides = given.sym_strides();
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](int64_t d) { return stand_in(strides[static_cast<size_t>(d)]); });
    for (size_t d = 0; d < order.size(); ++d)
      back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    const Tensor laid = permute(clone(permute(result, order), MemoryFormat::Contiguous), back);
    if (same_strides(laid, given)) (*stack)[i] = laid;
  }
}

namespace {

// Of a result that a function has only handed on, which keeps its history with gradients off, too.
// With gradients on it is for the caller to record.
Tensor alias_with_history(const Tensor& result) {
  if (internal::grad_hooks->is_grad_enabled()) return alias(result);
  const UnexcludeKeysGuard recording(kAutogradFunctionalities);
  internal::grad_hooks->set_grad_enabled(true);
  const Tensor same = alias(result);
  internal::grad_hooks->set_grad_enabled(false);
  return same;
}

}  // namespace

void run_and_record(TracingMode& mode, const HigherOrderOperator& op, Stack* stack,
                    std::shared_ptr<const HigherOrderTarget> target,
                    std::vector<GraphArg> arguments, const std::string& fixed, bool is_open) {
  {
    // In a function that is only recorded, its own functions are that, too.
    WithoutEffects without(mode.options().without_effects_in);
    std::optional<ModeGuard> active;
    if (!mode.options().without_effects_in.empty()) active.emplace(&without);
    op.call_boxed(stack);
  }
  Node* const node = mode.graph().call_higher_order(std::move(target), std::move(arguments));
  if (!fixed.empty())
    mode.assumptions().note_other_layout({node, fixed, has_memory(), is_open && has_memory()});
  // One tensor stands for one node. A result may be an operand or a tensor that a function
  // captured, and those are still what they were. Before dispatch it may have a history.
  for (IValue& value : *stack) {
    const Tensor& given = value.unchecked_tensor();
    const bool is_new =
        given.use_count() == 1 && given.storage() && given.storage()->use_count() == 1;
    const Tensor result = given;
    value = internal::grad_hooks->requires_grad(result) ? alias_with_history(result)
                                                        : Tensor(result.impl()->shallow_copy());
    if (!is_new) mode.assumptions().note_handed_on(value.unchecked_tensor(), op.name());
  }
  mode.track_results(node, *stack);
}

IValue graph_callable(std::shared_ptr<const Graph> graph) {
  return Callable::make(internal::graph_function(std::move(graph)));
}

}  // namespace sb::control_flow
