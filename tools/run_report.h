// What a run found, and the page that says so.

#ifndef SWITCHBOARD_TOOLS_RUN_REPORT_H_
#define SWITCHBOARD_TOOLS_RUN_REPORT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/devices/fallback_stats.h"
#include "switchboard/tools/call_counter.h"

namespace sb::tools {

// One run of the program on one device.
struct DeviceReport {
  std::string place;                     // "fake:cuda:0"
  std::optional<std::string> error;      // what stopped it; the rest is then of no account
  std::optional<std::string> score;      // where there are labels
  std::optional<double> max_difference;  // where outputs are expected
  KernelCounts kernels;
  FallbackStatsByOp fallbacks;               // what the CPU did for the device, in the first run
  std::optional<double> milliseconds;        // the median run, where it was timed
  std::optional<double> least_milliseconds;  // the fastest
  std::optional<double> cpu_milliseconds;    // the least that a run took of all processors together
  int64_t peak_bytes = 0;  // on the device: weights, inputs and intermediate values
  std::vector<std::pair<std::string, int64_t>> peak_elsewhere;  // on other devices, where not 0
  std::vector<std::string> outputs;                             // of a fake run: "y float32[2, 3]"
  std::vector<std::string> faults;                              // what does not hold

  bool holds() const { return !error && faults.empty(); }
};

// "4,810".
std::string with_separators(int64_t number);

// A table with a line a device, then what fake runs foretell and what devices left to the CPU, then
// faults and errors. Times are in it where runs were timed.
std::string to_string(const std::vector<DeviceReport>& reports);
// {place, holds, error, faults, score, max_difference, kernels: {key: number}, peak_bytes,
// peak_elsewhere: {device: bytes}, milliseconds, least_milliseconds, cpu_milliseconds, fallbacks:
// [{operator, calls, bytes_to_cpu, bytes_from_cpu, milliseconds}], outputs}; null for what there is
// not, and "inf" or "nan" for a number that JSON has not.
nlohmann::ordered_json to_json(const DeviceReport& report);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RUN_REPORT_H_
