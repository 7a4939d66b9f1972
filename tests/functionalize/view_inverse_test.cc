// Writes through views of custom operators, which functionalisation has to undo.

#include "switchboard/transforms/functionalization/view_inverse.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"

namespace sb::test {
namespace {

constexpr Device kCpu(DeviceType::CPU);

// Every second element of the first dimension, by an operator of a user.
class Evens {
 public:
  Evens() : library_(Library::Kind::Def, "view_inverse_test") {
    library_.define("evens(Tensor(a) x) -> Tensor(a)");
    library_.impl("evens", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
      DimVector sizes(x.sizes().begin(), x.sizes().end());
      DimVector strides(x.strides().begin(), x.strides().end());
      sizes[0] = (sizes[0] + 1) / 2;
      strides[0] *= 2;
      return as_strided(x, sizes, strides, x.storage_offset());
    });
  }
  static OperatorHandle op() {
    return default_dispatcher().find_op(OperatorName{"view_inverse_test::evens", ""}).value();
  }
  static Tensor of(const Tensor& x) {
    Stack stack{x};
    op().call_boxed(&stack);
    return stack.back().to_tensor();
  }

 private:
  Library library_;
};

// A write through a custom view of a part of a memory, and through a view of that view.
Tensors write_through(const Tensors& in) {
  const Tensor part = slice(transpose(in[0], 0, 1), 0, 1, 4, 1);
  const Tensor view = Evens::of(part);
  mul_Scalar_(view, 10);
  add_Scalar_(select(view, 1, 0), 5);
  return {mul_Scalar(part, 1)};
}

TEST_CASE("a write through a custom view of a part of a memory goes where it goes as written") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Evens evens;
  const Tensor x = counting({3, 5}, kCpu), y = counting({3, 5}, kCpu);
  const Tensors written = write_through({x});
  const Tensors functional = functionalized(route, write_through)({y});
  CHECK(text_of(functional) == text_of(written));
  CHECK(text_of({y}) == text_of({x}));
}

TEST_CASE("an operator's own inverse is used, and checked") {
  const Evens evens;
  int calls = 0;
  RegistrationHandle handle = register_view_inverse(
      Evens::op(), [&](const ViewStep&, const Tensor& base, const Tensor& view) {
        ++calls;
        return slice_scatter(base, view, 0, std::nullopt, std::nullopt, 2);
      });
  const Tensor x = counting({3, 5}, kCpu), y = counting({3, 5}, kCpu);
  write_through({x});
  functionalized(Route::Key, write_through)({y});
  CHECK(text_of({y}) == text_of({x}));
  CHECK(calls > 0);

  CHECK_THROWS_WITH(
      register_view_inverse(Evens::op(), [](auto&, auto& base, auto&) { return base; }).release(),
      "register_view_inverse: view_inverse_test::evens has an inverse already");
  handle.destroy();
  const RegistrationHandle wrong = register_view_inverse(
      Evens::op(), [](const ViewStep&, const Tensor&, const Tensor& view) { return view; });
  CHECK_THROWS_WITH(functionalized(Route::Key, write_through)({counting({3, 5}, kCpu)}),
                    Catch::Matchers::Contains("the inverse of view_inverse_test::evens gave"));
}

TEST_CASE("an operator that gives no views has no inverse") {
  CHECK_THROWS_AS(
      register_view_inverse(neg.handle(), [](auto&, auto& base, auto&) { return base; }).release(),
      ValueError);
}

}  // namespace
}  // namespace sb::test
