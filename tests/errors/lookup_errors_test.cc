// Names that nothing, or something else, is registered under; files that are no plugins or dumps.

#include <memory>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/op_overload_packet.h"
#include "switchboard/dispatch/objects/qualified_name.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/objects/simple_registry.h"
#include "switchboard/dispatch/plugins/kernel_from_library.h"
#include "switchboard/dispatch/plugins/load_library.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using Kind = Library::Kind;
using K = DispatchKey;

// demo::blend, demo::blend.out and demo::twice.
struct LookupErrors {
  LookupErrors() {
    m.define("blend(Tensor x, float weight) -> Tensor");
    m.define("blend.int(Tensor x, int weight) -> Tensor");
    m.define("twice(Tensor x) -> Tensor");
  }

  Dispatcher d;
  Library m{d, Kind::Def, "demo"};
  Ops ops{d};
};

TEST_CASE_METHOD(LookupErrors, "an operator of a namespace that has none") {
  CHECK(message([&] { d.find_op_or_throw("dmo::blend"); }) ==
        "RuntimeError: dmo::blend: no operator of that name is registered; namespace 'dmo' has "
        "none: link or open the library that defines them");
}

TEST_CASE_METHOD(LookupErrors, "an overload that there is not names those that there are") {
  CHECK(message([&] { d.find_op_or_throw("demo::blend.out"); }) ==
        "RuntimeError: demo::blend.out: no operator of that name is registered; there is "
        "demo::blend, demo::blend.int");
}

TEST_CASE_METHOD(LookupErrors, "an operator that is spelt wrong names what is near") {
  CHECK(message([&] { d.find_op_or_throw("demo::twise"); }) ==
        "RuntimeError: demo::twise: no operator of that name is registered; there is demo::twice");
}

TEST_CASE_METHOD(LookupErrors, "an operator that nothing is near to") {
  CHECK(message([&] { d.find_op_or_throw("demo::convolution"); }) ==
        "RuntimeError: demo::convolution: no operator of that name is registered; namespace 'demo' "
        "has 3 others");
}

TEST_CASE("a qualified name that is none") {
  const std::string expected = "; expected 'namespace::name' or 'namespace::name.overload'";
  CHECK(message([] { parse_qualified_name("add"); }) ==
        "ValueError: operator name 'add': no namespace" + expected);
  CHECK(message([] { parse_qualified_name("a::b::c"); }) ==
        "ValueError: operator name 'a::b::c': more than one '::'" + expected);
  CHECK(message([] { parse_qualified_name("a::b.c.d"); }) ==
        "ValueError: operator name 'a::b.c.d': more than one '.'" + expected);
  CHECK(message([] { parse_qualified_name("a::1"); }) ==
        "ValueError: operator name 'a::1': the name is not an identifier" + expected);
}

TEST_CASE_METHOD(LookupErrors, "sb::ops: a namespace without operators") {
  CHECK(message([&] { ops["dmo"]["blend"]; }) ==
        "AttributeError: dmo::blend: the namespace 'dmo' has no operators; namespaces: demo");
}

TEST_CASE_METHOD(LookupErrors, "sb::ops: an operator that is spelt wrong") {
  CHECK(message([&] { ops["demo"]["twise"]; }) ==
        "AttributeError: demo::twise: no operator of that name is registered; there is twice");
}

TEST_CASE_METHOD(LookupErrors, "sb::ops: an operator that nothing is near to") {
  CHECK(message([&] { ops["demo"]["convolution"]; }) ==
        "AttributeError: demo::convolution: no operator of that name is registered; the namespace "
        "has 2 others");
}

TEST_CASE_METHOD(LookupErrors, "a packet that has no such overload") {
  CHECK(message([&] { ops["demo"]["blend"]["out"]; }) ==
        "AttributeError: demo::blend: no overload 'out'; overloads: default, int");
}

TEST_CASE_METHOD(LookupErrors, "a packet whose operator was removed") {
  auto other = std::make_unique<Library>(d, Kind::Def, "other");
  other->define("f(Tensor x) -> Tensor");
  const OpOverloadPacket f = ops["other"]["f"];
  other.reset();
  CHECK(message([&] { f["default"]; }) ==
        "AttributeError: other::f: no operator of that name is registered, or no longer");
  CHECK(message([&] { f(tensor_on(DeviceType::CPU)); }) ==
        "NotImplementedError: other::f: no operator of that name is registered, or no longer");
}

TEST_CASE_METHOD(LookupErrors, "a packet none of whose overloads takes the arguments") {
  CHECK(message([&] { ops["demo"]["blend"](tensor_on(DeviceType::CPU), "half"); }) ==
        "TypeError: demo::blend: no overload takes these arguments; tried, in this order:\n"
        "  demo::blend(Tensor x, float weight) -> Tensor\n"
        "    argument 1 'weight': expected float, got str\n"
        "  demo::blend.int(Tensor x, int weight) -> Tensor\n"
        "    argument 1 'weight': expected int, got str");
}

TEST_CASE_METHOD(LookupErrors, "an overload as a C++ function of another type") {
  Library other(d, Kind::Def, "other");
  const std::string at = here();
  const OpOverload f(other.define("f(Tensor x) -> Tensor"));
  CHECK(message([&] { f.typed<Tensor(const Tensor&, int64_t)>(); }) ==
        "TypeError: other::f: declared as (Tensor, int) -> (Tensor), which is not the schema that "
        "is registered; declare that one\n"
        "schema: other::f(Tensor x) -> Tensor (" +
            at + ")");
}

TEST_CASE_METHOD(LookupErrors, "the computed kernel of an alias key") {
  const OpOverload twice = ops["demo"]["twice"]["default"];
  CHECK(message([&] { twice.has_computed_kernel_for_dispatch_key(K::Autograd); }) ==
        "ValueError: demo::twice: Autograd is no key of the computed table: only runtime keys are");
}

TEST_CASE("a device type that is none") {
  CHECK(message([] { device_type_to_key("gpu"); }) ==
        "ValueError: 'gpu' is neither a device type, as 'cpu' or 'default', nor a dispatch key, as "
        "'CPU'");
}

TEST_CASE("a device type with an index") {
  CHECK(message([] { device_type_to_key("cuda:0"); }) ==
        "ValueError: device type 'cuda:0': expected one without an index");
}

TEST_CASE("a schema with a name, where the name is given beside it") {
  CHECK(message([] { define("errors_lookup::f", "f(Tensor x) -> Tensor"); }) ==
        "ValueError: errors_lookup::f: expected a schema without a name, as '(Tensor x) -> "
        "Tensor', got 'f(Tensor x) -> Tensor'");
  CHECK_FALSE(default_dispatcher().find_op("errors_lookup::f"));
}

TEST_CASE("a fact of an operator that is known already") {
  SimpleRegistry registry;
  const std::string first = here();
  const RegistrationHandle handle = registry.add("demo::f", 1);
  std::string again;
  const std::string text = message([&] {
    again = here();
    const RegistrationHandle other = registry.add("demo::f", 2);
  });
  CHECK(text ==
        "RuntimeError: demo::f: a fact of this type is already registered; destroy its "
        "handle first\nregistered at: " +
            first + "\nand again at: " + again);
  CHECK(*registry.find<int>("demo::f") == 1);
}

TEST_CASE("a plugin that there is not") {
  CHECK(message([] { load_library("no/such/libdemo.so"); }) ==
        "RuntimeError: plugin 'no/such/libdemo.so': No such file or directory");
}

TEST_CASE("a plugin that is a directory") {
  CHECK(message([] { load_library("/"); }) == "RuntimeError: plugin '/': not a file");
}

TEST_CASE("a plugin that no directory has") {
  CHECK(message([] {
          import_module("nowhere", {"a", "b"});
        }) == "RuntimeError: plugin 'nowhere': no libnowhere.so in a, b");
  CHECK(message([] { import_module("nowhere", {}); }) ==
        "RuntimeError: plugin 'nowhere': no libnowhere.so in no directory at all");
}

TEST_CASE("a plugin's name with directories") {
  CHECK(message([] { import_module("a/b"); }) ==
        "ValueError: 'a/b' is not the name of a plugin; expected one without directories, as "
        "'demo' for libdemo.so");
}

TEST_CASE("a kernel of a shared object that there is not") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const OpOverload f(m.define("f(Tensor x) -> Tensor"));
  impl_from_library(m, "f", K::CPU, "no/such.so", "f");
  CHECK(message([&] { f(tensor_on(DeviceType::CPU)); }) ==
        "RuntimeError: demo::f: plugin 'no/such.so': No such file or directory");
}

TEST_CASE("a dump of tables that cannot be read") {
  auto refused = [](const std::string& text) {
    return message([&] { parse_table_dump(text, "a.dump"); });
  };
  const std::string head = "switchboard tables\t1\n";
  const std::string op = head + "op\tdemo::f\tdemo::f() -> ()\n";
  SECTION("of another format") {
    CHECK(refused("tables 2\n") ==
          "ValueError: a.dump:1: expected 'switchboard tables?1', got 'tables 2'");
  }
  SECTION("cut short") {
    CHECK(refused(op) == "ValueError: a.dump:3: expected a line 'end'; the file was cut short");
  }
  SECTION("with an unknown line") {
    CHECK(refused(head + "ops\n") ==
          "ValueError: a.dump:2: expected 'op', 'slot' or 'end', got 'ops'");
  }
  SECTION("with an operator twice") {
    CHECK(refused(op + "op\tdemo::f\t\n") ==
          "ValueError: a.dump:3: operator 'demo::f' is here twice");
  }
  SECTION("with an unknown key") {
    CHECK(refused(op + "slot\tdemo::f\tGPU\tkernel\tGPU\tkernel\ta.cc:1\n") ==
          "ValueError: a.dump:3: unknown dispatch key 'GPU'");
  }
  SECTION("with too few fields") {
    CHECK(refused(op + "slot\tdemo::f\n") == "ValueError: a.dump:3: expected 7 fields, got 2");
  }
  SECTION("with a wrong count") {
    CHECK(refused(op + "end\t2\t0\n") ==
          "ValueError: a.dump:3: the end counts '2' operators and '0' slots; there are 1 and 0");
  }
}

}  // namespace
}  // namespace sb
