// The whole text of each error of fake mode, its rules and its fallback.

#include <regex>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/loss/packed_sequence.h"
#include "switchboard/ops/sorting/unique.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0), kMeta(DeviceType::Meta);

// Checks that f throws an E with exactly this text, twice: the first time changed nothing.
template <class E, class F>
void refuses(F f, const std::string& text) {
  CAPTURE(text);
  CHECK_THROWS_AS(f(), E);
  CHECK_THROWS_WITH(f(), text);
}

// The text with N for the numbers of lines.
std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex(R"((\.cc):\d+)"), "$1:N");
}

template <class F>
std::string error_of(F f) {
  try {
    static_cast<void>(f());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<IValue> call(std::string_view op, std::vector<IValue> arguments) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(arguments));
}

// A mode without symbols, and one with.
struct Fixture {
  FakeTensorMode fake;
  FakeTensorMode symbolic{{.shape_env = ShapeEnv::create()}};

  Tensor cpu(IntArrayRef sizes, DType dtype = DType::Float32) {
    return fake.from_tensor(zeros(sizes, dtype));
  }
  Tensor cuda(IntArrayRef sizes, DType dtype = DType::Float32) {
    return fake.from_tensor(zeros(sizes, dtype), kCuda);
  }
  // Of the mode with symbols; its sizes are numbers all the same.
  Tensor plain(IntArrayRef sizes, DType dtype = DType::Float32) {
    return symbolic.from_tensor(zeros(sizes, dtype), {.static_shapes = true});
  }
};

// The operator messages_test::f, from one tensor to another, without kernels.
struct TestOp {
  Library m{Library::Kind::Def, "messages_test"};
  OperatorHandle op = m.define("f(Tensor x) -> Tensor");
  FakeTensorMode fake;
  Tensor x = fake.from_tensor(zeros({2}));
};

Tensor copy_on_meta(const Tensor& x) { return empty_on(DeviceType::Meta, x.sizes(), x.dtype()); }

// Real tensors to fake ones.

TEST_CASE("from_tensor refuses what has no fake, and says which tensor") {
  Fixture f;
  refuses<RuntimeError>([&] { f.fake.from_tensor(Tensor()); },
                        "FakeTensorMode.from_tensor: expected a tensor, got an undefined one");
  const Tensor without_storage(make_intrusive<TensorImpl>(nullptr, tensor_key_set(DeviceType::CPU),
                                                          DType::Float32, Device(DeviceType::CPU)));
  refuses<UnsupportedFakeTensorError>(
      [&] { f.fake.from_tensor(without_storage); },
      "FakeTensorMode: float32[0] on cpu has no storage, and so no fake tensor");
}

TEST_CASE("from_tensor refuses a fake tensor of another mode, and names the mode") {
  Fixture f;
  FakeTensorMode other;
  const Tensor x = other.from_tensor(zeros({2}), kCuda);
  refuses<RuntimeError>([&] { f.fake.from_tensor(x); },
                        "FakeTensorMode.from_tensor: expected a real tensor or a fake one of this "
                        "mode, got float32[2] on cuda:0 of another mode, FakeTensorMode");
}

TEST_CASE(
    "from_tensor refuses the meta device, asked for or the tensor's own, if it is forbidden") {
  FakeTensorMode strict({.allow_meta = false});
  const std::string text = "FakeTensorMode.from_tensor: expected another device than meta for ";
  const std::string allow = " (FakeTensorOptions::allow_meta allows it)";
  const Tensor meta = empty_on(DeviceType::Meta, {2}, DType::Float32);
  refuses<ValueError>([&] { strict.from_tensor(meta); }, text + "float32[2] on meta" + allow);
  refuses<ValueError>([&] { strict.from_tensor(zeros({2}), kMeta); },
                      text + "float32[2] on cpu" + allow);
}

TEST_CASE("from_tensor takes one dim for each dimension, and none for static shapes") {
  Fixture f;
  refuses<ValueError>(
      [&] {
        f.symbolic.from_tensor(zeros({4}), {.dims = {{}, {}}});
      },
      "FakeTensorMode.from_tensor: dims: expected one for each dimension of float32[4] on cpu, got "
      "2");
  const Tensor real = zeros({4});
  const FromTensorOptions too_small = {.dims = {{.max = 3}}};
  CHECK_THROWS_AS(f.symbolic.from_tensor(real, too_small), ValueError);
  CHECK(f.symbolic.from_tensor(real).is_symbolic());  // nothing of the refused one is left
  refuses<ValueError>(
      [&] { f.symbolic.from_tensor(zeros({4}), {.static_shapes = true, .dims = {{}}}); },
      "FakeTensorMode.from_tensor: dims: expected none for static shapes, got 1");
}

TEST_CASE("from_meta takes meta tensors only") {
  Fixture f;
  refuses<ValueError>([&] { f.fake.from_meta(zeros({2}), kCuda); },
                      "FakeTensorMode.from_meta: expected a meta tensor, got float32[2] on cpu");
  refuses<ValueError>([&] { f.fake.from_meta(Tensor(), kCuda); },
                      "FakeTensorMode.from_meta: expected a meta tensor, got undefined tensor");
}

// Arguments.

TEST_CASE("an argument that is no fake tensor of the mode is refused, with the whole call") {
  Fixture f;
  FakeTensorMode other;
  const Tensor x = f.cpu({2}), real = zeros({2}), foreign = other.from_tensor(zeros({2}));
  const Tensor meta = empty_on(DeviceType::Meta, {2}, DType::Float32);
  refuses<RuntimeError>(
      [&] { add(x, real); },
      "aten::add.Tensor: argument 1 'other': expected a fake tensor, got a real one, float32[2] on "
      "cpu, in aten::add.Tensor(float32[2] on cpu, float32[2] on cpu); convert it with "
      "FakeTensorMode::from_tensor, or allow_non_fake_inputs");
  refuses<RuntimeError>(
      [&] {
        const FakeTensorModeGuard active(f.fake);
        add(x, foreign);
      },
      "aten::add.Tensor: argument 1 'other': expected a fake tensor of this mode, got one of "
      "another, in aten::add.Tensor(float32[2] on cpu, float32[2] on cpu)");
  refuses<RuntimeError>(
      [&] { add(x, meta, 3); },
      "aten::add.Tensor: argument 1 'other': expected a fake tensor, got a real one, float32[2] on "
      "meta, in aten::add.Tensor(float32[2] on cpu, float32[2] on meta, alpha=3); convert it with "
      "FakeTensorMode::from_tensor, or allow_non_fake_inputs");
}

TEST_CASE("a real tensor is refused where the operator changes shapes, whatever the mode allows") {
  Library m(Library::Kind::Def, "messages_test");
  const OperatorHandle op =
      m.define("grow_(Tensor(a!) x, Tensor y) -> Tensor(a!)", Tag::inplace_view);
  m.impl("grow_", DispatchKey::Meta, [](const Tensor& x, const Tensor&) { return x; });
  FakeTensorMode lenient({.allow_non_fake_inputs = true});
  const Tensor x = lenient.from_tensor(zeros({2})), real = zeros({2});
  refuses<RuntimeError>(
      [&] {
        op.call({x, real});
      },
      "messages_test::grow_: argument 1 'y': expected a fake tensor, as the operator changes its "
      "arguments' shape or storage, got a real one, float32[2] on cpu, in "
      "messages_test::grow_(float32[2] on cpu, float32[2] on cpu)");
}

TEST_CASE("devices that do not agree are shown by argument") {
  Fixture f;
  const Tensor x = f.cuda({2}), y = f.cpu({2});
  const Tensor scalar = f.fake.from_tensor(zeros({}), Device("cuda:1"));
  refuses<RuntimeError>([&] { add(x, y); },
                        "aten::add.Tensor: expected all tensors on one device, got argument 0 "
                        "'self' on cuda:0, argument 1 'other' on cpu");
  refuses<RuntimeError>([&] { add(x, scalar); },
                        "aten::add.Tensor: expected all tensors on one device, got argument 0 "
                        "'self' on cuda:0, argument 1 'other' on cuda:1 (0-dim)");
}

// Results.

TEST_CASE("a factory makes no fake tensor on the meta device, if it is forbidden") {
  const FakeTensorModeGuard active{FakeTensorMode({.allow_meta = false})};
  refuses<ValueError>([&] { empty({2}, kMeta); },
                      "aten::empty.memory_format: argument device: expected another device than "
                      "meta (FakeTensorOptions::allow_meta allows it)");
}

TEST_CASE("a kernel at Meta that gives a real tensor is found out") {
  TestOp t;
  t.m.impl("f", DispatchKey::Meta,
           [](const Tensor& x) { return empty_on(DeviceType::CPU, x.sizes(), x.dtype()); });
  refuses<RuntimeError>([&] { t.op.call({t.x}); },
                        "messages_test::f: the kernel at Meta gave a tensor that is neither meta "
                        "nor fake, float32[2] on cpu");
}

TEST_CASE("fake tensors take no more bytes than int64 counts") {
  const FakeTensorModeGuard active{FakeTensorMode()};
  const Tensor half = empty({int64_t{1} << 60}, kCuda);
  refuses<RuntimeError>(
      [&] { empty({int64_t{1} << 60}, kCuda); },
      "aten::empty.memory_format: fake tensors would take more bytes than int64 counts: "
      "4611686018427387904 and 4611686018427387904 more");
}

TEST_CASE("a cross-checking mode shows both results, with their keys") {
  FakeTensorMode mode{
      {.cache_use = FakeCacheUse::CrossCheck, .cache = FakeDispatchCache::create()}};
  const Tensor x = mode.from_tensor(zeros({2}), kCuda);
  static int calls;
  calls = 0;
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle fickle = m.define("_messages_test_fickle(Tensor self) -> Tensor");
  m.impl("_messages_test_fickle", DispatchKey::Meta,
         [](const Tensor&) { return empty_on(DeviceType::Meta, {++calls}, DType::Float32); });
  fickle.call({x});
  const std::string keys = to_string(x.key_set());
  CHECK_THROWS_WITH(
      fickle.call({x}),
      "aten::_messages_test_fickle: the fake tensor cache remembered float32[1] on cuda:0 with "
      "keys " +
          keys + ", but the call gave float32[2] on cuda:0 with keys " + keys);
}

TEST_CASE("a function of cond gives fake tensors of the mode") {
  Fixture f;
  using Tensors = std::vector<Tensor>;
  const Tensor x = f.cpu({2}), pred = f.cpu({}, DType::Bool), real = zeros({2});
  const auto gives_x = [](const Tensors& in) { return in; };
  const auto gives_real = [&](const Tensors&) { return Tensors{real}; };
  refuses<RuntimeError>([&] { cond(pred, gives_x, gives_real, {x}); },
                        "higher_order::cond: false_fn: result 0: expected a fake tensor of the "
                        "mode, got float32[2] on cpu");
}

// Rules of single operators.

TEST_CASE("a rule that asks for an argument that is not there is told how many there are") {
  TestOp t;
  t.m.impl("f", DispatchKey::Meta, copy_on_meta);
  int asked = 0;
  const RegistrationHandle rule = register_fake_rule("messages_test::f", [&](FakeCall& c) {
    ++asked;
    refuses<IndexError>([&] { c.argument(1); }, "messages_test::f: no argument 1, it has 1");
    refuses<ValueError>([&] { c.argument("y"); },
                        "messages_test::f: no argument 'y'; arguments: x");
    return false;
  });
  t.op.call({t.x});
  CHECK(asked == 1);
  t.m.define("none() -> Tensor");
  t.m.impl("none", DispatchKey::Meta,
           [] { return empty_on(DeviceType::Meta, {2}, DType::Float32); });
  const RegistrationHandle other = register_fake_rule("messages_test::none", [&](FakeCall& c) {
    ++asked;
    refuses<ValueError>([&] { c.argument("y"); },
                        "messages_test::none: no argument 'y'; arguments: (none)");
    return false;
  });
  const FakeTensorModeGuard active(t.fake);
  call("messages_test::none", {});
  CHECK(asked == 2);
}

TEST_CASE("a rule cannot run a Meta kernel that is not there") {
  TestOp t;
  t.m.impl("f", DispatchKey::CPU, [](const Tensor& x) { return x; });
  const RegistrationHandle rule = register_fake_rule("messages_test::f", [](FakeCall& c) {
    c.run_meta_kernel();
    return true;
  });
  refuses<UnsupportedOperatorError>(
      [&] { t.op.call({t.x}); },
      "messages_test::f: no shape rule for fake tensors; register a kernel for it at Meta");
}

TEST_CASE("register_fake_rule refuses an empty function, and names the operators") {
  const FakeRule rule = [](FakeCall&) { return false; };
  refuses<ValueError>(
      [&] { return register_fake_rule("messages_test::f", FakeRule()); },
      "register_fake_rule: messages_test::f: expected a rule, got an empty function");
  refuses<ValueError>(
      [&] {
        return register_fake_rule({"messages_test::f", "messages_test::g"}, FakeRule());
      },
      "register_fake_rule: messages_test::f, messages_test::g: expected a rule, got an empty "
      "function");
  const std::string text =
      "register_fake_rule: expected a predicate and a rule, got an empty function";
  refuses<ValueError>([&] { return register_fake_rule(FakeRulePredicate(), rule); }, text);
  const FakeRulePredicate none = [](const OperatorHandle&) { return false; };
  refuses<ValueError>([&] { return register_fake_rule(none, FakeRule()); }, text);
}

TEST_CASE("a second rule for an operator is refused with both places") {
  const FakeRule rule = [](FakeCall&) { return false; };
  const std::string here = std::string(__FILE__) + ":N";
  const std::string text =
      "register_fake_rule: messages_test::h has a fake rule already, registered at " + here +
      "; got another at " + here;
  // In one call, where nothing is registered.
  for (int i = 0; i < 2; ++i) {
    CHECK(without_lines(error_of([&] {
            return register_fake_rule({"messages_test::h", "messages_test::h"}, rule);
          })) == text);
  }
  const RegistrationHandle first = register_fake_rule("messages_test::h", rule);
  CHECK(without_lines(error_of([&] { return register_fake_rule("messages_test::h", rule); })) ==
        text);
  CHECK_THROWS_AS(register_fake_rule("messages_test::h", rule), RuntimeError);
}

// register_fake.

TEST_CASE("a fake rule that calls its own operator is told so") {
  TestOp t;
  const RegistrationHandle rule = register_fake(
      "messages_test::f", [&](const Tensor& x) { return t.op.call({x})[0].to_tensor(); });
  refuses<RuntimeError>([&] { t.op.call({t.x}); },
                        "messages_test::f: fake rules call each other 100 deep; a rule must not "
                        "call its own operator");
}

TEST_CASE("a fake rule that gives a real tensor is told so") {
  TestOp t;
  const Tensor real = zeros({3});
  const RegistrationHandle rule =
      register_fake("messages_test::f", [&](const Tensor&) { return real; });
  refuses<RuntimeError>([&] { t.op.call({t.x}); },
                        "messages_test::f: expected fake tensors from its fake rule, got "
                        "float32[3] on cpu, which is not one of the mode");
}

TEST_CASE("an operator that waits for its fake rule shows its schema") {
  TestOp t;
  internal::expect_fake_rule(t.op.name(), t.m, SourceLocation::current());
  refuses<UnsupportedOperatorError>(
      [&] { t.op.call({t.x}); },
      "messages_test::f: no fake rule, and the operator's kernels do not run on tensors without "
      "data; register_fake() one: messages_test::f(Tensor x) -> Tensor");
}

TEST_CASE("new_dynamic_size refuses bounds that make no sense") {
  TestOp t;
  FakeTensorMode symbolic({.shape_env = ShapeEnv::create()});
  const Tensor x = symbolic.from_tensor(zeros({1}));
  int64_t min = 0;
  std::optional<int64_t> max;
  const RegistrationHandle rule = register_fake("messages_test::f", [&](const Tensor&) {
    return empty({fake_context().new_dynamic_size(min, max)});
  });
  const std::string text =
      "messages_test::f: new_dynamic_size: expected a size of 0 or more, and a maximum not below "
      "the minimum, got ";
  min = -1;
  refuses<ValueError>([&] { t.op.call({x}); }, text + "-1 to any");
  min = 4;
  max = 3;
  refuses<ValueError>([&] { t.op.call({x}); }, text + "4 to 3");
}

TEST_CASE("new_dynamic_size needs a ShapeEnv that allows it") {
  TestOp t;
  const RegistrationHandle rule = register_fake(
      "messages_test::f", [](const Tensor&) { return empty({fake_context().new_dynamic_size()}); });
  const std::string text =
      "messages_test::f: new_dynamic_size: the result's shape depends on the data, which fake "
      "tensors do not have; a mode with a ShapeEnv gives it a symbolic size";
  refuses<DynamicOutputShapeError>([&] { t.op.call({t.x}); }, text);
  FakeTensorMode strict({.shape_env = ShapeEnv::create({.allow_dynamic_output_shape_ops = false})});
  const Tensor x = strict.from_tensor(zeros({1}));
  refuses<DynamicOutputShapeError>([&] { t.op.call({x}); }, text);
}

TEST_CASE("fake_context is for fake rules, and says when there is one") {
  refuses<RuntimeError>(
      [] { fake_context(); },
      "fake_context: expected to be called by a fake rule that runs for fake tensors; none runs on "
      "this thread (for tensors on the meta device there is no context)");
}

// The fallback: why an operator cannot run on zeros.

std::string no_fallback(const std::string& op, const std::string& why) {
  return op + ": no shape rule for fake tensors, and no fallback: " + why +
         "; register a kernel for it at Meta, or a fake rule by register_fake";
}

TEST_CASE("an operator of a user does not run on zeros") {
  TestOp t;
  t.m.impl("f", DispatchKey::CPU, [](const Tensor& x) { return x; });
  refuses<UnsupportedOperatorError>(
      [&] { t.op.call({t.x}); },
      no_fallback("messages_test::f",
                  "only operators of PyTorch's own namespaces may run on zeros"));
}

// An operator of PyTorch's with a kernel on the CPU and no shape rule.
struct CpuOnly {
  Library m{Library::Kind::Fragment, "aten"};
  OperatorHandle op = m.define("_messages_test_f(Tensor x) -> Tensor");
  CpuOnly() {
    m.impl("_messages_test_f", DispatchKey::CPU, [](const Tensor& x) { return mul(x, x); });
  }
};

TEST_CASE("a mode without fallback kernels says that it allows none") {
  CpuOnly t;
  FakeTensorMode strict({.allow_fallback_kernels = false});
  const Tensor x = strict.from_tensor(zeros({2}));
  refuses<UnsupportedOperatorError>([&] { t.op.call({x}); },
                                    no_fallback("aten::_messages_test_f", "the mode allows none"));
}

TEST_CASE("an operator whose shape rule refuses the arguments tells what the rule said") {
  CpuOnly t;
  t.m.impl("_messages_test_f", DispatchKey::Meta, [](const Tensor& x) {
    SB_CHECK_NOT_IMPLEMENTED(x.numel() % 2 == 0, "only even numbers");
    return copy_on_meta(x);
  });
  FakeTensorMode strict({.allow_fallback_kernels = false});
  const Tensor x = strict.from_tensor(zeros({3}));
  refuses<UnsupportedOperatorError>(
      [&] { t.op.call({x}); },
      "aten::_messages_test_f: its shape rule does not serve these arguments (only even numbers), "
      "and no fallback: the mode allows none; register a kernel for it at Meta, or a fake rule by "
      "register_fake");
}

TEST_CASE("an operator that changes an argument's shape does not run on zeros") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op =
      m.define("_messages_test_meta_(Tensor(a!) x) -> Tensor(a!)", Tag::inplace_view);
  m.impl("_messages_test_meta_", DispatchKey::CPU, [](const Tensor& x) { return squeeze_(x); });
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(zeros({2, 1}));
  refuses<UnsupportedOperatorError>(
      [&] { op.call({x}); },
      no_fallback("aten::_messages_test_meta_", "it changes the shape or storage of an argument"));
}

TEST_CASE("there are no zeros of symbolic sizes, of tensors or as arguments") {
  Fixture f;
  CpuOnly t;
  const Tensor x = f.symbolic.from_tensor(zeros({5}));
  refuses<UnsupportedOperatorError>(
      [&] { t.op.call({x}); }, no_fallback("aten::_messages_test_f", "its sizes are symbolic"));
  const OperatorHandle sized = t.m.define("_messages_test_sized(Tensor x, SymInt[] n) -> Tensor");
  const std::vector<SymInt> n = {x.sym_size(0)};
  const Tensor one = f.plain({1});
  refuses<UnsupportedOperatorError>(
      [&] {
        sized.call({one, IValue(n)});
      },
      no_fallback("aten::_messages_test_sized", "its sizes are symbolic"));
}

TEST_CASE("zeros take no more bytes than the mode allows") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op = m.define("_messages_test_two(Tensor x, Tensor y) -> Tensor");
  m.impl("_messages_test_two", DispatchKey::CPU,
         [](const Tensor& x, const Tensor&) { return mul(x, x); });
  FakeTensorMode small({.fallback_bytes = 100});
  const Tensor x = small.from_tensor(zeros({13})), y = small.from_tensor(zeros({13}), kCuda);
  const Tensor z = small.from_tensor(zeros({13}));
  refuses<UnsupportedOperatorError>(
      [&] {
        op.call({x, z});
      },
      no_fallback("aten::_messages_test_two",
                  "zeros like float32[13] on cpu take 52 bytes, and the mode allows 100 for all "
                  "arguments (FakeTensorOptions::fallback_bytes)"));
  refuses<RuntimeError>(
      [&] {
        op.call({x, y});
      },
      "aten::_messages_test_two: expected all tensors on one device, got "
      "argument 0 'x' on cpu, argument 1 'y' on cuda:0");
}

TEST_CASE("a result of the fallback has a storage of its own") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle op = m.define("_messages_test_alias(Tensor(a) x) -> Tensor(a)");
  m.impl("_messages_test_alias", DispatchKey::CPU, [](const Tensor& x) { return view(x, {-1}); });
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(zeros({2}));
  refuses<UnsupportedOperatorError>(
      [&] { op.call({x}); },
      no_fallback("aten::_messages_test_alias", "a result shares the storage of an argument"));
}

// What depends on data.

std::string no_shape(const std::string& op) {
  return op +
         ": the result's shape depends on the data, which fake tensors do not have; a mode with a "
         "ShapeEnv gives it a symbolic size";
}

TEST_CASE("an operator whose result's shape depends on data is refused by name") {
  Fixture f;
  const Tensor x = f.cpu({3, 4}), mask = f.cpu({4}, DType::Bool);
  const Tensor lengths = f.cpu({4}, DType::Int64);
  refuses<DynamicOutputShapeError>([&] { nonzero(x); }, no_shape("aten::nonzero"));
  refuses<DynamicOutputShapeError>([&] { masked_select(x, mask); },
                                   no_shape("aten::masked_select"));
  refuses<DynamicOutputShapeError>([&] { _unique2(x); }, no_shape("aten::_unique2"));
  refuses<DynamicOutputShapeError>([&] { unique_dim(x, 0); }, no_shape("aten::unique_dim"));
  refuses<DynamicOutputShapeError>([&] { repeat_interleave_Tensor(lengths); },
                                   no_shape("aten::repeat_interleave.Tensor"));
  refuses<DynamicOutputShapeError>([&] { _pack_padded_sequence(x, lengths, false); },
                                   no_shape("aten::_pack_padded_sequence"));
}

TEST_CASE("a ShapeEnv that allows no symbols for data refuses them as a mode without one") {
  FakeTensorMode strict({.shape_env = ShapeEnv::create({.allow_scalar_outputs = false,
                                                        .allow_dynamic_output_shape_ops = false})});
  const Tensor x = strict.from_tensor(zeros({1})), scalar = strict.from_tensor(zeros({}));
  refuses<DynamicOutputShapeError>([&] { nonzero(x); }, no_shape("aten::nonzero"));
  refuses<DataDependentOutputError>(
      [&] { item(scalar); },
      "aten::_local_scalar_dense: the result depends on the data, which fake tensors do not have; "
      "a mode with a ShapeEnv gives a symbol for it");
}

TEST_CASE("item() has no symbol without a ShapeEnv, and none for a complex number") {
  Fixture f;
  const Tensor scalar = f.cpu({});
  refuses<DataDependentOutputError>(
      [&] { item(scalar); },
      "aten::_local_scalar_dense: the result depends on the data, which fake tensors do not have; "
      "a mode with a ShapeEnv gives a symbol for it");
  const Tensor z = f.plain({}, DType::Complex64);
  refuses<NotImplementedError>([&] { call("aten::item", {z}); },
                               "aten::_local_scalar_dense: no symbol can stand for complex64");
}

TEST_CASE("arguments of an operator that depends on data are looked at all the same") {
  Fixture f;
  const Tensor x = f.plain({3}), mask = f.plain({4}, DType::Bool), scalar = f.plain({});
  const Tensor lengths = f.plain({1}, DType::Int64);
  refuses<RuntimeError>([&] { masked_select(x, mask); },
                        "aten::masked_select: mask: expected a shape that broadcasts with self, "
                        "float32[3] on cpu, got bool[4] on cpu");
  refuses<RuntimeError>([&] { masked_select(x, x); },
                        "aten::masked_select: mask: expected bool or uint8, got float32[3] on cpu");
  refuses<IndexError>(
      [&] { unique_dim(x, 1); },
      "aten::unique_dim: dim: expected one in [-1, 0] for float32[3] on cpu, got 1");
  refuses<IndexError>(
      [&] { unique_dim(x, -2); },
      "aten::unique_dim: dim: expected one in [-1, 0] for float32[3] on cpu, got -2");
  refuses<IndexError>([&] { unique_dim(scalar, 0); },
                      "aten::unique_dim: self: expected a dimension or more, got float32[] on cpu");
  refuses<RuntimeError>([&] { _pack_padded_sequence(x, lengths, false); },
                        "aten::_pack_padded_sequence: input: expected 2 dimensions or more, got "
                        "float32[3] on cpu");
}

TEST_CASE("an operator that its tag says depends on data is refused in every mode") {
  Library m(Library::Kind::Def, "messages_test");
  const OperatorHandle dynamic = m.define("dynamic(Tensor x) -> Tensor", Tag::dynamic_output_shape);
  const OperatorHandle reading =
      m.define("reading(Tensor x) -> Tensor", Tag::data_dependent_output);
  Fixture f;
  for (const Tensor& x : {f.cpu({2}), f.plain({2})}) {
    refuses<DynamicOutputShapeError>([&] { dynamic.call({x}); },
                                     "messages_test::dynamic: the result's shape depends on the "
                                     "data, which fake tensors do not have");
    refuses<DataDependentOutputError>([&] { reading.call({x}); },
                                      "messages_test::reading: the result depends on the data, "
                                      "which fake tensors do not have");
  }
}

// Operators of several devices, and of none.

TEST_CASE("the values of index_put are where self is") {
  Fixture f;
  const Tensor x = f.cuda({4}), values = f.cpu({2});
  const std::vector<std::optional<Tensor>> at = {f.cuda({2}, DType::Int64)};
  refuses<RuntimeError>([&] { index_put(x, at, values); },
                        "aten::index_put: values: expected them on the device of self, cuda:0, got "
                        "float32[2] on cpu");
}

TEST_CASE("the tensors of one place in the lists of a foreach operator are on one device") {
  Fixture f;
  const std::vector<Tensor> list = {f.cuda({2}), f.cpu({3})}, other = {f.cuda({2}), f.cuda({3})};
  refuses<RuntimeError>(
      [&] {
        call("aten::_foreach_add.List", {list, other});
      },
      "aten::_foreach_add.List: expected the tensors at place 1 of all lists on one device, got "
      "cpu, cuda:0");
}

TEST_CASE("nested tensors have no fake, and no device's memory is known") {
  Library m(Library::Kind::Fragment, "aten");
  const OperatorHandle nested =
      m.define("_nested_tensor_from_tensor_list(Tensor[] list) -> Tensor");
  const OperatorHandle pin = m.define("_pin_memory(Tensor self, Device? device=None) -> Tensor");
  Fixture f;
  const Tensor x = f.cuda({2});
  refuses<UnsupportedOperatorError>([&] { nested.call({std::vector<Tensor>{x}}); },
                                    "aten::_nested_tensor_from_tensor_list: nested tensors have no "
                                    "fake");
  refuses<UnsupportedOperatorError>([&] { pin.call({x}); },
                                    "aten::_pin_memory: not implemented for fake tensors: it says "
                                    "something of the memory of a device");
}

// Attention.

TEST_CASE("attention names the argument whose dimensions or dtype do not fit") {
  Fixture f;
  const Tensor q = f.cuda({2, 4, 100, 16}), half = f.cuda({2, 4, 100, 16}, DType::Float16);
  const Tensor flat = f.cuda({16}), row = f.cuda({4, 100, 16});
  const std::string flash = "aten::_scaled_dot_product_flash_attention";
  const auto is_flash = [&](const Tensor& query, const Tensor& key, const Tensor& value) {
    return [&, query, key, value] { call(flash, {query, key, value}); };
  };
  const std::string few = ": expected 3 dimensions or more, got float32[16] on cuda:0";
  refuses<RuntimeError>(is_flash(flat, q, q), flash + ": query" + few);
  refuses<RuntimeError>(is_flash(q, flat, q), flash + ": key" + few);
  refuses<RuntimeError>(is_flash(q, q, flat), flash + ": value" + few);
  refuses<RuntimeError>(is_flash(q, half, q),
                        flash +
                            ": expected query, key and value of one dtype, got float32[2, 4, "
                            "100, 16] on cuda:0, float16[2, 4, 100, 16] on cuda:0 and "
                            "float32[2, 4, 100, 16] on cuda:0");
  const std::string not_4 = ": expected 4 dimensions, got float32[4, 100, 16] on cuda:0";
  refuses<RuntimeError>(is_flash(row, q, q), flash + ": query" + not_4);
  refuses<RuntimeError>(is_flash(q, row, q), flash + ": key" + not_4);

  const std::string efficient = "aten::_scaled_dot_product_efficient_attention";
  const auto is_efficient = [&](const Tensor& query, const Tensor& value) {
    return [&, query, value] { call(efficient, {query, q, value, IValue(), IValue(true)}); };
  };
  refuses<RuntimeError>(is_efficient(row, q), efficient + ": query" + not_4);
  refuses<RuntimeError>(is_efficient(q, row), efficient + ": value" + not_4);
}

TEST_CASE("attention of packed sequences says what is missing") {
  Fixture f;
  const Tensor q = f.cuda({1, 500, 4, 16}), row = f.cuda({500, 4, 16});
  const Tensor starts = f.cuda({6}, DType::Int32), scalar = f.cuda({}, DType::Int32);
  const std::string op = "aten::_efficient_attention_forward";
  const auto run = [&](const Tensor& query, const Tensor& value, const Tensor& cu_seqlens,
                       IValue longest) {
    return [&, query, value, cu_seqlens, longest] {
      call(op, {query, q, value, IValue(), cu_seqlens, cu_seqlens, longest, 130, 0.0, 0, true});
    };
  };
  const std::string not_4 = ": expected 4 dimensions, got float32[500, 4, 16] on cuda:0";
  refuses<RuntimeError>(run(row, q, starts, 120), op + ": query" + not_4);
  refuses<RuntimeError>(run(q, row, starts, 120), op + ": value" + not_4);
  refuses<RuntimeError>(run(q, q, starts, IValue()),
                        op + ": max_seqlen_q: expected a number beside cu_seqlens_q, got None");
  refuses<RuntimeError>(run(q, q, scalar, 120),
                        op + ": cu_seqlens_q: expected a dimension or more, got int32[] on cuda:0");
}

}  // namespace
}  // namespace sb
