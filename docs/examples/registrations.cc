// The operators with a kernel at a key.

#include "switchboard/dispatch/inspect/registrations.h"

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

int main() {
  // doc: begin
  sb::Library m(sb::Library::Kind::Def, "mylib");
  m.define("f(Tensor x) -> Tensor");
  m.define("g(Tensor x) -> Tensor");
  m.impl("f", DispatchKey::MTIA, [](const Tensor& x) { return x; });
  m.impl("g", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) { return x; });
  for (const std::string& op : sb::registrations_at(sb::default_dispatcher(), DispatchKey::MTIA))
    std::cout << op << "\n";
  // doc: end
}
