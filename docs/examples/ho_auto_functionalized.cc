// An operator that writes, called so that nothing is written to.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/auto_functionalized.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  sb::Library m(sb::Library::Kind::Def, "mylib");
  m.define("add_to(Tensor(a!) x, Tensor y) -> ()");
  m.impl("add_to", sb::DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x, const Tensor& y) { x += y; });
  const auto program = [](const Tensors& in) {
    return sb::auto_functionalized_v2("mylib::add_to",
                                      {{"y", in[1]},
                                       {"_x_base_index", 0},
                                       {"_x_slice_dim", 0},
                                       {"_x_slice_start", 1},
                                       {"_x_slice_end", 3}},
                                      {in[0]});
  };
  const Tensor x = sb::zeros({4}), y = sb::ones({2});
  const sb::Graph graph = sb::trace(program, {x, y});
  std::cout << graph.to_string() << graph.run({x, y})[0] << "\n" << x << "\n";
  // doc: end
}
