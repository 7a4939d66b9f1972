// A model that a command runs, with its inputs.

#ifndef SWITCHBOARD_TOOLS_LOADED_MODEL_H_
#define SWITCHBOARD_TOOLS_LOADED_MODEL_H_

#include <string>

#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/command_line.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/model_files.h"

namespace sb::tools {

// The model of the command line's first argument, with the flags form, training, inputs and
// random-weights. Its plan compares no outputs. Throws what is wrong with the files.
class LoadedModel {
 public:
  // Where `without_data`, what the files lack needs no numbers: for fake places alone.
  LoadedModel(const CommandLine& line, bool without_data);
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  const std::string& name() const { return files_.name; }
  const RunPlan& plan() const { return plan_; }
  const io::SymbolRules& rules() const { return rules_; }

 private:
  ModelFiles files_;
  io::ModelArchive archive_;
  io::GraphRunner runner_;
  io::SymbolRules rules_;
  std::string inputs_;
  RunPlan plan_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_LOADED_MODEL_H_
