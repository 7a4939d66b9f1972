// The part of derive()'s nodes that does not depend on the operator.

#ifndef SWITCHBOARD_AUTOGRAD_FORMULA_NODE_H_
#define SWITCHBOARD_AUTOGRAD_FORMULA_NODE_H_

#include <cstddef>

#include "switchboard/autograd/node.h"

namespace sb::internal {

class FormulaNode : public GradNode {
 public:
  // Runs the formulas, unless no gradient is defined.
  TensorVector apply(TensorVector grads) final;
  void release_saved() final;

 protected:
  // Of an operator that has so many results.
  explicit FormulaNode(size_t num_results) : num_results_(num_results) {}

  // `grads` has one for each result, `out` one for each edge.
  virtual void apply_formulas(const TensorVector& grads, TensorVector* out) = 0;
  // release_saved(), with the mutex held.
  virtual void release_stored() = 0;

  // Returns whether a gradient is wanted for an edge from `first` on.
  bool wants_any_from(size_t first) const;
  // The same for `count` edges; `needs` says it for each, unless it is null.
  bool wants_any_of(size_t first, size_t count, bool* needs) const;

 private:
  size_t num_results_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_FORMULA_NODE_H_
