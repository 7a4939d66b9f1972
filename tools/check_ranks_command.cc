#include "switchboard/tools/check_ranks_command.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/check/check_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/findings.h"
#include "switchboard/tools/model_files.h"
#include "switchboard/tools/program_tensors.h"

namespace sb::tools {
namespace {

// A program with values for its inputs, of which only the shapes matter.
struct RankProgram {
  io::ModelArchive archive;
  std::vector<IValue> inputs;
};

// Tells which node calls.
class NodePlaces final : public io::RunObserver {
 public:
  void on_node(const io::Graph& graph, size_t node) override {
    place_.emplace(graph.place_of(node));
  }

 private:
  std::optional<CallPlaceGuard> place_;
};

}  // namespace

const CommandSpec& check_ranks_spec() {
  static const CommandSpec spec = {
      "check-ranks",
      "MODEL [MODEL...]",
      1,
      1024,
      "Runs a program as each of its ranks, on fake tensors, and reports the first point where "
      "they\n"
      "part or where none can go on: other collectives, options, groups, dtypes, shapes, order.\n"
      "All ranks run MODEL; or each its own, if there are as many. MODEL is what 'sb run' takes.\n"
      "Exit status: 0 if the ranks agree, 1 if not, 2 for bad input.",
      {{"ranks", "N", "how many ranks there are"},
       {"form", "F", "of a folder, another form of the model: see sb run --help"},
       {"training", "", "the same as --form training"},
       {"inputs", "F", "safetensors with the inputs by name"},
       {"random-weights", "SEED", "make what the model lacks"}}};
  return spec;
}

int check_ranks_command(const CommandLine& line, std::ostream& out) {
  std::deque<RankProgram> programs;
  for (const std::string& model : line.arguments()) {
    const ModelFiles files = find_model_files(model, form_of(line));
    io::ModelArchive archive = io::read_model_archive(files.archive);
    std::vector<IValue> inputs = program_tensors(
        archive, {line.get("inputs", files.inputs), line.find_seed("random-weights").value_or(0),
                  false, io::SymbolRules(archive.program).hints()});
    programs.push_back({std::move(archive), std::move(inputs)});
  }
  const int64_t given = static_cast<int64_t>(programs.size());
  const int64_t ranks = line.find_count("ranks").value_or(static_cast<int>(given));
  SB_CHECK_VALUE(given == 1 || given == ranks,
                 "check-ranks: expected one program, or one for each "
                 "of ",
                 ranks, " ranks, got ", given);
  // Exported programs do not ask which rank they are: those of one model are alike.
  const std::vector<std::string>& models = line.arguments();
  const auto same_as = [&](int64_t rank) -> int64_t {
    if (given == 1) return 0;
    return std::find(models.begin(), models.end(), models[static_cast<size_t>(rank)]) -
           models.begin();
  };
  const auto program = [&] {
    const RankProgram& mine = programs[given == 1 ? 0 : static_cast<size_t>(get_rank())];
    NodePlaces places;
    io::GraphRunner(mine.archive.program).run(mine.inputs, Device(DeviceType::CPU), &places);
  };
  std::optional<std::string> fault;
  Findings found;
  found.add("ranks", ranks);
  try {
    const int64_t calls = check_ranks(ranks, program, {.same_as = same_as});
    found.add(
        "calls", calls,
        str_cat("ok: ", calls, " calls on ", ranks, ranks == 1 ? " rank" : " ranks", " agree\n"));
  } catch (const DistError& error) {
    fault = error.what();
  } catch (const Error& error) {
    fault = str_cat(error.kind(), ": ", error.what());
  }
  found.add_line("fault", fault);
  found.print(line, out);
  return fault ? kFails : kHolds;
}

}  // namespace sb::tools
