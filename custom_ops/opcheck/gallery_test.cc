#include "switchboard/custom_ops/opcheck/gallery.h"

#include <regex>
#include <set>

#include "catch2/catch.hpp"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

// Without the lines of sources: "(custom_ops/opcheck/gallery.cc:31)" is "(gallery.cc)".
std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex("\\([^()]*gallery\\.cc:[0-9]+\\)"), "(gallery.cc)");
}

// What opcheck throws; "" if nothing.
std::string message_of(const WrongOperator& op) {
  try {
    opcheck(op.name, op.arguments());
  } catch (const OpCheckError& error) {
    return without_lines(error.what());
  }
  return "";
}

TEST_CASE("each wrong operator is caught, and the message says what is wrong") {
  for (const WrongOperator& op : wrong_operators()) {
    INFO(op.name << ": " << op.what);
    ScopedLibrary library(Library::Kind::Def, "wrong");
    op.define(library);
    if (op.shows) {
      CHECK(message_of(op) == op.message);
      continue;
    }
    CHECK(message_of(op) == "");
    const auto failed = find_failing_variation(op.name, op.arguments());
    REQUIRE(failed);
    INFO(failed->call);
    CHECK(str_cat(failed->result.check, ": ", without_lines(failed->result.message)) == op.message);
  }
}

TEST_CASE("there are fifteen and more, each of its own kind") {
  std::set<std::string> kinds;
  for (const WrongOperator& op : wrong_operators()) kinds.insert(op.what);
  CHECK(kinds.size() == wrong_operators().size());
  CHECK(kinds.size() >= 15);
}

TEST_CASE("an operator that is right passes, and so do variations of its arguments") {
  ScopedLibrary library(Library::Kind::Def, "right");
  const OperatorHandle op = library.define("twice(Tensor x) -> Tensor");
  library.impl(op, DispatchKey::CPU, [](const Tensor& x) { return mul_Scalar(x, 2); });
  library.impl(op, DispatchKey::Meta, [](const Tensor& x) { return mul_Scalar(x, 2); });
  register_autograd(
      "right::twice",
      [](FunctionContext&, const Tensor& grad) { return std::vector<Tensor>{mul_Scalar(grad, 2)}; },
      {}, library);
  const Arguments arguments{
      requiring_grad(tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}))};
  opcheck("right::twice", arguments);
  opcheck_variations("right::twice", arguments);
  for (const OpCheckResult& result : opcheck_results("right::twice", arguments)) {
    INFO(result.to_string());
    CHECK((result.outcome == OpCheckResult::Outcome::Passed) == (result.check != "test_strides"));
  }
}

}  // namespace
}  // namespace sb
