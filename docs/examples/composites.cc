// Which composite fills which slot, and in which order they are tried.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(relu6, "demo::relu6(Tensor x) -> Tensor");

Tensor kernel(const Tensor& x) { return x; }

// doc: begin
// The rule that fills a few slots of the operator's table.
void show(const char* after) {
  std::cout << after << "\n";
  for (const sb::TableRow& row : computed_table(relu6.handle()))
    for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta, DispatchKey::AutogradCPU})
      if (row.key == key)
        std::cout << "  " << key << ": " << to_string(row.rule) << ", from " << row.source << "\n";
}
// doc: end

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(relu6);
  library.impl(relu6, DispatchKey::CompositeImplicitAutograd, kernel);
  show("CompositeImplicitAutograd");
  library.impl(relu6, DispatchKey::CPU, kernel);
  show("and CPU");
  library.impl(relu6, DispatchKey::CompositeExplicitAutograd, kernel);
  show("and CompositeExplicitAutograd");
  library.impl(relu6, DispatchKey::CompositeExplicitAutogradNonFunctional, kernel);
  show("and CompositeExplicitAutogradNonFunctional");
  // doc: end

  // doc: begin
  library.define("odd(Tensor x) -> Tensor");
  library.impl("odd", DispatchKey::CompositeImplicitAutograd, kernel);
  library.impl("odd", DispatchKey::FPGA, kernel);
  try {
    sb::default_dispatcher().find_op_or_throw("demo::odd").call({Tensor()});
  } catch (const sb::Error& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
