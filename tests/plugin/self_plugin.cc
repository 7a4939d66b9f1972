// A plugin that loads itself, and another that loads it; and fails while the program has an
// operator of that name.

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/plugins/load_library.h"

namespace {

SB_LIBRARY(plugin_self, m) {
  sb::load_library("tests/plugin/libself_plugin.so");
  sb::load_library("tests/plugin/libmutual_plugin.so");
  m.define("f(int n) -> int");
}

SB_LIBRARY_FRAGMENT(plugin_host, m) { m.define("self_taken(int n) -> int"); }

}  // namespace
