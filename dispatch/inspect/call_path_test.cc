#include "switchboard/dispatch/inspect/call_path.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using Onward = PathStep::Onward;

// Operators of a dispatcher of their own, called with a tensor on the CPU.
class Demo {
 public:
  Demo()
      : library_(dispatcher_, Library::Kind::Def, "demo"),
        rest_(dispatcher_, Library::Kind::Impl, "_") {}
  OperatorHandle define(std::string_view schema) { return library_.define(schema); }
  Library& library() { return library_; }
  Library& fallbacks() { return rest_; }

 private:
  Dispatcher dispatcher_;
  Library library_;
  Library rest_;
};

void leave_none(const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->clear(); }

struct Passed {
  K key;
  Onward onward;
  bool operator==(const Passed&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Passed& p) {
  return out << to_string(p.key) << " " << static_cast<int>(p.onward);
}

std::vector<Passed> way(const OperatorHandle& op, const Tensor& x) {
  std::vector<Passed> passed;
  for (const PathStep& step : explain(op, Stack{x}).path)
    passed.push_back({step.row.key, step.onward});
  return passed;
}

// What this file says of its fallback at Negative, and of its own kernels at Conjugate.
const ExplainFallback at_negative(K::Negative, [](CallPath& path, const PathCall& c) {
  const ExcludeKeysGuard exclude(K::BackendSelect);
  path.call(c.op, {tensor_on(DeviceType::CPU)});
});
const ExplainKernels at_conjugate(K::Conjugate, [](CallPath& path, const PathCall& c) {
  path.enter(c.op, c.keys & DispatchKeySet::below(K::Conjugate), c.arguments);
});

Tensor with(const Tensor& t, K key) {
  Tensor other(t.impl()->shallow_copy());
  other.impl()->set_key_set(t.key_set() | DispatchKeySet(key));
  return other;
}

TEST_CASE("a kernel of a backend ends the way, and so does a composite one") {
  Demo demo;
  const Tensor x = tensor_on(DeviceType::CPU);
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::CPU, &leave_none);
  demo.library().impl("f", K::Autograd, fallthrough);
  CHECK(way(f, x) == std::vector<Passed>{{K::CPU, Onward::Ends}});
  const OperatorHandle g = demo.define("g(Tensor x) -> ()");
  demo.library().impl("g", K::CompositeImplicitAutograd, &leave_none);
  CHECK(way(g, x) == std::vector<Passed>{{K::AutogradCPU, Onward::Ends}});
}

TEST_CASE("a kernel at a key that is no backend's decides, and so does a fallback") {
  Demo demo;
  const Tensor x = tensor_on(DeviceType::CPU);
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::Autograd, &leave_none);
  demo.fallbacks().fallback(K::CPU, &leave_none);
  CHECK(way(f, x) ==
        std::vector<Passed>{{K::AutogradCPU, Onward::Decides}, {K::CPU, Onward::Decides}});
}

TEST_CASE("where no kernel is left, the way fails there") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  CHECK(way(f, tensor_with(K::CPU)) == std::vector<Passed>{{K::CPU, Onward::Fails}});
}

TEST_CASE("the way goes on as the owner of a fallback says, on the thread as it says") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::CPU, &leave_none);
  demo.library().impl("f", K::BackendSelect, &leave_none);
  demo.library().impl("f", K::Autograd, fallthrough);
  demo.fallbacks().fallback(K::Negative, &leave_none);
  const Tensor x = with(tensor_on(DeviceType::CPU), K::Negative);
  const DispatchTls before = dispatch_tls;
  CHECK(way(f, x) == std::vector<Passed>{{K::Negative, Onward::GoesOn}, {K::CPU, Onward::Ends}});
  CHECK(dispatch_tls.kept == before.kept);
  // An operator's own kernel there is another matter.
  demo.library().impl("f", K::Negative, &leave_none);
  CHECK(way(f, x)[0] == Passed{K::Negative, Onward::Decides});
}

TEST_CASE("the way goes on as is said of kernels of the same file") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::CPU, &leave_none);
  demo.library().impl("f", K::Autograd, fallthrough);
  demo.library().impl("f", K::Conjugate, &leave_none);
  const Tensor x = with(tensor_on(DeviceType::CPU), K::Conjugate);
  CHECK(way(f, x) == std::vector<Passed>{{K::Conjugate, Onward::GoesOn}, {K::CPU, Onward::Ends}});
}

TEST_CASE("a way as text") {
  Demo demo;
  const OperatorHandle g = demo.define("g(Tensor x) -> ()");
  demo.library().impl("g", K::CPU, &leave_none);
  CallPath path;
  path.passes("demo::f", "mode Counter");
  path.decides();
  path.enter(g, K::CPU, {});
  path.passes("demo::g", "mode Other");
  path.fails("no rule");
  const std::string text = to_string(path.steps());
  CHECK_THAT(
      text, Catch::StartsWith("    demo::f\n    mode Counter                runs, and decides\n"
                              "    demo::g\n    CPU                         may run, and goes on"));
  CHECK_THAT(text, Catch::EndsWith("    mode Other: no rule         fails\n"));
}

}  // namespace
}  // namespace sb
