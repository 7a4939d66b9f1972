#include "switchboard/tools/run_report.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/tools/json.h"

namespace sb::tools {
namespace {

TEST_CASE("a difference that is no number of JSON's is text, and one that there is not is null") {
  DeviceReport report;
  CHECK(to_json(report)["max_difference"].is_null());
  report.max_difference = 0.5;
  CHECK(to_json(report)["max_difference"] == 0.5);
  report.max_difference = INFINITY;
  CHECK(to_json(report)["max_difference"] == "inf");
  report.max_difference = NAN;
  CHECK(to_json(report)["max_difference"] == "nan");
}

}  // namespace
}  // namespace sb::tools
