#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/tests/conformance/runner.h"

namespace sb::conformance {
namespace {

TEST_CASE("recorded operator cases pass in every place, where the operator is registered") {
  const std::string name = GENERATE("cpu", "meta", "dummy", "fake");
  std::ostringstream out;
  Tally tally;
  run_file("tests/conformance/data/ops.jsonl", *make_place(name), {}, out, &tally);
  INFO(out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.passed + tally.skipped > 50);
}

TEST_CASE("results have PyTorch's strides and offsets for every layout of the arguments") {
  const std::string name = GENERATE("cpu", "meta", "fake");
  std::ostringstream out;
  Tally tally;
  run_file("tests/conformance/data/layouts.jsonl", *make_place(name), {}, out, &tally);
  INFO(name << ": " << tally.to_string() << "\n" << out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.passed > 300);
}

TEST_CASE("recorded gradients pass in every place") {
  const std::string name = GENERATE("cpu", "meta", "dummy", "fake", "fake:cuda:0");
  std::ostringstream out;
  Tally tally;
  run_file("tests/conformance/data/grads.jsonl", *make_place(name), {}, out, &tally);
  INFO(name << ": " << tally.to_string() << "\n" << out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.skipped == 0);
  CHECK(tally.passed > 50);
}

TEST_CASE("recorded calls with symbolic sizes pass in every way") {
  std::ostringstream out;
  Tally tally;
  run_file("tests/conformance/data/symbolic.jsonl", *make_place("cpu"), {}, out, &tally);
  INFO(tally.to_string() << "\n" << out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.passed > 250);
}

TEST_CASE("recorded calls are made again from a recording, with the same kernels and bits") {
  const std::string name = GENERATE("cpu", "meta", "fake");
  std::ostringstream out;
  Tally tally;
  for (const std::string file : {"layouts", "ops", "grads"})
    run_file("tests/conformance/data/" + file + ".jsonl", *make_place(name), {.replay = true}, out,
             &tally);
  INFO(name << ": " << tally.to_string() << "\n" << out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.refused == 0);
  CHECK(tally.passed > 400);
}

std::string run_text(const std::string& lines, const Options& options, Tally* tally) {
  std::istringstream in(lines);
  std::ostringstream out;
  run_cases(in, "file", *make_place("cpu"), options, out, tally);
  return out.str();
}

constexpr const char* kLines =
    "{\"id\": \"a/0\", \"steps\": []}\n"
    "{\"id\": \"b/0\", \"op\": \"none::such\", \"args\": [], \"returns\": []}\n"
    "{\"id\": \"b/1\", \"op\": \"none::such\", \"args\": [], \"returns\": [], \"grad_outputs\": "
    "[], \"grads\": {}}\n";

TEST_CASE("cases are counted by what became of them") {
  Tally tally;
  CHECK(run_text(kLines, {}, &tally) == "");
  CHECK(tally.to_string() ==
        "skipped 2: the operator is not registered\n"
        "1 passed, 0 failed, 2 skipped");
}

TEST_CASE("cases are chosen by a glob on the id or the operator") {
  Options options;
  options.list = true;
  Tally tally;
  options.only = "*/0";
  CHECK(run_text(kLines, options, &tally) == "a/0\nb/0\n");
  options.only = "none::*";
  CHECK(run_text(kLines, options, &tally) == "b/0\nb/1\n");
  CHECK(tally.passed + tally.failed + tally.skipped == 0);
}

TEST_CASE("a line that is not a case, and a file that is not there, are failed cases") {
  Tally tally;
  CHECK(run_text("{\n", {}, &tally).find("FAILED file:1: malformed case") == 0);
  CHECK(run_text("{\"id\": \"c\"}\n", {}, &tally) ==
        "FAILED c: malformed case: neither a call nor steps\n");
  std::ostringstream out;
  run_file("no/such/file", *make_place("cpu"), {}, out, &tally);
  CHECK(out.str() == "FAILED no/such/file: cannot be opened\n");
  CHECK(tally.failed == 3);
}

}  // namespace
}  // namespace sb::conformance
