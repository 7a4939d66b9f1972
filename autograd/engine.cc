#include "switchboard/autograd/engine.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/autograd/deep_stack.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"

namespace sb::internal {
namespace {

// Adds `more` to `sum`, in place where nobody else can see it.
void add_to(Tensor* sum, Tensor more) {
  if (!sum->defined()) {
    *sum = std::move(more);
  } else if (!is_grad_enabled() && sum->use_count() == 1 && sum->storage() &&
             sum->storage()->use_count() == 1 && sum->dtype() == more.dtype() &&
             sum->impl()->is_non_overlapping_and_dense()) {
    engine::add_(*sum, more);
  } else {
    *sum = engine::add(*sum, more);
  }
}

// The nodes that wait to run, those made last on top.
class Ready {
 public:
  void push(NodePtr node) {
    heap_.push_back(std::move(node));
    std::push_heap(heap_.begin(), heap_.end(), earlier);
  }
  NodePtr pop() {
    std::pop_heap(heap_.begin(), heap_.end(), earlier);
    NodePtr top = std::move(heap_.back());
    heap_.pop_back();
    return top;
  }
  bool empty() const { return heap_.empty(); }

 private:
  static bool earlier(const NodePtr& a, const NodePtr& b) { return a->sequence() < b->sequence(); }
  std::vector<NodePtr> heap_;
};

// `grad` if the bool of no dimensions is true, and zeros else: so is its gradient, whose own way
// back is the same. An operator, so that a graph of gradients has such gradients, too.
SB_OP(only_where, "autograd::only_where(Tensor came, Tensor grad) -> Tensor");

class OnlyWhereNode final : public GradNode {
 public:
  OnlyWhereNode(const Tensor& came, const Tensor& grad) : came_(came) {
    add_edge(gradient_edge(grad));
  }
  std::string name() const override { return "a gradient that may not come, backward"; }
  TensorVector apply(TensorVector grads) override {
    if (!grads[0].defined()) return {Tensor()};
    Tensor grad = only_where(came_, grads[0]);
    note_may_be_absent(grad, came_);
    return {std::move(grad)};
  }

 private:
  Tensor came_;
};

Tensor record_only_where(DispatchKeySet keys, const Tensor& came, const Tensor& grad) {
  Tensor result;
  {
    const BelowRecordingGuard below;
    result = only_where.redispatch(keys_below_recording(keys), came, grad);
  }
  if (is_grad_enabled() && requires_grad(grad))
    set_history(result, make_intrusive<OnlyWhereNode>(came, grad));
  return result;
}

const ExplainKernels explain_recording_only_where(DispatchKey::Autograd, [](CallPath& path,
                                                                            const PathCall& c) {
  const BelowRecordingGuard below;
  path.enter(c.op, keys_below_recording(c.keys), c.arguments);
});

SB_LIBRARY_FRAGMENT(autograd, m) {
  m.define(only_where);
  m.impl(only_where, DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& came, const Tensor& grad) {
           SB_CHECK(came.dim() == 0 && came.dtype() == DType::Bool,
                    "autograd::only_where: argument came: expected a bool of no dimensions, got ",
                    came.describe());
           return engine::where(came, grad, 0);
         });
  m.impl(only_where, DispatchKey::Autograd, record_only_where);
}

class Task;
// The pass under way, and those around it.
constinit thread_local Task* current_task = nullptr;

class Task {
 public:
  explicit Task(const BackwardRun& run) : run_(run) {
    if (run_.cut)
      for (const Edge& capture : run_.captures) ends_.insert(capture.node.get());
    find_nodes();
    if (!run_.captures.empty()) find_needed();
  }

  std::vector<Tensor> execute() {
    struct Current {
      Task* const outer;
      ~Current() { current_task = outer; }
    } const scope{std::exchange(current_task, this)};
    if (!run_.accumulate) {
      captured_.resize(run_.captures.size());
      for (size_t i = 0; i < run_.captures.size(); ++i)
        captures_of_[run_.captures[i].node.get()].push_back(i);
    }
    for (size_t i = 0; i < run_.roots.size(); ++i) {
      const Edge& root = run_.roots[i];
      deliver(root, fit_gradient(run_.grads[i], root.node->input(root.input), *root.node, i),
              run_.grads_came.empty() ? Tensor() : run_.grads_came[i]);
    }
    for (size_t i = 0; i < run_.roots.size(); ++i) arrive(run_.roots[i].node, 0);
    while (!ready_.empty()) evaluate(ready_.pop());
    return std::move(captured_);
  }

  void note_may_be_absent(const Tensor& grad, const Tensor& came) {
    noted_.insert_or_assign(grad.impl(), came);
  }

 private:
  // The edges that the run may follow.
  absl::Span<const Edge> edges_of(const GradNode& node) const {
    return is_end(node) ? absl::Span<const Edge>() : node.edges();
  }
  bool is_end(const GradNode& node) const { return run_.cut && ends_.contains(&node); }

  // How many gradients each node waits for.
  void find_nodes() {
    std::vector<GradNode*> stack;
    for (const Edge& root : run_.roots)
      if (waiting_.try_emplace(root.node.get(), 0).second) stack.push_back(root.node.get());
    while (!stack.empty()) {
      GradNode* const node = stack.back();
      stack.pop_back();
      for (const Edge& edge : edges_of(*node)) {
        if (!edge) continue;
        const auto [it, fresh] = waiting_.try_emplace(edge.node.get(), 0);
        ++it->second;
        if (fresh) stack.push_back(edge.node.get());
      }
    }
  }

  // Which nodes lead to a capture; what accumulates runs itself.
  void find_needed() {
    absl::flat_hash_set<const GradNode*> wanted;
    for (const Edge& capture : run_.captures) wanted.insert(capture.node.get());
    if (run_.accumulate) needed_.insert(wanted.begin(), wanted.end());
    struct Frame {
      GradNode* node;
      size_t next;
    };
    absl::flat_hash_set<const GradNode*> seen;
    std::vector<Frame> stack;
    for (const Edge& root : run_.roots) {
      if (seen.insert(root.node.get()).second) stack.push_back({root.node.get(), 0});
      while (!stack.empty()) {
        Frame& frame = stack.back();
        const auto edges = edges_of(*frame.node);
        if (frame.next < edges.size()) {
          GradNode* const child = edges[frame.next++].node.get();
          if (child && seen.insert(child).second) stack.push_back({child, 0});
          continue;
        }
        const bool leads = std::any_of(edges.begin(), edges.end(), [&](const Edge& e) {
          return e && (wanted.contains(e.node.get()) || needed_.contains(e.node.get()));
        });
        if (leads) needed_.insert(frame.node);
        stack.pop_back();
      }
    }
  }

  // `came` says whether the gradient comes; undefined where it does in any case.
  void deliver(const Edge& edge, Tensor grad, const Tensor& came = Tensor()) {
    TensorVector& buffer = buffers_[edge.node.get()];
    if (buffer.size() < edge.node->num_inputs()) buffer.resize(edge.node->num_inputs());
    if (!grad.defined()) return;
    if (came.defined() || !came_.empty()) note_came(edge, !buffer[edge.input].defined(), came);
    add_to(&buffer[edge.input], std::move(grad));
  }

  // Of several gradients one comes where any does.
  void note_came(const Edge& edge, bool is_first, const Tensor& came) {
    const std::pair<const GradNode*, uint32_t> place{edge.node.get(), edge.input};
    if (!came.defined()) {
      came_.erase(place);
    } else if (is_first) {
      came_.emplace(place, came);
    } else if (const auto found = came_.find(place); found != came_.end()) {
      const BelowRecordingGuard below;
      found->second = engine::logical_or(found->second, came);
    }
  }

  // Whether one of a node's gradients comes; undefined where one does in any case.
  Tensor came_to(const GradNode& node, const TensorVector& grads) {
    if (came_.empty()) return Tensor();
    Tensor any;
    bool sure = false;
    for (uint32_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) continue;
      const auto found = came_.find({&node, i});
      if (found == came_.end()) {
        sure = true;
        continue;
      }
      const BelowRecordingGuard below;
      any = any.defined() ? engine::logical_or(any, found->second) : found->second;
      came_.erase(found);
    }
    return sure ? Tensor() : any;
  }

  // Notes that one of the gradients that a node waits for has come.
  void arrive(const NodePtr& node, int count) {
    int& waiting = waiting_.at(node.get());
    waiting -= count;
    if (waiting == 0 && queued_.insert(node.get()).second) ready_.push(node);
  }

  void evaluate(const NodePtr& node) {
    TensorVector grads;
    if (const auto it = buffers_.find(node.get()); it != buffers_.end()) {
      grads = std::move(it->second);
      buffers_.erase(it);
    } else {
      grads.resize(node->num_inputs());
    }
    capture(*node, grads);
    if (is_end(*node)) return;
    if (run_.captures.empty() || needed_.contains(node.get())) {
      const Tensor came = came_to(*node, grads);
      TensorVector outputs = node->run(std::move(grads));
      if (!run_.keep_graph) node->release_saved();
      pass_on(*node, std::move(outputs), came);
    } else {
      // Nothing is wanted from beyond, but others may wait for this node's part.
      pass_on(*node, {}, Tensor());
    }
  }

  void capture(const GradNode& node, const TensorVector& grads) {
    const auto it = captures_of_.find(&node);
    if (it == captures_of_.end()) return;
    for (const size_t i : it->second) {
      captured_[i] = grads[run_.captures[i].input];
      if (!run_.came) continue;
      run_.came->resize(run_.captures.size());
      if (const auto found = came_.find({&node, run_.captures[i].input}); found != came_.end())
        (*run_.came)[i] = found->second;
    }
  }

  void pass_on(GradNode& node, TensorVector outputs, const Tensor& came) {
    const auto edges = node.edges();
    SB_CHECK(outputs.empty() || outputs.size() == edges.size(), node.name(), ": expected ",
             edges.size(), " gradients, one for each input of the operator, got ", outputs.size());
    for (size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      if (!edge) continue;
      if (i < outputs.size() && outputs[i].defined()) {
        const Tensor comes = noted_.empty() ? came : comes_with(came, outputs[i]);
        if (came.defined()) outputs[i] = only_where(came, outputs[i]);
        deliver(edge, fit_gradient(outputs[i], edge.node->input(edge.input), node, i), comes);
      }
      arrive(edge.node, 1);
    }
    noted_.clear();
  }

  // Whether a gradient comes that a node gave to which one `came`.
  Tensor comes_with(const Tensor& came, const Tensor& grad) const {
    const auto found = noted_.find(grad.impl());
    if (found == noted_.end()) return came;
    if (!came.defined()) return found->second;
    const BelowRecordingGuard below;
    return engine::logical_and(came, found->second);
  }

  const BackwardRun& run_;
  absl::flat_hash_set<const GradNode*> ends_;
  absl::flat_hash_map<const GradNode*, int> waiting_;
  absl::flat_hash_set<const GradNode*> needed_;
  absl::flat_hash_set<const GradNode*> queued_;
  absl::flat_hash_map<const GradNode*, TensorVector> buffers_;
  absl::flat_hash_map<const GradNode*, std::vector<size_t>> captures_of_;
  std::vector<Tensor> captured_;
  // Of gradients that may not come: whether they do. First of those that wait in buffers, then of
  // those that a node has given now.
  absl::flat_hash_map<std::pair<const GradNode*, uint32_t>, Tensor> came_;
  absl::flat_hash_map<const TensorImpl*, Tensor> noted_;
  Ready ready_;
};

}  // namespace

void note_may_be_absent(const Tensor& grad, const Tensor& came) {
  SB_ASSERT(current_task);
  current_task->note_may_be_absent(grad, came);
}

bool same_sizes(SymIntArrayRef a, SymIntArrayRef b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SymInt& x, const SymInt& y) { return same_size(x, y); });
}

Tensor fit_gradient(const Tensor& incoming, const InputMetadata& meta, const GradNode& who,
                    size_t output) {
  Tensor grad = incoming;
  if (!same_sizes(grad.sym_sizes(), meta.sizes)) {
    try {
      grad = engine::sum_to_size(grad, meta.sizes);
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(who.name(), ": gradient ", output, ": "));
    }
  }
  if (grad.dtype() != meta.dtype) {
    if (is_complex(grad.dtype()) && !is_complex(meta.dtype)) grad = engine::real(grad);
    if (grad.dtype() != meta.dtype) grad = engine::to_dtype(grad, meta.dtype);
  }
  // A number on the CPU may meet tensors of any device.
  if (grad.device() != meta.device && grad.dim() == 0) grad = engine::to(grad, meta.device);
  SB_CHECK(grad.device() == meta.device, who.name(), ": gradient ", output, ": expected it on ",
           to_string(meta.device), ", got ", grad.describe());
  return grad;
}

void check_replacement(const GradNode& who, const Tensor& before, const Tensor& after) {
  if (!before.defined() || !after.defined() || after.is_same(before)) return;
  SB_CHECK(same_sizes(after.sym_sizes(), before.sym_sizes()) && after.dtype() == before.dtype() &&
               after.device() == before.device(),
           who.name(), ": hook: expected a gradient like the one that it was given, ",
           before.describe(), ", got ", after.describe());
}

namespace {

// How many passes run inside of one another on this thread: a node, or a hook, may run backward.
constinit thread_local int passes_under_way = 0;
// So many of them share a stack, as in PyTorch a thread.
constexpr int kPassesOnAStack = 60;

struct PassUnderWay {
  PassUnderWay() { ++passes_under_way; }
  ~PassUnderWay() { --passes_under_way; }
};

}  // namespace

std::vector<Tensor> run_backward(const BackwardRun& run) {
  const GradModeGuard mode(run.create_graph);
  // What nodes make from nothing is fake where the gradients are, though no mode is active.
  std::optional<ModeGuard> of_gradients;
  for (const Tensor& grad : run.grads) {
    const ModeData* const data = grad.impl()->mode_data().get();
    if (of_gradients || !data || data->mode().mode_key() != ModeKey::Fake) continue;
    if (!get_mode(ModeKey::Fake)) of_gradients.emplace(&data->mode());
  }
  const PassUnderWay pass;
  if (passes_under_way % kPassesOnAStack != 0) return Task(run).execute();
  std::vector<Tensor> captured;
  run_on_new_stack([&] { captured = Task(run).execute(); });
  return captured;
}

}  // namespace sb::internal
