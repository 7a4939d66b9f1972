// Custom operators of every style of registration. The registry gives them to random programs.

#include <algorithm>
#include <tuple>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::composition {
namespace {

Tensor twice(const Tensor& x) { return mul_Scalar(x, 2); }

// A Function at Autograd.
struct Triple : Function<Triple> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return mul_Scalar(x, 3);
  }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return mul_Scalar(grad, 3); }
};

// custom_op(): all devices, with a fake rule and a gradient; and without a gradient.
const OpOverload kTwice =
    custom_op("composition::twice", twice, {.arguments = {"x"}})
        .register_fake(twice)
        .register_autograd([](FunctionContext&, const Tensor& grad) { return twice(grad); })
        .keep();
const OpOverload kOpaque =
    custom_op("composition::opaque", twice, {.arguments = {"x"}}).register_fake(twice).keep();
// custom_op() that writes, with a schema and without a result.
const OpOverload kWrites =
    custom_op("composition::add_to", "(Tensor(a!) x, Tensor y, *, float alpha=1.0) -> ()",
              [](const Tensor& x, const Tensor& y, double alpha) {
                copy_(x, add(x, mul_Scalar(y, alpha)));
              })
        .keep();
// Two results, one from a list; saved tensors.
const OpOverload kProduct =
    custom_op("composition::product", "(Tensor x, Tensor y) -> (Tensor, Tensor)",
              [](const Tensor& x, const Tensor& y) { return std::tuple(mul(x, y), add(x, y)); })
        .register_fake([](const Tensor& x, const Tensor& y) {
          const Tensor r = add(x, y);
          return std::tuple(empty_like(r), empty_like(r));
        })
        .register_autograd(
            [](FunctionContext& ctx, const Tensor& a, const Tensor& b) {
              const auto saved = ctx.saved_tensors();
              const auto fit = [](const Tensor& g, const Tensor& t) {
                return sum_to_size(g, t.sizes());
              };
              return std::vector<Tensor>{fit(add(mul(a, saved[1]), b), saved[0]),
                                         fit(add(mul(a, saved[0]), b), saved[1])};
            },
            [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
              ctx.save_for_backward({inputs.tensor(0), inputs.tensor(1)});
            })
        .keep();

SB_LIBRARY_FRAGMENT(composition, m) {
  // At CPU and Meta.
  m.define("sum_all(Tensor[] xs) -> Tensor");
  const auto sum_all = [](TensorList xs) {
    Tensor total = zeros({}, xs.empty() ? DType::Float32 : xs[0].dtype());
    for (const Tensor& x : xs) total = add(total, sum(x));
    return total;
  };
  m.impl("sum_all", DispatchKey::CPU, sum_all);
  m.impl("sum_all", DispatchKey::Meta, [](TensorList xs) {
    Tensor total =
        zeros({}, xs.empty() ? DType::Float32 : xs[0].dtype(), std::nullopt, DeviceType::Meta);
    for (const Tensor& x : xs) total = add(total, sum(x));
    return total;
  });

  // CompositeExplicitAutograd; a gradient by a Function at Autograd.
  m.define("triple(Tensor x) -> Tensor");
  m.impl("triple", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x) { return mul_Scalar(x, 3); });
  m.impl("triple", DispatchKey::Autograd, [](const Tensor& x) { return Triple::apply(x); });

  // CompositeImplicitAutograd: functional, in-place, a view, and out=.
  m.define("shifted(Tensor x, Scalar by=1) -> Tensor");
  m.impl("shifted", [](const Tensor& x, const Scalar& by) { return add_Scalar(x, by); });
  m.define("shift_(Tensor(a!) self, Scalar by=1) -> Tensor(a!)");
  m.impl("shift_", [](const Tensor& self, const Scalar& by) -> Tensor {
    add_Scalar_(self, by);
    return self;
  });
  m.define("first_half(Tensor(a) x) -> Tensor(a)");
  m.impl("first_half", [](const Tensor& x) { return slice(x, 0, 0, (x.size(0) + 1) / 2, 1); });

  // CompositeExplicitAutograd: in-place, out=, and a view.
  m.define("scale_(Tensor(a!) self, float by) -> Tensor(a!)");
  m.impl("scale_", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& self, double by) -> Tensor {
           mul_Scalar_(self, by);
           return self;
         });
  m.define("scaled.out(Tensor x, float by, *, Tensor(a!) out) -> Tensor(a!)");
  m.impl("scaled.out", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x, double by, const Tensor& out) -> Tensor {
           copy_(out, mul_Scalar(x, by));
           return out;
         });
  m.define("every_other(Tensor(a) x, int dim=0) -> Tensor(a)");
  m.impl("every_other", DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x, int64_t dim) { return slice(x, dim, 0, std::nullopt, 2); });

  // At CPU and Meta: one that writes to two arguments, and a view that no slice makes.
  m.define("swap_(Tensor(a!) x, Tensor(b!) y) -> ()");
  const auto swap = [](const Tensor& x, const Tensor& y) {
    const Tensor old = clone(x);
    copy_(x, y);
    copy_(y, old);
  };
  m.impl("swap_", DispatchKey::CPU, swap);
  m.impl("swap_", DispatchKey::Meta, swap);
  m.define("diagonal_of_two(Tensor(a) x) -> Tensor(a)");
  const auto diagonal_of_two = [](const Tensor& x) {
    const int64_t n = std::min(x.size(0), x.size(1));
    return as_strided(x, {n}, {x.stride(0) + x.stride(1)}, x.storage_offset());
  };
  m.impl("diagonal_of_two", DispatchKey::CPU, diagonal_of_two);
  m.impl("diagonal_of_two", DispatchKey::Meta, diagonal_of_two);
}

}  // namespace
}  // namespace sb::composition
