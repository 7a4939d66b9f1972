// Tensors inside of vmap: each looks like one example and stands for all of them.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_TENSOR_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_TENSOR_H_

#include <vector>

#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/tensor.h"

namespace sb::batching {

class Level;

// As `BatchedTensorImpl`. It has the sizes, strides and offset of one example, and no memory that
// could be read: its calls go to the level that it belongs to. Its storage has nothing in it, and
// is shared by the views of one value's memory.
//
// Invariant: the first dimension of the value is the batch, of the level's size.
class BatchedTensorImpl final : public TensorImpl {
 public:
  BatchedTensorImpl(Tensor value, IntrusivePtr<Level> level);
  ~BatchedTensorImpl() override;

  // All examples, as a tensor of what lies below the level.
  const Tensor& value() const { return value_; }
  const IntrusivePtr<Level>& level() const { return level_; }
  // What an in-place view does: makes the tensor another view of its memory.
  void set_value(Tensor value);

 protected:
  void release_resources() override;

 private:
  Tensor value_;
  IntrusivePtr<Level> level_;
};

// The batched tensor behind a handle; nullptr if it is none. The second is for one of that level
// alone.
BatchedTensorImpl* batched_impl(const Tensor& tensor);
BatchedTensorImpl* batched_impl(const Tensor& tensor, const Level& level);

// The sizes of so many tensors like the example, the batch in front.
std::vector<SymInt> batch_sizes(const SymInt& batch, const Tensor& example);
// All examples of a tensor: the value of one of the level, and a view of any other, which is the
// same for all.
Tensor all_examples(const Tensor& tensor, const Level& level);

// A value as a tensor of the level; an undefined one itself.
Tensor make_batched(const Tensor& value, Level* level);

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_BATCHED_TENSOR_H_
