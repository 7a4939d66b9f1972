// An operator of our own: on the CPU, on a device from outside, and on a machine that is not here.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace demo {
using sb::DispatchKey, sb::Tensor;

// One line gives the C++ signature, the run-time schema, and the check that a kernel fits.
SB_OP(blend, "demo::blend(Tensor x, Tensor y, *, float weight=0.5) -> Tensor");

SB_LIBRARY(demo, m) {
  m.define(blend);
  m.impl(blend, DispatchKey::CPU, [](const Tensor& x, const Tensor& y, double weight) {
    return x * weight + y * (1 - weight);
  });
  m.impl(blend, DispatchKey::Meta,  // what it would give: the shape rule
         [](const Tensor& x, const Tensor&, double) { return sb::empty_like(x); });
  m.impl(blend, DispatchKey::Autograd, sb::fallthrough);  // no gradient: calls pass on
}
}  // namespace demo

int main() {
  const sb::Tensor x = sb::full({2, 3}, 4.0), y = sb::ones({2, 3});
  std::cout << "cpu:   " << demo::blend(x, y, 0.25) << "\n";

  // The dummy device has no kernel for demo::blend: its fallback runs ours on the CPU.
  const sb::Device dummy("dummy");
  const sb::Tensor there = demo::blend(sb::to(x, dummy), sb::to(y, dummy), 0.25);
  std::cout << "dummy: " << sb::to(there, sb::Device("cpu")) << " from " << there.device() << "\n";

  sb::FakeTensorMode fake;
  const sb::Device cuda("cuda:0");
  std::cout << "fake:  " << demo::blend(fake.from_tensor(x, cuda), fake.from_tensor(y, cuda))
            << "\n";

  std::cout << "\nWhy it went there:\n" << sb::to_string(sb::explain(demo::blend, there, there));
}
