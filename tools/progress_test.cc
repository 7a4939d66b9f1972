#include "switchboard/tools/progress.h"

#include "catch2/catch.hpp"

namespace sb::tools {
namespace {

TEST_CASE("progress says how far a work is, and how long it still takes", "[tools][progress]") {
  CHECK(progress_text("programs", 1000, 4000, 2) == "programs  1,000 of 4,000  25 %  6 s left");
  CHECK(progress_text("runs", 1, 1000, 10) == "runs  1 of 1,000  0 %  2 h 46 min left");
  CHECK(progress_text("runs", 10, 100, 30) == "runs  10 of 100  10 %  4 min 30 s left");
}

TEST_CASE("no time is said before there is something to measure", "[tools][progress]") {
  CHECK(progress_text("runs", 0, 5, 3) == "runs  0 of 5  0 %");
  CHECK(progress_text("runs", 1, 5, 0.2) == "runs  1 of 5  20 %");
  CHECK(progress_text("calls", 1'234'567, 0, 3) == "calls  1,234,567");
}

TEST_CASE("more than was foreseen is all of it", "[tools][progress]") {
  CHECK(progress_text("runs", 7, 5, 3) == "runs  7 of 5  100 %  0 s left");
}

}  // namespace
}  // namespace sb::tools
