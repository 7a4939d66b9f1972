// Memory that several tensors share, and writes that some do not declare.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::questions {
namespace {

// The values of the first result: eager, functionalised by key and by mode, and as a graph of that.
std::vector<Values> every_way(const Program& f, const Values& input) {
  const auto run = [&](const Program& g) { return values_of(g({numbers(input)})[0]); };
  return {
      run(f), run(functionalize(f)), run(FunctionalMode().functionalize(f)),
      run([&](const Tensors& in) { return trace(functionalize(f), {numbers(input)}).run(in); })};
}
std::vector<Values> four_times(const Values& values) { return std::vector<Values>(4, values); }
Tensor part(const Tensor& x, int64_t begin, int64_t end) { return slice(x, 0, begin, end); }

// A view that its schema does not speak of.
struct HiddenView {
  Library m{Library::Kind::Def, "q"};
  OpOverload op{m.define("f(Tensor x) -> Tensor")};
  HiddenView() {
    m.impl("f", K::CompositeExplicitAutograd, [](const Tensor& x) { return view(x, {-1}); });
  }
};

SB_QUESTION("A declared write goes to a view. Who has a new version?",
            .both = "The view, its base and all other views of it.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) { *x.data<float>() = 5; });
  const Tensor base = numbers({0, 0}), written = part(base, 0, 1), other = part(base, 1, 2);
  const uint32_t before = other.version();
  op.call<void>(written);
  CHECK(values_of(base) == Values{5, 0});
  CHECK(other.version() == before + 1);
  CHECK(base.version() == other.version());
}

SB_QUESTION(
    "A kernel returns a view that its schema does not speak of, and the result is written "
    "to. Does the argument change?",
    .both = "Yes, eagerly: it is one memory. opcheck finds the operator.") {
  const HiddenView f;
  const Tensor x = numbers({1, 1});
  mul_Scalar_(call(f.op, x), 5);
  CHECK(values_of(x) == Values{5, 5});
}

SB_QUESTION("And functionalised?",
            .pytorch = "No: the program gives another result, by the key and by the mode.",
            .here = "Yes, as eagerly.",
            .better = "What shares memory is known from the memory, whatever schemas say.") {
  const HiddenView f;
  CHECK(every_way(
            [&](const Tensors& in) {
              const Tensor y = in[0] * 1;
              mul_Scalar_(call(f.op, y), 5);
              return Tensors{y};
            },
            {1}) == four_times({5}));
}

SB_QUESTION("And where a gradient is recorded, if the kernel makes the view by operators?",
            .both = "The gradient has the write in it.") {
  const HiddenView f;
  const Tensor x = leaf({1}), y = x * 1;
  mul_Scalar_(call(f.op, y), 5);
  CHECK(gradient(y, x) == Values{5});
}

SB_QUESTION("And if it makes the view by itself?",
            .pytorch =
                "The tensor has the write, and its gradient has not (1 for 5), without a "
                "word.",
            .here = "The write is a RuntimeError.",
            .better = "A gradient is never wrong in silence.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, [](const Tensor& x) { return Tensor(x.impl()->shallow_copy()); });
  const Tensor x = leaf({1}), y = x * 1, v = call(op, y);
  REQUIRE(v.is_alias_of(y));
  CHECK_THAT(error_of([&] { mul_Scalar_(v, 5); }), StartsWith("RuntimeError"));
  CHECK(gradient(y, x) == Values{1});
}

SB_QUESTION(
    "A custom operator writes to a tensor without saying so, in a program that is "
    "functionalised. Is the write there?",
    .both =
        "Yes where an operator makes it: its kernel runs on the functional tensors' "
        "values.") {
  const CustomOp op = custom_op("q::f", [](const Tensor& x) {
                        add_Scalar_(x, 1);
                        return x * 2;
                      }).register_fake([](const Tensor& x) { return empty_like(x); });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    op(y);
    return Tensors{y};
  };
  CHECK(every_way(program, {1}) == four_times({2}));
}

SB_QUESTION("A declared write of a custom operator to a view, functionalised?",
            .pytorch =
                "By the mode the base has it; by the key, RuntimeError: custom operators "
                "that write are not supported.",
            .here = "The base has it, by both.", .better = "Both routes are one rule.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) { add_Scalar_(x, 1); });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    op.call<void>(part(y, 0, 1));
    return Tensors{y};
  };
  CHECK(every_way(program, {1, 1}) == four_times({2, 1}));
}

SB_QUESTION(
    "One tensor is given as the argument that is written to and as one that is read, "
    "functionalised?",
    .pytorch =
        "The operator gets two copies, so that it reads what it did not write: 3 "
        "in place of 4, without a word.",
    .here = "As eagerly.",
    .better = "Arguments that share memory share it in what functionalisation runs.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x, Tensor y) -> ()", [](const Tensor& x, const Tensor& y) {
        add_(x, y);
        add_(x, y);
      });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    op.call<void>(y, y);
    return Tensors{y};
  };
  CHECK(every_way(program, {1}) == four_times({4}));
}

SB_QUESTION("A view of what is written to is given as the argument that is read, functionalised?",
            .pytorch = "It reads what was there before (3 for 4), without a word.",
            .here = "As eagerly.", .better = "As with the same tensor.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x, Tensor y) -> ()", [](const Tensor& x, const Tensor& y) {
        add_(x, y * 1);
        add_(x, y * 1);
      });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    op.call<void>(part(y, 0, 2), part(y, 1, 3));
    return Tensors{y};
  };
  CHECK(every_way(program, {1, 1, 1}) == four_times({4, 3, 1}));
}

SB_QUESTION(
    "An operator throws after it has written, the program goes on, and is functionalised. "
    "Is the write there?",
    .pytorch = "Eagerly yes, functionalised no, without a word.", .here = "Yes, in both.",
    .better = "No layer changes a result.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) {
    add_Scalar_(x, 1);
    SB_THROW(ValueError, "no");
  });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    CHECK(error_of([&] { op.call<void>(y); }) == "ValueError: no");
    return Tensors{y * 1};
  };
  const auto run = [](const Program& f) { return values_of(f({numbers({1})})[0]); };
  CHECK(run(program) == Values{2});
  CHECK(run(functionalize(program)) == Values{2});
  CHECK(run(FunctionalMode().functionalize(program)) == Values{2});
}

SB_QUESTION("Two views that overlap are written to by one operator, functionalised?",
            .pytorch = "By the mode as eagerly; by the key RuntimeError.",
            .here = "As eagerly, by both.", .better = "Both routes are one rule.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x, Tensor(b!) y) -> ()", [](const Tensor& x, const Tensor& y) {
        add_Scalar_(x, 1);
        mul_Scalar_(y, 10);
      });
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 1;
    op.call<void>(part(y, 0, 2), part(y, 1, 3));
    return Tensors{y};
  };
  CHECK(every_way(program, {1, 1, 1}) == four_times({2, 20, 10}));
}

SB_QUESTION("A tensor whose elements share memory (expand) is written to?",
            .both = "RuntimeError for ATen's operators; a custom one that uses them, the same.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) { add_Scalar_(x, 1); });
  const Tensor x = expand(numbers({0}), {3});
  CHECK_THAT(error_of([&] { add_Scalar_(x, 1); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([&] { op.call<void>(x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A detached tensor is written to, of which backward needs the original?",
            .both = "RuntimeError in backward: they share a version.") {
  const Tensor x = leaf({1}), y = x * 1, z = y * y;
  add_Scalar_(detach(y), 1);
  CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION(
    "One of several views (split) is written to, a view of a leaf, a view that was made "
    "under no_grad?",
    .both = "RuntimeError for each: the gradient could not be told.") {
  const Tensor x = leaf({1, 1}), y = x * 1;
  CHECK_THAT(error_of([&] { mul_Scalar_(split(y, 1)[0], 2); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([&] { mul_Scalar_(part(x, 0, 1), 2); }), StartsWith("RuntimeError"));
  Tensor unseen;
  {
    const NoGradGuard off;
    unseen = part(y, 0, 1);
  }
  CHECK_THAT(error_of([&] { mul_Scalar_(unseen, 2); }), StartsWith("RuntimeError"));
}

SB_QUESTION("A view operator of one's own has a gradient, and the view is written to?",
            .both =
                "RuntimeError: the write would pass by that gradient. Without a write the "
                "gradient is used.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a) x) -> Tensor(a)", [](const Tensor& x) {
                        return view(x, {-1});
                      }).register_autograd([](FunctionContext&, const Tensor& g) { return g * 7; });
  const Tensor x = leaf({1}), y = x * 1;
  CHECK(gradient(op(y), x) == Values{7});
  CHECK_THAT(error_of([&] { mul_Scalar_(op(y), 2); }), StartsWith("RuntimeError"));
}

SB_QUESTION("An out= argument overlaps an input?",
            .both = "RuntimeError, unless it is that very tensor.") {
  const Tensor x = numbers({1, 1, 1});
  CHECK_THAT(error_of([&] { add_out(part(x, 0, 2), part(x, 0, 2), 1, part(x, 1, 3)); }),
             StartsWith("RuntimeError"));
  CHECK(values_of(x) == Values{1, 1, 1});
  CHECK(error_of([&] { add_out(x, x, 1, x); }) == "no error");
}

SB_QUESTION("An in-place operator would need another dtype than its tensor has?",
            .both = "RuntimeError; the tensor keeps its values.") {
  const Tensor x = ones({1}, DType::Int64);
  CHECK_THAT(error_of([&] { add_Scalar_(x, 1.5); }), StartsWith("RuntimeError"));
  CHECK(values_of(x) == Values{1});
}

SB_QUESTION("A base is resized. What do its views see?",
            .both = "Their own elements, in the memory that the base has now.") {
  const Tensor base = numbers({1, 2, 3, 4}), v = part(base, 1, 3);
  resize_(base, {100});
  CHECK(values_of(v) == Values{2, 3});
  mul_Scalar_(part(base, 0, 4), 10);
  CHECK(values_of(v) == Values{20, 30});
}

SB_QUESTION("A functionalised program writes to its input and returns it. Is the result the input?",
            .pytorch = "No, another tensor of other memory; the input has the write.",
            .here = "It shares the input's memory, as eagerly.",
            .better = "Who goes on writing to the result writes to the input, in both programs.") {
  const Program program = [](const Tensors& in) {
    add_Scalar_(in[0], 1);
    return Tensors{in[0]};
  };
  const Tensor x = numbers({1}), r = functionalize(program)({x})[0];
  add_Scalar_(r, 1);
  CHECK(values_of(x) == Values{3});
}

SB_QUESTION("It writes to a tensor that it was not given?",
            .pytorch = "An internal assertion; the tensor keeps its values.",
            .here = "The tensor has the write afterwards.",
            .better = "It is what the program does.") {
  const Tensor captured = numbers({1});
  const Program program = [&](const Tensors& in) {
    add_(captured, in[0]);
    return Tensors{captured * 1};
  };
  CHECK(values_of(functionalize(program)({numbers({1})})[0]) == Values{2});
  CHECK(values_of(captured) == Values{2});
}

SB_QUESTION("It changes the shape of its input in place?",
            .both = "The input has the new shape afterwards.") {
  const Program program = [](const Tensors& in) {
    unsqueeze_(in[0], 0);
    return Tensors{in[0] * 1};
  };
  const Tensor x = numbers({1, 2});
  CHECK(functionalize(program)({x})[0].dim() == 2);
  CHECK(x.dim() == 2);
}

}  // namespace
}  // namespace sb::questions
