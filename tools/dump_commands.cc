#include "switchboard/tools/dump_commands.h"

#include <optional>
#include <ostream>

#include "switchboard/dispatch/inspect/table_dump.h"
#include "switchboard/dispatch/objects/inspect_higher_order.h"
#include "switchboard/io/recording/diff.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/inspect_json.h"
#include "switchboard/tools/run_difference.h"

namespace sb::tools {
namespace {

TableDump read_dump(const std::string& path) {
  constexpr size_t kMaxBytes = size_t{1} << 28;  // fifty times what a thousand operators need
  return parse_table_dump(io::InputFile(path).read_all(kMaxBytes), path);
}

}  // namespace

const CommandSpec& dump_spec() {
  static const CommandSpec spec = {
      "dump",
      "",
      0,
      0,
      "Prints the computed tables of all operators, for 'sb diff': a line an operator, and a line\n"
      "a slot with its key, rule, kernel and source line. As JSON, for other programs.",
      {}};
  return spec;
}

const CommandSpec& diff_spec() {
  static const CommandSpec spec = {
      "diff",
      "OLD NEW",
      2,
      2,
      "Compares two files that 'sb dump' wrote: operators that went (-), came (+) and changed "
      "(~),\n"
      "slot by slot; or two that 'sb record' wrote: the first call that differs, and why. Exit\n"
      "status: 0 if they are the same, 1 if they differ, 2 for bad input.",
      {{"ignore-lines", "", "a kernel that moved within its file has not changed"},
       {"ignore-kernels", "", "of recordings, compare what the program called, whatever ran there"},
       {"ignore-devices", "", "of recordings, devices may differ"},
       {"ignore-strides", "", "of recordings, strides may differ"},
       {"tolerance", "T",
        "of recordings with --elements all, numbers may differ by T, and by T times the second"}}};
  return spec;
}

int dump_command(const CommandLine& line, std::ostream& out) {
  TableDump dump = dump_tables(default_dispatcher());
  dump_higher_order_ops(&dump);
  out << (line.has("json") ? dump_json(dump) : to_string(dump));
  return kHolds;
}

namespace {

int diff_recordings(const CommandLine& line, std::ostream& out) {
  const io::RecordedRun first = io::read_recording(line.arguments().at(0));
  const io::RecordedRun second = io::read_recording(line.arguments().at(1));
  const std::optional<io::RunDifference> difference =
      io::diff_runs(first, second,
                    {.ignore_lines = line.has("ignore-lines"),
                     .ignore_kernels = line.has("ignore-kernels"),
                     .ignore_devices = line.has("ignore-devices"),
                     .ignore_strides = line.has("ignore-strides"),
                     .tolerance = line.get_tolerance("tolerance", 0)});
  Findings found;
  found.add_lines("faults", faults_of({&first, &second}));
  add_difference(first, second, difference, "ok: the same calls\n", &found);
  found.print(line, out);
  return difference ? kFails : kHolds;
}

}  // namespace

int diff_command(const CommandLine& line, std::ostream& out) {
  if (io::is_recording(line.arguments().at(0))) return diff_recordings(line, out);
  const TableDump before = read_dump(line.arguments().at(0));
  const TableDump after = read_dump(line.arguments().at(1));
  const TableDiff diff = diff_tables(before, after, line.has("ignore-lines"));
  out << (line.has("json") ? diff_json(diff) : to_string(diff));
  return diff.empty() ? kHolds : kFails;
}

}  // namespace sb::tools
