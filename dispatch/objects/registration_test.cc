#include "switchboard/dispatch/objects/registration.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/dispatch/objects/simple_registry.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using K = DispatchKey;
using Keys = std::vector<DispatchKey>;
using Kind = Library::Kind;

Tensor first(const Tensor& x) { return x; }

Keys keys_of(const OpOverload& op) {
  const OperatorEntry& entry = op.handle().entry();
  return entry.dispatcher().inspect([&] { return entry.keys_with_kernels(); });
}

TEST_CASE("qualified names parse both ways") {
  for (const char* text : {"aten::add", "aten::add.Tensor", "_c10d::x_1.out"})
    CHECK(parse_qualified_name(text).to_string() == text);
  CHECK(parse_qualified_name("aten::add.default").to_string() == "aten::add");
}

TEST_CASE("a name that is not qualified is refused with the reason") {
  const std::pair<const char*, const char*> cases[] = {
      {"add", "no namespace"},
      {"", "no namespace"},
      {"aten:add", "no namespace"},
      {"a::b::c", "more than one '::'"},
      {"::add", "the namespace is not an identifier"},
      {"aten::", "the name is not an identifier"},
      {"aten::1st", "the name is not an identifier"},
      {"aten::add.", "the overload is not an identifier"},
      {"aten::add.a.b", "more than one '.'"},
      {"aten::add(Tensor x)", "the name is not an identifier"},
  };
  for (const auto& [text, fault] : cases) {
    CHECK_THROWS_WITH(parse_qualified_name(text),
                      std::string("operator name '") + text + "': " + fault +
                          "; expected 'namespace::name' or 'namespace::name.overload'");
    CHECK_THROWS_AS(parse_qualified_name(text), ValueError);
  }
}

TEST_CASE("define() takes the name and the schema apart, and stays until the process ends") {
  const OpOverload op = define("registration_test::kept", "(Tensor x) -> Tensor", Tag::pointwise);
  CHECK(op.schema().to_string() == "registration_test::kept(Tensor x) -> Tensor");
  CHECK(op.has_tag(Tag::pointwise));
  CHECK(ops["registration_test"]["kept"]["default"] == op);
  CHECK(lookup_op("registration_test::kept") == op);
  CHECK_THROWS_AS(define("registration_test::kept", "(Tensor x) -> Tensor"), RuntimeError);
  CHECK_THROWS_AS(lookup_op("registration_test::none"), RuntimeError);
}

TEST_CASE("define() refuses a schema with a name, and shows the form that it expects") {
  for (const char* schema : {"f(Tensor x) -> Tensor", "(Tensor x)", "", "(Tensor x) -> "}) {
    CHECK_THROWS_WITH(define("registration_test::f", schema),
                      std::string("registration_test::f: expected a schema without a name, as "
                                  "'(Tensor x) -> Tensor', got '") +
                          schema + "'");
    CHECK_THROWS_AS(define("registration_test::f", schema), ValueError);
  }
  CHECK_THROWS_AS(define("f", "(Tensor x) -> Tensor"), ValueError);
  CHECK_THROWS_AS(define("registration_test::f", "(Nothing x) -> Tensor"), RuntimeError);
  CHECK_THROWS_AS(define("prim::f", "(Tensor x) -> Tensor"), RuntimeError);
  CHECK_THROWS_AS(lookup_op("registration_test::f"), RuntimeError);
}

TEST_CASE("with a library, what is registered goes with it") {
  Dispatcher d;
  {
    Library m(d, Kind::Fragment, "demo");
    const OpOverload f = define("demo::f", "(Tensor x) -> Tensor", {}, &m);
    impl("demo::f", "cpu", first, &m);
    register_kernel(f, "cuda", first, &m);
    CHECK(keys_of(f) == Keys{K::CPU, K::CUDA});
    CHECK_THROWS_AS(define("other::f", "(Tensor x) -> Tensor", {}, &m), RuntimeError);
  }
  CHECK(d.all_ops().empty());
}

TEST_CASE("impl() takes device types and dispatch keys, one or many, each once") {
  Dispatcher d;
  Library m(d, Kind::Fragment, "demo");
  const OpOverload f = define("demo::f", "(Tensor x) -> Tensor", {}, &m);
  impl("demo::f", {"cpu", "CPU", "meta", "AutogradCPU", K::XLA}, first, &m);
  CHECK(keys_of(f) == Keys{K::CPU, K::XLA, K::Meta, K::AutogradCPU});
  impl("demo::f", KernelTypes(std::vector<std::string>{"default", "hpu"}), first, &m);
  impl("demo::f", K::Autograd, fallthrough, &m);
  CHECK(keys_of(f) == Keys{K::CPU, K::XLA, K::HPU, K::Meta, K::AutogradCPU, K::Autograd,
                           K::CompositeExplicitAutograd});
}

TEST_CASE("impl() registers at every key or, if one is refused, at none") {
  Dispatcher d;
  Library m(d, Kind::Fragment, "demo");
  const OpOverload f = define("demo::f", "(Tensor x) -> Tensor", {}, &m);
  impl("demo::f", "meta", first, &m);
  m.allow_override(false);
  CHECK_THROWS_WITH(impl("demo::f", {"cpu", "meta", "cuda"}, first, &m),
                    Contains("demo::f [Meta]") && Contains("already registered"));
  CHECK(keys_of(f) == Keys{K::Meta});
  CHECK_THROWS_WITH(impl("demo::f", {"cpu", "gpu"}, first, &m),
                    "'gpu' is neither a device type, as 'cpu' or 'default', nor a dispatch key, as "
                    "'CPU'");
  CHECK_THROWS_AS(impl("demo::f", "cuda:0", first, &m), ValueError);
  CHECK_THROWS_AS(impl("demo::f", "Dense", first, &m), RuntimeError);
  CHECK(keys_of(f) == Keys{K::Meta});
}

TEST_CASE("device types name backend keys; 'default' is every device") {
  CHECK(device_type_to_key("default") == K::CompositeExplicitAutograd);
  CHECK(device_type_to_key("cpu") == K::CPU);
  CHECK(device_type_to_key("vulkan") == K::Vulkan);
  CHECK(device_type_to_key("privateuseone") == K::PrivateUse1);
  CHECK_THROWS_WITH(device_type_to_key("cuda:1"),
                    "device type 'cuda:1': expected one without an index");
}

struct CustomOp {
  std::string qualified_name() const { return "demo::f"; }
};
SB_OP(declared, "demo::f(Tensor x) -> Tensor");

TEST_CASE("register_kernel() takes a name, an overload, a declaration or a custom-op object") {
  Dispatcher d;
  Library m(d, Kind::Fragment, "demo");
  const OpOverload f(m.define("f(Tensor x) -> Tensor"));
  register_kernel("demo::f", "cpu", first, &m);
  register_kernel(f, "cuda", first, &m);
  register_kernel(declared, "xla", first, &m);
  register_kernel(CustomOp(), "mps", first, &m);
  register_kernel(f, {"hip", K::IPU}, first, &m);
  register_kernel(f, std::nullopt, first, &m);
  CHECK(keys_of(f) ==
        Keys{K::CPU, K::CUDA, K::HIP, K::XLA, K::MPS, K::IPU, K::CompositeExplicitAutograd});
}

TEST_CASE("the older forms take the library first") {
  Dispatcher d;
  Library def(d, Kind::Def, "demo"), cpu(d, Kind::Impl, "demo", K::CPU);
  const OpOverload f = define(def, "f(Tensor x) -> Tensor", first);
  impl(cpu, "f", first);
  CHECK(keys_of(f) == Keys{K::CPU, K::CompositeImplicitAutograd});
}

TEST_CASE("a definition and its kernels may be one expression") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const OpOverload f = DefineOp(m, "f(Tensor x) -> Tensor", Tag::core)
                           .impl(K::CPU, first)
                           .impl({"cuda", "Meta"}, first)
                           .op();
  CHECK(keys_of(f) == Keys{K::CPU, K::CUDA, K::Meta});
  CHECK(f.has_tag(Tag::core));
}

TEST_CASE(
    "a Meta kernel may not hide a composite one, unless the library says that it may override") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo"), other(d, Kind::Impl, "demo");
  const OpOverload f(m.define("f(Tensor x) -> Tensor", first));
  CHECK_THROWS_WITH(
      other.impl("f", K::Meta, first),
      Contains("demo::f [Meta]: the kernel would hide the CompositeImplicitAutograd one; ") &&
          Contains("\nCompositeImplicitAutograd: dispatch/objects/registration_test.cc:"));
  CHECK(keys_of(f) == Keys{K::CompositeImplicitAutograd});
  CHECK_THROWS_AS(other.allow_override(false).impl("f", K::Meta, first), RuntimeError);
  other.allow_override().impl("f", K::Meta, first);
  CHECK(keys_of(f) == Keys{K::Meta, K::CompositeImplicitAutograd});
  // An explicit composite kernel gives no shapes by itself.
  const OpOverload g(m.define("g(Tensor x) -> Tensor"));
  m.impl("g", K::CompositeExplicitAutograd, first);
  CHECK_NOTHROW(m.impl("g", K::Meta, first));
}

TEST_CASE("a library is of one of three kinds") {
  for (Kind kind : {Kind::Def, Kind::Impl, Kind::Fragment})
    CHECK(parse_library_kind(to_string(kind)) == kind);
  CHECK_THROWS_WITH(parse_library_kind("DEFF"),
                    "unknown kind of library 'DEFF'; expected DEF, IMPL or FRAGMENT");
  CHECK_THROWS_AS(parse_library_kind(""), ValueError);
}

TEST_CASE("the alias analysis is one of two kinds") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  const auto analysis = [&](std::string_view schema, std::string_view text) {
    return OpOverload(m.define(schema, text)).alias_analysis();
  };
  CHECK(analysis("a(Tensor x) -> Tensor", "") == AliasAnalysis::FromSchema);
  CHECK(analysis("b(Tensor x) -> Tensor", "FROM_SCHEMA") == AliasAnalysis::FromSchema);
  CHECK(analysis("c(Tensor x) -> Tensor", "CONSERVATIVE") == AliasAnalysis::Conservative);
  for (const char* text : {"PURE_FUNCTION", "conservative", "?"}) {
    CHECK_THROWS_WITH(m.define("d(Tensor x) -> Tensor", text),
                      Contains(std::string("unknown alias analysis '") + text + "'; expected "));
  }
  CHECK_FALSE(d.find_op("demo::d"));
}

TEST_CASE("a fact is kept once for each operator and type, until its handle goes") {
  struct FakeImpl {
    int value;
  };
  struct ModeRule {
    std::string value;
  };
  SimpleRegistry registry;
  CHECK(registry.find<FakeImpl>("demo::f") == nullptr);
  RegistrationHandle fake = registry.add("demo::f", FakeImpl{1});
  RegistrationHandle rule = registry.add("demo::f", ModeRule{"r"});
  RegistrationHandle other = registry.add("demo::f.out", FakeImpl{2});
  CHECK(registry.find<FakeImpl>("demo::f")->value == 1);
  CHECK(registry.find<FakeImpl>("demo::f.out")->value == 2);
  CHECK(registry.names() == std::vector<std::string>{"demo::f", "demo::f.out"});
  CHECK_THROWS_WITH(registry.add("demo::f", FakeImpl{3}),
                    Contains("demo::f: a fact of this type is already registered; ") &&
                        Contains("\nregistered at: dispatch/objects/registration_test.cc:") &&
                        Contains("\nand again at: dispatch/objects/registration_test.cc:"));
  CHECK_THROWS_AS(registry.add("f", FakeImpl{3}), ValueError);

  const std::shared_ptr<const FakeImpl> held = registry.find<FakeImpl>("demo::f");
  fake.destroy();
  fake.destroy();
  CHECK_FALSE(fake);
  CHECK(held->value == 1);
  CHECK(registry.find<FakeImpl>("demo::f") == nullptr);
  CHECK(registry.find<ModeRule>("demo::f")->value == "r");
  fake = registry.add("demo::f", FakeImpl{4});
  CHECK(registry.find<FakeImpl>("demo::f")->value == 4);

  other = RegistrationHandle();
  CHECK(registry.names() == std::vector<std::string>{"demo::f"});
  rule.release();
  { RegistrationHandle gone = std::move(rule); }
  CHECK(registry.find<ModeRule>("demo::f"));
}

TEST_CASE("a library undoes the registrations that it owns, in reverse order") {
  Dispatcher d;
  SimpleRegistry registry;
  std::vector<int> undone;
  {
    Library m(d, Kind::Def, "demo");
    m.own(registry.add("demo::f", 1));
    m.own(RegistrationHandle([&] { undone.push_back(1); }));
    m.define("f(int n) -> int");
    m.own(RegistrationHandle([&] {
      undone.push_back(2);
      CHECK(d.find_op("demo::f"));
    }));
    m.close();
    m.close();
    CHECK_THROWS_AS(m.own(RegistrationHandle()), RuntimeError);
  }
  CHECK(undone == std::vector<int>{2, 1});
  CHECK(registry.find<int>("demo::f") == nullptr);
}

TEST_CASE("a handle may outlive its registry") {
  RegistrationHandle handle;
  {
    SimpleRegistry registry;
    handle = registry.add("demo::f", 1);
  }
  handle.destroy();
}

TEST_CASE("a scoped library leaves nothing behind, exceptions or not") {
  Dispatcher d;
  try {
    ScopedLibrary m(d, Kind::Def, "demo");
    m.define("f(Tensor x) -> Tensor", first);
    CHECK(d.all_ops().size() == 1);
    m.define("f(Tensor x) -> Tensor", first);
  } catch (const RuntimeError&) {
  }
  CHECK(d.all_ops().empty());
  STATIC_REQUIRE_FALSE(std::is_move_constructible_v<ScopedLibrary>);
}

}  // namespace
}  // namespace sb
