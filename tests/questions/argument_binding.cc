// How the values of a call become arguments.

#include <limits>

#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

// q::f, which gives its argument back.
struct Echo {
  Library m{Library::Kind::Def, "q"};
  OpOverload op;
  explicit Echo(const std::string& type) : op(m.define("f(" + type + " v) -> " + type)) {
    m.impl("f", K::CompositeExplicitAutograd, [](const OperatorHandle&, DispatchKeySet, Stack*) {});
  }
  IValue operator()(IValue value) const { return op(std::move(value))[0]; }
  std::string refusal(IValue value) const {
    return error_of([&] { (*this)(std::move(value)); });
  }
};

SB_QUESTION("A tensor is given for an int. Is it taken?",
            .both = "Yes if it has one element, of which a fraction is cut off.") {
  const Echo f("int");
  CHECK(f(integer(4)).to_int() == 4);
  CHECK(f(numbers({4.5})).to_int() == 4);
  CHECK(f(truth(true)).to_int() == 1);
  CHECK_THAT(f.refusal(numbers({1, 2})), Contains("Error: "));
}

SB_QUESTION("A bool, a float, or infinity for an int?",
            .pytorch = "The bool is 1; the others are a RuntimeError.",
            .here = "The bool is 1; the others are a TypeError.",
            .better = "A packet tells by the kind of the error whether to try the next overload.") {
  const Echo f("int");
  CHECK(f(true).to_int() == 1);
  CHECK_THAT(f.refusal(2.5), StartsWith("TypeError: q::f"));
  CHECK_THAT(f.refusal(std::numeric_limits<double>::infinity()), StartsWith("TypeError: q::f"));
}

SB_QUESTION("A number, or none, for a bool?", .both = "It is its truth; None is false.") {
  const Echo f("bool");
  CHECK(f(2.5).to_bool());
  CHECK_FALSE(f(0).to_bool());
  CHECK_FALSE(f(IValue()).to_bool());
}

SB_QUESTION("None for a Tensor that is not optional?",
            .both = "The kernel gets an undefined tensor; ATen's refuse it.") {
  const Echo f("Tensor");
  CHECK_FALSE(f(IValue()).to_tensor().defined());
  CHECK_THAT(error_of([] { ops["aten"]["neg"](IValue()); }), Contains("Error: "));
}

SB_QUESTION("A tensor for a Scalar?", .both = "It is refused.") {
  CHECK_THAT(Echo("Scalar").refusal(integer(4)), Contains("Error: "));
}

SB_QUESTION("One number for a list of two?",
            .both = "Both elements are it for `int[2]`; for `int[]` it is refused.") {
  CHECK(Echo("int[2]")(3).to_int_list() == std::vector<int64_t>{3, 3});
  CHECK_THAT(Echo("int[]").refusal(3), Contains("Error: "));
}

SB_QUESTION("A packet has overloads for an int and for a bool, in this order. Where does True go?",
            .both = "To the int: the first that takes it.") {
  Library m(Library::Kind::Def, "q");
  const auto says = [](const char* what) {
    return [what](const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->back() = what; };
  };
  m.define("f.int(int n) -> str");
  m.impl("f.int", K::CompositeExplicitAutograd, says("int"));
  m.define("f.bool(bool n) -> str");
  m.impl("f.bool", K::CompositeExplicitAutograd, says("bool"));
  CHECK(ops["q"]["f"](true)[0].to_string_view() == "int");
}

// What the call of aten::add.Tensor with these throws.
std::string add_error(Arguments positional, KeywordArguments keyword = {}) {
  const OpOverload add = ops["aten"]["add"]["Tensor"];
  return error_of([&] { add.call(std::move(positional), std::move(keyword)); });
}

SB_QUESTION("An argument is given twice, by position and by name. What is said?",
            .pytorch = "An internal assertion that asks for a bug report.",
            .here = "TypeError that names the argument.",
            .better = "The mistake is the caller's.") {
  CHECK_THAT(add_error({numbers({1}), numbers({1})}, {{"other", numbers({1})}}),
             StartsWith("TypeError: aten::add.Tensor") && Contains("other"));
}

SB_QUESTION("Too many arguments, an unknown name, a missing one?",
            .pytorch = "RuntimeError, for all that goes wrong in binding.",
            .here = "TypeError that names the operator and the argument.",
            .better = "A RuntimeError is then one of the kernel.") {
  const Tensor x = numbers({1});
  CHECK_THAT(add_error({x, x, 1}), StartsWith("TypeError: aten::add.Tensor"));
  CHECK_THAT(add_error({x, x}, {{"beta", 1}}), StartsWith("TypeError") && Contains("beta"));
  CHECK_THAT(add_error({x}), StartsWith("TypeError") && Contains("other"));
}

SB_QUESTION("Does an operator without tensors find a kernel that was registered for the CPU?",
            .both =
                "No: nothing says CPU; one at CompositeExplicitAutograd it finds. The same "
                "holds for an empty list of tensors.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor[] xs) -> int"));
  m.impl("f", K::CPU, [](TensorList xs) { return static_cast<int64_t>(xs.size()); });
  CHECK(op(Tensors{numbers({1})})[0].to_int() == 1);
  CHECK_THAT(error_of([&] { op(Tensors{}); }), StartsWith("NotImplementedError: q::f"));
  m.impl("f", K::CompositeExplicitAutograd, [](TensorList) { return int64_t{-1}; });
  CHECK(op(Tensors{})[0].to_int() == -1);
}

SB_QUESTION("A kernel returns something else than its schema says. Who notices?",
            .pytorch =
                "The call: RuntimeError or TypeError, of which one does not name the "
                "operator; a number of results that differs may pass.",
            .here = "Registering the kernel; for a boxed one, whoever calls with C++ types.",
            .better = "A kernel that cannot work never runs.") {
  Library m(Library::Kind::Def, "q");
  m.define("f(Tensor x) -> (Tensor, Tensor)");
  CHECK_THAT(error_of([&] { m.impl("f", K::CPU, giving(1)); }), StartsWith("RuntimeError: q::f"));
}

}  // namespace
}  // namespace sb::questions
