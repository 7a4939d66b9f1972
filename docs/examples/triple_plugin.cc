// A plugin: an operator in a shared object.

// doc: begin
#include "switchboard/dispatch/library.h"

SB_LIBRARY(plug, m) {
  m.define("triple(int n) -> int");
  m.impl("triple", sb::DispatchKey::CompositeExplicitAutograd, [](int64_t n) { return 3 * n; });
}
// doc: end
