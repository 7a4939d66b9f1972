// What happens to operators that have no derivative.

#include "switchboard/autograd/fallback.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using test::tensor_of;
using test::values_of;
using Values = std::vector<double>;

SB_OP(bare, "fallback_test::bare(Tensor x) -> Tensor");
SB_OP(bare_, "fallback_test::bare_(Tensor(a!) x) -> Tensor(a!)");
SB_OP(bare_out, "fallback_test::bare.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(in_parts, "fallback_test::in_parts(Tensor x) -> Tensor");
SB_OP(unrecorded, "fallback_test::unrecorded(Tensor x) -> Tensor");
SB_OP(unknown_to_autograd, "fallback_test::unknown_to_autograd(Tensor x) -> Tensor");
SB_OP(second, "fallback_test::second(Tensor x, Tensor(a) y) -> Tensor(a)");
SB_OP(count, "fallback_test::size(Tensor x) -> int");

SB_LIBRARY(fallback_test, m) {
  m.define(bare);
  m.impl(bare, DispatchKey::CPU, [](const Tensor& x) { return clone(x); });
  m.define(bare_);
  m.impl(bare_, DispatchKey::CPU, [](const Tensor& x) { return add_(x, x); });
  m.define(bare_out);
  m.impl(bare_out, DispatchKey::CPU, [](const Tensor& x, const Tensor& out) {
    copy_(out, x);
    return out;
  });
  // Composed of operators that have derivatives, and says so.
  m.define(in_parts, Tag::derived_through);
  m.impl(in_parts, DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x) { return add(mul(x, x), x); });
  // It says so too, but nothing can record what it calls.
  m.define(unrecorded, Tag::derived_through);
  m.impl(unrecorded, DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
    const NoGradGuard off;
    return mul(x, x);
  });
  // What it does, it does by pointer.
  m.define(unknown_to_autograd);
  m.impl(unknown_to_autograd, DispatchKey::CPU, [](const Tensor& x) {
    const NoGradGuard off;
    return clone(x);
  });
  m.define(second);
  m.impl(second, DispatchKey::CPU, [](const Tensor&, const Tensor& y) { return y; });
  m.define(count);
  m.impl(count, DispatchKey::CPU, [](const Tensor& x) { return x.numel(); });
}

Tensor leaf() {
  Tensor x = tensor_of({2}, {3, 4}, DType::Float64);
  set_requires_grad(x);
  return x;
}

TEST_CASE("an operator without a derivative runs, and backward through it names it") {
  const Tensor x = leaf();
  const Tensor y = bare(x);
  CHECK(values_of(y) == Values{3, 4});
  CHECK(requires_grad(y));
  CHECK(grad_fn(y)->name() == "fallback_test::bare backward");
  CHECK_THROWS_WITH(backward(sum(y)),
                    Contains("fallback_test::bare: no derivative is registered; derive() it or "
                             "register_autograd() one, not_differentiable() if it has none; or "
                             "define it with Tag::derived_through, where its kernel is composed of "
                             "operators that have derivatives\n"
                             "defined: "));
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("the node of the error leads to the arguments, so that asking for their gradient fails") {
  const Tensor x = leaf();
  const Tensor y = bare(x);
  REQUIRE(grad_fn(y)->edges().size() == 1);
  CHECK(grad_fn(y)->edge(0) == gradient_edge(x));
  CHECK_THROWS_WITH(grad({sum(y)}, {x}), Contains("fallback_test::bare"));
  GradOptions unused;
  unused.allow_unused = true;
  CHECK_THROWS_WITH(grad({sum(y)}, {x}, {}, unused), Contains("fallback_test::bare"));
}

TEST_CASE("an operator without a kernel says what to register, and blames nobody") {
  Library m(Library::Kind::Fragment, "fallback_test");
  const OperatorHandle op = m.define("nowhere(Tensor x) -> Tensor");
  const RegistrationHandle gradient = register_autograd(
      "fallback_test::nowhere", [](FunctionContext&, const Tensor& g) { return g; });
  for (const Tensor& x : {leaf(), tensor_of({2}, {3, 4})})
    CHECK_THROWS_WITH(op.call({x}),
                      StartsWith("fallback_test::nowhere: no kernel for CPU (argument 0 'x' is on "
                                 "cpu); register one at CPU or CompositeExplicitAutograd\n"
                                 "registered: Autograd ("));
}

TEST_CASE("nothing is recorded where nothing asks for a gradient") {
  CHECK_FALSE(requires_grad(bare(tensor_of({2}, {3, 4}))));
  const NoGradGuard off;
  CHECK_FALSE(requires_grad(bare(leaf())));
}

TEST_CASE("a result that is no tensor is left alone") { CHECK(count(leaf()) == 2); }

TEST_CASE("what an operator without a derivative wrote to leads to the error") {
  const Tensor x = leaf();
  const Tensor y = mul(x, x);
  bare_(y);
  CHECK(values_of(y) == Values{18, 32});
  CHECK(grad_fn(y)->name() == "fallback_test::bare_ backward");
  CHECK_THROWS_WITH(backward(sum(y)), Contains("fallback_test::bare_: no derivative"));
  CHECK_THROWS_WITH(bare_(x), Contains("a leaf that requires a gradient is written to"));
}

TEST_CASE(
    "a write to a view that nobody has spoken of is refused, where a gradient would be wrong") {
  Library m(default_dispatcher(), Library::Kind::Fragment, "fallback_test");
  const OperatorHandle same = m.define("same_memory(Tensor x) -> Tensor");
  m.impl("same_memory", DispatchKey::CPU,
         [](const Tensor& x) { return Tensor(x.impl()->shallow_copy()); });
  const Tensor x = mul_Scalar(leaf(), 1);
  const Tensor view = same.call({x})[0].to_tensor();
  CHECK_THROWS_AS(mul_Scalar_(view, 5), RuntimeError);
  CHECK(values_of(x) == values_of(view));
}

TEST_CASE("a write counts although the operator threw after it") {
  Library m(default_dispatcher(), Library::Kind::Fragment, "fallback_test");
  const OperatorHandle fails = m.define("fails(Tensor(a!) x) -> ()");
  m.impl("fails", DispatchKey::CPU, [](const Tensor& x) {
    *x.data<double>() = 5;
    SB_THROW(ValueError, "no");
  });
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float64);
  CHECK_THROWS_AS(fails.call({x}), ValueError);
  CHECK(x.version() == 1);
}

TEST_CASE("an out= form of an operator without a derivative is refused") {
  const Tensor out = zeros({2}, DType::Float64);
  CHECK_THROWS_WITH(bare_out(leaf(), out), Contains("an out= form records nothing"));
  CHECK(values_of(out) == Values{0, 0});
}

TEST_CASE("an operator that says that it is derived through has the derivatives of its parts") {
  const Tensor x = leaf();
  backward(sum(in_parts(x)));
  CHECK(values_of(grad_of(x)) == Values{7, 9});
}

struct Seen final : DispatchMode {
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    names.push_back(op.name().to_string());
    op.call_boxed(stack);
  }
  std::string name() const override { return "Seen"; }
  std::vector<std::string> names;
};

TEST_CASE("an operator that is derived through is so under a mode too") {
  const Tensor x = leaf();
  Seen seen;
  Tensor y;
  {
    const ModeGuard on(&seen);
    y = in_parts(x);
  }
  CHECK(seen.names == std::vector<std::string>{"aten::mul.Tensor", "aten::add.Tensor"});
  backward(sum(y));
  CHECK(values_of(grad_of(x)) == Values{7, 9});
}

TEST_CASE("an operator that is derived through, and records nothing, leads to the error") {
  const Tensor y = unrecorded(leaf());
  REQUIRE(requires_grad(y));
  CHECK_THROWS_WITH(backward(sum(y)), Contains("fallback_test::unrecorded: no derivative"));
}

// Sets the mode, and collects the warnings.
class InMode {
 public:
  explicit InMode(AutogradFallbackMode mode)
      : before_(set_warning_handler([this](const std::string& text) { texts.push_back(text); })) {
    set_autograd_fallback_mode(mode);
  }
  ~InMode() {
    set_autograd_fallback_mode(AutogradFallbackMode::Error);
    set_warning_handler(before_);
  }
  std::vector<std::string> texts;

 private:
  WarningHandler before_;
};

TEST_CASE("by default backward through an operator without a derivative is an error") {
  CHECK(autograd_fallback_mode() == AutogradFallbackMode::Error);
}

TEST_CASE("in the mode nothing a call goes on, and what its kernel calls is recorded") {
  const InMode mode(AutogradFallbackMode::Nothing);
  const Tensor x = leaf();
  CHECK(requires_grad(bare(x)));  // its kernel clones
  const Tensor y = add(x, x);
  backward(sum(mul(bare(y), y)));
  CHECK(values_of(grad_of(x)) == Values{24, 32});
  CHECK(mode.texts.empty());
}

TEST_CASE("in the mode warn backward says whose derivative is missing, and goes on") {
  const InMode mode(AutogradFallbackMode::Warn);
  const Tensor x = leaf();
  const Tensor y = unknown_to_autograd(x);
  CHECK(requires_grad(y));
  CHECK(mode.texts.empty());
  backward(sum(add(y, mul(x, x))));
  CHECK(values_of(grad_of(x)) == Values{6, 8});
  REQUIRE(mode.texts.size() == 1);
  CHECK_THAT(mode.texts[0],
             StartsWith("fallback_test::unknown_to_autograd: no derivative is registered"));
}

TEST_CASE("in the mode warn what the kernel recorded is kept, with a warning") {
  const InMode mode(AutogradFallbackMode::Warn);
  const Tensor x = leaf();
  backward(sum(bare(x)));
  CHECK(values_of(grad_of(x)) == Values{1, 1});
  CHECK(mode.texts.size() == 1);
}

TEST_CASE("in the mode warn an argument that is handed back keeps its own history") {
  const InMode mode(AutogradFallbackMode::Warn);
  const Tensor x = leaf(), plain = tensor_of({2}, {1, 1}, DType::Float64);
  CHECK(second(x, plain).is_same(plain));
  CHECK_FALSE(requires_grad(plain));
  CHECK(mode.texts.empty());
}

TEST_CASE("whatever the mode, an operator that says so is derived through its parts") {
  for (const auto which : {AutogradFallbackMode::Nothing, AutogradFallbackMode::Warn}) {
    const InMode mode(which);
    const Tensor x = leaf();
    backward(sum(in_parts(x)));
    CHECK(values_of(grad_of(x)) == Values{7, 9});
    CHECK(mode.texts.empty());
  }
}

}  // namespace
}  // namespace sb
