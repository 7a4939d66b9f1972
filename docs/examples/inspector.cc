// Seeing calls: tables, explanations, traces, and what a registration changed.

#include "switchboard/dispatch/inspect/inspector.h"

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(shift, "demo::shift(Tensor x) -> Tensor");

int main() {
  const Tensor x = sb::ones({2, 2});

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(shift);
  library.impl(shift, DispatchKey::CPU, [](const Tensor& t) { return t; });
  library.impl(shift, DispatchKey::Autograd, sb::fallthrough);
  std::cout << to_string(explain(shift, x));
  // doc: end

  // doc: begin
  {
    sb::TraceCalls trace([](const std::string& line) { std::cout << line << "\n"; });
    sb::linear(x, x);
  }
  // doc: end

  // doc: begin
  const sb::TableDump before = dump_tables(sb::default_dispatcher());
  sb::Library mine(sb::Library::Kind::Impl, "demo");
  mine.allow_override();
  mine.impl(shift, DispatchKey::CPU, [](const Tensor& t) { return t; });
  std::cout << to_string(diff_tables(before, dump_tables(sb::default_dispatcher())));
  // doc: end
}
