#include "switchboard/custom_ops/opcheck/opcheck.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/custom_ops/opcheck/checks.h"
#include "switchboard/dispatch/values/bind_arguments.h"

namespace sb {
namespace {

using internal::CheckedCall;
using internal::Finding;
using Outcome = OpCheckResult::Outcome;

struct Check {
  std::string name;
  Finding (*run)(const CheckedCall&);
  bool by_default = true;
};
const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = {
      {"test_schema", internal::check_schema},
      {"test_deterministic", internal::check_deterministic},
      {"test_strides", internal::check_strides},
      {"test_autograd_registration", internal::check_autograd},
      {"test_faketensor", internal::check_fake},
      {"test_aot_dispatch_static", internal::check_aot_dispatch_static, false},
      {"test_aot_dispatch_dynamic", internal::check_aot_dispatch_dynamic},
      {"test_gradients", internal::check_gradients},
  };
  return checks;
}

bool is_all(const std::vector<std::string>& wanted) {
  return wanted.size() == 1 && wanted[0] == "ALL";
}
bool is_wanted(const Check& check, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return check.by_default;
  if (is_all(wanted)) return true;
  return std::find(wanted.begin(), wanted.end(), check.name) != wanted.end();
}

OpCheckResult make(const Check& check, const CheckedCall& call) {
  Finding finding;
  try {
    finding = check.run(call);
  } catch (const Error& error) {
    finding = internal::failed(call, "throws ", error.kind(), ": ", error.what());
  } catch (const std::exception& error) {
    finding = internal::failed(call, "throws an exception that is no sb::Error: ", error.what());
  } catch (...) {
    finding = internal::failed(call, "throws what is no sb::Error, and no std::exception");
  }
  return {check.name, finding.outcome, std::move(finding.message)};
}

CheckedCall checked_call(const OpToCheck& op, const Arguments& arguments,
                         const KeywordArguments& keyword, const OpCheckOptions& options) {
  const OperatorHandle handle = op.resolve(arguments, keyword).handle();
  CheckedCall call{handle, bind_arguments(handle.schema(), arguments, keyword), options};
  internal::check_has_data(call);
  return call;
}

}  // namespace

namespace internal {

void check_has_data(const CheckedCall& call) {
  for (const NamedTensor& t : call.tensors()) {
    const TensorImpl& impl = *t.tensor.impl();
    const bool has_data = impl.storage() && !impl.mode_data() && !impl.symbolic_shape() &&
                          !t.tensor.is_meta() &&
                          !t.tensor.key_set().has(DispatchKey::Functionalize);
    SB_CHECK_VALUE(has_data, "opcheck: ", call.name(), ": ", t.name,
                   ": expected a tensor with data, got ", t.tensor.describe());
  }
}

std::vector<OpCheckResult> make_checks(const CheckedCall& call, bool all) {
  for (const std::string& name : call.options.checks)
    SB_CHECK_VALUE(is_all(call.options.checks) ||
                       std::find(opcheck_names().begin(), opcheck_names().end(), name) !=
                           opcheck_names().end(),
                   "opcheck: no check is called '", name,
                   "'; there are: ", absl::StrJoin(opcheck_names(), ", "));
  const GradModeGuard on(true);
  std::vector<OpCheckResult> results;
  for (const Check& check : all_checks()) {
    if (!is_wanted(check, call.options.checks)) continue;
    results.push_back(make(check, call));
    if (!all && results.back().outcome == Outcome::Failed) break;
  }
  return results;
}

}  // namespace internal

const std::vector<std::string>& opcheck_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (const Check& check : all_checks()) names.push_back(check.name);
    return names;
  }();
  return names;
}

OpOverload OpToCheck::resolve(const Arguments& arguments, const KeywordArguments& keyword) const {
  if (const auto* const packet = std::get_if<OpOverloadPacket>(&op_))
    return packet->resolve(arguments, keyword);
  return lookup_op(std::get<OpIdentifier>(op_));
}

std::string OpCheckResult::to_string() const {
  const std::string_view what = outcome == Outcome::Passed    ? "passed"
                                : outcome == Outcome::Skipped ? "skipped"
                                                              : "failed";
  return message.empty() ? str_cat(check, ": ", what) : str_cat(check, ": ", what, ": ", message);
}

std::vector<OpCheckResult> opcheck_results(const OpToCheck& op, const Arguments& arguments,
                                           const KeywordArguments& keyword,
                                           const OpCheckOptions& options) {
  const CheckedCall call = checked_call(op, arguments, keyword, options);
  call.run();  // what the call itself throws is the caller's
  return internal::make_checks(call, true);
}

void opcheck(const OpToCheck& op, const Arguments& arguments, const KeywordArguments& keyword,
             const OpCheckOptions& options) {
  const CheckedCall call = checked_call(op, arguments, keyword, options);
  call.run();
  for (const OpCheckResult& result : internal::make_checks(call, false))
    SB_CHECK_KIND(OpCheckError, result.outcome != Outcome::Failed, "opcheck: ", result.check, ": ",
                  result.message);
}

}  // namespace sb
