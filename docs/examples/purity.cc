// Calls that stay although nobody uses their results.

#include "switchboard/dispatch/modes/purity.h"

#include <iostream>

#include "switchboard/dispatch/library.h"

int main() {
  // doc: begin
  sb::Library m(sb::Library::Kind::Def, "mylib");
  m.define("report(Tensor x) -> ()");
  for (const char* op :
       {"aten::add.Tensor", "aten::add_.Tensor", "aten::bernoulli", "mylib::report"})
    std::cout << op
              << (is_impure(sb::default_dispatcher().find_op_or_throw(op)) ? " stays" : " may go")
              << "\n";
  // doc: end
}
