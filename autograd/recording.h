// Helpers that all recording kernels at Autograd share.

#ifndef SWITCHBOARD_AUTOGRAD_RECORDING_H_
#define SWITCHBOARD_AUTOGRAD_RECORDING_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "switchboard/autograd/node.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/typed_op.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {

inline DispatchKeySet keys_below_recording(DispatchKeySet keys) { return keys - kRecordingKeys; }

// Counts a write of the operator to the tensor. Throws RuntimeError that names the operator for an
// inference tensor outside of inference mode.
void count_first_write(OperatorEntry* op, const Tensor& tensor);
inline void count_write(OperatorEntry* op, const Tensor& tensor) {
  if (!tensor.impl()->bump_counted_version(op)) count_first_write(op, tensor);
}
// Throws the same before anything is written.
void check_no_inference(const OperatorName& op, const Tensor& tensor);

// "aten::mul.Tensor backward".
// Says how calls go on from the derivatives that are registered in the file of `where`.
void note_derivatives(const SourceLocation& where);

std::string backward_name(std::string_view op);

// Returns whether an argument holds a tensor that requires a gradient.
template <class T>
bool needs_grad_in(const T& argument) {
  bool any = false;
  visit_tensors(argument, [&any](const Tensor& t) { any = any || needs_grad(t); });
  return any;
}

// Adds to a node an edge for each tensor of an argument, one that leads nowhere for an absent one.
template <class T>
void add_edges_of(const T& argument, GradNode* node) {
  visit_tensor_places(argument,
                      [node](const Tensor* t) { node->add_edge(t ? gradient_edge(*t) : Edge()); });
}

// set_history() for each tensor of a result; `which` has a bit for each of several results that has
// gradients.
template <class T>
void set_histories(const T&, const NodePtr& node, uint32_t) {
  node->add_undefined_input();
}
void set_histories(const Tensor& t, const NodePtr& node, uint32_t which);
void set_histories(const std::vector<Tensor>& list, const NodePtr& node, uint32_t which);
template <class... R>
void set_histories(const std::tuple<R...>& results, const NodePtr& node, uint32_t which) {
  std::apply(
      [&](const auto&... result) { ((set_histories(result, node, which), which >>= 1), ...); },
      results);
}

// Puts what a formula gave to `count` outputs from `first` on.
inline void take_gradients(Tensor grad, TensorVector* out, size_t first, size_t) {
  (*out)[first] = std::move(grad);
}
void take_gradients(std::vector<Tensor> grads, TensorVector* out, size_t first, size_t count);
template <size_t N>
void take_gradients(std::array<Tensor, N> grads, TensorVector* out, size_t first, size_t) {
  for (size_t i = 0; i < N; ++i) (*out)[first + i] = std::move(grads[i]);
}
template <class... T>
void take_gradients(std::tuple<T...> grads, TensorVector* out, size_t first, size_t count) {
  std::apply(
      [&](auto&... grad) {
        take_gradients(std::array<Tensor, sizeof...(T)>{std::move(grad)...}, out, first, count);
      },
      grads);
}

// The view by calling the operator again. `arguments` are those of the first call; the first is
// replaced.
ViewReplay replay_by_calling(const OperatorHandle& op, Stack arguments);

// Returns the origin of a view that is recorded now.
ViewOrigin view_origin(bool one_of_several);

// note_view() for the results of a view operator.
template <class Tag, class... A>
void note_views(const Tensor& base, const Tensor& view, const A&... args) {
  if constexpr (sizeof...(A) > 0) {
    ViewReplay replay;
    if (view.dtype() != base.dtype() || view.key_set() != base.key_set()) [[unlikely]]
      replay = replay_by_calling(Op<Tag>().handle(), Stack{box(args)...});
    note_view(base, view, view_origin(false), std::move(replay));
  }
}
template <class Tag, class... A>
void note_views(const Tensor& base, const std::vector<Tensor>& views, const A&...) {
  for (const Tensor& view : views) note_view(base, view, view_origin(true));
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_RECORDING_H_
