#include "switchboard/autograd/node.h"

#include <algorithm>

#include "switchboard/autograd/engine.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

// Nodes that lost their last reference while another one is being destroyed on this thread, where
// one is; they are on the stack of its destructor. A graph may be a million nodes deep, and so is
// not destroyed by recursion. A pointer, which has no destructor: static tensors keep graphs longer
// than the thread keeps its variables.
using DoomedNodes = absl::InlinedVector<NodePtr, 8>;
constinit thread_local DoomedNodes* doomed = nullptr;

// Throws RuntimeError for what a hook did to gradients that the node cannot go on with.
void check_hook(const GradNode& node, absl::Span<const Tensor> before,
                absl::Span<const Tensor> after) {
  SB_CHECK(after.size() == before.size(), node.name(), ": hook: expected to get ", before.size(),
           " gradients back, got ", after.size());
  for (size_t i = 0; i < before.size(); ++i) internal::check_replacement(node, before[i], after[i]);
}

}  // namespace

struct GradNode::Hooks {
  struct Pre {
    uint64_t id;
    PreHook call;
  };
  struct Post {
    uint64_t id;
    PostHook call;
  };
  std::mutex mutex;
  uint64_t last_id = 0;
  std::vector<Pre> pre;
  std::vector<Post> post;

  template <class List, class Hook>
  static std::function<void()> add(const std::shared_ptr<Hooks>& hooks, List Hooks::*list,
                                   Hook hook) {
    const std::lock_guard<std::mutex> lock(hooks->mutex);
    const uint64_t id = ++hooks->last_id;
    ((*hooks).*list).push_back({id, std::move(hook)});
    return [weak = std::weak_ptr<Hooks>(hooks), list, id] {
      const std::shared_ptr<Hooks> hooks = weak.lock();
      if (!hooks) return;
      const std::lock_guard<std::mutex> lock(hooks->mutex);
      List& entries = (*hooks).*list;
      std::erase_if(entries, [id](const auto& entry) { return entry.id == id; });
    };
  }
};

InputMetadata::InputMetadata(const Tensor& tensor)
    : sizes(tensor.sym_sizes().begin(), tensor.sym_sizes().end()),
      dtype(tensor.dtype()),
      device(tensor.device()) {}

thread_local uint64_t GradNode::next_sequence_ = 0;

GradNode::GradNode() : sequence_(next_sequence_++) {}

void GradNode::add_edge(Edge edge) { edges_.push_back(std::move(edge)); }

uint32_t GradNode::add_input(const Tensor& output) {
  inputs_.emplace_back(output);
  return static_cast<uint32_t>(inputs_.size() - 1);
}

void GradNode::add_undefined_input() { inputs_.emplace_back(); }

void GradNode::release_resources() {
  release_saved();
  release_edges();
}

GradNode::~GradNode() { release_edges(); }

void GradNode::release_edges() {
  // What hooks hold may lead to the same nodes, which the edges keep meanwhile.
  hooks_ = nullptr;
  DoomedNodes here;
  DoomedNodes& nodes = doomed ? *doomed : here;
  for (Edge& edge : edges_)
    if (edge.node && edge.node->use_count() == 1) nodes.push_back(std::move(edge.node));
  edges_.clear();
  if (doomed || here.empty()) return;
  doomed = &here;
  while (!here.empty()) {
    NodePtr last = std::move(here.back());
    here.pop_back();
    last = nullptr;
  }
  doomed = nullptr;
}

TensorVector GradNode::run(TensorVector grads) {
  if (!hooks_) return apply(std::move(grads));
  std::vector<Hooks::Pre> pre;
  std::vector<Hooks::Post> post;
  {
    const std::lock_guard<std::mutex> lock(hooks_->mutex);
    pre = hooks_->pre;
    post = hooks_->post;
  }
  for (const Hooks::Pre& hook : pre) {
    const TensorVector before = grads;
    hook.call(grads);
    check_hook(*this, before, grads);
  }
  if (post.empty()) return apply(std::move(grads));
  TensorVector outputs = apply(grads);
  for (const Hooks::Post& hook : post) {
    const TensorVector before = outputs;
    hook.call(outputs, grads);
    check_hook(*this, before, outputs);
  }
  return outputs;
}

std::function<void()> GradNode::add_pre_hook(PreHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return Hooks::add(hooks_, &Hooks::pre, std::move(hook));
}

std::function<void()> GradNode::add_post_hook(PostHook hook) {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return Hooks::add(hooks_, &Hooks::post, std::move(hook));
}

}  // namespace sb
