// Data parallelism: each rank runs a program on its part of the batch.
//
//   const BatchSplit split(program, inputs);
//   outputs = split.gather(runner.run(split.part(inputs), device));

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_BATCH_SPLIT_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_BATCH_SPLIT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/program.h"

namespace sb {

// How a program's inputs are split over the ranks of this thread's world along the batch, the open
// first dimension of its inputs, and its outputs joined. Every open first dimension is the batch,
// as for `sb run --dim batch`. Examples of a batch must not affect one another in the program. Its
// symbols tell neither.
class BatchSplit {
 public:
  // `inputs` are one for each of the program's. Throws ValueError, naming the input or output, for
  // a program whose batch is not open or is not one, for a batch that the ranks do not divide, and
  // for results that the batch is not the first dimension of. The program must outlive it.
  BatchSplit(const io::Program& program, absl::Span<const IValue> inputs);

  // This rank's part of the inputs; those without the batch as they are.
  std::vector<IValue> part(std::vector<IValue> inputs) const;
  // All ranks' outputs joined, for every rank: what is a tensor, one for each of the program's
  // outputs. A call of all ranks.
  std::vector<Tensor> gather(std::vector<Tensor> outputs) const;

 private:
  void check_outputs() const;
  bool has_batch_first(const io::ValueMeta& meta) const;

  const io::Program& program_;
  std::set<std::string> symbols_;  // all of them the batch
  std::set<size_t> inputs_;        // those that are split
  int64_t batch_ = 0;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_BATCH_SPLIT_H_
