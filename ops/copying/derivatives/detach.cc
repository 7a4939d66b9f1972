// What takes a tensor out of its graph, and what gives it other memory.

#include <algorithm>
#include <mutex>
#include <utility>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor detach_in_place(DispatchKeySet keys, const Tensor& self) {
  NodePtr history;  // freed when nothing is locked
  if (internal::GradMeta* const meta = internal::find_grad_meta(self)) {
    SB_CHECK(!meta->view, "detach_: expected a tensor that is no view, got a view of ",
             meta->view->base.describe(), "; detach() gives a tensor outside of the graph");
    const std::lock_guard<std::mutex> lock(meta->mutex);
    meta->requires_grad = false;
    if (meta->stop_retaining) std::exchange(meta->stop_retaining, nullptr)();
    history = std::move(meta->grad_fn);
    meta->grad_fn = nullptr;
    if (history) meta->detached_from = WeakIntrusivePtr<GradNode>(history);
    meta->detached_output = std::exchange(meta->output, 0);
  }
  const internal::BelowRecordingGuard below;
  return detach_.redispatch(internal::keys_below_recording(keys), self);
}

// No gradient says what became of elements that were dropped or made: as PyTorch, resizing is
// refused under no_grad too.
template <class Tag, class... A>
Tensor resize_checked(DispatchKeySet keys, const Tensor& self, const A&... args) {
  SB_CHECK(!self.defined() || !internal::needs_grad(self), Op<Tag>::name(),
           ": expected a tensor that requires no gradient, got ", self.describe(),
           "; resize a detached copy");
  return Op<Tag>().redispatch(keys - kAutogradFunctionalities, self, args...);
}

// Counts as a write only what gives the tensor another shape, as PyTorch 2.
template <class Tag, class... A>
Tensor resize_counted(DispatchKeySet keys, const Tensor& self, const A&... args) {
  const SymDimVector before(self.sym_sizes().begin(), self.sym_sizes().end());
  {
    const internal::BelowRecordingGuard below;
    Op<Tag>().redispatch(internal::keys_below_recording(keys), self, args...);
  }
  const SymIntArrayRef after = self.sym_sizes();
  const auto same = [](const SymInt& a, const SymInt& b) { return known(a == b); };
  if (!std::equal(after.begin(), after.end(), before.begin(), before.end(), same))
    internal::count_write(Op<Tag>().entry(), self);
  return self;
}

[[noreturn]] Tensor no_gradient(std::string_view op) {
  SB_THROW(RuntimeError, op,
           ": has no derivative: a tensor that was given other memory does not say where its "
           "elements came from");
}

// Autograd knows a tensor that was given the memory of another as a view of that, which it has not
// recorded: what would write to it, with a gradient, is refused, and so is its gradient where the
// other was written to.
void note_given(const Tensor& tensor, const Tensor& source, bool recorded) {
  if (!is_differentiable(tensor.dtype())) return;
  for (Tensor base = source; base.defined(); base = base_of(base))
    if (base.is_same(tensor)) return;
  internal::note_view(source, tensor, internal::ViewOrigin::WithoutGrad,
                      [](const Tensor&) { return no_gradient("aten::set_"); });
  internal::GradMeta& meta = internal::grad_meta(tensor);
  // Otherwise no node says that there is no gradient.
  if (!recorded && meta.view) --meta.view->version;
}

class GivenNode final : public GradNode {
 public:
  GivenNode(std::string op, const Tensor& self, const Tensor& source) : op_(std::move(op)) {
    add_edge(gradient_edge(self));
    add_edge(gradient_edge(source));
  }
  std::string name() const override { return internal::backward_name(op_); }
  TensorVector apply(TensorVector) override { no_gradient(op_); }

 private:
  std::string op_;
};

// set_ and set, to the memory of `source`.
template <class Tag, class... A>
Tensor set_recorded(DispatchKeySet keys, const Tensor& self, const Tensor& source,
                    const A&... args) {
  const bool in_place = Op<Tag>().handle().schema().is_mutable();
  const std::string name(Op<Tag>::name());
  NodePtr node;
  if (is_grad_enabled() && (internal::needs_grad(self) || internal::needs_grad(source))) {
    if (in_place) internal::check_may_write(name, self);
    node = make_intrusive<GivenNode>(name, self, source);
  }
  const Tensor result = [&] {
    const internal::BelowRecordingGuard below;
    return Op<Tag>().redispatch(internal::keys_below_recording(keys), self, source, args...);
  }();
  if (in_place) internal::count_write(Op<Tag>().entry(), self);
  note_given(result, source, static_cast<bool>(node));
  if (node && in_place)
    internal::rebase_history(self, node, 0);
  else if (node)
    internal::set_history(result, node);
  return result;
}

template <class Tag>
void refuse_self(Library& m, const Op<Tag>& op) {
  derive(m, op, SB_GRAD(self, (grad), no_gradient(Op<Tag>::name())));
}

// Only what is resized goes on with ADInplaceOrView.
const ExplainKernels explain_recording(DispatchKey::Autograd, [](CallPath& path,
                                                                 const PathCall& c) {
  const bool is_resized = c.op == resize_.handle() || c.op == resize_as_.handle();
  if (is_resized) return path.enter(c.op, c.keys - kAutogradFunctionalities, c.arguments);
  const internal::BelowRecordingGuard below;
  path.enter(c.op, internal::keys_below_recording(c.keys), c.arguments);
});

SB_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl(detach, DispatchKey::Autograd, fallthrough);
  m.impl(detach_, DispatchKey::Autograd, detach_in_place);

  m.impl(resize_, DispatchKey::Autograd,
         [](DispatchKeySet keys, const Tensor& self, SymIntArrayRef size,
            std::optional<MemoryFormat> format) {
           return resize_checked<resize__op>(keys, self, size, format);
         });
  m.impl(resize_as_, DispatchKey::Autograd,
         [](DispatchKeySet keys, const Tensor& self, const Tensor& the_template,
            std::optional<MemoryFormat> format) {
           return resize_checked<resize_as__op>(keys, self, the_template, format);
         });

  refuse_self(m, set_);
  refuse_self(m, set__source_Storage);
  refuse_self(m, set__source_Storage_storage_offset);
  refuse_self(m, set);
  refuse_self(m, set_source_Storage);
  refuse_self(m, set_source_Storage_storage_offset);

  m.impl(set__source_Tensor, DispatchKey::Autograd,
         [](DispatchKeySet keys, const Tensor& self, const Tensor& source) {
           return set_recorded<set__source_Tensor_op>(keys, self, source);
         });
  m.impl(set__source_Tensor_storage_offset, DispatchKey::Autograd,
         [](DispatchKeySet keys, const Tensor& self, const Tensor& source,
            const SymInt& storage_offset, SymIntArrayRef size, SymIntArrayRef stride) {
           return set_recorded<set__source_Tensor_storage_offset_op>(keys, self, source,
                                                                     storage_offset, size, stride);
         });
  m.impl(set_source_Tensor, DispatchKey::Autograd,
         [](DispatchKeySet keys, const Tensor& self, const Tensor& source) {
           return set_recorded<set_source_Tensor_op>(keys, self, source);
         });
}

// A detached tensor is no view that autograd knows of, so that it may be written to. It counts
// writes together with the tensor that it came from.
SB_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  m.impl(detach, DispatchKey::ADInplaceOrView, fallthrough);
  m.impl(detach_, DispatchKey::ADInplaceOrView, fallthrough);

  m.impl(resize_, DispatchKey::ADInplaceOrView,
         [](DispatchKeySet keys, const Tensor& self, SymIntArrayRef size,
            std::optional<MemoryFormat> format) {
           return resize_counted<resize__op>(keys, self, size, format);
         });
  m.impl(resize_as_, DispatchKey::ADInplaceOrView,
         [](DispatchKeySet keys, const Tensor& self, const Tensor& the_template,
            std::optional<MemoryFormat> format) {
           return resize_counted<resize_as__op>(keys, self, the_template, format);
         });
}

}  // namespace
}  // namespace sb
