#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/tests/conformance/runner.h"

namespace sb::conformance {
namespace {

TEST_CASE("recorded dispatch cases pass, every one") {
  std::ostringstream out;
  Tally tally;
  run_file("tests/conformance/data/dispatch.jsonl", *make_place("cpu"), {}, out, &tally);
  INFO(out.str());
  CHECK(tally.failed == 0);
  CHECK(tally.skipped == 0);
  CHECK(tally.passed > 100);
}

}  // namespace
}  // namespace sb::conformance
