// A plugin: a shared object that knows Switchboard's headers and holds none of its code.

#include "switchboard/dispatch/library.h"

namespace {

using sb::DispatchKey, sb::Tensor;

SB_LIBRARY(plugin_demo, m) {
  m.define("same(Tensor x) -> Tensor");
  m.impl("same", DispatchKey::CPU, [](const Tensor& x) { return x; });
  m.define("count(int n) -> int");
  m.impl("count", DispatchKey::CompositeExplicitAutograd,
         [calls = int64_t{0}](int64_t n) mutable { return n + ++calls; });
  m.define("fail() -> int");
  m.impl("fail", DispatchKey::CompositeExplicitAutograd,
         []() -> int64_t { SB_THROW(ValueError, "plugin_demo::fail: failed"); });
}

// A kernel for an operator of the program that loads it.
SB_LIBRARY_IMPL(plugin_host, CPU, m) {
  m.impl("forty_two", [](const Tensor&) { return int64_t{42}; });
}

}  // namespace
