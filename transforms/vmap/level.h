// A level of vmap: what is on a thread while a function runs for all examples at once.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_LEVEL_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_LEVEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/generator.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/transforms/vmap/randomness.h"

namespace sb::batching {

// As `VmapInterpreter`. A call of the thread comes here first, whatever keys its tensors have; one
// that has a tensor of the level, or draws random numbers, becomes a call on values
// (batched_call.h), and any other goes on below as it is. Levels nest: values may be tensors of an
// outer one. For one thread.
class Level final : public FunctionTransform, public IntrusiveTarget {
 public:
  Level(int64_t size, Randomness randomness);

  TransformType type() const override { return TransformType::Vmap; }
  // "vmap level 1": the outermost level is the first.
  std::string name() const override;
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;

  // How many examples there are.
  int64_t size() const { return size_; }
  Randomness randomness() const { return randomness_; }
  // The levels of this thread, the outermost first.
  static std::vector<Level*> running();
  // Where the level stands among those of the thread; the innermost has the highest depth.
  int depth() const { return depth_; }

  // After its function the level takes no more calls: a tensor that is still there has escaped.
  void end();
  bool has_ended() const { return ended_; }

  // Notes, before a draw of the same numbers for all examples, where its generator is; and puts all
  // that were noted back, for a further chunk of the examples.
  void note_draw(const Generator& generator);
  void rewind_draws() const;

  // Begins and ends a time in which functions run for examples that do not go that way: what they
  // write to must be of their own making. NotImplementedError, naming the operator, for any other
  // write.
  void begin_both_ways() { ++both_ways_; }
  void end_both_ways();

  // The storage of tensors that stand for views of a value's memory.
  Storage storage_for(const Tensor& value);

 private:
  const int64_t size_;
  const Randomness randomness_;
  const int depth_;
  bool ended_ = false;
  void check_own(const OperatorHandle& op, const Stack& stack) const;

  struct Draw {
    Generator generator;
    std::vector<uint8_t> state;
  };
  std::vector<Draw> draws_;
  int both_ways_ = 0;
  absl::flat_hash_map<const StorageImpl*, Storage> made_;  // meanwhile
  // By the storage of values, which each keeps alive.
  absl::flat_hash_map<const StorageImpl*, WeakIntrusivePtr<StorageImpl>> storages_;
  size_t sweep_at_ = 64;
};

// A level that ends with a scope.
class RunningLevel {
 public:
  RunningLevel(int64_t size, Randomness randomness)
      : level_(make_intrusive<Level>(size, randomness)) {}
  ~RunningLevel() { level_->end(); }
  RunningLevel(const RunningLevel&) = delete;
  RunningLevel& operator=(const RunningLevel&) = delete;
  Level& operator*() const { return *level_; }

 private:
  IntrusivePtr<Level> level_;
};

class BothWays {
 public:
  explicit BothWays(Level* level) : level_(level) { level_->begin_both_ways(); }
  ~BothWays() { level_->end_both_ways(); }
  BothWays(const BothWays&) = delete;
  BothWays& operator=(const BothWays&) = delete;

 private:
  Level* level_;
};

}  // namespace sb::batching

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_LEVEL_H_
