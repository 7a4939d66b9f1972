// The derivatives of stack.h. All else but block_diag is made of cat and stack.

#include "switchboard/ops/composite/stack.h"

#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Each block's part of the matrix, in the block's shape. Vectors are rows.
std::vector<Tensor> block_gradients(const Tensor& grad, absl::Span<const InputMetadata> blocks) {
  std::vector<Tensor> grads;
  SymInt row = 0, column = 0;
  for (const InputMetadata& block : blocks) {
    const size_t rank = block.sizes.size();
    const SymInt height = rank == 2 ? block.sizes[0] : SymInt(1);
    const SymInt width = rank == 0 ? SymInt(1) : block.sizes[rank - 1];
    const Tensor part = narrow(narrow(grad, 0, row, height), 1, column, width);
    grads.push_back(reshape(part, block.sizes));
    row = row + height;
    column = column + width;
  }
  return grads;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, block_diag,
         SB_GRAD(tensors, (grad, tensors_meta), block_gradients(grad, tensors_meta)));
}

}  // namespace
}  // namespace sb
