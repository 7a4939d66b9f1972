// Runs conformance cases: ./bazelw run //tests:conformance -- FILE...

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_join.h"
#include "switchboard/tests/conformance/compositions_cases.h"
#include "switchboard/tests/conformance/runner.h"
#include "switchboard/tests/conformance/symbolic_cases.h"
#include "switchboard/tests/explain/explained_calls.h"

ABSL_FLAG(std::string, only, "*", "run cases whose id or operator matches this glob");
ABSL_FLAG(bool, list, false, "print the ids of the cases and run nothing");
ABSL_FLAG(bool, skips, false, "print each skipped case with its reason");
ABSL_FLAG(
    std::vector<std::string>, way, {},
    "of programs that are run in several ways, these, separated by commas: eager, grads, ...");
ABSL_FLAG(bool, explain, false,
          "explain each call before it is made, and compare with the kernels that it then runs");
ABSL_FLAG(
    bool, replay, false,
    "record each case, make its calls again from the recording, and compare every kernel and bit");
ABSL_FLAG(std::vector<std::string>, place, {"cpu"},
          "where tensors live, separated by commas: cpu, meta, dummy, fake, fake:cuda:0");

namespace {

// A path as the user typed it: `bazel run` starts programs elsewhere.
std::string from_working_directory(const std::string& path) {
  const char* const directory = std::getenv("BUILD_WORKING_DIRECTORY");
  return directory && !path.empty() && path[0] != '/' ? std::string(directory) + "/" + path : path;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "conformance [--only=GLOB] [--list] [--skips] [--explain] [--replay] [--way=WAY,...] "
      "[--place=cpu,meta,dummy,fake,fake:cuda:0,vmap] FILE...");
  const std::vector<char*> files = absl::ParseCommandLine(argc, argv);
  if (files.size() < 2) {
    std::fprintf(stderr, "no files of cases given; see --help\n");
    return 2;
  }
  sb::conformance::Options options;
  options.only = absl::GetFlag(FLAGS_only);
  options.list = absl::GetFlag(FLAGS_list);
  options.show_skips = absl::GetFlag(FLAGS_skips);
  options.replay = absl::GetFlag(FLAGS_replay);
  options.ways = absl::GetFlag(FLAGS_way);
  for (const std::string& way : options.ways) {
    std::vector<std::string> known = sb::conformance::way_names();
    for (const std::string& symbolic : sb::conformance::symbolic_way_names())
      if (std::ranges::find(known, symbolic) == known.end()) known.push_back(symbolic);
    if (std::ranges::find(known, way) != known.end()) continue;
    std::fprintf(stderr, "no way '%s'; there are %s\n", way.c_str(),
                 absl::StrJoin(known, ", ").c_str());
    return 2;
  }
  sb::conformance::Tally tally;
  sb::test::ExplainedCalls explained;
  const sb::test::ExplainCallsGuard explain(absl::GetFlag(FLAGS_explain) ? &explained : nullptr);
  for (const std::string& name : absl::GetFlag(FLAGS_place)) {
    const std::unique_ptr<sb::conformance::Place> place = sb::conformance::make_place(name);
    if (!place) {
      std::fprintf(stderr, "no place '%s'; there are %s\n", name.c_str(),
                   sb::conformance::place_names().c_str());
      return 2;
    }
    for (size_t i = 1; i < files.size(); ++i)
      sb::conformance::run_file(from_working_directory(files[i]), *place, options, std::cout,
                                &tally);
    if (options.list) return 0;
  }
  std::cout << tally.to_string() << std::endl;
  if (absl::GetFlag(FLAGS_explain)) {
    for (const std::string& text : explained.texts()) std::cout << "not as explained:\n" << text;
    for (const auto& [who, calls] : explained.deciders())
      std::cout << "decides " << calls << ": " << who << "\n";
    std::cout << explained.to_string() << std::endl;
  }
  return tally.failed + tally.refused + explained.otherwise() == 0 ? 0 : 1;
}
