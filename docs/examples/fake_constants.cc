// Fake tensors whose data is known.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  const Tensor three = sb::full({}, 3.0);
  // doc: begin
  sb::FakeTensorMode fake;
  sb::FakeTensorModeGuard active(fake);
  // `three` is a real tensor: a literal of the program.
  const Tensor a = sb::ops["aten"]["lift_fresh"](three)[0].to_tensor();
  const Tensor b = a * a + 1;
  std::cout << is_fake(b) << ", " << constant_of(b) << "\n";

  a += sb::ones({});  // what ones() made has no data
  std::cout << constant_of(a).defined() << ", " << constant_of(b).defined() << "\n";
  // doc: end
}
