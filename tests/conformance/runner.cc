#include "switchboard/tests/conformance/runner.h"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/compositions_cases.h"
#include "switchboard/tests/conformance/dispatch_cases.h"
#include "switchboard/tests/conformance/grads_cases.h"
#include "switchboard/tests/conformance/ops_cases.h"
#include "switchboard/tests/conformance/replayed.h"
#include "switchboard/tests/conformance/symbolic_cases.h"

namespace sb::conformance {
namespace {

bool is_selected(const Json& json, const std::string& glob) {
  auto matches = [&](const char* field) {
    return json.contains(field) && json[field].is_string() &&
           fnmatch(glob.c_str(), json[field].get_ref<const std::string&>().c_str(), 0) == 0;
  };
  return glob == "*" || matches("id") || matches("op");
}

// Counts what became of a case, and prints what there is to say of it.
void report(const std::string& label, const Outcome& outcome, const Options& options,
            std::ostream& out, Tally* tally) {
  tally->add(outcome.kind);
  const auto print = [&](const char* verdict) {
    out << verdict << " " << label << ": " << absl::StrReplaceAll(outcome.why, {{"\n", "\n    "}});
    if (!outcome.detail.empty()) out << " (" << outcome.detail << ")";
    out << "\n";
  };
  switch (outcome.kind) {
    case Outcome::Kind::Passed:
      break;
    case Outcome::Kind::Failed:
      print("FAILED");
      break;
    case Outcome::Kind::Refused:
      print("REFUSED");
      break;
    case Outcome::Kind::Skipped:
      ++tally->reasons[outcome.why];
      if (options.show_skips) print("skipped");
      break;
  }
}

// "[traced]", "[dummy]" or "[traced, dummy]" after the id.
std::string label_of(const std::string& id, const std::string& way, const Place& place) {
  std::string notes = way;
  if (place.name() != "cpu") notes += str_cat(way.empty() ? "" : ", ", std::string(place.name()));
  return notes.empty() ? id : str_cat(id, " [", notes, "]");
}

}  // namespace

void Counts::add(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::Passed:
      ++passed;
      break;
    case Outcome::Kind::Failed:
      ++failed;
      break;
    case Outcome::Kind::Refused:
      ++refused;
      break;
    case Outcome::Kind::Skipped:
      ++skipped;
      break;
  }
}

std::string Tally::to_string() const {
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += str_cat("skipped ", count, ": ", reason, "\n");
  if (ways.empty())
    return text + str_cat(passed, " passed, ", failed, " failed, ", skipped, " skipped");
  text += absl::StrFormat("%-16s %-22s %7s %7s %8s %8s\n", "file", "way", "passed", "failed",
                          "refused", "skipped");
  for (const auto& [at, n] : ways)
    text += absl::StrFormat("%-16s %-22s %7d %7d %8d %8d\n", at.first, at.second, n.passed,
                            n.failed, n.refused, n.skipped);
  return text + str_cat(passed, " passed, ", failed, " failed, ", refused, " refused, ", skipped,
                        " skipped");
}

Outcome run_case(const Json& json, Place& place) {
  if (json.contains("grad_outputs")) return run_grads_case(json, place);
  if (json.contains("op")) return run_ops_case(json, place);
  if (json.contains("steps"))
    return place.name() == "cpu" ? run_dispatch_case(json)
                                 : Outcome::skipped("dispatch cases have no place");
  return Outcome::failed("malformed case: neither a call nor steps");
}

void run_cases(std::istream& in, const std::string& file, Place& place, const Options& options,
               std::ostream& out, Tally* tally) {
  std::string line;
  const std::string name = file.substr(file.rfind('/') + 1);
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    std::string id = str_cat(file, ":", number);
    const auto run = [&](const std::string& way, const std::function<Outcome()>& run_it) {
      Outcome outcome;
      try {
        outcome = options.replay ? replayed(run_it) : run_it();
      } catch (const std::exception& error) {
        outcome = Outcome::failed(str_cat("malformed case: ", error.what()));
      }
      report(label_of(id, way, place), outcome, options, out, tally);
      if (!way.empty()) tally->ways[{name, way}].add(outcome.kind);
    };
    Json json;
    try {
      json = Json::parse(line);
      id = json.at("id").get<std::string>();
    } catch (const std::exception&) {
      run("", [&]() -> Outcome { throw; });
      continue;
    }
    if (!is_selected(json, options.only)) continue;
    if (options.list) {
      out << id << "\n";
      continue;
    }
    const auto is_wanted = [&](const std::string& way) {
      return options.ways.empty() || std::ranges::find(options.ways, way) != options.ways.end();
    };
    if (json.contains("bindings")) {
      for (const std::string& way : symbolic_way_names())
        if (is_wanted(way)) run(way, [&] { return run_symbolic_case(json, way); });
    } else if (json.contains("expect")) {
      for (const auto& [way, expectation] : json["expect"].items())
        if (is_wanted(way)) run(way, [&] { return run_composition_case(json, way, place); });
    } else {
      run("", [&] { return run_case(json, place); });
    }
  }
}

void run_file(const std::string& file, Place& place, const Options& options, std::ostream& out,
              Tally* tally) {
  std::ifstream in(file);
  if (!in) {
    ++tally->failed;
    out << "FAILED " << file << ": cannot be opened\n";
    return;
  }
  run_cases(in, file, place, options, out, tally);
}

}  // namespace sb::conformance
