#include "switchboard/tests/conformance/runner.h"

#include <fnmatch.h>

#include <fstream>

#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/dispatch_cases.h"
#include "switchboard/tests/conformance/grads_cases.h"
#include "switchboard/tests/conformance/ops_cases.h"
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

}  // namespace

std::string Tally::to_string() const {
  std::string text;
  for (const auto& [reason, count] : reasons)
    text += str_cat("skipped ", count, ": ", reason, "\n");
  return text + str_cat(passed, " passed, ", failed, " failed, ", skipped, " skipped");
}

Outcome run_case(const Json& json, Place& place) {
  if (json.contains("grad_outputs")) return run_grads_case(json, place);
  if (json.contains("bindings")) {
    return run_symbolic_case(json,
                             place.name() == "unbacked" ? Symbols::Unbacked : Symbols::Backed);
  }
  if (json.contains("op")) return run_ops_case(json, place);
  if (json.contains("steps"))
    return place.name() == "cpu" ? run_dispatch_case(json)
                                 : Outcome::skipped("dispatch cases have no place");
  return Outcome::failed("malformed case: neither a call nor steps");
}

void run_cases(std::istream& in, const std::string& file, Place& place, const Options& options,
               std::ostream& out, Tally* tally) {
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const std::string where = str_cat(file, ":", number);
    Json json;
    Outcome outcome;
    std::string id = where;
    try {
      json = Json::parse(line);
      id = json.at("id").get<std::string>();
      if (!is_selected(json, options.only)) continue;
      if (options.list) {
        out << id << "\n";
        continue;
      }
      outcome = run_case(json, place);
    } catch (const std::exception& error) {
      outcome = Outcome::failed(str_cat("malformed case: ", error.what()));
    }
    const std::string label =
        place.name() == "cpu" ? id : str_cat(id, " [", std::string(place.name()), "]");
    switch (outcome.kind) {
      case Outcome::Kind::Passed:
        ++tally->passed;
        break;
      case Outcome::Kind::Failed:
        ++tally->failed;
        out << "FAILED " << label << ": " << absl::StrReplaceAll(outcome.why, {{"\n", "\n    "}})
            << "\n";
        break;
      case Outcome::Kind::Skipped:
        ++tally->skipped;
        ++tally->reasons[outcome.why];
        if (options.show_skips)
          out << "skipped " << label << ": " << outcome.why
              << (outcome.detail.empty() ? "" : str_cat(" (", outcome.detail, ")")) << "\n";
        break;
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
