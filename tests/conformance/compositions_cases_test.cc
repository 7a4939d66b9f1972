#include "switchboard/tests/conformance/compositions_cases.h"

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

// A loop that may go round, and makes its carried tensor contiguous where it does. The recorded
// result has these sizes and strides.
Outcome run_fake_loop(const char* shape, const char* input_stride, const char* stride) {
  const std::string text = str_cat(
      R"({"id": "loop", "tol": [0, 0], "inputs": [{"dtype": "float32", "shape": )", shape,
      R"(, "stride": )", input_stride, R"(, "offset": 0, "storage": [1, 2, 3, 4]}], "steps": [
        {"hop": "while_loop", "carried": ["inputs.0"], "additional": [],
         "cond": {"params": 1, "outputs": ["steps.1.0"], "steps": [
           {"op": "aten::sum", "args": [{"ref": "inputs.0"}]},
           {"op": "aten::lt.Scalar", "args": [{"ref": "steps.0.0"}, {"int": 0}]}]},
         "body": {"params": 1, "outputs": ["steps.1.0"], "steps": [
           {"op": "aten::contiguous", "args": [{"ref": "inputs.0"}]},
           {"op": "aten::neg", "args": [{"ref": "steps.0.0"}]}]}}],
        "outputs": ["steps.0.0"],
        "expect": {"fake": {"inputs": {}, "returns": [{"dtype": "float32", "shape": )",
      shape, R"(, "stride": )", stride, R"(, "offset": 0, "storage": [1, 2, 3, 4]}]}}})");
  const std::unique_ptr<Place> place = make_place("cpu");
  return run_composition_case(Json::parse(text), "fake", *place);
}

}  // namespace

TEST_CASE("on fake tensors a loop may give any stride where a dimension has one element") {
  CHECK(run_fake_loop("[1, 4]", "[1, 1]", "[1, 1]").kind == Outcome::Kind::Passed);
  CHECK(run_fake_loop("[1, 4]", "[1, 1]", "[4, 1]").kind == Outcome::Kind::Passed);
}

TEST_CASE("on fake tensors other strides of a loop's results count") {
  CHECK(run_fake_loop("[1, 4]", "[1, 1]", "[4, 2]").kind == Outcome::Kind::Failed);
}

}  // namespace sb::conformance
