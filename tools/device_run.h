// One run of a program on one device, checked.

#ifndef SWITCHBOARD_TOOLS_DEVICE_RUN_H_
#define SWITCHBOARD_TOOLS_DEVICE_RUN_H_

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/io/recording/record.h"
#include "switchboard/tools/comparison.h"
#include "switchboard/tools/run_place.h"
#include "switchboard/tools/run_report.h"
#include "switchboard/tools/value_checker.h"

namespace sb::tools {

// What every device gets, and what is expected of it.
struct RunPlan {
  const io::ModelArchive& archive;
  const io::GraphRunner& runner;
  std::vector<IValue> inputs;    // as program_tensors gives them
  std::vector<Tensor> expected;  // as expected_outputs gives them; empty to compare nothing
  std::vector<double> labels;    // one a sample; may be empty
  Tolerance tolerance;
  int repeats = 0;  // how often to run again, without the checks, for the time
  // The sizes of inputs that the program leaves open; empty for a program that leaves none.
  io::SymbolNumbers sizes = {};
  // Makes the outputs that are compared of those on the CPU; empty where they are the same.
  std::function<std::vector<Tensor>(std::vector<Tensor>)> gather = {};
  // Whether values may have other strides than the program says, as parts of tensors have.
  bool own_strides = false;
};

struct DeviceRun {
  DeviceReport report;
  std::vector<Tensor> outputs;  // on the CPU, one for each output; empty for a fake or failed run
  bool unsupported = false;     // it failed for want of a kernel, not for what it was given
};

// Who else sees the kernels of a run: by default nobody.
struct RunTrace {
  TraceSink* sink = nullptr;         // gets every kernel of the program
  std::ostream* headings = nullptr;  // gets a line a device and a line a node, before its kernels
  std::string recording = {};        // the file of a recording of the program's calls, or empty
  RecordingOptions::Elements elements = RecordingOptions::Elements::None;  // in it
};

// The program's inputs at the mover's place: copies, or in a fake place what stands for them, with
// or without data here. `symbols` are the sizes that the program leaves open; where these are
// symbols, inputs get them. None for Constant ones.
std::vector<IValue> move_inputs(const RunPlan& plan, Mover& mover, const io::SymbolValues& symbols);

// Copies the inputs to the place, runs, and checks every value against the program's metadata and
// the outputs against what is expected. A fake run of a program with open sizes has symbols for
// them, and is checked for all sizes that the program takes. Errors of the program's operators are
// in the report.
DeviceRun run_on(const RunPlace& place, const RunPlan& plan, const RunTrace& trace = {});

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_DEVICE_RUN_H_
