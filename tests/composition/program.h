// Programs as data: what is made at random, run under layers, made smaller and printed.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_PROGRAM_H_
#define SWITCHBOARD_TESTS_COMPOSITION_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/custom_ops/opcheck/argument_plan.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::composition {

using Tensors = std::vector<Tensor>;

// A tensor that a block has: an input of it, or a result of a step.
struct Ref {
  static constexpr int kInputs = -1;
  size_t depth = 0;  // 0: of the block itself; 1: of the block around it, which is captured; ...
  int step = kInputs;
  size_t index = 0;
  bool operator==(const Ref&) const = default;
};

struct Value {
  enum class Kind : uint8_t { Plain, Tensor, Tensors, OptionalTensors };
  Kind kind = Kind::Plain;
  IValue plain;
  std::vector<std::optional<Ref>> refs;
};

// What a step calls: an operator, or a higher-order one.
enum class Callee : uint8_t { Operator, Cond, WhileLoop, Map, Scan };
std::string_view to_string(Callee callee);

struct Step;

// A function of tensors. One in a step may use what the blocks around it have.
struct Block {
  size_t inputs = 0;
  std::vector<Step> steps;
  std::vector<Ref> outputs;
};

// Results are the tensors that the call gives, those in lists included, in order.
struct Step {
  Callee callee = Callee::Operator;
  std::optional<OperatorHandle> op = std::nullopt;
  // Of an operator, one for each of the schema. Of cond: pred, operands. Of while_loop: carried. Of
  // map: xs, args. Of scan: init, xs.
  std::vector<Value> arguments = {};
  // Of cond: if true, if false. Of while_loop: condition, body.
  std::vector<Block> blocks = {};

  // "aten::add.Tensor", "higher_order::cond".
  std::string name() const;
};

struct Program {
  internal::ArgumentPlan inputs;  // each value is a tensor
  Block block;
  // Whether it can be recorded for gradients: it ran so when it was made. One that was made without
  // them has calls that autograd refuses, as out= is.
  bool recorded = true;

  Tensors make_inputs() const;
};

// Calls f(const Ref&) for each tensor that the step, and its blocks at `depth` + 1, use.
template <class F>
void for_each_ref(Step& step, F&& f, size_t depth = 0);
// The same for a block.
template <class F>
void for_each_ref(Block& block, F&& f, size_t depth = 0) {
  for (Step& step : block.steps) for_each_ref(step, f, depth);
  for (Ref& ref : block.outputs) f(ref, depth);
}
template <class F>
void for_each_ref(Step& step, F&& f, size_t depth) {
  for (Value& value : step.arguments)
    for (std::optional<Ref>& ref : value.refs)
      if (ref) f(*ref, depth);
  for (Block& block : step.blocks) for_each_ref(block, f, depth + 1);
}

// A block that runs. Kept alive by the functions that higher-order operators were given.
struct Frame {
  std::shared_ptr<const Frame> outer;
  Tensors inputs;
  std::vector<Tensors> results;  // of the steps

  const Tensor& at(const Ref& ref) const;
};

// Runs one step in the frame, through the dispatcher, and gives its results.
Tensors run_step(const Step& step, const std::shared_ptr<const Frame>& frame);
// Runs a block. It must outlive what autograd keeps of the run.
Tensors run_block(const Block& block, const Tensors& inputs,
                  std::shared_ptr<const Frame> outer = nullptr);

// How many steps there are, those in blocks included.
size_t count_steps(const Block& block);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_PROGRAM_H_
