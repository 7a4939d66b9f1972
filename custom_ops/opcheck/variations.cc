// Tries variations of arguments, and makes a failure small.

#include <random>
#include <utility>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/custom_ops/opcheck/vary.h"
#include "switchboard/dispatch/values/bind_arguments.h"

namespace sb {
namespace {

using internal::ArgumentPlan;
using internal::CheckedCall;
using Outcome = OpCheckResult::Outcome;

constexpr std::string_view kRefusal = "refusal";

class Search {
 public:
  Search(OperatorHandle op, const VariationOptions& options)
      : op_(std::move(op)), options_(options), random_(options.seed) {}

  std::optional<FailedVariation> run(const ArgumentPlan& given) {
    if (auto result = try_out(given, options_.opcheck)) return shrunk(given, std::move(*result));
    // First all that differ in one thing, then what is several steps away.
    const std::vector<ArgumentPlan> near = internal::variations(op_.schema(), given);
    for (size_t i = 0; i < (near.empty() ? 0 : options_.count); ++i) {
      const ArgumentPlan plan = i < near.size() ? near[i] : far_from(near);
      if (auto result = try_out(plan, options_.opcheck)) return shrunk(plan, std::move(*result));
    }
    return std::nullopt;
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }

  ArgumentPlan far_from(const std::vector<ArgumentPlan>& near) {
    ArgumentPlan plan = near[pick(near.size())];
    for (size_t steps = 1 + pick(2); steps > 0; --steps) {
      std::vector<ArgumentPlan> next = internal::variations(op_.schema(), plan);
      if (next.empty()) break;
      plan = std::move(next[pick(next.size())]);
    }
    return plan;
  }

  // The check that fails with these arguments; nullopt if none does.
  std::optional<OpCheckResult> try_out(const ArgumentPlan& plan,
                                       const OpCheckOptions& options) const {
    const GradModeGuard on(true);
    const CheckedCall call{op_, plan.build(), options};
    const bool only_refusal = options.checks.size() == 1 && options.checks[0] == kRefusal;
    try {
      call.run();
    } catch (...) {  // of any type: it is told what is refused
      const internal::Finding finding = internal::check_refusal(call);
      if (finding.outcome != Outcome::Failed) return std::nullopt;
      return OpCheckResult{std::string(kRefusal), Outcome::Failed, finding.message};
    }
    if (only_refusal) return std::nullopt;
    std::vector<OpCheckResult> results = internal::make_checks(call, false);
    if (results.empty() || results.back().outcome != Outcome::Failed) return std::nullopt;
    return std::move(results.back());
  }

  // The message without its numbers, by which a failure is known when the arguments change.
  static std::string kind_of(const OpCheckResult& result) {
    constexpr std::string_view kOfNumbers = "0123456789.-, []";
    std::string kind;
    for (char c : result.message)
      if (kOfNumbers.find(c) == std::string_view::npos) kind += c;
    return kind;
  }

  FailedVariation shrunk(ArgumentPlan plan, OpCheckResult result) const {
    OpCheckOptions only = options_.opcheck;
    only.checks = {result.check};
    const std::string kind = kind_of(result);
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (ArgumentPlan& candidate : internal::simplifications(op_.schema(), plan)) {
        std::optional<OpCheckResult> found = try_out(candidate, only);
        if (!found || found->check != result.check || kind_of(*found) != kind) continue;
        plan = std::move(candidate);
        result = std::move(*found);
        smaller = true;
        break;
      }
    }
    FailedVariation failed;
    Stack built = plan.build();
    for (size_t i = 0; i < built.size(); ++i) {
      const Argument& argument = op_.schema().arguments[i];
      if (argument.kwarg_only)
        failed.keyword.emplace_back(argument.name, std::move(built[i]));
      else
        failed.arguments.push_back(std::move(built[i]));
    }
    failed.call = internal::call_text(op_.schema(), plan);
    failed.test = internal::test_text(op_.schema(), plan, result.check, result.message);
    failed.result = std::move(result);
    return failed;
  }

  OperatorHandle op_;
  const VariationOptions& options_;
  std::mt19937_64 random_;
};

}  // namespace

std::optional<FailedVariation> find_failing_variation(const OpToCheck& op,
                                                      const Arguments& arguments,
                                                      const KeywordArguments& keyword,
                                                      const VariationOptions& options) {
  const OperatorHandle handle = op.resolve(arguments, keyword).handle();
  const CheckedCall call{handle, bind_arguments(handle.schema(), arguments, keyword),
                         options.opcheck};
  internal::check_has_data(call);
  call.run();
  return Search(handle, options).run(ArgumentPlan::of(call.arguments));
}

void opcheck_variations(const OpToCheck& op, const Arguments& arguments,
                        const KeywordArguments& keyword, const VariationOptions& options) {
  const std::optional<FailedVariation> failed =
      find_failing_variation(op, arguments, keyword, options);
  if (!failed) return;
  SB_THROW(OpCheckError, "opcheck: ", failed->result.check, ": ", failed->result.message, "\nwith ",
           failed->call, "\n", failed->test);
}

}  // namespace sb
