#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/gen_schema.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

IValue function(Tensors (*f)(const Tensors&)) { return tensor_callable("f", f); }
Tensors sum(const Tensors& in) { return {in[0] + in[1]}; }
Tensors write_to_first(const Tensors& in) { return {add_(in[0], in[1]) + 0}; }
Tensors write_to_second(const Tensors& in) { return {add_(in[1], in[0]) + 0}; }

std::string schema_of_cond(Tensors (*true_fn)(const Tensors&), Tensors (*false_fn)(const Tensors&),
                           const Tensors& operands) {
  return gen_schema(cond_op(), {tensor_of({}, {1}, DType::Bool), function(true_fn),
                                function(false_fn), operands})
      .to_string();
}

TEST_CASE("the schema of a call says what its functions write to, in the branch not taken, too") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensor x = make({2}, {1, 2}), y = make({2}, {3, 4});
  CHECK(schema_of_cond(sum, sum, {x, y}) ==
        "higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor operand0, Tensor "
        "operand1) -> Tensor");
  CHECK(schema_of_cond(write_to_first, sum, {x, y}) ==
        "higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor(a3!) operand0, Tensor "
        "operand1) -> Tensor");
  CHECK(schema_of_cond(sum, write_to_second, {x, y}) ==
        "higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor operand0, Tensor(a4!) "
        "operand1) -> Tensor");
  if (make.has_data()) CHECK(numbers_in(y) == Numbers{3, 4});
}

TEST_CASE("the schema of a call says which results are views of its arguments") {
  const Tensor x = tensor_of({2}, {1, 2}), y = tensor_of({2}, {3, 4});
  const auto views = [](const Tensors& in) { return Tensors{in[1], in[0] * 2}; };
  CHECK(schema_of_cond(views, views, {x, y}) ==
        "higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor operand0, Tensor(a4) "
        "operand1) -> (Tensor(a4), Tensor)");
}

TEST_CASE("a write through one of two operands that share memory is one to both") {
  const Tensor x = tensor_of({2}, {1, 2});
  CHECK(schema_of_cond(write_to_first, sum, {x, x}) ==
        "higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor(a3!) operand0, "
        "Tensor(a4!) operand1) -> Tensor");
  CHECK(numbers_in(x) == Numbers{1, 2});
}

TEST_CASE("loops name what they carry and what they only read") {
  const auto below_two = [](const Tensors& in) { return Tensors{in[0] < 2}; };
  const auto step = [](const Tensors& in) {
    return Tensors{in[0] + 1, in[1] + add_(in[2], in[1])};
  };
  const Tensors carried{tensor_of({}, {0}), tensor_of({2}, {1, 2})};
  CHECK(gen_schema(while_loop_op(),
                   {function(below_two), function(step), carried, Tensors{tensor_of({2}, {5, 6})}})
            .to_string() ==
        "higher_order::while_loop(Any cond_fn, Any body_fn, Tensor carried_input0, Tensor "
        "carried_input1, Tensor(a4!) additional_input0) -> (Tensor, Tensor)");
}

TEST_CASE("what a call refuses, its schema does") {
  const auto one = [](const Tensors& in) { return Tensors{in[0]}; };
  const auto two = [](const Tensors& in) { return Tensors{in[0], in[1]}; };
  const Tensors operands{tensor_of({1}, {1}), tensor_of({1}, {1})};
  CHECK(message([&] { schema_of_cond(one, two, operands); }).find("higher_order::cond: false_fn") !=
        std::string::npos);
}

}  // namespace
}  // namespace sb::test
