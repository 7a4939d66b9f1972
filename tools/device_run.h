// One run of a program on one device, checked.

#ifndef SWITCHBOARD_TOOLS_DEVICE_RUN_H_
#define SWITCHBOARD_TOOLS_DEVICE_RUN_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "switchboard/dispatch/trace.h"
#include "switchboard/tools/comparison.h"
#include "switchboard/tools/graph_runner.h"
#include "switchboard/tools/io/model_archive.h"
#include "switchboard/tools/run_place.h"
#include "switchboard/tools/run_report.h"

namespace sb::tools {

// What every device gets, and what is expected of it.
struct RunPlan {
  const io::ModelArchive& archive;
  const GraphRunner& runner;
  std::vector<Tensor> inputs;    // as program_tensors gives them
  std::vector<Tensor> expected;  // as expected_outputs gives them; empty to compare nothing
  std::vector<double> labels;    // one a sample; may be empty
  Tolerance tolerance;
  int repeats = 0;  // how often to run again, without the checks, for the time
};

struct DeviceRun {
  DeviceReport report;
  std::vector<Tensor> outputs;  // on the CPU, one for each output; empty for a fake or failed run
  bool unsupported = false;     // it failed for want of a kernel, not for what it was given
};

// Where the kernels of a run are shown; null for nowhere.
struct RunTrace {
  TraceSink* sink = nullptr;         // gets every kernel of the program
  std::ostream* headings = nullptr;  // gets a line a device and a line a node, before its kernels
};

// What to call a node: its own name, or that of its first output in archives that have none.
std::string label_of(const io::Node& node);

// The program's inputs at the mover's place: copies, or in a fake place what stands for them, with
// or without data here. Undefined for Constant ones.
std::vector<Tensor> move_inputs(const RunPlan& plan, Mover& mover);

// Copies the inputs to the place, runs, and checks every value against the program's metadata and
// the outputs against what is expected. Errors of the program's operators are in the report.
DeviceRun run_on(const RunPlace& place, const RunPlan& plan, const RunTrace& trace = {});

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_DEVICE_RUN_H_
