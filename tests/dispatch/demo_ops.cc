// Operators for the uses of dispatch_order_test in this folder, as a program registers its own.

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace order_demo {
namespace {

using sb::DispatchKey, sb::DispatchKeySet, sb::Tensor;

SB_OP(scale, "order_demo::scale(Tensor x, *, float by=2.) -> Tensor");
SB_OP(chain, "order_demo::chain(Tensor x) -> Tensor");
SB_OP(pick, "order_demo::pick(Tensor[] xs, Tensor? mask) -> ()");
SB_OP(note, "order_demo::note(Tensor x, str text) -> ()");

SB_LIBRARY(order_demo, m) {
  m.define(scale);
  m.impl(scale, DispatchKey::Autograd, [](DispatchKeySet keys, const Tensor& x, double by) {
    return scale.redispatch(keys & DispatchKeySet::below(DispatchKey::AutogradCPU), x, by);
  });
  m.impl(scale, DispatchKey::CPU, [](const Tensor& x, double) { return x; });

  m.define(chain);
  m.impl(chain, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& x) { return scale(scale(x, 3.0)); });

  m.define(pick);
  m.impl("pick", DispatchKey::CPU, [](sb::TensorList, const std::optional<Tensor>&) {});
  m.impl("pick", DispatchKey::Meta, [](sb::TensorList, const std::optional<Tensor>&) {});

  m.define(note);
  m.impl(note, DispatchKey::CompositeExplicitAutograd, [](const Tensor&, std::string_view text) {
    SB_CHECK(text == "it's $5, \"net\"", "the text came as ", text);
  });
}

}  // namespace
}  // namespace order_demo
