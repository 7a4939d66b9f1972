// Random arguments for any schema: likely ones, odd ones, and hostile ones.

#ifndef SWITCHBOARD_TESTS_FUZZ_RANDOM_ARGUMENTS_H_
#define SWITCHBOARD_TESTS_FUZZ_RANDOM_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/function_schema.h"

namespace sb::fuzz {

// A tensor to be made: a view of a storage, which several may share.
struct TensorPlan {
  bool defined = true;
  size_t storage = 0;  // index into ArgumentPlan::storages
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};
struct StoragePlan {
  DType dtype;
  int64_t numel;
  uint64_t seed;  // of its elements
};

// The arguments of one call, before they are in a place.
class ArgumentPlan {
 public:
  // Deterministic in the schema and the seed.
  ArgumentPlan(const FunctionSchema& schema, uint64_t seed);

  // One value for each argument, their tensors on `device`: cpu, or meta without elements.
  Stack build(Device device) const;

 private:
  struct Value {
    enum class Kind : uint8_t { Plain, Tensor, Tensors, OptionalTensors } kind;
    IValue plain;
    std::vector<std::optional<TensorPlan>> tensors;
  };

  uint64_t pick(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return pick(100) < percent; }
  int64_t pick_int();
  std::vector<int64_t> pick_sizes(uint64_t rank);
  Value pick_value(const Argument& argument);
  IValue pick_plain(TypeCode code, std::optional<int64_t> length);
  double pick_odd_float();
  IValue pick_scalar();
  TensorPlan pick_tensor();
  Tensor build_tensor(const TensorPlan& plan, const std::vector<Tensor>& storages) const;

  std::mt19937_64 random_;
  // What most of the call's tensors have.
  DType dtype_;
  std::vector<int64_t> sizes_;
  // The percentage of ints that are huge. Some overflows take two, one to make up for the other.
  unsigned huge_ints_;
  std::vector<StoragePlan> storages_;
  std::vector<Value> values_;
};

}  // namespace sb::fuzz

#endif  // SWITCHBOARD_TESTS_FUZZ_RANDOM_ARGUMENTS_H_
