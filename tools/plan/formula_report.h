// A plan of symbols as a page, and as JSON.

#ifndef SWITCHBOARD_TOOLS_PLAN_FORMULA_REPORT_H_
#define SWITCHBOARD_TOOLS_PLAN_FORMULA_REPORT_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/tools/json.h"
#include "switchboard/tools/plan/memory_formula.h"
#include "switchboard/tools/plan/plan.h"

namespace sb::plan {

// As PlanReport, with expressions where that has numbers.
class FormulaReport {
 public:
  // Says how an expression is shown, such as with other names for its symbols.
  using Text = std::function<std::string(const SymInt&)>;

  FormulaReport(Plan plan, Text text);

  const Plan& plan() const { return plan_; }
  const std::vector<MemoryFormula>& memories() const { return memories_; }

  // A line for each call: its label and operator, the FLOPs, and the bytes that live on all devices
  // while it runs.
  std::string calls_text() const;
  // A line for each operator, the most FLOPs at hand first.
  std::string totals_text() const;
  // A line for each storage, as PlanReport has it.
  std::string storages_text() const;
  // The sums: FLOPs, what is not in them, and for each device its peak, the calls during which it
  // may be reached, and its arena.
  std::string summary_text() const;

  // As PlanReport::to_json(), with expressions as text. Devices have no "peak_op", and
  // "moments": [{"bytes", "op"}] of which the largest is "peak_bytes".
  tools::Json to_json() const;

 private:
  std::string text(const Count& count) const;
  tools::Json json(const Count& count) const;
  std::string device_summary(const MemoryFormula& memory) const;

  Plan plan_;
  Text text_;
  std::vector<MemoryFormula> memories_;
};

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_FORMULA_REPORT_H_
