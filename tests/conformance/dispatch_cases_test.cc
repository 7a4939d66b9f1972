#include "switchboard/tests/conformance/dispatch_cases.h"

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

// A case whose steps are an operator with kernels k1 at CPU and ka at AutogradCPU, and then `step`.
std::string difference(const std::string& step) {
  const Outcome outcome = run_dispatch_case(Json::parse(str_cat(
      R"({"id": "x", "kernels": {"ka": "redispatch"}, "steps": [
           {"do": "library", "as": "L", "kind": "DEF", "ns": "test"},
           {"do": "define", "lib": "L", "schema": "foo(Tensor x) -> Tensor"},
           {"do": "impl", "lib": "L", "op": "foo", "key": "CPU", "kernel": "k1"},
           {"do": "impl", "lib": "L", "op": "foo", "key": "AutogradCPU", "kernel": "ka"},)",
      step, "]}")));
  CHECK((outcome.kind == Outcome::Kind::Passed) == outcome.why.empty());
  return outcome.why;
}

TEST_CASE("the log of a call is compared") {
  CHECK(difference(R"({"do": "call", "op": "test::foo", "args": [{"device": "cpu"}],
                       "expect": [["ka", "AutogradCPU"], ["k1", "CPU"]]})") == "");
  CHECK(
      difference(R"({"do": "call", "op": "test::foo", "args": [{"device": "cpu"}],
                       "expect": [["k1", "CPU"]]})") ==
      R"(step 4 (call test::foo): expected [["k1","CPU"]], got [["ka","AutogradCPU"],["k1","CPU"]])");
}

TEST_CASE("a slot of a table that differs is named") {
  CHECK(difference(R"({"do": "table", "op": "test::foo", "expect": {"CPU": ["k2", "kernel"]}})") ==
        R"(step 4 (table test::foo): CPU: expected ["k2","kernel"], got ["k1","kernel"])");
}

TEST_CASE("kernels are listed by key") {
  CHECK(difference(R"({"do": "kernels", "op": "test::foo",
                       "expect": {"CPU": ["k1"], "AutogradCPU": ["ka"]}})") == "");
  CHECK(difference(R"({"do": "kernels", "op": "test::foo", "expect": {"CPU": ["k1"]}})") ==
        R"(step 4 (kernels test::foo): AutogradCPU: expected nothing, got ["ka"])");
}

TEST_CASE("a step that should fail and does not is a difference, and so is another error") {
  CHECK(difference(R"({"do": "library", "as": "M", "kind": "DEF", "ns": "test",
                       "raises": "RuntimeError"})") == "");
  CHECK(difference(R"({"do": "library", "as": "M", "kind": "DEF", "ns": "more",
                       "raises": "RuntimeError"})") ==
        "step 4 (library): did not raise: expected RuntimeError ()");
  CHECK(difference(R"({"do": "library", "as": "M", "kind": "DEF", "ns": "test",
                       "raises": "IndexError"})")
            .find("wrong kind of error: expected IndexError, got RuntimeError") !=
        std::string::npos);
  CHECK(difference(R"({"do": "library", "as": "M", "kind": "DEF", "ns": "test"})")
            .find("raised RuntimeError") != std::string::npos);
}

TEST_CASE("the kernels that ran before an error are compared too") {
  const std::string steps =
      R"({"do": "impl", "lib": "L", "op": "foo", "key": "AutogradCUDA", "kernel": "ka"},
         {"do": "call", "op": "test::foo", "raises": "NotImplementedError",
          "args": [{"keys": ["CUDA", "AutogradCUDA"]}], "expect": )";
  CHECK(difference(steps + R"([["ka", "AutogradCUDA"]]})") == "");
  CHECK(difference(steps + "[]}") ==
        R"(step 5 (call test::foo): expected [], got [["ka","AutogradCUDA"]])");
}

TEST_CASE("members and the highest key of a set are compared") {
  const std::string set = R"({"do": "keyset", "expr": ["union", ["of", "CPU"], ["of", "Tracer"]],
                              "expect": {"members": )";
  CHECK(difference(set + R"(["Tracer", "CPU"], "highest": "Tracer"}})") == "");
  CHECK(difference(set + R"(["Tracer"], "highest": "Tracer"}})") ==
        R"(step 4 (keyset): members: expected ["Tracer"], got ["CPU","Tracer"])");
  CHECK(difference(set + R"(["Tracer", "CPU"], "highest": "CPU"}})") ==
        R"(step 4 (keyset): highest: expected "CPU", got "Tracer")");
}

TEST_CASE("a step that the format does not have is malformed") {
  CHECK(difference(R"({"do": "dance"})") == "malformed case: a step of unknown kind 'dance'");
}

TEST_CASE("a case that needs what nobody has is skipped") {
  CHECK(run_dispatch_case(Json::parse(R"({"id": "x", "needs": ["wings"], "steps": []})")).kind ==
        Outcome::Kind::Skipped);
}

}  // namespace
}  // namespace sb::conformance
