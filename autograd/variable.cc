#include "switchboard/autograd/variable.h"

#include <algorithm>
#include <string>
#include <utility>

#include "switchboard/autograd/accumulate_grad.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/function_node.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/view_nodes.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {

namespace engine = internal::engine;
using internal::find_grad_meta;
using internal::grad_meta;
using internal::GradMeta;
using internal::ViewInfo;
using internal::ViewOrigin;

namespace internal {

GradMeta& grad_meta(const Tensor& tensor) {
  if (GradMeta* const meta = find_grad_meta(tensor)) return *meta;
  SB_CHECK(tensor.defined(), "autograd: expected a tensor, got an undefined one");
  tensor.impl()->set_autograd_meta(make_intrusive<GradMeta>());
  return *find_grad_meta(tensor);
}

bool requires_grad_slow(const GradMeta& meta) {
  return meta.requires_grad || meta.grad_fn || (meta.view && needs_grad(meta.view->base));
}

namespace {
// Where the gradients of a copy end, of a tensor that was computed.
class EndNode final : public GradNode {
 public:
  std::string name() const override { return "copy of a computed tensor"; }
  TensorVector apply(TensorVector) override { return {}; }
};
}  // namespace

void GradMeta::mark_copy(const Tensor& copy) const {
  if (!requires_grad_slow(*this)) return;
  if (requires_grad)
    grad_meta(copy).requires_grad = true;
  else
    set_history(copy, make_intrusive<EndNode>());
}

}  // namespace internal

namespace {

// Adds up what comes to a tensor that is no leaf, as a gradient of what it is now.
void retain(const Tensor& tensor, GradMeta& meta) {
  if (meta.stop_retaining) meta.stop_retaining();
  meta.stop_retaining =
      meta.grad_fn->add_pre_hook([weak = WeakIntrusivePtr<TensorImpl>(tensor.impl()),
                                  output = meta.output](TensorVector& grads) {
        const IntrusivePtr<TensorImpl> impl = weak.lock();
        GradMeta* const meta = impl ? find_grad_meta(impl.get()) : nullptr;
        if (!meta || !grads[output].defined()) return;
        const Tensor old = grad_of(Tensor(impl));
        Tensor sum = old.defined() ? engine::add(old, grads[output])
                                   : engine::clone(grads[output], MemoryFormat::Contiguous);
        const std::lock_guard<std::mutex> lock(meta->mutex);
        meta->grad = std::move(sum);
      });
}

void set_edge_of(const Tensor& tensor, GradMeta& meta, NodePtr node, uint32_t output) {
  meta.grad_fn = std::move(node);
  meta.output = output;
  if (meta.stop_retaining && meta.grad_fn) retain(tensor, meta);
}

}  // namespace

bool requires_grad(const Tensor& tensor) { return internal::needs_grad(tensor); }

void set_requires_grad(const Tensor& tensor, bool value) {
  SB_CHECK(tensor.defined(), "set_requires_grad: expected a tensor, got an undefined one");
  SB_CHECK(!tensor.key_set().has(DispatchKey::FuncTorchBatched),
           "set_requires_grad: expected a tensor that is not batched, got ", tensor.describe(),
           " inside of vmap; func_grad() gives gradients there");
  if (value == requires_grad(tensor)) return;
  SB_CHECK(is_leaf(tensor), "set_requires_grad: expected a leaf, got the output of ",
           grad_fn(tensor)->name(), "; detach() gives a tensor that does not require a gradient");
  SB_CHECK(!value || is_differentiable(tensor.dtype()),
           "set_requires_grad: expected a floating point or complex dtype, got ",
           to_string(tensor.dtype()));
  SB_CHECK(!value || !tensor.impl()->is_inference() || is_inference_mode_enabled(),
           "set_requires_grad: expected a tensor made outside of inference mode, got ",
           tensor.describe(), ", made inside; mark a clone of it");
  grad_meta(tensor).requires_grad = value;
}

bool is_leaf(const Tensor& tensor) { return !grad_fn(tensor); }

Tensor grad_of(const Tensor& tensor) {
  GradMeta* const meta = find_grad_meta(tensor);
  if (!meta) return {};
  const std::lock_guard<std::mutex> lock(meta->mutex);
  return meta->grad;
}

void set_grad(const Tensor& tensor, const Tensor& grad) {
  if (grad.defined()) {
    SB_CHECK(!grad.is_same(tensor), "set_grad: a tensor cannot be its own gradient");
    SB_CHECK(grad.dtype() == tensor.dtype() && grad.device() == tensor.device() &&
                 std::equal(grad.sym_sizes().begin(), grad.sym_sizes().end(),
                            tensor.sym_sizes().begin(), tensor.sym_sizes().end()),
             "set_grad: expected ", tensor.describe(), ", got ", grad.describe());
  } else if (!find_grad_meta(tensor)) {
    return;
  }
  GradMeta& meta = grad_meta(tensor);
  const std::lock_guard<std::mutex> lock(meta.mutex);
  meta.grad = grad;
}

void retain_grad(const Tensor& tensor) {
  SB_CHECK(requires_grad(tensor), "retain_grad: ", tensor.describe(),
           " does not require a gradient; call set_requires_grad");
  const NodePtr node = grad_fn(tensor);
  GradMeta& meta = grad_meta(tensor);
  if (node && !meta.stop_retaining) retain(tensor, meta);
}

namespace {

// For a view whose base was written to since: whether its node may be made anew. What several views
// of one operator share, and what nobody recorded, is ambiguous; as PyTorch, an error.
void check_may_be_anew(const Tensor& tensor, const GradMeta& meta) {
  const std::string_view made = meta.view->origin == ViewOrigin::OneOfSeveral
                                    ? "one of several views that an operator returned at once"
                                : meta.view->origin == ViewOrigin::CustomFunction
                                    ? "a view that a custom Function returned"
                                : meta.view->origin == ViewOrigin::WithoutGrad
                                    ? "a view made while gradients were not recorded, or by set_"
                                    : "";
  if (made.empty()) return;
  const auto* const writer = static_cast<const OperatorEntry*>(tensor.impl()->last_writer());
  SB_THROW(RuntimeError, "grad_fn: ", tensor.describe(), " is ", made, " (",
           meta.grad_fn ? meta.grad_fn->name() : "recorded nowhere",
           "), and its base, or another view of that, has been written to since",
           writer ? str_cat(" by ", writer->name().to_string()) : "",
           "; write to a clone, or take the view after the write");
}

}  // namespace

NodePtr grad_fn(const Tensor& tensor) {
  GradMeta* const meta = find_grad_meta(tensor);
  if (!meta) return nullptr;
  if (!meta->view) return meta->grad_fn;
  ViewInfo& view = *meta->view;
  const std::lock_guard<std::mutex> lock(meta->mutex);
  if (!meta->grad_fn && !requires_grad(view.base)) return nullptr;
  const uint32_t version = tensor.version();
  if (view.version == version) return meta->grad_fn;
  // Somebody wrote to the base, or to another view of it.
  check_may_be_anew(tensor, *meta);
  if (view.replay) {
    const GradModeGuard on(true);
    const Tensor anew = view.replay(view.base);
    set_edge_of(tensor, *meta, grad_fn(anew), output_number(anew));
  } else {
    set_edge_of(tensor, *meta,
                make_intrusive<internal::AsStridedNode>(view.base, tensor,
                                                        grad_meta(view.base).has_other_places),
                0);
  }
  view.version = version;
  return meta->grad_fn;
}

uint32_t output_number(const Tensor& tensor) {
  const GradMeta* const meta = find_grad_meta(tensor);
  return meta ? meta->output : 0;
}

Edge gradient_edge(const Tensor& tensor) {
  GradMeta* const meta = find_grad_meta(tensor);
  if (!meta) return {};
  if (NodePtr node = meta->view ? grad_fn(tensor) : meta->grad_fn) {
    return {std::move(node), meta->output};
  }
  if (!meta->requires_grad) return {};
  const std::lock_guard<std::mutex> lock(meta->mutex);
  IntrusivePtr<GradNode> accumulator = meta->accumulator.lock();
  if (!accumulator) {
    accumulator = make_intrusive<internal::AccumulateGrad>(tensor);
    meta->accumulator = WeakIntrusivePtr<GradNode>(accumulator);
  }
  return {std::move(accumulator), 0};
}

std::function<void()> register_hook(const Tensor& tensor, TensorHook hook) {
  SB_CHECK(requires_grad(tensor), "register_hook: ", tensor.describe(),
           " does not require a gradient; call set_requires_grad");
  SB_CHECK_VALUE(hook != nullptr, "register_hook: expected a function, got an empty one");
  if (const NodePtr node = grad_fn(tensor)) {
    const uint32_t output = output_number(tensor);
    return node->add_pre_hook([hook = std::move(hook), output](TensorVector& grads) {
      if (!grads[output].defined()) return;
      Tensor other = hook(grads[output]);
      if (other.defined()) grads[output] = std::move(other);
    });
  }
  GradMeta& meta = grad_meta(tensor);
  const std::lock_guard<std::mutex> lock(meta.mutex);
  const uint64_t id = ++meta.last_hook;
  meta.hooks.push_back({id, std::move(hook)});
  return [weak = WeakIntrusivePtr<TensorImpl>(tensor.impl()), id] {
    const IntrusivePtr<TensorImpl> impl = weak.lock();
    GradMeta* const meta = impl ? find_grad_meta(impl.get()) : nullptr;
    if (!meta) return;
    const std::lock_guard<std::mutex> lock(meta->mutex);
    std::erase_if(meta->hooks, [id](const GradMeta::Hook& h) { return h.id == id; });
  };
}

Tensor base_of(const Tensor& tensor) {
  const GradMeta* const meta = find_grad_meta(tensor);
  return meta && meta->view ? meta->view->base : Tensor();
}

namespace internal {

void set_history(const Tensor& tensor, const NodePtr& node) {
  if (!tensor.defined() || !is_differentiable(tensor.dtype())) {
    node->add_undefined_input();
    return;
  }
  const uint32_t output = node->add_input(tensor);
  set_edge_of(tensor, grad_meta(tensor), node, output);
}

namespace {

// Of a base of which an operator gave a view other memory.
class LeftNode final : public GradNode {
 public:
  LeftNode(std::string name, const Tensor& base) : name_(std::move(name)) {
    add_edge(gradient_edge(base));
  }
  std::string name() const override { return name_; }
  TensorVector apply(TensorVector) override {
    SB_THROW(RuntimeError, name_,
             ": has no derivative: a view of this tensor was given other memory, whose tensors are "
             "not known");
  }

 private:
  std::string name_;
};

// As set_ does.
void leave_base(GradMeta* meta, const GradNode& node) {
  const Tensor base = std::move(meta->view->base);
  meta->view = nullptr;
  if (!needs_grad(base)) return;
  set_history(base, make_intrusive<LeftNode>(node.name(), base));
  grad_meta(base).requires_grad = false;
}

}  // namespace

void rebase_history(const Tensor& tensor, const NodePtr& node, size_t self_edge) {
  if (!is_differentiable(tensor.dtype())) {
    node->add_undefined_input();
    return;
  }
  GradMeta& meta = grad_meta(tensor);
  const uint32_t output = node->add_input(tensor);
  if (meta.view && !tensor.is_alias_of(meta.view->base)) leave_base(&meta, *node);
  // No other view may be written to: the operator has just made it one, as set_ does.
  if (!meta.view || meta.view->origin != ViewOrigin::Recorded) {
    set_edge_of(tensor, meta, node, output);
    return;
  }
  SB_ASSERT(output == 0);
  const Tensor& base = meta.view->base;
  GradMeta& base_meta = grad_meta(base);
  set_edge_of(base, base_meta,
              make_intrusive<CopySlicesNode>(base, tensor, meta.view->replay, node, self_edge), 0);
  base_meta.requires_grad = false;
  // The view's own node is made when somebody asks for it.
  meta.view->version = tensor.version() - 1;
}

void check_may_write(std::string_view op, const Tensor& tensor) {
  GradMeta* const meta = find_grad_meta(tensor);
  if (!meta) return;
  if (meta->view) {
    const ViewOrigin origin = meta->view->origin;
    SB_CHECK(
        origin != ViewOrigin::OneOfSeveral, op,
        ": expected a tensor to write to, got one of several views that an operator returned at "
        "once (",
        meta->grad_fn ? meta->grad_fn->name() : "recorded nowhere",
        "); use an operator that is not in-place");
    SB_CHECK(
        origin != ViewOrigin::WithoutGrad, op,
        ": expected a view made while gradients are recorded, got one made under no_grad, or by "
        "set_; make the view again by an operator that records it, or write under no_grad too");
    SB_CHECK(origin != ViewOrigin::CustomFunction, op,
             ": expected a tensor to write to, got a view that a custom Function returned (",
             meta->grad_fn ? meta->grad_fn->name() : "recorded nowhere", "); clone it");
    SB_CHECK(
        !needs_grad(tensor) || !is_leaf(meta->view->base), op,
        ": a view of a leaf that requires a gradient is written to; write under no_grad, or to "
        "a clone");
  }
  SB_CHECK(!needs_grad(tensor) || !is_leaf(tensor), op,
           ": a leaf that requires a gradient is written to; write under no_grad, or to a clone");
}

namespace {

ViewReplay replay_by_strides(const Tensor& base, const Tensor& view) {
  Geometry geometry(view);
  geometry.offset -= base.sym_storage_offset();
  return [geometry = std::move(geometry)](const Tensor& t) {
    return engine::as_strided(t, geometry.sizes, geometry.strides,
                              t.sym_storage_offset() + geometry.offset);
  };
}

}  // namespace

void note_view(const Tensor& base, const Tensor& view, ViewOrigin origin, ViewReplay replay) {
  if (!view.defined() || view.is_same(base) || !view.is_alias_of(base)) return;
  auto info = std::make_unique<ViewInfo>();
  GradMeta* const base_meta = find_grad_meta(base);
  const bool chained = base_meta && base_meta->view;
  info->base = chained ? base_meta->view->base : base;
  // Sizes and strides say it all where dtype and lazy bits are those of the base.
  constexpr DispatchKeySet kBits{DispatchKey::Conjugate, DispatchKey::Negative};
  const auto same_kind = [&](const Tensor& t) {
    return t.dtype() == view.dtype() && (t.key_set() & kBits) == (view.key_set() & kBits);
  };
  if (!replay && !same_kind(base)) {
    replay = [what = view.describe()](const Tensor&) -> Tensor {
      SB_THROW(NotImplementedError, "autograd: ", what,
               ", which a function gave, is a view of another dtype, or negated or conjugated; a "
               "write to it cannot be derived: write to a clone");
    };
  }
  if (chained && (base_meta->view->replay || !same_kind(base))) {
    ViewReplay first = base_meta->view->replay;
    if (!first) first = replay_by_strides(info->base, base);
    if (!replay) replay = replay_by_strides(base, view);
    info->replay = [first = std::move(first), second = std::move(replay)](const Tensor& root) {
      return second(first(root));
    };
  } else if (!same_kind(base)) {
    info->replay = std::move(replay);
  }
  if (chained && base_meta->view->origin != ViewOrigin::Recorded && origin == ViewOrigin::Recorded)
    origin = base_meta->view->origin;
  info->origin = origin;
  info->version = view.version();
  grad_meta(view).view = std::move(info);
}

}  // namespace internal
}  // namespace sb
