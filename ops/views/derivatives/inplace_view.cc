// Operators that give a tensor another shape in place. No element changes: where the tensor is a
// view, its base keeps its history, and only the view gets another.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Whether it is a view that sizes and strides do not say how to make anew.
bool is_replayed(const Tensor& t) {
  const internal::GradMeta* const meta = internal::find_grad_meta(t);
  return meta && meta->view && meta->view->replay;
}

// The kernel at Autograd of the in-place form of `view`, whose history becomes the tensor's.
template <class Tag, const auto& view>
struct InPlaceView {
  template <class R, class... A>
  struct Kernel {
    Tensor operator()(DispatchKeySet keys, A... args) const { return run(keys, args...); }

   private:
    // The others give the same places in another order.
    static constexpr bool kGivesOtherPlaces =
        static_cast<const void*>(&view) == static_cast<const void*>(&as_strided);
    template <class... Rest>
    static Tensor run(DispatchKeySet keys, const Tensor& self, const Rest&... rest) {
      const Op<Tag> op;
      if constexpr (kGivesOtherPlaces)
        if (auto* const meta = internal::find_grad_meta(self)) meta->has_other_places = true;
      const bool records = is_grad_enabled() && internal::needs_grad(self);
      if (!records && !is_replayed(self))
        return op.redispatch(keys - kAutogradFunctionalities, self, rest...);
      if (records) internal::check_may_write(Op<Tag>::name(), self);
      const Tensor seen = view(self, rest...);
      {
        const internal::BelowRecordingGuard below;
        op.redispatch(internal::keys_below_recording(keys), self, rest...);
      }
      internal::count_write(op.entry(), self);
      const internal::GradMeta& from = internal::grad_meta(seen);
      internal::GradMeta& to = internal::grad_meta(self);
      if (records) {
        to.grad_fn = from.grad_fn;
        to.output = from.output;
        if (to.view) to.view->version = self.version();
      }
      if (to.view && from.view) to.view->replay = from.view->replay;
      return self;
    }
  };
};

const ExplainKernels explain_in_place(DispatchKey::Autograd, [](CallPath& path, const PathCall& c) {
  const Tensor& self = c.arguments[c.arguments.size() - c.op.schema().arguments.size()].to_tensor();
  if (!(is_grad_enabled() && internal::needs_grad(self)) && !is_replayed(self))
    return path.enter(c.op, c.keys - kAutogradFunctionalities, c.arguments);
  const internal::BelowRecordingGuard below;
  path.enter(c.op, internal::keys_below_recording(c.keys), c.arguments);
});

template <const auto& view, class Tag>
void derive_in_place(Library& m, const Op<Tag>& op,
                     SourceLocation where = SourceLocation::current()) {
  using Kernel =
      typename internal::OpTraits<Tag>::template Apply<InPlaceView<Tag, view>::template Kernel>;
  m.impl(op, DispatchKey::Autograd, Kernel(), where);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_in_place<as_strided>(m, as_strided_);
  derive_in_place<transpose>(m, transpose_);
  derive_in_place<t>(m, t_);
  derive_in_place<squeeze>(m, squeeze_);
  derive_in_place<squeeze_dim>(m, squeeze__dim);
  derive_in_place<squeeze_dims>(m, squeeze__dims);
  derive_in_place<unsqueeze>(m, unsqueeze_);
}

}  // namespace
}  // namespace sb
