// Operators that fail on purpose, so that tests see what is left of it.

#include <cstdlib>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace sb::test {
namespace {

SB_LIBRARY(fault, m) {
  // On meta, and so on fake tensors, a few elements become another number of them.
  m.define("lies(Tensor x) -> Tensor");
  m.impl("lies", DispatchKey::CPU, [](const Tensor& x) { return clone(x); });
  m.impl("lies", DispatchKey::Meta, [](const Tensor& x) {
    return x.numel() > 3 ? empty_like(x) : empty_on(DeviceType::Meta, {7}, x.dtype());
  });
  m.define("crashes_on_meta(Tensor x) -> Tensor");
  m.impl("crashes_on_meta", DispatchKey::CPU, [](const Tensor& x) { return clone(x); });
  m.impl("crashes_on_meta", DispatchKey::Meta, [](const Tensor&) -> Tensor { std::abort(); });
  m.define("crashes(Tensor x, int n) -> Tensor");
  m.impl("crashes", DispatchKey::CPU, [](const Tensor&, int64_t) -> Tensor { std::abort(); });
}

}  // namespace
}  // namespace sb::test
