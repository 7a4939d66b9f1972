// Plugins are loaded into the process once, share its dispatcher, and never end it.

#include <fstream>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/plugins/kernel_from_library.h"
#include "switchboard/dispatch/plugins/load_library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using Kind = Library::Kind;

std::string plugin(const std::string& name) { return "tests/plugin/lib" + name + ".so"; }

// What is loaded stays loaded, so that this is one test.
TEST_CASE("a plugin registers in the program's own dispatcher, once") {
  Library host(Kind::Def, "plugin_host");
  const OpOverload forty_two(host.define("forty_two(Tensor x) -> int"));
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK_THROWS_AS(ops["plugin_demo"]["same"], AttributeError);
  CHECK_THROWS_AS(forty_two(x), NotImplementedError);

  ops.load_library(plugin("demo_plugin"));
  const OpOverload same = ops["plugin_demo"]["same"]["default"];
  CHECK(same(x)[0].to_tensor().is_same(x));
  CHECK(forty_two(x)[0].to_int() == 42);
  CHECK(ops["plugin_demo"]["count"](1)[0].to_int() == 2);
  CHECK(ops["plugin_demo"]["count"](1)[0].to_int() == 3);
  CHECK_THAT(to_string(same.handle().entry().defined_at()), Contains("demo_plugin.cc:"));

  // It counts as defined statically; a Library that a program opens does not.
  CHECK(same.is_defined_statically());
  CHECK_FALSE(forty_two.is_defined_statically());
  // Its exceptions are of the types that the program knows.
  CHECK_THROWS_AS(ops["plugin_demo"]["fail"](), ValueError);
  // It shares the thread's sets.
  {
    ExcludeKeysGuard no_cpu(DispatchKey::CPU);
    CHECK_THROWS_AS(same(x), NotImplementedError);
  }

  // Again, under another path too: nothing.
  const size_t loaded = loaded_libraries().size();
  ops.load_library(plugin("demo_plugin"));
  ops.load_library("tests/../tests/plugin/libdemo_plugin.so");
  import_module("demo_plugin", {"no/such/directory", "tests/plugin"});
  CHECK(loaded_libraries().size() == loaded);
  CHECK_THAT(loaded_libraries().back(), Catch::EndsWith("/libdemo_plugin.so"));
  CHECK(loaded_libraries().back()[0] == '/');
}

TEST_CASE("a plugin whose registration fails makes load_library throw, and leaves nothing behind") {
  {
    Library host(Kind::Fragment, "plugin_host");
    host.define("taken(int n) -> int");
    const size_t loaded = loaded_libraries().size();
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_WITH(load_library(plugin("failing_plugin")),
                        Contains("/libfailing_plugin.so': ") && Contains("failing_plugin.cc:12") &&
                            Contains("plugin_host::taken: defined") && Contains("plugin_test.cc"));
      CHECK(ops["plugin_failing"].names().empty());
      CHECK(ops["plugin_never"].names().empty());
      CHECK(loaded_libraries().size() == loaded);
    }
  }
  // The cause is gone: the very same plugin loads.
  load_library(plugin("failing_plugin"));
  CHECK(ops["plugin_failing"]["first"](7)[0].to_int() == 7);
  CHECK(ops["plugin_never"].names() == std::vector<std::string>{"third"});
}

TEST_CASE("a plugin that loads itself is loaded once, when its own blocks have run") {
  const size_t loaded = loaded_libraries().size();
  {
    Library host(Kind::Fragment, "plugin_host");
    host.define("self_taken(int n) -> int");
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_WITH(load_library(plugin("self_plugin")), Contains("plugin_host::self_taken"));
      CHECK(ops["plugin_self"].names().empty());
    }
  }
  // The one that it loads did not fail, and is not loaded again.
  CHECK(loaded_libraries().size() == loaded + 1);
  CHECK(ops["plugin_mutual"].names() == std::vector<std::string>{"g"});
  load_library(plugin("self_plugin"));
  CHECK(ops["plugin_self"].names() == std::vector<std::string>{"f"});
  const std::vector<std::string> now = loaded_libraries();
  REQUIRE(now.size() == loaded + 2);
  CHECK_THAT(now[loaded], Catch::EndsWith("/libmutual_plugin.so"));
  CHECK_THAT(now[loaded + 1], Catch::EndsWith("/libself_plugin.so"));
}

TEST_CASE("what is no plugin is refused with the reason") {
  CHECK_THROWS_WITH(load_library("tests/plugin/libmissing.so"),
                    "plugin 'tests/plugin/libmissing.so': No such file or directory");
  CHECK_THROWS_WITH(load_library("tests"), Contains("not a file"));
  const std::string text =
      std::string(std::getenv("TEST_TMPDIR") ? std::getenv("TEST_TMPDIR") : ".") + "/libtext.so";
  std::ofstream(text) << "this is text, and long enough to hold the header of an ELF file: ......";
  CHECK_THROWS_WITH(load_library(text), Contains("libtext.so': ") && Contains("ELF"));
  CHECK_THROWS_WITH(load_library(plugin("unresolved_plugin")),
                    Contains("undefined symbol") && Contains("function_that_does_not_exist") &&
                        Contains("-rdynamic"));
  CHECK_THROWS_AS(load_library(plugin("unresolved_plugin")), RuntimeError);
}

TEST_CASE("a plugin is found by its name in a list of directories") {
  CHECK_THROWS_WITH(import_module("nowhere", {"a", "b"}),
                    "plugin 'nowhere': no libnowhere.so in a, b");
  CHECK_THROWS_AS(import_module("x/y"), ValueError);
  CHECK_THROWS_AS(import_module(""), ValueError);
  setenv("SWITCHBOARD_PLUGIN_PATH", "first::second", 1);
  const std::vector<std::string> directories = default_plugin_directories();
  REQUIRE(directories.size() == 3);
  CHECK(directories[0] == "first");
  CHECK(directories[1] == "second");
  unsetenv("SWITCHBOARD_PLUGIN_PATH");
}

TEST_CASE("a kernel may name a shared object, which the first call opens") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const OpOverload negate(m.define("negate(Tensor x, int n) -> int"));
  const Tensor x = tensor_on(DeviceType::CPU);
  SECTION("and all later calls, of any thread, go to its function") {
    impl_from_library(m, "negate", DispatchKey::CPU, plugin("kernel_plugin"), "negate_boxed");
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { good += negate(x, 5)[0].to_int() == -5; });
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 4);
  }
  SECTION("a missing object or symbol is an error of the call, not of the registration") {
    impl_from_library(m, "negate", DispatchKey::CPU, "tests/plugin/libmissing.so", "negate_boxed");
    CHECK_THROWS_WITH(negate(x, 5), Contains("demo::negate: plugin 'tests/plugin/libmissing.so'"));
    Library other(d, Kind::Impl, "demo");
    impl_from_library(other, "negate", DispatchKey::CPU, plugin("kernel_plugin"),
                      "no_such_function");
    CHECK_THROWS_WITH(negate(x, 5), Contains("no symbol 'no_such_function'"));
  }
  SECTION("only at the key of a dense backend, and only one there where none may override") {
    for (DispatchKey key : {DispatchKey::AutogradCPU, DispatchKey::SparseCPU,
                            DispatchKey::CompositeExplicitAutograd, DispatchKey::BackendSelect}) {
      CHECK_THROWS_WITH(impl_from_library(m, "negate", key, "x.so", "f"),
                        Contains("dense backend") && Contains(std::string(to_string(key))));
    }
    impl_from_library(m, "negate", DispatchKey::CPU, "x.so", "f");
    m.allow_override(false);
    CHECK_THROWS_WITH(impl_from_library(m, "negate", DispatchKey::CPU, "y.so", "g"),
                      Contains("already registered"));
  }
}

}  // namespace
}  // namespace sb
