// What a Library refuses, and that the registry is then as it was before.

#include <memory>
#include <utility>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/plugins/kernel_from_library.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using Kind = Library::Kind;
using K = DispatchKey;

Tensor same(const Tensor& x) { return x; }
int64_t count(const Tensor&) { return 1; }
void boxed(const OperatorHandle&, DispatchKeySet, Stack*) {}

// A DEF library of namespace demo with demo::f, defined and with a kernel at CPU, and an IMPL one.
struct RegisterErrors {
  RegisterErrors() {
    f_at = here();
    m.reset(new Library(d, Kind::Def, "demo"));
    m_text = str_cat("Library(DEF, ns=demo, ", f_at, ")");
    f_at = here();
    m->define("f(Tensor x) -> Tensor");
    cpu_at = here();
    m->impl("f", K::CPU, same);
    kernels_at = here();
    kernels.reset(new Library(d, Kind::Impl, "demo"));
    kernels_text = str_cat("Library(IMPL, ns=demo, ", kernels_at, ")");
  }

  Dispatcher d;
  std::unique_ptr<Library> m, kernels;
  std::string f_at, cpu_at, kernels_at, m_text, kernels_text;
  std::string at;  // of what is refused
};

// --- libraries ---

TEST_CASE_METHOD(RegisterErrors, "a second DEF library of a namespace") {
  const std::string first = here();
  Library other(d, Kind::Def, "other");
  const std::string text = refusal(d, [&] {
    at = here();
    Library(d, Kind::Def, "other");
  });
  CHECK(text ==
        "RuntimeError: namespace 'other' has a DEF library already; add to it with a "
        "FRAGMENT one\n"
        "opened at: " +
            first + "\nand again at: " + at);
  // The one that was refused has not taken the name along.
  other.define("f(Tensor x) -> Tensor");
}

TEST_CASE_METHOD(RegisterErrors, "a library of a namespace that is no identifier") {
  for (const std::string ns : {"", "a::b"}) {
    const std::string text = refusal(d, [&] {
      at = here();
      Library(d, Kind::Def, ns);
    });
    CHECK(text == "ValueError: Library(DEF, ns=" + ns + ", " + at +
                      "): expected an identifier as namespace, got '" + ns + "'");
  }
}

TEST_CASE_METHOD(RegisterErrors, "a library of a reserved namespace") {
  const std::string text = refusal(d, [&] {
    at = here();
    Library(d, Kind::Fragment, "prim");
  });
  CHECK(text == "RuntimeError: Library(FRAGMENT, ns=prim, " + at +
                    "): the namespace is reserved; take another one");
}

TEST_CASE_METHOD(RegisterErrors, "a DEF library of namespace _") {
  const std::string text = refusal(d, [&] {
    at = here();
    Library(d, Kind::Def, "_");
  });
  CHECK(text == "RuntimeError: Library(DEF, ns=_, " + at +
                    "): namespace '_' takes fallbacks only; open it as IMPL");
}

TEST_CASE_METHOD(RegisterErrors, "a DEF library with a dispatch key") {
  const std::string text = refusal(d, [&] {
    at = here();
    Library(d, Kind::Def, "other", K::CPU);
  });
  CHECK(text == "RuntimeError: Library(DEF, ns=other, dispatch_key=CPU, " + at +
                    "): only an IMPL library has a dispatch key; name the key in impl()");
}

TEST_CASE_METHOD(RegisterErrors, "a library for the key Observed") {
  const std::string text = refusal(d, [&] {
    at = here();
    Library(d, Kind::Impl, "demo", K::Observed);
  });
  CHECK(text == "RuntimeError: Library(IMPL, ns=demo, dispatch_key=Observed, " + at +
                    "): no kernel goes to Observed, which only tells who watches calls; take "
                    "another key");
}

TEST_CASE("a kind of library that there is not") {
  CHECK(message([] { parse_library_kind("DEFINE"); }) ==
        "ValueError: unknown kind of library 'DEFINE'; expected DEF, IMPL or FRAGMENT");
}

TEST_CASE_METHOD(RegisterErrors, "the use of a library that is closed") {
  const std::string closed =
      "RuntimeError: a library that is closed, or was moved from, takes nothing more; open another "
      "one\nit was opened at: " +
      kernels_at;
  kernels->close();
  SECTION("to register a kernel") {
    CHECK(refusal(d, [&] { kernels->impl("f", K::Meta, same); }) == closed);
  }
  SECTION("to define") {
    CHECK(refusal(d, [&] { kernels->define("g(Tensor x) -> Tensor"); }) == closed);
  }
  SECTION("to register a fallback") {
    CHECK(refusal(d, [&] { kernels->fallback(K::CPU, boxed); }) == closed);
  }
  SECTION("to own a registration") {
    CHECK(refusal(d, [&] { kernels->own(RegistrationHandle()); }) == closed);
  }
}

TEST_CASE_METHOD(RegisterErrors, "the use of a library that was moved from") {
  const Library taken(std::move(*kernels));
  CHECK(refusal(d, [&] { kernels->impl("f", K::Meta, same); }) ==
        "RuntimeError: a library that is closed, or was moved from, takes nothing more; open "
        "another one\nit was opened at: " +
            kernels_at);
}

// --- operators ---

TEST_CASE_METHOD(RegisterErrors, "an operator that is defined already") {
  Library fragment(d, Kind::Fragment, "demo");
  const std::string text = refusal(d, [&] {
    at = here();
    fragment.define("f(Tensor x, int n) -> Tensor");
  });
  CHECK(text ==
        "RuntimeError: demo::f: defined already; close that library first, or define "
        "another overload\n"
        "defined at: " +
            f_at + "\nand again at: " + at);
}

TEST_CASE_METHOD(RegisterErrors, "an operator that an IMPL library defines") {
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->define("g(Tensor x) -> Tensor");
  });
  CHECK(text ==
        "RuntimeError: " + kernels_text +
            ": an IMPL library defines no operators; open a DEF or FRAGMENT one\nat: " + at);
}

TEST_CASE_METHOD(RegisterErrors, "an operator of another namespace than the library's") {
  CHECK(refusal(d, [&] { m->define("other::g(Tensor x) -> Tensor"); }) ==
        "RuntimeError: " + m_text +
            ": 'other::g' is of another namespace; open a library of that one");
}

TEST_CASE_METHOD(RegisterErrors, "a kernel for an operator of another namespace") {
  CHECK(refusal(d, [&] { m->impl("other::f", K::CPU, same); }) ==
        "RuntimeError: " + m_text +
            ": 'other::f' is of another namespace; open a library of that one");
}

TEST_CASE_METHOD(RegisterErrors, "a schema that does not parse") {
  CHECK(refusal(d, [&] { m->define("g(Tensr x) -> Tensor"); }) ==
        "RuntimeError: schema \"g(Tensr x) -> Tensor\": unknown type 'Tensr' at column 3\n"
        "g(Tensr x) -> Tensor\n"
        "  ^");
}

TEST_CASE_METHOD(RegisterErrors, "a schema with more than 255 arguments") {
  std::string schema = "g(Tensor x";
  for (int i = 0; i < 255; ++i) schema += str_cat(", int n", i);
  const std::string text = refusal(d, [&] {
    at = here();
    m->define(schema + ") -> Tensor");
  });
  CHECK(text ==
        "RuntimeError: demo::g: expected at most 255 arguments, got 256; make lists of "
        "them\nschema: " +
            at);
}

TEST_CASE_METHOD(RegisterErrors, "an alias analysis that there is not") {
  const std::string text = refusal(d, [&] { m->define("g(Tensor x) -> Tensor", "PURE"); });
  CHECK(text == "RuntimeError: " + m_text +
                    ": unknown alias analysis 'PURE'; expected 'FROM_SCHEMA' (or '', the same) or "
                    "'CONSERVATIVE'");
}

TEST_CASE_METHOD(RegisterErrors, "a boxed kernel for a name without a schema") {
  const std::string text = refusal(d, [&] {
    at = here();
    m->define("g", boxed);
  });
  CHECK(text == "RuntimeError: " + m_text +
                    ": 'g' has no arguments, and a boxed kernel does not tell them; write its "
                    "schema\nat: " +
                    at);
}

// --- kernels ---

TEST_CASE_METHOD(RegisterErrors, "a second kernel at a key, by a library that may not override") {
  kernels->allow_override(false);
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("f", K::CPU, same);
  });
  CHECK(text ==
        "RuntimeError: demo::f [CPU]: a kernel is already registered; close that library "
        "first, or allow_override() to put one over it\n"
        "registered at: " +
            cpu_at + "\nand again at: " + at);
}

TEST_CASE_METHOD(RegisterErrors, "one kernel at several keys, one of which is taken") {
  kernels->allow_override(false);
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl_at("f", {K::Meta, K::CPU, K::CUDA}, same);
  });
  CHECK(text ==
        "RuntimeError: demo::f [CPU]: a kernel is already registered; close that library "
        "first, or allow_override() to put one over it\n"
        "registered at: " +
            cpu_at + "\nand again at: " + at);
}

TEST_CASE_METHOD(RegisterErrors, "a kernel of a type that is not the schema's") {
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("f", K::Meta, count);
  });
  CHECK(text ==
        "RuntimeError: demo::f [Meta]: the kernel's type does not agree with the schema; "
        "change one of them\n"
        "kernel: (Tensor) -> (int) (" +
            at + ")\nschema: demo::f(Tensor x) -> Tensor (" + f_at + ")");
}

TEST_CASE_METHOD(RegisterErrors, "a schema that is not of the type of a kernel that waits for it") {
  const std::string kernel_at = here();
  kernels->impl("g", K::Meta, count);
  const std::string text = refusal(d, [&] {
    at = here();
    m->define("g(Tensor x) -> Tensor");
  });
  CHECK(text ==
        "RuntimeError: demo::g [Meta]: the kernel's type does not agree with the schema; "
        "change one of them\n"
        "kernel: (Tensor) -> (int) (" +
            kernel_at + ")\nschema: demo::g(Tensor x) -> Tensor (" + at + ")");
}

TEST_CASE_METHOD(RegisterErrors, "two kernels of different types, before there is a schema") {
  const std::string first = here();
  kernels->impl("g", K::CPU, same);
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("g", K::Meta, count);
  });
  CHECK(text ==
        "RuntimeError: demo::g [Meta]: the kernel and the one at CPU have different types; "
        "change one of them\n"
        "Meta: (Tensor) -> (int) (" +
            at + ")\nCPU: (Tensor) -> (Tensor) (" + first + ")");
}

TEST_CASE_METHOD(RegisterErrors, "a kernel at another key than the library's own") {
  const std::string opened = here();
  Library cuda(d, Kind::Impl, "demo", K::CUDA);
  const std::string text = refusal(d, [&] {
    at = here();
    cuda.impl("f", K::Meta, same);
  });
  CHECK(text == "RuntimeError: Library(IMPL, ns=demo, dispatch_key=CUDA, " + opened +
                    "): impl at another key, Meta; open a library without a key\nat: " + at);
}

TEST_CASE_METHOD(RegisterErrors, "a kernel at a functionality, without a backend") {
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("f", K::Dense, same);
  });
  CHECK(text == "RuntimeError: " + kernels_text +
                    ": no kernel can be at Dense; name a runtime key, as CPU, or an alias key, as "
                    "Autograd\nat: " +
                    at);
}

TEST_CASE_METHOD(RegisterErrors, "a kernel at Observed") {
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("f", K::Observed, same);
  });
  CHECK(text == "RuntimeError: " + kernels_text +
                    ": no kernel goes to Observed, which only tells who watches calls; take "
                    "another key\nat: " +
                    at);
}

TEST_CASE_METHOD(RegisterErrors, "a kernel in namespace _") {
  const std::string opened = here();
  Library all(d, Kind::Impl, "_", K::CPU);
  const std::string text = refusal(d, [&] {
    at = here();
    all.impl("f", same);
  });
  CHECK(text == "RuntimeError: Library(IMPL, ns=_, dispatch_key=CPU, " + opened +
                    "): namespace '_' takes fallbacks only; call fallback(), or open the "
                    "operator's namespace\nat: " +
                    at);
}

TEST_CASE_METHOD(RegisterErrors, "a Meta kernel that would hide a composite") {
  const std::string composite_at = here(2);
  m->define("g(Tensor x) -> Tensor");
  m->impl("g", K::CompositeImplicitAutograd, same);
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->impl("g", K::Meta, same);
  });
  CHECK(text ==
        "RuntimeError: demo::g [Meta]: the kernel would hide the CompositeImplicitAutograd "
        "one; register Meta kernels for what that calls, or allow_override()\n"
        "CompositeImplicitAutograd: " +
            composite_at + "\nMeta: " + at);
}

TEST_CASE_METHOD(RegisterErrors,
                 "a kernel of a shared object at a key that is no dense backend's") {
  const std::string text = refusal(d, [&] {
    at = here();
    impl_from_library(*kernels, "f", K::AutogradCPU, "x.so", "f");
  });
  CHECK(text == "RuntimeError: " + kernels_text +
                    ": 'f' [AutogradCPU]: a kernel of a shared object goes to the key of a dense "
                    "backend; name one, as CPU\nat: " +
                    at);
}

// --- fallbacks ---

TEST_CASE_METHOD(RegisterErrors, "a fallback outside namespace _") {
  const std::string text = refusal(d, [&] {
    at = here();
    kernels->fallback(K::CPU, boxed);
  });
  CHECK(text == "RuntimeError: " + kernels_text +
                    ": it takes no fallbacks; open an IMPL library of namespace '_'\nat: " + at);
}

// An IMPL library of namespace _.
struct FallbackErrors : RegisterErrors {
  FallbackErrors() {
    text = str_cat("Library(IMPL, ns=_, ", here(), ")");
    all.reset(new Library(d, Kind::Impl, "_"));
  }
  std::unique_ptr<Library> all;
  std::string text;
};

TEST_CASE_METHOD(FallbackErrors, "a fallback that is not boxed") {
  const std::string got = refusal(d, [&] {
    at = here();
    all->fallback(K::CPU, same);
  });
  CHECK(got == "TypeError: " + text +
                   ": a fallback serves every operator; expected a boxed kernel, got one of type "
                   "(Tensor) -> (Tensor)\nat: " +
                   at);
}

TEST_CASE_METHOD(FallbackErrors, "a second fallback at a key") {
  const std::string first = here();
  all->fallback(K::CPU, boxed);
  const std::string got = refusal(d, [&] {
    at = here();
    all->fallback(K::CPU, boxed);
  });
  CHECK(got ==
        "RuntimeError: a fallback for CPU is already registered; close that library first, or "
        "allow_override() to put one over it\n"
        "registered at: " +
            first + "\nand again at: " + at);
}

TEST_CASE_METHOD(FallbackErrors, "a fallback at an alias key, at Undefined or at Observed") {
  for (K key : {K::CompositeImplicitAutograd, K::Autograd, K::Undefined, K::Observed, K::Dense}) {
    const std::string got = refusal(d, [&] {
      at = here();
      all->fallback(key, boxed);
    });
    CHECK(got == "RuntimeError: " + text + ": no fallback can be at " +
                     std::string(to_string(key)) + "; name a runtime key, as CPU\nat: " + at);
  }
}

TEST_CASE_METHOD(FallbackErrors, "a fallback without a key, in a library without one") {
  CHECK(refusal(d, [&] { all->fallback(boxed); }) ==
        "RuntimeError: " + text +
            ": fallback needs a dispatch key; name it, or give the library "
            "one");
}

// --- typed operators ---

SB_OP(differing, "errors_registering::f(Tensor x, int n=1) -> Tensor");
SB_OP(missing, "errors_registering::g(Tensor x) -> Tensor");

TEST_CASE("an SB_OP that differs from the schema that is registered") {
  Library m(Kind::Def, "errors_registering");
  const std::string at = here();
  m.define("f(Tensor x, float n=1.0) -> Tensor");
  m.impl("f", K::CPU, [](const Tensor& x, double) { return x; });
  CHECK(message([] { differing(tensor_on(DeviceType::CPU)); }) ==
        "TypeError: errors_registering::f: declared as (Tensor, int) -> (Tensor), which is not the "
        "schema that is registered; declare that one\n"
        "schema: errors_registering::f(Tensor x, float n=1.) -> Tensor (" +
            at + ")");
}

TEST_CASE("an SB_OP whose operator nobody has registered") {
  CHECK(message([] { missing(tensor_on(DeviceType::CPU)); }) ==
        "RuntimeError: errors_registering::g: no operator of that name is registered; namespace "
        "'errors_registering' has none: link or open the library that defines them");
}

}  // namespace
}  // namespace sb
