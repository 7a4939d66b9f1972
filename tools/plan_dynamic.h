// The part of `sb plan` where sizes are symbols.

#ifndef SWITCHBOARD_TOOLS_PLAN_DYNAMIC_H_
#define SWITCHBOARD_TOOLS_PLAN_DYNAMIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/device_run.h"
#include "switchboard/tools/dynamic_sizes.h"
#include "switchboard/tools/plan/formula_report.h"
#include "switchboard/tools/run_place.h"

namespace sb::tools {

// A plan for all sizes in some ranges: one run with symbols.
class DynamicPlan {
 public:
  // In a fake place. What is not in `asked` has the numbers `sizes`. Throws what DynamicSizes and
  // the program throw: a symbol that is settled with the operator, the name of the symbol and what
  // it would have to be.
  DynamicPlan(const RunPlace& place, const RunPlan& run, const io::SymbolRules& rules,
              const std::vector<DynamicSize>& asked, const io::SymbolNumbers& sizes);

  const DynamicSizes& sizes() const { return sizes_; }
  const plan::FormulaReport& report() const { return report_; }

  // The peak of the place's device.
  const SymInt& peak() const;
  // The largest number of one of them with which the peak is at most `memory` bytes and the plan
  // holds, where the others have their largest, or those at hand if there is no end.
  struct Largest {
    size_t named;
    std::optional<int64_t> number;  // none fits
    bool may_be_more = false;       // larger ones were not all tried, or there is no end
    std::string text;               // a line for the page
  };
  Largest largest_that_fits(size_t named, double memory) const;

  // The page below the tables: sums, what fits `memory`, and for which sizes all of it holds.
  std::string summary_text(std::optional<double> memory) const;
  // FormulaReport's, with "sizes": [{"name", "low", "high", "places"}], "guards" and
  // "largest": [{"name", "number"}].
  std::string to_json(std::optional<double> memory) const;

 private:
  Device device_;
  DynamicSizes sizes_;
  plan::FormulaReport report_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PLAN_DYNAMIC_H_
