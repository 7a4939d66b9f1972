// What becomes of operators when their library goes.

#include <atomic>
#include <optional>
#include <thread>

#include "switchboard/autograd/register_autograd.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/objects/kept_kernel.h"
#include "switchboard/dispatch/objects/op_namespace.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

SB_OP(declared, "q::f(Tensor x) -> Tensor");

// q::f, whose kernel adds 1.
struct F {
  Library m{Library::Kind::Def, "q"};
  OpOverload op{m.define("f(Tensor x) -> Tensor")};
  F() {
    m.impl("f", K::CPU, [](const Tensor& x) { return x + 1; });
  }
};

SB_QUESTION("A kernel closes the library that it is of. What does the call give?",
            .pytorch = "A segmentation fault.",
            .here = "What the kernel gives; the next call is a NotImplementedError.",
            .better = "A kernel lives until the last call of it has ended.") {
  F f;
  f.m.impl("f", K::CPU, [&f](const Tensor& x) {
    f.m.close();
    return x + 1;
  });
  CHECK(values_of(call(f.op, numbers({1}))) == Values{2});
  CHECK_THAT(error_of([&] { f.op(numbers({1})); }), StartsWith("NotImplementedError: q::f"));
}

SB_QUESTION("An overload is called after its library is gone. What happens?",
            .pytorch =
                "An internal assertion about a schema, without the operator's name, or a "
                "segmentation fault; both were seen.",
            .here = "NotImplementedError that names the operator.",
            .better = "Nothing that was freed is read, and the error names what is missing.") {
  std::optional<F> f(std::in_place);
  const OpOverload op = f->op;
  f.reset();
  CHECK_THAT(error_of([&] { op(numbers({1})); }), StartsWith("NotImplementedError: q::f"));
  CHECK(op.name() == "q::f");
}

SB_QUESTION("And a packet that was looked up before?", .pytorch = "The same internal assertion.",
            .here = "NotImplementedError that names the operator.",
            .better = "A packet shows what there is at the moment.") {
  std::optional<F> f(std::in_place);
  const OpOverloadPacket packet = ops["q"]["f"];
  CHECK(values_of(packet(numbers({1}))[0].to_tensor()) == Values{2});
  f.reset();
  CHECK_THAT(error_of([&] { packet(numbers({1})); }), StartsWith("NotImplementedError: q::f"));
}

SB_QUESTION("And a typed handle of C++, which keeps the operator's table?",
            .pytorch =
                "(C++ alone: a handle is to be used as long as its operator is there, which "
                "nobody checks.)",
            .here = "RuntimeError that names the operator; it works again once that is defined.",
            .better = "A handle notices that its table is no longer the operator's.") {
  std::optional<F> f(std::in_place);
  CHECK(values_of(declared(numbers({1}))) == Values{2});
  f.reset();
  CHECK_THAT(error_of([&] { declared(numbers({1})); }), Contains("q::f"));
  f.emplace();
  CHECK(values_of(declared(numbers({1}))) == Values{2});
}

SB_QUESTION("And a kernel that get_kernel() keeps?",
            .pytorch =
                "RuntimeError that says where it was registered; once the operator is gone "
                "too, the internal assertion.",
            .here = "RuntimeError that names the operator, in both cases.",
            .better = "The kept kernel knows whose it is after that is gone.") {
  F f;
  std::optional<Library> over(std::in_place, Library::Kind::Impl, "q");
  over->impl("f", K::CPU, giving(5));
  const KeptKernel kept = get_kernel("q::f", K::CPU);
  const auto run = [&] { kept(DispatchKeySet(K::CPU), numbers({1})); };
  CHECK(error_of(run) == "no error");
  over.reset();
  CHECK_THAT(error_of(run), Contains("q::f: the kept kernel at CPU is no longer registered"));
  f.m.close();
  CHECK_THAT(error_of(run), Contains("q::f"));
}

SB_QUESTION("A library is closed while another thread is in its kernel. What does that call give?",
            .pytorch =
                "An internal assertion in the other thread, as its results are converted by "
                "a schema that is gone.",
            .here = "What the kernel gives.",
            .better = "A call that began with an operator ends with it.") {
  F f;
  std::atomic<bool> inside = false, closed = false;
  f.m.impl("f", K::CPU, [&](const Tensor& x) {
    inside = true;
    while (!closed) std::this_thread::yield();
    return x + 1;
  });
  Values result;
  std::thread other([&] { result = values_of(call(f.op, numbers({1}))); });
  while (!inside) std::this_thread::yield();
  f.m.close();
  closed = true;
  other.join();
  CHECK(result == Values{2});
}

SB_QUESTION(
    "An operator is defined anew with another schema. What does an overload object of the "
    "old one call?",
    .pytorch = "The new operator, with its schema.",
    .here = "NotImplementedError; one that is defined anew with the same schema it calls.",
    .better = "Whoever holds an overload holds that signature.") {
  std::optional<F> f(std::in_place);
  const OpOverload op = f->op;
  f.reset();
  {
    Library m(Library::Kind::Def, "q");
    m.define("f(Tensor x, int n) -> Tensor");
    m.impl("f", K::CPU, [](const Tensor& x, int64_t) { return x + 9; });
    CHECK_THAT(error_of([&] { op(numbers({1}), 1); }), StartsWith("NotImplementedError: q::f"));
  }
  f.emplace();
  CHECK(values_of(call(op, numbers({1}))) == Values{2});
}

SB_QUESTION("Is a namespace free again when its DEF library has gone?",
            .both = "Yes. While it is open a second one is a RuntimeError.") {
  Library m(Library::Kind::Def, "q");
  CHECK_THAT(error_of([] { Library(Library::Kind::Def, "q"); }), StartsWith("RuntimeError"));
  m.close();
  CHECK(error_of([] { Library(Library::Kind::Def, "q"); }) == "no error");
}

SB_QUESTION("A library that was closed is asked to define an operator. What happens?",
            .both = "An error says that the library is closed.") {
  Library m(Library::Kind::Def, "q");
  m.close();
  CHECK_THAT(error_of([&] { m.define("f(Tensor x) -> Tensor"); }), Contains("closed"));
}

SB_QUESTION("Which namespaces may nobody take?",
            .pytorch =
                "prim, unless the library is for kernels alone, and aten as a DEF library. The "
                "empty one is taken, and so is 'a b', in which no schema can name an operator.",
            .here = "The same two, the empty one, and what is no identifier.",
            .better = "A library that can have no operator is a mistake at once.") {
  for (const char* ns : {"prim", "", "a b"})
    CHECK_THAT(error_of([&] { Library(Library::Kind::Fragment, ns); }), Contains("Error: "));
  CHECK_THAT(error_of([] { Library(Library::Kind::Def, "aten"); }),
             StartsWith("RuntimeError: namespace 'aten' has a DEF library already"));
  CHECK(error_of([] { Library(Library::Kind::Fragment, "aten"); }) == "no error");
  CHECK(error_of([] { Library(Library::Kind::Impl, "prim"); }) == "no error");
}

SB_QUESTION("A kernel is registered before its operator is defined. Does it count?",
            .both = "Yes: until then the operator cannot be found, then the kernel runs.") {
  Library kernels(Library::Kind::Impl, "q");
  kernels.impl("f", K::CPU, giving(5));
  CHECK_THAT(error_of([] { ops["q"]["f"]; }), StartsWith("AttributeError"));
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  CHECK(values_of(call(op, numbers({1}))) == Values{5});
}

SB_QUESTION("And if that kernel does not fit the schema that comes?",
            .pytorch =
                "In Python nothing is compared; a call fails inside of the kernel, or gives "
                "it other arguments than it expects.",
            .here = "RuntimeError when the operator is defined, which then is not.",
            .better = "The error comes where the mistake is.") {
  Library kernels(Library::Kind::Impl, "q");
  kernels.impl("f", K::CPU, [](const Tensor& x, int64_t) { return x; });
  Library m(Library::Kind::Def, "q");
  CHECK_THAT(error_of([&] { m.define("f(Tensor x) -> Tensor"); }),
             StartsWith("RuntimeError: q::f"));
  CHECK_FALSE(default_dispatcher().find_op("q::f").has_value());
}

SB_QUESTION("A kernel registers another kernel over itself. Which one runs?",
            .both = "The old one to its end; the new one from the next call on.") {
  F f;
  f.m.impl("f", K::CPU, [&f](const Tensor& x) {
    f.m.impl("f", K::CPU, giving(101));
    return x + 1;
  });
  CHECK(values_of(call(f.op, numbers({1}))) == Values{2});
  CHECK(values_of(call(f.op, numbers({1}))) == Values{101});
}

SB_QUESTION(
    "Backward runs after the library of the operator, and of its gradient, is gone. What "
    "comes of it?",
    .both = "The gradient: what was recorded keeps what it needs.") {
  std::optional<F> f(std::in_place);
  register_autograd(
      "q::f", [](FunctionContext&, const Tensor& g) { return g * 3; }, {}, f->m);
  const Tensor x = leaf({1}), y = call(f->op, x);
  f.reset();
  CHECK(gradient(y, x) == Values{3});
}

SB_QUESTION("And if backward calls another operator of that library?",
            .pytorch = "A segmentation fault.",
            .here = "NotImplementedError that names the operator; no gradient is left.",
            .better = "An error can be caught.") {
  std::optional<F> f(std::in_place);
  const OpOverload helper(f->m.define("helper(Tensor x) -> Tensor"));
  register_autograd(
      "q::f", [helper](FunctionContext&, const Tensor& g) { return call(helper, g); }, {}, f->m);
  const Tensor x = leaf({1}), y = call(f->op, x);
  f.reset();
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("NotImplementedError: q::helper"));
  CHECK_FALSE(grad_of(x).defined());
}

SB_QUESTION("A graph holds an operator whose library is gone. What does a run of it give?",
            .pytorch = "AttributeError: the namespace has no such operator.",
            .here = "NotImplementedError that names the operator.",
            .better = "It is the error that a call of the operator gives.") {
  std::optional<F> f(std::in_place);
  const Graph graph =
      trace([&](const Tensors& in) { return Tensors{call(f->op, in[0])}; }, {numbers({1})});
  CHECK(values_of(graph.run({numbers({1})})[0]) == Values{2});
  f.reset();
  CHECK_THAT(error_of([&] { graph.run({numbers({1})}); }), Contains("q::f"));
}

}  // namespace
}  // namespace sb::questions
