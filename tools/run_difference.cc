#include "switchboard/tools/run_difference.h"

namespace sb::tools {
namespace {

Json call_json(const io::RecordedRun& run, uint32_t event) {
  if (event == io::RecordedEvent::kNone) return Json();
  return {{"call", event}, {"operator", run.sites.at(run.events.at(event).site).op}};
}

}  // namespace

std::vector<std::string> faults_of(const std::vector<const io::RecordedRun*>& runs) {
  std::vector<std::string> faults;
  for (const io::RecordedRun* const run : runs)
    if (!run->fault.empty()) faults.push_back(run->fault);
  return faults;
}

void add_difference(const io::RecordedRun& first, const io::RecordedRun& second,
                    const std::optional<io::RunDifference>& difference,
                    const std::string& same_text, Findings* findings) {
  findings->add("same", !difference,
                difference ? io::to_string(first, second, *difference) : same_text);
  if (!difference) return;
  findings->add("cause", to_string(difference->cause));
  findings->add("detail", difference->detail);
  findings->add("first", call_json(first, difference->first));
  findings->add("second", call_json(second, difference->second));
}

}  // namespace sb::tools
