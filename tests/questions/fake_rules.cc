// Tensors without data, and rules that give them.

#include <optional>

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/fake/fake_profile.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/io/op_profiles/op_profiles.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::questions {
namespace {

const Device kCuda(DeviceType::CUDA, 0);
Tensor meta(std::vector<SymInt> sizes) {
  return empty(sizes, DType::Float32, std::nullopt, Device("meta"));
}
template <class F>
CustomOp with_rule(F rule) {
  return custom_op("q::f", [](const Tensor& x) { return x * 2; }).register_fake(rule);
}

SB_QUESTION("A fake rule returns a real tensor. Who gets it?",
            .pytorch = "The program, for fake and for meta arguments.",
            .here = "Nobody: RuntimeError that names the operator.",
            .better = "A real tensor among fake ones is an error later, far from its cause.") {
  const Tensor real = numbers({1});
  const CustomOp op = with_rule([&](const Tensor&) { return real; });
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] { op(fake.from_tensor(numbers({1}))); }), Contains("Error: q::f"));
  const FakeTensorModeGuard on(fake);
  CHECK_THAT(error_of([&] { op(fake.from_tensor(numbers({1}))); }), Contains("Error: q::f"));
}

SB_QUESTION("And for tensors on the meta device?", .pytorch = "The program gets it.",
            .here = "The same RuntimeError.",
            .better = "There is no memory behind a meta tensor.") {
  const Tensor real = numbers({1});
  const CustomOp op = with_rule([&](const Tensor&) { return real; });
  CHECK_THAT(error_of([&] { op(meta({1})); }), Contains("Error: q::f"));
}

SB_QUESTION("A fake rule gives other strides than the kernel. Who notices?",
            .both = "opcheck; a call on fake tensors has those of the rule.") {
  const CustomOp op = with_rule([](const Tensor& x) {
    return empty_strided({2, 3}, {1, 2}, x.dtype(), std::nullopt, x.device());
  });
  FakeTensorMode fake;
  const Tensor x = ones({2, 3});
  CHECK(op(fake.from_tensor(x)).stride(0) == 1);
  CHECK_THAT(error_of([&] { opcheck(op, {x}); }),
             StartsWith("OpCheckError") && Contains("test_faketensor"));
}

SB_QUESTION("It makes its result on another device than its arguments are on. Is that taken?",
            .both = "Yes: an operator may move data; opcheck compares with the real run.") {
  const CustomOp op = with_rule([](const Tensor&) { return empty({1}); });
  FakeTensorMode fake;
  CHECK(op(fake.from_tensor(numbers({1}), kCuda)).device() == Device("cpu"));
}

SB_QUESTION("It reads elements?",
            .both = "An error: there are none, on fake and on meta tensors.") {
  const CustomOp op = with_rule([](const Tensor& x) { return empty({item(x).to<int64_t>()}); });
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] { op(fake.from_tensor(numbers({1}))); }), Contains("Error: "));
  CHECK_THAT(error_of([&] { op(meta({1})); }), Contains("Error: "));
}

SB_QUESTION("It uses a real tensor that it has from outside?",
            .both = "An error, as wherever fake and real tensors meet.") {
  const Tensor weight = numbers({1});
  const CustomOp op = with_rule([&](const Tensor& x) { return x * weight; });
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] { op(fake.from_tensor(numbers({1}))); }), Contains("Error: "));
  CHECK_THAT(error_of([&] { op(meta({1})); }), Contains("Error: "));
}

SB_QUESTION("Two fake modes are mixed?", .both = "An error that names both.") {
  FakeTensorMode a, b;
  const Tensor x = a.from_tensor(numbers({1})), y = b.from_tensor(numbers({1}));
  CHECK_THAT(error_of([&] { x + y; }), StartsWith("RuntimeError"));
  const FakeTensorModeGuard on(a);
  CHECK_THAT(error_of([&] { x + y; }), StartsWith("RuntimeError"));
}

SB_QUESTION("A mode goes while its tensors live. Can they be used?",
            .both = "Yes: they keep what they need of it.") {
  Tensor x;
  {
    FakeTensorMode fake;
    x = fake.from_tensor(numbers({1, 2}));
  }
  CHECK((x + 1).size(0) == 2);
}

SB_QUESTION("A fake tensor left its mode's scope and meets a real one: added, copied from, joined?",
            .both = "An error each time, and the real one keeps its values.") {
  Tensor fake;
  {
    FakeTensorMode mode;
    const FakeTensorModeGuard on(mode);
    fake = ones({1});
  }
  const Tensor real = numbers({7});
  CHECK_THAT(error_of([&] { real + fake; }), Contains("Error: "));
  CHECK_THAT(error_of([&] { copy_(real, fake); }), Contains("Error: "));
  CHECK_THAT(error_of([&] { cat(Tensors{real, fake}); }), Contains("Error: "));
  CHECK(values_of(real) == Values{7});
}

SB_QUESTION("What is the data pointer of a fake tensor?",
            .pytorch = "0, with a warning that it will be an error.",
            .here = "RuntimeError that says which tensor.",
            .better = "A kernel that gets it would read address 0.") {
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] { fake.from_tensor(numbers({1})).data_ptr(); }), Contains("fake"));
}

SB_QUESTION(
    "An operator of a Library has a kernel at CompositeExplicitAutograd that calls "
    "operators, and no fake rule. What do fake tensors do?",
    .both =
        "Its kernel runs on them; one at CPU does not, which is an error that asks for "
        "a rule.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload f(m.define("f(Tensor x) -> Tensor")), g(m.define("g(Tensor x) -> Tensor"));
  m.impl("f", K::CompositeExplicitAutograd, [](const Tensor& x) { return x * 2; });
  m.impl("g", K::CPU, [](const Tensor& x) { return x * 2; });
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(numbers({1, 2}));
  CHECK(is_fake(call(f, x)));
  CHECK_THAT(error_of([&] { g(x); }),
             StartsWith("NotImplementedError: q::g") && Contains("register_fake"));
}

SB_QUESTION("A rule asks for a size that only the data tells. What does it get?",
            .both =
                "A symbol in a mode with a ShapeEnv; an error in one without, for meta "
                "tensors, and for bounds that make no sense.") {
  int64_t min = 0;
  std::optional<int64_t> max;
  const CustomOp op = with_rule([&](const Tensor& x) {
    return empty({fake_context().new_dynamic_size(min, max)}, x.dtype(), std::nullopt, x.device());
  });
  FakeTensorMode fake, symbolic({.shape_env = ShapeEnv::create()});
  const Tensor x = symbolic.from_tensor(numbers({1}));
  CHECK(op(x).is_symbolic());
  CHECK_THAT(error_of([&] { op(fake.from_tensor(numbers({1}))); }), Contains("Error: q::f"));
  CHECK_THAT(error_of([&] { op(meta({1})); }), StartsWith("RuntimeError"));
  min = -1;
  CHECK_THAT(error_of([&] { op(x); }), StartsWith("ValueError"));
  min = 3, max = 2;
  CHECK_THAT(error_of([&] { op(x); }), StartsWith("ValueError"));
}

SB_QUESTION("Outside of a fake rule, what is its context?", .pytorch = "None.",
            .here = "RuntimeError.", .better = "What is used at once is better not null.") {
  CHECK_THAT(error_of([] { fake_context(); }), StartsWith("RuntimeError"));
}

SB_QUESTION(
    "A new fake rule, or kernel at Meta, comes after a call was remembered by the fake mode's "
    "cache. What does the next call give?",
    .pytorch =
        "What the new rule gives, for operators of one's own; for ATen's, what was "
        "remembered, without a word.",
    .here = "What the new one gives.", .better = "A cache must not be seen.") {
  FakeTensorMode fake({.cache_use = FakeCacheUse::All});
  const Tensor x = fake.from_tensor(numbers({1, 2, 3}));
  CHECK((-x).size(0) == 3);
  Library aten(Library::Kind::Impl, "aten");
  aten.impl("neg", K::Meta, [](const Tensor&) { return meta({9}); });
  CHECK((-x).size(0) == 9);
}

SB_QUESTION(
    "A rule changes the shape of its argument, which the schema does not say is written to?",
    .pytorch = "The argument has the new shape, without a word.",
    .here = "RuntimeError that names the operator and both shapes.",
    .better = "The kernel will not do that to the real tensor.") {
  const CustomOp op = with_rule([](const Tensor& x) {
    unsqueeze_(x, 0);
    return x * 1;
  });
  FakeTensorMode fake;
  CHECK_THAT(error_of([&] {
               op(fake.from_tensor(numbers({1, 2})));
             }),
             StartsWith("RuntimeError: q::f"));
}

SB_QUESTION("A fake tensor of a device that is not here, and one of the CPU, are added?",
            .both = "An error that names both devices, unless the CPU's is a number.") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(numbers({1, 2}), Device("cuda:5"));
  CHECK_THAT(error_of([&] {
               x + fake.from_tensor(numbers({1, 2}));
             }),
             Contains("cuda:5") && Contains("cpu"));
  CHECK((x + fake.from_tensor(integer(1))).device() == Device("cuda:5"));
}

SB_QUESTION(
    "A profile of an operator that takes a number, too, is saved and read again. Does a call fit "
    "it?",
    .pytorch = "No: IndexError, as the file does not say which argument had no tensor.",
    .here = "Yes: the schema says which arguments are tensors.",
    .better = "What was saved is what is read.") {
  Library m(Library::Kind::Def, "q");
  m.define("f(int n, Tensor x) -> Tensor");
  const TensorProfile vector{1}, matrix{2};
  const io::OpProfiles profiles{{"q::f", {{{{}, {vector}}, {{matrix}}}}}};
  const io::OpProfiles read =
      io::read_profiles_from_yaml(io::generate_yaml_from_profiles(profiles));
  CHECK(read == profiles);
  const RegistrationHandle rules = unsafe_generate_fake_kernels(read);
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  CHECK(call(lookup_op("q::f"), 3, fake.from_tensor(numbers({1}))).dim() == 2);
}

// As PyTorch's make_fx with symbolic sizes.
Graph traced_with_symbols(const Program& f, const Tensor& example) {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  return trace(f, {fake.from_tensor(example)});
}

SB_QUESTION(
    "A program that branches on a size is traced with symbols for sizes. The graph runs with "
    "a size for which the program would have taken the other branch. What comes out?",
    .pytorch = "What the branch of the trace gives; the guard is there for who asks for it.",
    .here = "ValueError, with the guard and the line that asked.",
    .better = "The graph is another program there.") {
  const Graph graph = traced_with_symbols(
      [](const Tensors& in) {
        return Tensors{guard_bool(in[0].sym_size(0) > 4) ? in[0] * 10 : -in[0]};
      },
      numbers({1, 2, 3}));
  CHECK(graph.run({numbers({1, 2})}).size() == 1);
  CHECK_THAT(error_of([&] {
               graph.run({numbers({1, 2, 3, 4, 5, 6})});
             }),
             Contains("ValueError: graph: the program rests on s0 <= 4"));
}

SB_QUESTION("And where the branches are those of a cond, and the size its predicate?",
            .both = "The graph has both branches, and each run takes the one of its size.") {
  const Graph graph = traced_with_symbols(
      [](const Tensors& in) {
        return cond(
            in[0].sym_size(0) > 4, [](const Tensor& x) { return x * 10; },
            [](const Tensor& x) { return -x; }, {in[0]});
      },
      numbers({1, 2, 3}));
  CHECK(values_of(graph.run({numbers({1, 2})})[0]) == Values{-1, -2});
  CHECK(values_of(graph.run({numbers({1, 1, 1, 1, 1})})[0]) == Values(5, 10));
}

}  // namespace
}  // namespace sb::questions
