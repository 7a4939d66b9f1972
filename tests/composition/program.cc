#include "switchboard/tests/composition/program.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/tests/explain/explained_calls.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::composition {
namespace {

IValue value_in(const Value& value, const Frame& frame) {
  switch (value.kind) {
    case Value::Kind::Plain:
      return value.plain;
    case Value::Kind::Tensor:
      return value.refs[0] ? IValue(frame.at(*value.refs[0])) : IValue();
    case Value::Kind::Tensors: {
      Tensors list;
      for (const std::optional<Ref>& ref : value.refs) list.push_back(frame.at(*ref));
      return list;
    }
    case Value::Kind::OptionalTensors: {
      std::vector<std::optional<Tensor>> list;
      for (const std::optional<Ref>& ref : value.refs)
        list.push_back(ref ? std::optional(frame.at(*ref)) : std::nullopt);
      return list;
    }
  }
  return {};
}

Tensors tensors_of(const Value& value, const Frame& frame) {
  Tensors list;
  for (const std::optional<Ref>& ref : value.refs) list.push_back(frame.at(*ref));
  return list;
}

}  // namespace

std::string_view to_string(Callee callee) {
  switch (callee) {
    case Callee::Operator:
      return "operator";
    case Callee::Cond:
      return "cond";
    case Callee::WhileLoop:
      return "while_loop";
    case Callee::Map:
      return "map";
    case Callee::Scan:
      return "scan";
  }
  return "";
}

std::string Step::name() const {
  return op ? op->name().to_string() : "higher_order::" + std::string(to_string(callee));
}

Tensors Program::make_inputs() const {
  Tensors tensors;
  for (IValue& value : inputs.build()) tensors.push_back(std::move(value).to_tensor());
  return tensors;
}

const Tensor& Frame::at(const Ref& ref) const {
  const Frame* frame = this;
  for (size_t i = 0; i < ref.depth; ++i) frame = frame->outer.get();
  const Tensors& all =
      ref.step == Ref::kInputs ? frame->inputs : frame->results.at(static_cast<size_t>(ref.step));
  // Of some operators the data tell how many results there are.
  SB_CHECK_INDEX(ref.index < all.size(), "the program uses result ", ref.index, " of ", all.size());
  return all[ref.index];
}

Tensors run_step(const Step& step, const std::shared_ptr<const Frame>& frame) {
  const auto function = [&](size_t i) {
    return [block = &step.blocks[i], frame](const Tensors& inputs) {
      return run_block(*block, inputs, frame);
    };
  };
  const auto list = [&](size_t i) { return tensors_of(step.arguments[i], *frame); };
  switch (step.callee) {
    case Callee::Cond:
      return cond(list(0)[0], function(0), function(1), list(1));
    case Callee::WhileLoop: {
      const auto condition = [f = function(0), trips = 0](const Tensors& inputs) mutable {
        constexpr int kMostTrips = 20;
        SB_CHECK(++trips <= kMostTrips, "higher_order::while_loop: more than ", kMostTrips,
                 " trips");
        return f(inputs);
      };
      return while_loop(condition, function(1), list(0));
    }
    case Callee::Map:
      return map(function(0), list(0), list(1));
    case Callee::Scan:
      return scan(function(0), list(0), list(1));
    case Callee::Operator:
      break;
  }
  Stack stack;
  stack.reserve(step.arguments.size());
  for (const Value& value : step.arguments) stack.push_back(value_in(value, *frame));
  test::call_explained(*step.op, &stack);
  Tensors results;
  for (const IValue& value : stack)
    value.for_each_tensor([&](const Tensor& t) { results.push_back(t); });
  return results;
}

Tensors run_block(const Block& block, const Tensors& inputs, std::shared_ptr<const Frame> outer) {
  const auto frame = std::make_shared<Frame>();
  frame->outer = std::move(outer);
  frame->inputs = inputs;
  for (const Step& step : block.steps) frame->results.push_back(run_step(step, frame));
  Tensors outputs;
  for (const Ref& ref : block.outputs) outputs.push_back(frame->at(ref));
  return outputs;
}

size_t count_steps(const Block& block) {
  size_t n = block.steps.size();
  for (const Step& step : block.steps)
    for (const Block& inner : step.blocks) n += count_steps(inner);
  return n;
}

}  // namespace sb::composition
