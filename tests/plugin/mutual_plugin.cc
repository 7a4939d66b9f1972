// A plugin that loads the one that loads it.

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/plugins/load_library.h"

namespace {

SB_LIBRARY(plugin_mutual, m) {
  sb::load_library("tests/plugin/libself_plugin.so");
  m.define("g(int n) -> int");
}

}  // namespace
