// The error of a call that finds no kernel is about the step at which its explanation fails, and
// blames nobody who did nothing.

#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/explain.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb {
namespace {

using Catch::Contains;

// The call fails with NotImplementedError: its text; the explanation, which fails too, says where.
std::string error_as_explained(const OperatorHandle& op, Stack stack) {
  const std::vector<PathStep> path = explain(op, stack).path;
  REQUIRE_FALSE(path.empty());
  const PathStep& last = path.back();
  INFO(to_string(path));
  CHECK(last.onward == PathStep::Onward::Fails);
  std::string text;
  try {
    op.call_boxed(&stack);
  } catch (const NotImplementedError& error) {
    text = error.what();
  }
  CHECK_THAT(text, Contains(str_cat(last.op, ": no kernel for ", to_string(last.row.key), " (")));
  return text;
}

// An operator with a kernel for CUDA alone.
struct OnCudaOnly {
  OnCudaOnly() : library(Library::Kind::Def, "errors"), f(library.define("f(Tensor x) -> Tensor")) {
    library.impl("f", DispatchKey::CUDA, [](const Tensor& x) { return x; });
  }
  Library library;
  OperatorHandle f;
};

TEST_CASE("a missing kernel is named, whatever the call came through", "[explain]") {
  const OnCudaOnly op;
  const auto check = [&](const Tensor& x) {
    CHECK_THAT(error_as_explained(op.f, {x}), !Contains("this thread excludes"));
  };
  const Tensor x = ones({2}), w = ones({2});
  set_requires_grad(w, true);
  const std::function<std::vector<Tensor>(const std::vector<Tensor>&)> f =
      [&](const std::vector<Tensor>& inputs) {
        check(inputs[0]);
        return inputs;
      };
  check(x);
  check(w);
  functionalize(f)({x});
  functionalize(f)({w});
  CountingMode mode;
  const ModeGuard guard(&mode);
  check(x);
  check(w);
}

TEST_CASE("what the program itself excludes is named", "[explain]") {
  Library library(Library::Kind::Def, "errors");
  const OperatorHandle f = library.define("f(Tensor x) -> Tensor");
  library.impl("f", DispatchKey::AutogradCPU, [](const Tensor& x) { return x; });
  const ExcludeKeysGuard guard(kAutogradFunctionalities);
  CHECK_THAT(error_as_explained(f, {ones({2})}), Contains("this thread excludes AutogradCPU"));
}

}  // namespace
}  // namespace sb
