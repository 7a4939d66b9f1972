// Plans a result of an operator, and makes it, or writes it to a tensor that exists: checks first,
// then memory, then elements.

#ifndef SWITCHBOARD_OPS_OUTPUTS_OUTPUT_PLAN_H_
#define SWITCHBOARD_OPS_OUTPUTS_OUTPUT_PLAN_H_

#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/shape/by_size.h"

namespace sb {

// The metadata of a result before it exists. Empty strides stand for contiguous ones.
template <SizeType Int>
struct BasicTensorMeta {
  SizeVector<Int> sizes;
  DType dtype = DType::Float32;
  SizeVector<Int> strides = {};
};
using TensorMeta = BasicTensorMeta<int64_t>;
using SymTensorMeta = BasicTensorMeta<SymInt>;

// The outs that an out= form accepts. By default the rule's dtype and nothing else, and an `out`
// that shares memory with an input is computed apart and copied.
struct StructuredOptions {
  bool cast_to_out = false;     // any dtype that the result can be cast to (can_cast)
  bool refuse_overlap = false;  // RuntimeError where out shares memory with an input
  // The kernel begins with self's elements in out, which is written to before: it may throw for
  // nothing. In place, out is self, and only the other arguments count as inputs. Where the data
  // may be wrong, as indices may: partial_write().
  bool from_self = false;
};

namespace internal {

// The tensors among a call's arguments.
using TensorArguments = absl::InlinedVector<const Tensor*, 4>;
inline void collect_tensor(TensorArguments* all, const Tensor& t) { all->push_back(&t); }
inline void collect_tensor(TensorArguments* all, const std::optional<Tensor>& t) {
  if (t && t->defined()) all->push_back(&*t);
}
template <class... T>
TensorArguments tensors_of(const T&... tensors) {
  TensorArguments all;
  (collect_tensor(&all, tensors), ...);
  return all;
}
// Throws RuntimeError unless all are defined and on one device, 0-dim CPU tensors aside.
Device check_arguments(std::string_view op, const TensorArguments& tensors);
Tensor make_result(const TensorMeta& meta, Device device);
Tensor make_result(const SymTensorMeta& meta, Device device);
// Throws RuntimeError where two of them are one tensor, or share memory.
void check_outs_apart(std::string_view op, absl::Span<const Tensor* const> outs);
// Gives out self's elements, for operators with from_self.
void start_from(const Tensor& out, const Tensor& self);
// Of a call with symbolic sizes, which has no data to write: makes the checks, and gives out the
// shape.
void set_symbolic_output(std::string_view op, const Tensor& out, const SymTensorMeta& meta,
                         Device device, StructuredOptions options, bool inplace);

// One output of an out= or in-place call.
class OutputPlan {
 public:
  // Makes the checks; changes nothing yet. So of several outs none is changed where another is
  // refused, or where the kernel throws.
  OutputPlan(std::string_view op, const Tensor& out, const TensorMeta& meta, Device device,
             absl::Span<const Tensor* const> inputs, StructuredOptions options, bool inplace);
  // The tensor that the kernel writes to: out itself, or one of its own.
  const Tensor& target() const { return target_; }
  // Returns whether out's storage will have to grow, for which there may be no memory.
  bool must_grow() const;
  // Lets the kernel write to a tensor of its own, where out itself would do.
  void keep_apart();
  // Makes room in out, so that finish() cannot run out of memory: of several outs, none has changed
  // where there is no room for another.
  void reserve();
  // Gives out the shape and, where the kernel wrote elsewhere, the elements.
  void finish(bool with_data);

 private:
  const Tensor& out_;
  Tensor target_;
  DimVector sizes_;
  DimVector strides_;
};

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUTPUTS_OUTPUT_PLAN_H_
