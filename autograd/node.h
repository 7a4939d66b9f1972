// The graph that recording makes: a node for each operator that ran, edges to where its inputs came
// from.

#ifndef SWITCHBOARD_AUTOGRAD_NODE_H_
#define SWITCHBOARD_AUTOGRAD_NODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/core/tensor.h"

namespace sb {

class GradNode;

// Gradients, one for each output or input of a node; an undefined one is a gradient of zeros.
using TensorVector = absl::InlinedVector<Tensor, 2>;

// The target of a gradient: an input of a node, which is an output of the operator that the node
// belongs to. Without a node: nowhere.
struct Edge {
  IntrusivePtr<GradNode> node;
  uint32_t input = 0;

  explicit operator bool() const { return static_cast<bool>(node); }
  bool operator==(const Edge&) const = default;
};

// The form that a gradient must have: shape, dtype and device of a tensor that is not kept.
struct InputMetadata {
  SymDimVector sizes;
  DType dtype = DType::Float32;
  Device device;

  InputMetadata() = default;
  explicit InputMetadata(const Tensor& tensor);
  int64_t dim() const { return static_cast<int64_t>(sizes.size()); }
};

// As `torch::autograd::Node`; the nodes of a traced Graph are others. Its inputs are the gradients
// of the operator's outputs, its outputs those of the operator's inputs. A graph is changed by one
// thread at a time; several threads may run backward through shared nodes at once.
class GradNode : public IntrusiveTarget {
 public:
  // Sees, or replaces, the gradients on their way in; sees what comes out. As `register_prehook`
  // and `register_hook` of a grad_fn.
  using PreHook = std::function<void(TensorVector& grads)>;
  using PostHook = std::function<void(TensorVector& outputs, const TensorVector& inputs)>;

  GradNode();
  ~GradNode() override;

  // "aten::mul.Tensor backward".
  virtual std::string name() const = 0;
  // The gradients of the operator's inputs, in the order of edges(), from those of its outputs.
  virtual TensorVector apply(TensorVector grads) = 0;
  // Frees what was saved for apply(), which after this throws RuntimeError if it needs any of it.
  virtual void release_saved() {}

  // Called by the engine: runs hooks around apply().
  TensorVector run(TensorVector grads);

  // Nodes made later on a thread have the higher number, and run first.
  uint64_t sequence() const { return sequence_; }

  absl::Span<const Edge> edges() const { return edges_; }
  const Edge& edge(size_t i) const { return edges_[i]; }
  void add_edge(Edge edge);

  // Notes an output of the operator; gives its number.
  uint32_t add_input(const Tensor& output);
  // An output that has no gradient.
  void add_undefined_input();
  size_t num_inputs() const { return inputs_.size(); }
  const InputMetadata& input(size_t i) const { return inputs_[i]; }

  // Hooks are kept by the node and run in the order of their registration; the function that is
  // returned takes the hook off.
  std::function<void()> add_pre_hook(PreHook hook);
  std::function<void()> add_post_hook(PostHook hook);

  // Guards what is saved: one thread may release it while another reads.
  std::mutex& mutex() { return mutex_; }

 protected:
  // Runs when only weak references are left: they would keep what the node holds, which may hold
  // them.
  void release_resources() override;
  void set_sequence(uint64_t sequence) { sequence_ = sequence; }

 private:
  struct Hooks;

  // Gives up the edges, without recursion.
  void release_edges();

  static thread_local uint64_t next_sequence_;

  uint64_t sequence_;
  absl::InlinedVector<Edge, 2> edges_;
  absl::InlinedVector<InputMetadata, 1> inputs_;
  std::shared_ptr<Hooks> hooks_;
  std::mutex mutex_;
};

using NodePtr = IntrusivePtr<GradNode>;

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_NODE_H_
