// A plugin whose second block fails while the program has an operator of that name.

#include "switchboard/dispatch/library.h"

namespace {

SB_LIBRARY(plugin_failing, m) {
  m.define("first(int n) -> int");
  m.impl("first", sb::DispatchKey::CompositeExplicitAutograd, [](int64_t n) { return n; });
}

SB_LIBRARY_FRAGMENT(plugin_host, m) { m.define("taken(int n) -> int"); }

SB_LIBRARY(plugin_never, m) { m.define("third(int n) -> int"); }

}  // namespace
