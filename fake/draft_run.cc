#include "switchboard/fake/draft_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

ShapeEnvSettings for_draft(ShapeEnvSettings settings) {
  settings.on_settle = OnSettle::Record;
  settings.on_data_dependent = OnDataDependent::TakeExample;
  return settings;
}

// A check that the program did not state, with who made its symbols.
DraftFinding unstated(const ShapeEnv& env, const RuntimeAssert& check) {
  std::string made;
  for (const std::string& name : check.symbols) {
    const SymbolInfo symbol = *env.symbol(name);
    if (!symbol.unbacked) continue;
    made += made.empty() ? ", where " : ", ";
    made += symbol.sources.empty() ? str_cat(name, " was made by ", to_string(symbol.origin))
                                   : str_cat(name, " is ", symbol.sources[0]);
  }
  return {DraftFault::UnstatedCheck, str_cat(check.text, made),
          str_cat("sb::check(", check.text, ");"), to_string(check.origin)};
}

DraftFinding settled_size(const SettledSymbol& settled) {
  const std::string source = settled.sources.empty() ? settled.symbol : settled.sources[0];
  const std::string mend =
      settled.was_read && absl::StrContains(source, ".size(")
          ? str_cat("read ", absl::StrReplaceAll(source, {{".size(", ".sym_size("}}),
                    " in the place of ", source)
          : str_cat("state DimDynamic::Static of ", absl::StrJoin(settled.sources, ", "),
                    ", or ask nothing that only one size satisfies");
  return {DraftFault::SettledSize,
          str_cat(settled.text, ", where ", settled.symbol, " is ",
                  absl::StrJoin(settled.sources, ", ")),
          mend, to_string(settled.origin)};
}

}  // namespace

std::string_view to_string(DraftFault fault) {
  switch (fault) {
    case DraftFault::UnstatedCheck:
      return "not stated";
    case DraftFault::MissingRule:
      return "no fake rule";
    case DraftFault::WrongRule:
      return "wrong fake rule";
    case DraftFault::SettledSize:
      return "settled size";
  }
  SB_ASSERT(false);
}

void DraftLog::add(DraftFinding finding) {
  const auto same = std::ranges::find_if(findings_, [&](const DraftFinding& f) {
    return f.fault == finding.fault && f.text == finding.text && f.where == finding.where;
  });
  if (same == findings_.end())
    findings_.push_back(std::move(finding));
  else
    ++same->times;
}

void DraftLog::add_profile(const std::string& op, const OpProfile& profile) {
  std::vector<OpProfile>& known = profiles_[op];
  if (std::ranges::find(known, profile) == known.end()) known.push_back(profile);
}

DraftRun::DraftRun(ShapeEnvSettings settings)
    : env_(ShapeEnv::create(for_draft(settings))),
      log_(make_intrusive<DraftLog>()),
      mode_({.shape_env = env_, .propagate_real_tensors = true, .draft = log_}) {}

std::vector<DraftFinding> DraftRun::findings() const {
  DraftLog all;
  for (const DraftFinding& rule : log_->findings()) all.add(rule);
  for (const RuntimeAssert& check : env_->assumed()) all.add(unstated(*env_, check));
  for (const SettledSymbol& settled : env_->settled()) all.add(settled_size(settled));
  return all.findings();
}

std::string DraftRun::report() const {
  const std::vector<DraftFinding> all = findings();
  if (all.empty()) return "nothing to mend\n";
  std::string text;
  for (const DraftFinding& f : all) {
    text += str_cat(to_string(f.fault), ": ", f.text, "  # ", f.where);
    if (f.times > 1) text += str_cat(", ", f.times, " times");
    text += str_cat("\n  ", f.mend, "\n");
  }
  return text;
}

}  // namespace sb
