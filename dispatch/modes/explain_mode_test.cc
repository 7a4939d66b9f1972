#include "switchboard/dispatch/modes/explain_mode.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;

class Silent : public DispatchMode {
 public:
  void call(const OperatorHandle&, DispatchKeySet, Stack*) override { ++calls; }
  std::string name() const override { return "Silent"; }
  int calls = 0;
};
class Told : public Silent {
 public:
  std::string name() const override { return "Told"; }
};
// It makes the call at Meta.
const ExplainMode told(typeid(Told), [](CallPath& path, DispatchMode&, const PathCall& c) {
  path.enter(c.op, K::Meta, c.arguments);
});
class Proxy : public Silent {
 public:
  std::optional<ModeKey> mode_key() const override { return ModeKey::Proxy; }
};

// An operator with a kernel at CPU and one at Meta.
struct Demo {
  Demo() : library(dispatcher, Library::Kind::Def, "demo"), f(library.define("f(Tensor x) -> ()")) {
    const auto leave_none = [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
      stack->clear();
    };
    library.impl("f", K::CPU, leave_none);
    library.impl("f", K::Meta, leave_none);
    library.impl("f", K::Autograd, fallthrough);
  }

  // "Python CPU", with modes by their names; "?" behind what decides.
  std::string way() const {
    std::string text;
    for (const PathStep& step : explain(f, Stack{tensor_on(DeviceType::CPU)}).path) {
      text += text.empty() ? "" : " ";
      text += step.kind == PathStep::Kind::Kernel ? to_string(step.row.key) : step.what;
      if (step.onward == PathStep::Onward::Decides) text += "?";
    }
    return text;
  }

  Dispatcher dispatcher;
  Library library;
  OperatorHandle f;
};

TEST_CASE("the way goes through modes that watch, the top one first, to the kernel", "[modes]") {
  const Demo demo;
  CHECK(demo.way() == "CPU");
  CountingMode below, top;
  const ModeGuard first(&below), second(&top);
  CHECK(demo.way() == "Python mode CountingMode Python mode CountingMode CPU");
  CHECK(mode_stack_size() == 2);
}

TEST_CASE("a mode that nobody explains decides, and may pass the call on", "[modes]") {
  const Demo demo;
  Silent silent;
  const ModeGuard guard(&silent);
  CHECK(demo.way() == "Python mode Silent? CPU");
  CHECK(silent.calls == 0);
}

TEST_CASE("the way goes on as is said of a type of mode", "[modes]") {
  const Demo demo;
  Told mode;
  const ModeGuard guard(&mode);
  CHECK(demo.way() == "Python mode Told Meta");
}

TEST_CASE("an operator's rule for a mode comes before what the mode does", "[modes]") {
  Demo demo;
  Told mode;
  const ModeGuard guard(&mode);
  const RegistrationHandle rule =
      operator_base(demo.f.entry()).impl_mode<Told>([](Told&, DispatchKeySet, Stack*) {});
  CHECK(demo.way() == "Python rule for the mode Told?");
}

TEST_CASE("a pre-dispatch mode comes first, and is there again afterwards", "[modes]") {
  const Demo demo;
  Proxy proxy;
  const PreDispatchModeGuard guard(&proxy);
  CHECK(demo.way() == "PreDispatch mode Silent? CPU");
  CHECK(current_pre_dispatch_mode() == &proxy);
  const NoModesGuard none;
  CHECK(demo.way() == "CPU");
}

}  // namespace
}  // namespace sb
