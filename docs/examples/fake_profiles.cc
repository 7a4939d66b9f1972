// Fake rules made of what was seen of real calls.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_profile.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/masked.h"

using sb::Tensor;

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "vendor");
  const sb::OperatorHandle rows = library.define("rows(Tensor x) -> Tensor");
  library.impl("rows", sb::DispatchKey::CPU, [](const Tensor& x) { return sb::nonzero(x); });

  const Tensor x = sb::ones({2, 3});
  const sb::OpProfile seen = sb::OpProfile::of({x}, rows.call({x}));
  const sb::RegistrationHandle rules = sb::unsafe_generate_fake_kernels({{"vendor::rows", {seen}}});

  sb::FakeTensorMode fake({.shape_env = sb::ShapeEnv::create()});
  std::cout << rows.call({fake.from_tensor(sb::ones({7, 5}))})[0].to_tensor().describe() << "\n";
  try {
    rows.call({fake.from_tensor(sb::ones({7}))});
  } catch (const sb::MissingOpProfileError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
