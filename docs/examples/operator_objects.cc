// Operators as objects: by name, with their overloads, schemas and kernels.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::DispatchKey, sb::Tensor;

int main() {
  const Tensor x = sb::ones({2});

  // doc: begin
  const sb::OpOverload add = sb::ops["aten"]["add"]["Tensor"];
  std::cout << add << ": " << add.schema() << "\n";
  std::cout << add.call({x, x}, {{"alpha", 3}})[0].to_tensor() << "\n";

  // A packet is all overloads: it takes the first one that fits the arguments.
  const sb::OpOverloadPacket packet = sb::ops["aten"]["add"];
  std::cout << packet.resolve({x, 1}) << "\n";
  try {
    packet("a", 1);
  } catch (const sb::TypeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end

  // doc: begin
  const sb::OpOverload view = sb::ops["aten"]["view"]["default"];
  const sb::OpOverload linear = sb::ops["aten"]["linear"]["default"];
  std::cout << std::boolalpha << "view is a view: " << view.is_view() << "\n"
            << "linear decomposes: " << linear.has_decomposition() << "\n"
            << "add has a kernel at CPU: " << add.has_kernel_for_dispatch_key(DispatchKey::CPU)
            << "\n";
  add.at(DispatchKey::CPU)(x, x);            // that kernel, whatever x carries
  add.redispatch(DispatchKey::CPU, {x, x});  // the highest key of that set
  // doc: end
}
