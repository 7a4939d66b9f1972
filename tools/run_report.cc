#include "switchboard/tools/run_report.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tools/json.h"

namespace sb::tools {
namespace {

constexpr size_t kShownFaults = 10;

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the last is not padded.
std::string align(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i];
      cell.resize(widths[i] + 3, ' ');
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string kernels_text(const KernelCounts& counts) {
  // Backends' own kernels first, then those of the layers above them.
  std::vector<std::pair<DispatchKey, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, {}, [](const auto& count) { return slot_of(count.first); });
  return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& count) {
    *out += str_cat(to_string(count.first), " ", with_separators(count.second));
  });
}

std::string peak_text(const DeviceReport& report) {
  std::string text = with_separators(report.peak_bytes);
  for (const auto& [device, bytes] : report.peak_elsewhere)
    text += absl::StrCat(" + ", with_separators(bytes), " on ", device);
  return text;
}

Row row_of(const DeviceReport& report, bool timed) {
  Row row = {report.place, "failed", "", "", ""};
  if (!report.error) {
    row = {report.place, report.score.value_or("-"),
           report.max_difference ? absl::StrFormat("%.3g", *report.max_difference) : "-",
           kernels_text(report.kernels), peak_text(report)};
  }
  for (const auto& time : {report.least_milliseconds, report.milliseconds, report.cpu_milliseconds})
    if (timed) row.push_back(time ? absl::StrFormat("%.3f", *time) : "-");
  return row;
}

// What the CPU did for a device: a line an operator, those that moved most bytes first.
std::string fallbacks_text(const DeviceReport& report) {
  if (report.fallbacks.empty()) return "";
  using Entry = std::pair<std::string, FallbackStats>;
  std::vector<Entry> sorted(report.fallbacks.begin(), report.fallbacks.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const Entry& entry) {
    return entry.second.bytes_to_cpu + entry.second.bytes_from_cpu;
  });
  std::vector<Row> rows = {
      {absl::StrCat("left to the cpu by ", report.place), "calls", "bytes there", "bytes back"}};
  if (report.milliseconds) rows[0].push_back("ms");
  for (const auto& [op, stats] : sorted) {
    rows.push_back({op, with_separators(stats.calls), with_separators(stats.bytes_to_cpu),
                    with_separators(stats.bytes_from_cpu)});
    if (report.milliseconds) {
      const std::chrono::duration<double, std::milli> time = stats.time;
      rows.back().push_back(absl::StrFormat("%.3f", time.count()));
    }
  }
  return align(rows) + "\n";
}

std::string notes_of(const DeviceReport& report) {
  if (report.error) return absl::StrCat(report.place, ": ", *report.error, "\n");
  std::string text = fallbacks_text(report);
  if (!report.outputs.empty())
    text += absl::StrCat(report.place, " gives ", absl::StrJoin(report.outputs, ", "), "\n");
  const size_t shown = std::min(report.faults.size(), kShownFaults);
  for (size_t i = 0; i < shown; ++i)
    text += absl::StrCat(report.place, ": ", report.faults[i], "\n");
  if (shown < report.faults.size())
    text += absl::StrCat(report.place, ": and ", report.faults.size() - shown, " more\n");
  return text;
}

}  // namespace

std::string with_separators(int64_t number) {
  std::string text = absl::StrCat(number);
  for (size_t at = text.size(); at > (number < 0 ? 4u : 3u);) text.insert(at -= 3, 1, ',');
  return text;
}

std::string to_string(const std::vector<DeviceReport>& reports) {
  std::vector<Row> rows = {{"device", "accuracy", "max |diff|", "kernels", "peak bytes"}};
  const bool timed = std::ranges::any_of(
      reports, [](const DeviceReport& report) { return report.milliseconds.has_value(); });
  if (timed) rows[0].insert(rows[0].end(), {"least ms", "median ms", "cpu ms"});
  std::string notes;
  for (const DeviceReport& report : reports) {
    rows.push_back(row_of(report, timed));
    notes += notes_of(report);
  }
  return align(rows) + "\n" + notes;
}

Json to_json(const DeviceReport& report) {
  Json kernels = Json::object(), elsewhere = Json::object(), fallbacks = Json::array();
  for (const auto& [key, count] : report.kernels) kernels[std::string(to_string(key))] = count;
  for (const auto& [device, bytes] : report.peak_elsewhere) elsewhere[device] = bytes;
  for (const auto& [op, stats] : report.fallbacks)
    fallbacks.push_back(
        {{"operator", op},
         {"calls", stats.calls},
         {"bytes_to_cpu", stats.bytes_to_cpu},
         {"bytes_from_cpu", stats.bytes_from_cpu},
         {"milliseconds", std::chrono::duration<double, std::milli>(stats.time).count()}});
  return {{"place", report.place},
          {"holds", report.holds()},
          {"error", or_null(report.error)},
          {"faults", report.faults},
          {"score", or_null(report.score)},
          {"max_difference", or_null(report.max_difference)},
          {"kernels", kernels},
          {"peak_bytes", report.peak_bytes},
          {"peak_elsewhere", elsewhere},
          {"milliseconds", or_null(report.milliseconds)},
          {"least_milliseconds", or_null(report.least_milliseconds)},
          {"cpu_milliseconds", or_null(report.cpu_milliseconds)},
          {"fallbacks", fallbacks},
          {"outputs", report.outputs}};
}

}  // namespace sb::tools
