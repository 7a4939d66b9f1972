// Training on several ranks, each with a part of every batch.

#ifndef SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_DATA_PARALLEL_H_
#define SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_DATA_PARALLEL_H_

#include "switchboard/core/tensor.h"
#include "switchboard/examples/digits_training/models.h"
#include "switchboard/examples/digits_training/optimizers.h"

namespace digits {

// As training_step, on the ranks of this thread's world, which all have the same model, optimizer
// and batch, and the same afterwards. A batch has four parts, of which each rank computes an equal
// share in a row; gradients are added by one tree over the parts, so that 1, 2 and 4 ranks give the
// same bits. Throws sb::ValueError for another number of ranks. Not for models that compute
// statistics of the batch.
sb::Tensor data_parallel_step(Model& model, Optimizer& optimizer, const sb::Tensor& images,
                              const sb::Tensor& labels);

}  // namespace digits

#endif  // SWITCHBOARD_EXAMPLES_DIGITS_TRAINING_DATA_PARALLEL_H_
