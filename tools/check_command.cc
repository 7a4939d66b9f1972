#include "switchboard/tools/check_command.h"

#include <ostream>
#include <string>

#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/missing.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/json.h"
#include "switchboard/tools/model_files.h"
#include "switchboard/tools/run_report.h"

namespace sb::tools {

const CommandSpec& check_spec() {
  static const CommandSpec spec = {
      "check",
      "MODEL",
      1,
      1,
      "Lists every operator, overload and higher-order operator that a program needs and this sb\n"
      "does not have, how often it occurs, and what to do about it; and the sizes that the "
      "program\n"
      "takes. MODEL is what 'sb run' takes; nothing runs. Exit status: 0 if all is here, 1 if "
      "not,\n"
      "2 for bad input.",
      {{"form", "F", "of a folder: " + form_names()},
       {"training", "", "the same as --form training"}}};
  return spec;
}

namespace {

// {program, missing: [{kind, name, count, place, advice}], warnings, sizes}.
std::string check_json(const std::string& name, const std::vector<io::Missing>& missing,
                       const std::vector<std::string>& warnings, const io::SymbolRules& rules) {
  Json list = Json::array();
  for (const io::Missing& one : missing)
    list.push_back({{"kind", one.kind},
                    {"name", one.name},
                    {"count", one.count},
                    {"place", one.place},
                    {"advice", one.advice}});
  return to_text({{"program", name},
                  {"missing", list},
                  {"warnings", warnings},
                  {"sizes", rules.symbols().empty() ? Json() : Json(rules.describe())}});
}

}  // namespace

int check_command(const CommandLine& line, std::ostream& out) {
  const ModelFiles files = find_model_files(line.arguments().at(0), form_of(line));
  const io::ModelArchive archive = io::read_model_archive(files.archive);
  const io::Program& program = archive.program;
  const std::vector<io::Missing> missing = io::find_missing(program);
  const io::SymbolRules rules(program);
  std::vector<std::string> warnings = program.warnings;
  for (const std::string& guard : rules.unread()) warnings.push_back("not checked: " + guard);
  if (line.has("json")) {
    if (missing.empty()) io::GraphRunner fits(program);  // or throws
    out << check_json(files.name, missing, warnings, rules);
    return missing.empty() ? kHolds : kFails;
  }
  out << files.name << " (" << to_string(program.dialect) << ", PyTorch " << program.torch_version
      << ", schema 8." << program.schema_minor << ", "
      << with_separators(std::ssize(program.graph.nodes)) << " nodes)  " << files.archive << "\n";
  for (const std::string& warning : warnings) out << "warning: " << warning << "\n";
  if (!rules.symbols().empty()) out << "sizes that sb run --dim may name:\n" << rules.describe();

  for (const io::Missing& one : missing)
    out << "missing: " << one.kind << " " << one.name << ", " << one.count
        << (one.count == 1 ? " time" : " times") << ", first at " << one.place << "\n         "
        << one.advice << "\n";
  if (!missing.empty()) return kFails;
  const io::GraphRunner runner(program);  // whether every node fits its operator
  out << "ok: everything that this program needs is here\n";
  return kHolds;
}

}  // namespace sb::tools
