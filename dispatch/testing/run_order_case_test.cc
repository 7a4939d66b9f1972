#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/testing/order_case.h"

namespace sb {
namespace {

using K = DispatchKey;
using Flags = std::vector<std::string>;

// A dispatcher with demo::f, and what a test adds.
class World {
 public:
  World() : library_(dispatcher_, Library::Kind::Def, "demo") {}
  Library* operator->() { return &library_; }
  OrderResult run(const Flags& flags) {
    return run_order_case(parse_order_case(flags), dispatcher_);
  }

 private:
  Dispatcher dispatcher_;
  Library library_;
};

Tensor keep(const Tensor& x) { return x; }

TEST_CASE("the call is made, on tensors with the keys that are asked for") {
  World world;
  world->define("f(Tensor x, Tensor y) -> Tensor");
  std::vector<Tensor> got;
  world->impl("f", K::Meta, [&](const Tensor& x, const Tensor& y) {
    got = {x, y};
    return x;
  });
  CHECK(world
            .run({"--op=demo::f", "--tensor=x=CPU", "--tensor=y=Meta", "--shape=x=3x1",
                  "--expect=Meta"})
            .passed);
  REQUIRE(got.size() == 2);
  CHECK(got[0].key_set() == DispatchKeySet(K::CPU));
  CHECK(got[1].key_set() == DispatchKeySet(K::Meta));
  CHECK(got[0].sizes()[0] == 3);
  CHECK(got[1].sizes().size() == 2);
}

TEST_CASE("kernels are expected in the order in which they start, inner ones too") {
  World world;
  world->define("f(Tensor x) -> Tensor");
  const OperatorHandle g = world->define("g(Tensor x) -> Tensor");
  world->impl("f", K::CompositeImplicitAutograd,
              [g](const Tensor& x) { return g.call({g.call({x})[0]})[0].to_tensor(); });
  world->impl("g", K::CPU, keep);
  const Flags call = {"--op=demo::f", "--tensor=*=CPU"};
  auto passes = [&](const Flags& expect) {
    Flags flags = call;
    flags.insert(flags.end(), expect.begin(), expect.end());
    return world.run(flags).passed;
  };
  CHECK(passes({"--expect=CPU from CompositeImplicitAutograd", "--expect=demo::g CPU",
                "--expect=demo::g CPU run_order_case_test.cc"}));
  CHECK_FALSE(passes({"--expect=CPU", "--expect=demo::g CPU"}));
  CHECK_FALSE(passes({"--expect=demo::g CPU", "--expect=demo::g CPU", "--expect=CPU"}));
}

TEST_CASE("keys that are passed over count when one is expected, and then all do") {
  World world;
  world->define("f(Tensor x) -> Tensor");
  world->impl("f", K::CPU, keep);
  const Flags passed = {"--op=demo::f",
                        "--tensor=*=CPU",
                        "--exclude=ADInplaceOrView",
                        "--expect=ADInplaceOrView excluded",
                        "--expect=BackendSelect falls through",
                        "--expect=CPU"};
  CHECK(world.run(passed).passed);
  Flags one_too_few = passed;
  one_too_few.erase(one_too_few.begin() + 3);
  CHECK_FALSE(world.run(one_too_few).passed);
}

TEST_CASE("a call that fails is expected to, at its key; a kernel that throws, to throw") {
  World world;
  world->define("f(Tensor x) -> Tensor");
  world->impl("f", K::CPU, [](const Tensor&) -> Tensor { throw RuntimeError("on purpose"); });
  CHECK(world.run({"--op=demo::f", "--tensor=*=Meta", "--expect=Meta fails"}).passed);
  CHECK(world.run({"--op=demo::f", "--tensor=*=CPU", "--expect=CPU", "--expect=throws"}).passed);
  const OrderResult result = world.run({"--op=demo::f", "--tensor=*=CPU", "--expect=CPU"});
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.report, Catch::Contains("it threw: on purpose"));
}

TEST_CASE("a report of a failure has both orders, the first difference and the explanation") {
  World world;
  world->define("f(Tensor x) -> Tensor");
  world->impl("f", K::CPU, keep);
  const OrderResult result =
      world.run({"--op=demo::f", "--tensor=*=CPU", "--expect=AutogradCPU", "--expect=CPU"});
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.report,
             Catch::StartsWith("demo::f: step 1: expected 'AutogradCPU', got 'CPU ") &&
                 Catch::Contains("  expected\n    AutogradCPU\n    CPU\n  actual\n    CPU ") &&
                 Catch::Contains("Why it went there:\ndemo::f\n"));
}

TEST_CASE("arguments have their defaults, None, or the values that are given") {
  World world;
  world->define("f(Tensor x, Tensor? y, int[] n, *, float a=1.5, str? s=None) -> Tensor");
  std::optional<double> a;
  size_t n = 0;
  bool has_y = true;
  world->impl("f", K::CPU,
              [&](const Tensor& x, const std::optional<Tensor>& y, IntArrayRef sizes, double given,
                  std::optional<std::string_view>) {
                a = given;
                n = sizes.size();
                has_y = y.has_value();
                return x;
              });
  CHECK(world.run({"--op=demo::f", "--tensor=x=CPU", "--arg=n=[4, 5]", "--expect=CPU"}).passed);
  CHECK(a == 1.5);
  CHECK(n == 2);
  CHECK_FALSE(has_y);
  CHECK(world.run({"--op=demo::f", "--tensor=*=CPU", "--arg=n=[]", "--arg=a=2", "--expect=CPU"})
            .passed);
  CHECK(a == 2.0);
  CHECK(has_y);
}

TEST_CASE("a case that cannot be called says what is wrong with it") {
  World world;
  world->define("f(Tensor x, int n) -> Tensor");
  world->define("l(Tensor x, Tensor[] xs) -> Tensor");
  auto refused = [&](Flags flags, const std::string& with) {
    flags.push_back("--expect=CPU");
    CHECK_THROWS_WITH(world.run(flags), Catch::Contains(with));
  };
  refused({"--op=demo::g", "--tensor=*=CPU"}, "demo::g: no operator of that name");
  refused({"--op=demo::f", "--tensor=*=CPU"}, "argument 'n' (int) has no default");
  refused({"--op=demo::f", "--arg=n=1"}, "argument 'x' (Tensor) has no default");
  refused({"--op=demo::f", "--tensor=*=CPU", "--arg=n=one"}, "args: n: ");
  refused({"--op=demo::f", "--tensor=x=CPU", "--tensor=z=CPU", "--arg=n=1"},
          "keys names an argument 'z'");
  refused({"--op=demo::f", "--tensor=*=CPU", "--shape=z=2", "--arg=n=1"},
          "shapes names an argument 'z'");
  refused({"--op=demo::l", "--tensor=x=CPU", "--tensor=x=CPU", "--tensor=xs=CPU"},
          "argument 'x' is a Tensor, and takes no list of 2 tensors");
}

}  // namespace
}  // namespace sb
