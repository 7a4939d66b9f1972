#include "switchboard/dispatch/inspect/explain.h"

#include <functional>
#include <random>
#include <regex>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using V = ExplainStep::Verdict;

// The lines of this file move with every edit; their kernels' places become "here".
std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex(R"((dispatch/(?:\w+/)?\w+\.cc):\d+ *)"), "$1:N ");
}

class Demo {
 public:
  Demo() : library_(dispatcher_, Library::Kind::Def, "demo") {}
  OperatorHandle define(std::string_view schema) { return library_.define(schema); }
  Library& library() { return library_; }
  Dispatcher& dispatcher() { return dispatcher_; }

 private:
  Dispatcher dispatcher_;
  Library library_;
};

void leave_none(const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->clear(); }

TEST_CASE("the text of an explanation, whole") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x, int n, Tensor[] ys, Tensor? z=None) -> ()");
  demo.library().impl("f", K::CompositeExplicitAutograd, &leave_none);
  demo.library().impl("f", K::Autograd, &leave_none);
  const Tensor x = tensor_on(DeviceType::CPU);
  const Stack arguments = {x, 3, std::vector<Tensor>{x, Tensor()}, IValue()};
  CHECK(without_lines(to_string(explain(f, arguments))) ==
        R"(demo::f
  keys
    argument 0 'x'      {AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}
    argument 2 'ys[0]'  {AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}
    argument 2 'ys[1]'  {AutogradOther, ADInplaceOrView}
    thread includes     {ADInplaceOrView, BackendSelect}
    thread excludes     {AutocastCPU}
    op falls through    {AutocastCPU, ADInplaceOrView, BackendSelect} on CPU
    left for the call   {AutogradCPU, AutogradOther, CPU}
  looked at
    AutocastCPU                 excluded by the thread  fallthrough dispatch/dispatcher.cc:N [backend fallback]
    AutogradCPU                 runs, and decides       dispatch/inspect/explain_test.cc:N [autograd kernel, from Autograd]
  below it
    AutogradOther               may run, and decides    dispatch/inspect/explain_test.cc:N [autograd kernel, from Autograd]
    CPU                         may run                 dispatch/inspect/explain_test.cc:N [default backend kernel, from CompositeExplicitAutograd]
)");
  CHECK(without_lines(to_string(explain(f, DispatchKeySet(K::FPGA) | K::Functionalize))) ==
        R"(demo::f
  keys
    arguments           {Functionalize, FPGA}
    thread includes     {ADInplaceOrView, BackendSelect}
    thread excludes     {}
    op falls through    {ADInplaceOrView, BackendSelect} on CPU
    left for the call   {Functionalize, FPGA}
  looked at
    ADInplaceOrView             falls through           fallthrough dispatch/dispatcher.cc:N [backend fallback]
    Functionalize               fails: no kernel        (none)                                  [missing]
)");
}

TEST_CASE("an explanation names every tensor of the arguments, in lists too, and no absent one") {
  Demo demo;
  const OperatorHandle f =
      demo.define("f(Tensor[] xs, Tensor?[] ys, Tensor? z, Scalar s, Tensor w) -> ()");
  const Tensor cpu = tensor_on(DeviceType::CPU), meta = tensor_on(DeviceType::Meta);
  // Values before the call's own may lie on the stack.
  const Stack stack = {meta,
                       std::vector<Tensor>{cpu, meta},
                       std::vector<std::optional<Tensor>>{std::nullopt, meta},
                       IValue(),
                       2.0,
                       cpu};
  std::vector<std::pair<size_t, std::string>> named;
  const Explanation e = explain(f, stack);
  for (const ExplainedTensor& t : e.tensors) {
    named.emplace_back(t.argument, t.name);
    CHECK(t.keys == (t.name == "xs[0]" || t.name == "w" ? cpu : meta).key_set());
  }
  CHECK(named == std::vector<std::pair<size_t, std::string>>{
                     {0, "xs[0]"}, {0, "xs[1]"}, {1, "ys[1]"}, {4, "w"}});
  CHECK(e.arguments == (cpu.key_set() | meta.key_set()));
  CHECK_THAT(to_string(explain(demo.define("g(int n) -> ()"), Stack{1})),
             Catch::Contains("arguments           no tensors"));
}

TEST_CASE("explaining calls nothing and changes nothing") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  int calls = 0;
  demo.library().impl("f", K::CPU, [&](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    ++calls;
    stack->clear();
  });
  const Stack stack = {tensor_on(DeviceType::CPU)};
  const DispatchTls before = dispatch_tls;
  CHECK(explain(f, stack).runs());
  CHECK(calls == 0);
  CHECK(stack.size() == 1);
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.kept == before.kept);
  CHECK(&f.entry().table() == &kUnresolvedTable);  // not even the table was computed
}

TEST_CASE("a removed operator and a short stack cannot be explained") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x, Tensor y) -> ()");
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK_THROWS_WITH(explain(f, Stack{x}),
                    Catch::StartsWith("demo::f: expected 2 values on the stack, got 1; "));
  CHECK_THROWS_AS(explain(f, Stack{x}), RuntimeError);
  demo.library().close();
  CHECK_THROWS_AS(explain(f, Stack{x, x}), NotImplementedError);
  CHECK_THROWS_WITH(explain(f, DispatchKeySet(K::CPU)),
                    Catch::StartsWith("demo::f: the operator was removed; "));
}

SB_OP(blend, "explain::blend(Tensor x, Tensor[] ys, *, float weight=0.5) -> Tensor");

TEST_CASE("a typed call is explained as it would be made") {
  Library m(Library::Kind::Def, "explain");
  m.define(blend);
  m.impl(blend, K::Meta, [](const Tensor& x, TensorList, double) { return x; });
  const Tensor x = tensor_on(DeviceType::CPU), y = tensor_on(DeviceType::Meta);
  const Explanation e = explain(blend, x, std::vector<Tensor>{y});
  CHECK(e.decision().key == K::Meta);
  CHECK(e.runs());
  CHECK(to_string(explain(blend, x, std::vector<Tensor>{y}, 0.25)) == to_string(e));
  CHECK_FALSE(explain(blend, x, std::vector<Tensor>{}).runs());
}

TEST_CASE("what would have been next is left out where no kernel runs, or nothing is below") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  CHECK_FALSE(explain(f, DispatchKeySet(K::CPU)).next);
  demo.library().impl("f", K::CompositeExplicitAutograd, &leave_none);
  const Explanation cpu = explain(f, DispatchKeySet(K::CPU));
  REQUIRE(cpu.next);
  CHECK(cpu.next->key == K::Undefined);  // "below CPU" is no functionality at all
  const Explanation undefined = explain(f, DispatchKeySet());
  CHECK(undefined.decision().key == K::Undefined);
  CHECK_FALSE(undefined.next);
}

TEST_CASE("of a call by keys the text ends with what a redispatch enters, if a key is left") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::CompositeExplicitAutograd, &leave_none);
  demo.library().impl("f", K::Autograd, &leave_none);
  const auto text = [&](DispatchKeySet keys) { return to_string(explain(f, keys)); };
  CHECK_THAT(text(DispatchKeySet(K::CPU) | K::AutogradCPU),
             Catch::Contains("\n  a redispatch below it enters\n    CPU  "));
  CHECK_THAT(text(DispatchKeySet(K::CPU)), !Catch::Contains("Undefined"));
}

TEST_CASE("what refuses calls is named, and is no missing kernel") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  const std::string text = to_string(explain(f, DispatchKeySet(K::Meta)));
  CHECK_THAT(text, Catch::Contains("fails: refused") &&
                       Catch::Contains("refusal dispatch/dispatcher.cc:") &&
                       Catch::Contains("[backend fallback]"));
  CHECK_FALSE(explain(f, DispatchKeySet(K::Meta)).runs());
  CHECK_THAT(table_to_string(f),
             Catch::Contains("refusal dispatch/dispatcher.cc:") && !Catch::Contains("(none)"));
}

TEST_CASE("a fallthrough at Undefined is entered, and fails") {
  Demo demo;
  const OperatorHandle f = demo.define("f(Tensor x) -> ()");
  demo.library().impl("f", K::Undefined, fallthrough);
  const Explanation e = explain(f, DispatchKeySet());
  CHECK(e.decision().key == K::Undefined);
  CHECK(e.decision().verdict == V::EntersFallthrough);
  CHECK_THAT(to_string(e), Catch::Contains("fails: a fallthrough"));
  Stack stack = {Tensor()};
  const ExcludeKeysGuard exclude({K::ADInplaceOrView, K::AutogradOther});
  CHECK_THROWS_WITH(f.call_boxed(&stack), Catch::Contains("fallthrough"));
}

// ---- A property: whatever is registered and whatever the thread is up to, the explanation names
// the kernel that the call then enters, by its source line, and the one below it, or the error.

struct Entered {
  unsigned line;  // of the registration
  K key;          // that it runs for
  bool operator==(const Entered&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Entered& entered) {
  return out << to_string(entered.key) << " line " << entered.line;
}

// Writes down where it was registered and what it runs for; the first of a call passes on below
// itself.
struct Marker {
  std::vector<Entered>* log;
  unsigned line;
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    const K key = keys.highest_key();
    log->push_back({line, key});
    if (log->size() == 1 && key != K::Undefined)
      op.redispatch_boxed(keys & DispatchKeySet::below(key), stack);
    else
      stack->clear();
  }
};

// Registrations on lines of their own, so that kernels put over others can be told apart.
void register_at(int place, Library& m, const char* op, K key, std::vector<Entered>* log) {
  const auto marker = [&](SourceLocation where = SourceLocation::current()) {
    return Marker{log, where.line()};
  };
  const bool fallback = !op;
  switch (place) {
    case 0:
      return fallback ? m.fallback(key, marker()) : m.impl(op, key, marker());
    case 1:
      return fallback ? m.fallback(key, marker()) : m.impl(op, key, marker());
    case 2:
      return fallback ? m.fallback(key, marker()) : m.impl(op, key, marker());
    default:
      return fallback ? m.fallback(key, fallthrough) : m.impl(op, key, fallthrough);
  }
}

class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    library_.emplace(dispatcher_, Library::Kind::Def, "demo");
    library_->allow_override();
    op_ = library_->define("f(Tensor x, Tensor[] ys) -> ()");
    fallbacks_.emplace(dispatcher_, Library::Kind::Impl, "_");
    for (int n = below(14); n > 0; --n) register_at(below(4), *library_, "f", any_key(), &log_);
    for (int n = below(4); n > 0; --n) {
      try {
        register_at(below(4), *fallbacks_, nullptr, runtime_key_of_pool(), &log_);
      } catch (const RuntimeError&) {  // there is one already
      }
    }
  }

  // Makes one call under random guards, explained first.
  void check_one_call() {
    with_guards(below(4), [&] {
      Stack stack = {tensor_with(keys())};
      std::vector<Tensor> ys;
      for (int n = below(3); n > 0; --n) ys.push_back(tensor_with(keys()));
      stack.emplace_back(std::move(ys));
      const Explanation e = explain(*op_, stack);
      INFO(to_string(e));
      log_.clear();
      std::string error;
      try {
        op_->call_boxed(&stack);
      } catch (const Error& thrown) {
        error = str_cat(thrown.kind(), ": ", thrown.what());
      }
      std::vector<Entered> expected;
      std::string expected_error;
      bool goes_on = false;  // through the default at an autograd key, which is no marker
      auto predict = [&](const ExplainStep& step) {
        const std::string key(to_string(step.key));
        if (step.row.is_autograd_fallback)
          goes_on = true;
        else if (step.verdict == V::Taken)
          expected.push_back({step.row.where.line(), step.key});
        else if (step.verdict == V::EntersFallthrough)
          expected_error = "fallthrough";
        else if (step.row.rule == ResolutionRule::AmbiguousAutogradOther)
          expected_error = "RuntimeError: demo::f: ambiguous at AutogradOther";
        else
          expected_error = "NotImplementedError: demo::f: no kernel for " + key;
      };
      predict(e.decision());
      if (e.next) predict(*e.next);
      if (goes_on && log_.size() > expected.size()) log_.resize(expected.size());
      CHECK(log_ == expected);
      if (expected_error.empty())
        CHECK((goes_on || error == ""));
      else
        CHECK_THAT(error, Catch::Contains(expected_error));
      ++outcomes[expected.size()];
      if (!error.empty()) ++errors;
    });
  }

  static inline int outcomes[3] = {};
  static inline int errors = 0;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  K any_key() {
    constexpr K aliases[] = {K::Autograd,
                             K::CompositeImplicitAutograd,
                             K::CompositeImplicitAutogradNestedTensor,
                             K::CompositeExplicitAutograd,
                             K::CompositeExplicitAutogradNonFunctional,
                             K::FuncTorchBatchedDecomposition};
    return below(3) == 0 ? aliases[below(std::size(aliases))] : runtime_key_of_pool();
  }
  K runtime_key_of_pool() {
    constexpr K pool[] = {K::CPU,
                          K::CUDA,
                          K::Meta,
                          K::PrivateUse1,
                          K::FPGA,
                          K::SparseCPU,
                          K::QuantizedCPU,
                          K::NestedTensorCPU,
                          K::BackendSelect,
                          K::Functionalize,
                          K::ADInplaceOrView,
                          K::AutogradOther,
                          K::AutogradCPU,
                          K::AutogradMeta,
                          K::AutogradPrivateUse1,
                          K::Tracer,
                          K::AutocastCPU,
                          K::FuncTorchBatched,
                          K::VmapMode,
                          K::Undefined};
    return pool[below(std::size(pool))];
  }
  DispatchKeySet keys() {
    constexpr DeviceType devices[] = {DeviceType::CPU, DeviceType::Meta, DeviceType::PrivateUse1,
                                      DeviceType::FPGA};
    DispatchKeySet keys;
    if (below(4) != 0) keys = tensor_key_set(devices[below(4)], below(4) == 0);
    for (int n = below(3); n > 0; --n) keys |= runtime_key_of_pool();
    return keys;
  }
  void with_guards(int n, const std::function<void()>& body) {
    if (n == 0) return body();
    switch (below(4)) {
      case 0: {
        IncludeKeysGuard guard(runtime_key_of_pool());
        return with_guards(n - 1, body);
      }
      case 1: {
        ExcludeKeysGuard guard({runtime_key_of_pool(), runtime_key_of_pool()});
        return with_guards(n - 1, body);
      }
      case 2: {
        UnexcludeKeysGuard guard(K::AutocastCPU);
        return with_guards(n - 1, body);
      }
      default: {
        InferenceModeGuard guard;
        return with_guards(n - 1, body);
      }
    }
  }

  std::minstd_rand random_;
  std::vector<Entered> log_;
  Dispatcher dispatcher_;
  std::optional<Library> library_, fallbacks_;
  std::optional<OperatorHandle> op_;
};

TEST_CASE("an explanation always predicts what the call then does") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (int call = 0; call < 10; ++call) world.check_one_call();
  }
  // Everything that can be predicted was.
  for (const int count : World::outcomes) CHECK(count > 100);
  CHECK(World::errors > 100);
}

}  // namespace
}  // namespace sb
