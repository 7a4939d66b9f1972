// What differs from one example to the next, and has no tensor to be in.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/vmap/vmap.h"

using sb::Tensor;

int main() {
  // doc: begin
  const Tensor w = sb::zeros({2});
  const auto attempt = [&](auto f) {
    try {
      sb::vmap([&](const Tensor& row) { return f(row), row; }, {sb::ones({3, 2})});
    } catch (const sb::Error& error) {
      std::cout << error.kind() << ": " << error.what() << "\n";
    }
  };
  attempt([&](const Tensor& row) { sb::add_(w, row); });
  attempt([](const Tensor& row) { sb::item(sb::sum(row)); });
  attempt([](const Tensor&) { sb::rand({2}); });
  // doc: end
}
