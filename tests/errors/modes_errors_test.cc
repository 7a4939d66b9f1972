// Modes, transforms, and who watches calls: stacks and slots that are misused.

#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/python_dispatcher.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using Kind = Library::Kind;
using K = DispatchKey;

// A mode of any kind, which declines every call.
class TestMode : public DispatchMode {
 public:
  explicit TestMode(std::string name, std::optional<ModeKey> key = std::nullopt,
                    bool schema_check = false)
      : name_(std::move(name)), key_(key), schema_check_(schema_check) {}
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override { throw ModeDeclined(); }
  std::string name() const override { return name_; }
  std::optional<ModeKey> mode_key() const override { return key_; }
  bool is_schema_check() const override { return schema_check_; }

 private:
  std::string name_;
  std::optional<ModeKey> key_;
  bool schema_check_;
};

class OwnedBy final : public ModeData {
 public:
  explicit OwnedBy(DispatchMode* mode) : mode_(mode) {}
  DispatchMode& mode() const override { return *mode_; }

 private:
  DispatchMode* mode_;
};

Tensor tensor_of(DispatchMode* mode) {
  Tensor x = tensor_with(K::Python);
  x.impl()->set_mode_data(make_intrusive<OwnedBy>(mode));
  return x;
}

struct ModeErrors {
  Dispatcher d;
  Library m{d, Kind::Def, "demo"};
  OpOverload f{m.define("f(Tensor x, Tensor y) -> Tensor")};
  Tensor cpu = tensor_on(DeviceType::CPU);
  TestMode user{"First"}, other{"Second"};
  TestMode fake{"Fake", ModeKey::Fake};
  TestMode functional{"Functional", ModeKey::Functional};
  TestMode second{"SecondFunctional", ModeKey::Functional};
  TestMode check{"SchemaCheck", std::nullopt, true};
};

// --- the stack of modes ---

TEST_CASE("a null mode") {
  CHECK(message([] { ModeGuard(nullptr); }) == "ValueError: ModeGuard: expected a mode, got null");
  CHECK(message([] { set_mode(nullptr); }) == "ValueError: set_mode: expected a mode, got null");
  CHECK(mode_stack_size() == 0);
}

TEST_CASE_METHOD(ModeErrors, "a second Functional mode") {
  ModeGuard guard(&functional);
  CHECK(message([&] { ModeGuard again(&second); }) ==
        "RuntimeError: ModeGuard: the FUNCTIONAL slot holds Functional already; got "
        "SecondFunctional");
  CHECK(current_mode() == &functional);
}

TEST_CASE_METHOD(ModeErrors, "a slot that is taken") {
  ModeGuard guard(&functional);
  CHECK(message([&] { set_mode(&second); }) ==
        "RuntimeError: set_mode: the FUNCTIONAL slot holds Functional already; got "
        "SecondFunctional");
  CHECK(get_mode(ModeKey::Functional) == &functional);
}

TEST_CASE_METHOD(ModeErrors, "a mode without a slot, set into one") {
  CHECK(message([&] { set_mode(&user); }) ==
        "ValueError: set_mode: First has no slot; push it with a ModeGuard");
  CHECK(mode_stack_size() == 0);
}

TEST_CASE_METHOD(ModeErrors, "a call that all modes decline") {
  ModeGuard guard(&user);
  CHECK(message([&] { f(tensor_of(&other), cpu); }) ==
        "TypeError: demo::f: all modes that were asked declined: First, Second");
  CHECK(current_mode() == &user);
}

TEST_CASE_METHOD(ModeErrors, "a call with arguments of different modes") {
  CHECK(message([&] { f(tensor_of(&user), tensor_of(&other)); }) ==
        "RuntimeError: demo::f: arguments belong to different modes, First and Second");
}

TEST_CASE_METHOD(ModeErrors, "a call at Python without a mode") {
  CHECK(message([&] {
          f.redispatch(K::Python, {cpu, cpu});
        }) ==
        "RuntimeError: demo::f: entered at Python, but no mode is active and no argument belongs "
        "to one");
}

// --- the pre-dispatch stack ---

TEST_CASE("a null pre-dispatch mode") {
  CHECK(message([] { set_pre_dispatch_mode(nullptr); }) ==
        "ValueError: pre-dispatch stack: expected a mode, got null");
}

TEST_CASE_METHOD(ModeErrors, "a pre-dispatch mode of a kind that has no place there") {
  CHECK(message([&] { set_pre_dispatch_mode(&user); }) ==
        "ValueError: pre-dispatch stack: expected a PROXY, FUNCTIONAL or schema-check mode, got "
        "First");
  CHECK(message([&] { set_pre_dispatch_mode(&fake); }) ==
        "ValueError: pre-dispatch stack: expected a PROXY, FUNCTIONAL or schema-check mode, got "
        "Fake");
  CHECK(pre_dispatch_stack_size() == 0);
}

TEST_CASE_METHOD(ModeErrors, "a pre-dispatch slot that is taken") {
  PreDispatchModeGuard guard(&functional);
  CHECK(message([&] { set_pre_dispatch_mode(&second); }) ==
        "RuntimeError: pre-dispatch stack: the FUNCTIONAL slot holds Functional already; got "
        "SecondFunctional");
  CHECK(current_pre_dispatch_mode() == &functional);
}

TEST_CASE_METHOD(ModeErrors, "a pre-dispatch schema check that is not alone") {
  SECTION("it comes second") {
    PreDispatchModeGuard guard(&functional);
    CHECK(message([&] { set_pre_dispatch_mode(&check); }) ==
          "RuntimeError: pre-dispatch stack: SchemaCheck must be alone; Functional is there "
          "already");
  }
  SECTION("it comes first") {
    PreDispatchModeGuard guard(&check);
    CHECK(message([&] { set_pre_dispatch_mode(&functional); }) ==
          "RuntimeError: pre-dispatch stack: SchemaCheck must be alone; Functional cannot be "
          "added");
  }
}

TEST_CASE("an empty pre-dispatch stack") {
  CHECK(message([] { pop_pre_dispatch_mode(); }) ==
        "RuntimeError: pre-dispatch stack: expected a mode to pop, got an empty stack");
}

TEST_CASE("a pre-dispatch slot that there is not") {
  CHECK(message([] { unset_pre_dispatch_mode(ModeKey::Fake); }) ==
        "ValueError: unset_pre_dispatch_mode: the pre-dispatch stack has no slot for FAKE; it has "
        "PROXY and FUNCTIONAL");
  CHECK(message([] { PreDispatchModes().get(2); }) ==
        "IndexError: pre-dispatch stack: expected a slot below 2, got 2");
}

// --- transforms, wrappers, observers ---

TEST_CASE("a null transform") {
  CHECK(message([] { FunctionTransformGuard(nullptr); }) ==
        "ValueError: FunctionTransformGuard: expected a transform, got null");
}

TEST_CASE_METHOD(ModeErrors, "a call at the front key of transforms without one") {
  CHECK(message([&] {
          f.redispatch(K::FuncTorchDynamicLayerFrontMode, {cpu, cpu});
        }) ==
        "RuntimeError: demo::f: entered at FuncTorchDynamicLayerFrontMode, but no function "
        "transform is active");
}

TEST_CASE("a wrapper of kernels that is empty, at a wrong key, or the second") {
  const KernelWrapper wrapper = [](const OperatorHandle&, const OperatorBase::Rule& kernel,
                                   DispatchKeySet keys, Stack* stack) { kernel(keys, stack); };
  CHECK(message([] { WrapKernelsGuard(K::CPU, nullptr); }) ==
        "ValueError: WrapKernelsGuard: expected a wrapper for CPU, got an empty function");
  CHECK(message([&] { WrapKernelsGuard(K::Python, wrapper); }) ==
        "ValueError: WrapKernelsGuard: the kernels at Python cannot be wrapped");
  WrapKernelsGuard guard(K::CPU, wrapper);
  CHECK(message([&] { WrapKernelsGuard(K::CPU, wrapper); }) ==
        "RuntimeError: WrapKernelsGuard: the kernels at CPU are wrapped already");
}

TEST_CASE_METHOD(ModeErrors, "a second observer of all threads") {
  TraceCallback sink([](const TraceEvent&) {});
  TraceAllThreads trace(sink, d);
  CHECK(message([&] { TraceAllThreads again(sink, d); }) ==
        "RuntimeError: the dispatcher is observed already; end that observation first");
}

}  // namespace
}  // namespace sb
