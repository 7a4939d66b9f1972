// One rank of 1024, without the others.

#include <iostream>

#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/fake/fake_engine.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/world.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  sb::World world(sb::fake_engine(/*rank=*/1000, /*size=*/1024));
  const sb::WorldGuard guard(&world);
  const sb::DeviceMesh mesh({{"data", 64}, {"tensor", 16}});

  sb::FakeTensorMode fake;
  const Tensor x = fake.from_tensor(sb::ones({32, 2}), sb::Device("cuda:0"));
  std::cout << sb::all_gather_tensor(x, 0).describe() << "\n"
            << sb::reduce_scatter_tensor(x, "sum", 0, mesh.group("tensor")).describe() << "\n";
  // doc: end
}
