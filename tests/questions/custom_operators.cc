// Operators that are made by custom_op, and what their functions do behind its back.

#include <tuple>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

Tensor times3(const Tensor& x) { return x * 3; }
// By pointer, so that no operator is called.
void set5(const Tensor& x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = 5;
}

SB_QUESTION(
    "The result of a custom_op is its argument, a view of it, or another result. Is that "
    "seen?",
    .both = "RuntimeError in the call: results are new tensors.") {
  const CustomOp same = custom_op("q::same", [](const Tensor& x) { return x; });
  const CustomOp view = custom_op("q::view", [](const Tensor& x) { return sb::view(x, {-1}); });
  const CustomOp twice = custom_op("q::twice", [](const Tensor& x) {
    const Tensor y = x * 2;
    return std::tuple<Tensor, Tensor>(y, sb::view(y, {-1}));
  });
  for (const CustomOp* op : {&same, &view, &twice})
    CHECK_THAT(error_of([&] { op->op()(numbers({1})); }),
               StartsWith("RuntimeError: q::") && Contains("shares memory"));
}

SB_QUESTION("A custom_op has no gradient. What is backward through it?",
            .both = "RuntimeError that names it, even if its function calls operators that have.") {
  const CustomOp op = custom_op("q::f", times3);
  const Tensor x = leaf({1}), y = op(x);
  CHECK(requires_grad(y));
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError: q::f"));
}

SB_QUESTION("And an operator of a Library that has none?",
            .pytorch = "A warning; if the kernel reads memory by pointer, no gradient.",
            .here = "RuntimeError that names it.",
            .better =
                "A gradient that is wrong or missing is an error; "
                "set_autograd_fallback_mode() has PyTorch's answers.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.impl("f", K::CPU, times3);
  const Tensor x = leaf({1}), y = call(op, x);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError: q::f"));
}

SB_QUESTION(
    "A custom_op writes to an argument by an operator, and does not say so. What comes of "
    "it?",
    .both =
        "The write stands and is counted, so that backward finds that a tensor which "
        "it needs has changed; opcheck finds the operator.") {
  const CustomOp op = custom_op("q::f", [](const Tensor& x) {
    add_Scalar_(x, 1);
    return x * 3;
  });
  const Tensor x = leaf({1}), y = x * 1, z = y * y;
  op(y);
  CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("One that is declared, by pointer, to a tensor that backward needs?",
            .both = "It counts, and backward is a RuntimeError.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", set5);
  const Tensor x = leaf({1}), y = x * 1, z = y * y;
  {
    const NoGradGuard off;
    op.call<void>(y);
  }
  CHECK(values_of(y) == Values{5});
  CHECK_THAT(error_of([&] { gradient(z, x); }), StartsWith("RuntimeError"));
}

SB_QUESTION("How much does the version of a tensor grow by one declared write?",
            .pytorch = "By 1 for the declaration and 1 for each in-place operator in the function.",
            .here = "By 1.",
            .better =
                "Whatever the function calls, it is one write; both notice that there was "
                "one.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) { add_Scalar_(x, 1); });
  const Tensor x = numbers({1});
  const uint32_t before = x.version();
  op.call<void>(x);
  CHECK(x.version() == before + 1);
}

SB_QUESTION("A custom_op that writes gets a leaf that requires a gradient. What happens?",
            .pytorch = "It writes: the leaf has other values and the gradients of the old ones.",
            .here = "RuntimeError, as for ATen's in-place operators; under no_grad it writes.",
            .better = "What is wrong for add_() is wrong for an operator of one's own.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", set5);
  const Tensor x = leaf({1});
  CHECK_THAT(error_of([&] { op.call<void>(x); }), StartsWith("RuntimeError: q::f"));
  CHECK(values_of(x) == Values{1});
  const NoGradGuard off;
  op.call<void>(x);
  CHECK(values_of(x) == Values{5});
}

SB_QUESTION("It gets a tensor that was computed from such a leaf. What is the gradient afterwards?",
            .pytorch = "That of the tensor before the write.",
            .here = "Backward through the write is a RuntimeError that names the operator.",
            .better =
                "The function may have replaced the values, so that the old gradient would "
                "be wrong in silence.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", set5);
  const Tensor x = leaf({1}), y = x * 1;
  op.call<void>(y);
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError: q::f"));
}

SB_QUESTION(
    "The function throws after it has written. Is the write counted, and the thread's "
    "state as before?",
    .both = "Yes.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor& x) {
    set5(x);
    SB_THROW(ValueError, "no");
  });
  const Tensor x = numbers({1});
  const uint32_t before = x.version();
  CHECK(error_of([&] { op.call<void>(x); }) == "ValueError: no");
  CHECK(x.version() > before);
  CHECK(is_grad_enabled());
}

SB_QUESTION("A second custom_op has the name of the first. Whom do both objects call?",
            .pytorch = "The second: making it destroys the first.",
            .here = "The second is refused, with the place of the first.",
            .better = "Two parts of a program that chose one name learn of it.") {
  const CustomOp first = custom_op("q::f", times3);
  CHECK_THAT(error_of([] { custom_op("q::f", times3); }),
             StartsWith("RuntimeError") && Contains("custom_operators.cc"));
}

SB_QUESTION(
    "Scopes of set_kernel_enabled nest, one of them says what holds already, and a kernel "
    "comes while they last. What runs?",
    .both =
        "The function while the innermost says off, the newest kernel otherwise; each "
        "scope restores what it found; a warning where nothing changes.") {
  int warnings = 0;
  const WarningHandler handler = set_warning_handler([&](const std::string&) { ++warnings; });
  CustomOp op = custom_op("q::f", giving(1));
  const auto run = [&] { return values_of(op(numbers({0})))[0]; };
  op.register_kernel("cpu", giving(2));
  CHECK(run() == 2);
  {
    const RegistrationHandle off = op.set_kernel_enabled("cpu", false);
    CHECK(run() == 1);
    {
      const RegistrationHandle on = op.set_kernel_enabled("cpu");
      CHECK(run() == 2);
    }
    {
      const RegistrationHandle again = op.set_kernel_enabled("cpu", false);
      CHECK(run() == 1);
    }
    op.register_kernel("cpu", giving(3));
    CHECK(run() == 1);
  }
  CHECK(run() == 3);
  CHECK(warnings == 1);
  set_warning_handler(handler);
}

SB_QUESTION("An operator without tensors has kernels for devices. Which one runs?",
            .both =
                "That of its argument `Device device`; without such an argument it is a "
                "ValueError, and for a device without a kernel the call is a RuntimeError.") {
  const CustomOp op = custom_op("q::f", "(Device device) -> Tensor",
                                [](Device) { return numbers({1}); }, {.device_types = "cpu"});
  CHECK(values_of(op(Device("cpu"))) == Values{1});
  CHECK_THAT(error_of([&] { op(Device("cuda")); }), StartsWith("RuntimeError: q::f"));
  CHECK_THAT(error_of([] {
               custom_op("q::g", "(int n) -> Tensor", [](int64_t) { return numbers({1}); },
                         {.device_types = "cpu"});
             }),
             StartsWith("ValueError: q::g"));
}

SB_QUESTION(
    "A custom_op without a fake rule is called with a tensor on meta, or a fake one. Does "
    "its function run?",
    .pytorch = "No: RuntimeError.", .here = "No: NotImplementedError.",
    .better = "The kind of the error says what is missing.") {
  bool ran = false;
  const CustomOp op = custom_op("q::f", [&](const Tensor& x) {
    ran = true;
    return x * 3;
  });
  FakeTensorMode fake;
  const Tensor meta = empty({1}, DType::Float32, std::nullopt, Device("meta"));
  for (const Tensor& x : {meta, fake.from_tensor(numbers({1}))})
    CHECK_THAT(error_of([&] { op(x); }), StartsWith("NotImplementedError: q::f"));
  CHECK_FALSE(ran);
}

SB_QUESTION(
    "mutates_args says something else than the schema beside it, names no argument, or "
    "names a number. What happens?",
    .both = "ValueError, and nothing is defined.") {
  const auto make = [](const char* schema, const char* written) {
    return error_of(
        [&] { custom_op("q::f", schema, [](const Tensor&) {}, {.mutates_args = {written}}); });
  };
  CHECK_THAT(make("(Tensor x) -> ()", "x"), StartsWith("ValueError: q::f"));
  CHECK_THAT(make("(Tensor(a!) x) -> ()", "y"), StartsWith("ValueError: q::f"));
  CHECK_THAT(error_of([] {
               custom_op("q::f", [](int64_t) {}, {.arguments = {"n"}, .mutates_args = {"n"}});
             }),
             StartsWith("ValueError: q::f"));
  CHECK_FALSE(default_dispatcher().find_op("q::f").has_value());
}

SB_QUESTION(
    "A custom_op returns the argument that it writes to, as its schema says, without the "
    "tag inplace. Is that allowed?",
    .pytorch = "No: RuntimeError, as for any result that shares memory.", .here = "Yes.",
    .better = "The schema says it, and schemas are what layers go by.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> Tensor(a!)", [](const Tensor& x) {
    set5(x);
    return x;
  });
  const Tensor x = numbers({1});
  CHECK(op(x).is_same(x));
}

SB_QUESTION(
    "One tensor is given as the argument that is written to and as another. What does the "
    "function see?",
    .both = "One tensor: what it writes, it reads.") {
  const CustomOp op =
      custom_op("q::f", "(Tensor(a!) x, Tensor y) -> ()", [](const Tensor& x, const Tensor& y) {
        add_(x, y);
        add_(x, y);
      });
  const Tensor a = numbers({1});
  op.call<void>(a, a);
  CHECK(values_of(a) == Values{4});
}

SB_QUESTION(
    "Under autocast, what becomes of float64, integers, bool and other halves among the "
    "arguments?",
    .both =
        "Floating-point tensors other than float64 come in the dtype that was "
        "registered, all others as they are; the function runs with autocast off.") {
  std::vector<DType> seen;
  CustomOp op = custom_op("q::f", [&](TensorList xs) {
    for (const Tensor& x : xs) seen.push_back(x.dtype());
    CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
    return numbers({1});
  });
  op.register_autocast("cpu", DType::BFloat16);
  const AutocastGuard autocast("cpu");
  Tensors xs;
  for (const DType d : {DType::Float32, DType::Float64, DType::Int64, DType::Bool, DType::Float16})
    xs.push_back(ones({1}, d));
  op(xs);
  CHECK(seen == std::vector<DType>{DType::BFloat16, DType::Float64, DType::Int64, DType::Bool,
                                   DType::BFloat16});
}

SB_QUESTION(
    "Under autocast a custom_op writes to a tensor that would be cast. Where does the write "
    "go?",
    .pytorch = "Into the cast copy, and is lost.", .here = "RuntimeError before the call.",
    .better = "A write is never lost in silence.") {
  CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", set5);
  op.register_autocast("cpu", DType::BFloat16);
  const AutocastGuard autocast("cpu");
  CHECK_THAT(error_of([&] { op.call<void>(numbers({1})); }), Contains("Error: q::f"));
}

SB_QUESTION("Do gradients pass the cast that autocast makes?",
            .both = "Yes, into the dtype of the leaf.") {
  CustomOp op = custom_op("q::f", [](const Tensor& x) { return x * 2; });
  op.register_autograd([](FunctionContext&, const Tensor& g) { return g * 2; });
  op.register_autocast("cpu", DType::BFloat16);
  const Tensor x = leaf({1});
  Tensor y;
  {
    const AutocastGuard autocast("cpu");
    y = op(x);
  }
  CHECK(y.dtype() == DType::BFloat16);
  CHECK(gradient(y, x) == Values{2});
  CHECK(grad_of(x).dtype() == DType::Float32);
}

SB_QUESTION("An operator that is tagged out gets a tensor that requires a gradient. What happens?",
            .both = "RuntimeError, whichever argument it is; under no_grad it runs.") {
  const CustomOp op = custom_op("q::f", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
                                [](const Tensor& x, const Tensor& out) {
                                  copy_(out, x);
                                  return out;
                                },
                                {.tags = Tag::out});
  const auto run = [&](const Tensor& x, const Tensor& out) {
    return error_of([&] { op.op().call({x}, {{"out", out}}); });
  };
  CHECK_THAT(run(leaf({1}), numbers({0})), StartsWith("RuntimeError: q::f"));
  CHECK_THAT(run(numbers({1}), leaf({0})), StartsWith("RuntimeError: q::f"));
  const NoGradGuard off;
  CHECK(run(leaf({1}), numbers({0})) == "no error");
}

SB_QUESTION("The object that custom_op gave goes out of scope. Is the operator still there?",
            .pytorch = "Yes, for good.", .here = "No, unless the program says keep().",
            .better = "In C++ a scope ends what it began; tests need no clean-up.") {
  { const CustomOp op = custom_op("q::f", times3); }
  CHECK_FALSE(default_dispatcher().find_op("q::f").has_value());
}

SB_QUESTION(
    "Tensors that may be missing, and lists, are written to. Do all writes arrive, one "
    "tensor among several arguments included?",
    .both = "Yes.") {
  const CustomOp op = custom_op("q::f", "(Tensor(a!)? x, Tensor(b!)[] l) -> ()",
                                [](const std::optional<Tensor>& x, TensorList l) {
                                  if (x) add_Scalar_(*x, 1);
                                  for (const Tensor& t : l) add_Scalar_(t, 1);
                                });
  const Tensor a = numbers({1}), b = numbers({1});
  op.call<void>(IValue(), Tensors{a, b});
  op.call<void>(a, Tensors{a});
  CHECK(values_of(a) == Values{4});
  CHECK(values_of(b) == Values{2});
}

}  // namespace
}  // namespace sb::questions
