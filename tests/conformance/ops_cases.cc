#include "switchboard/tests/conformance/ops_cases.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/call_check.h"

namespace sb::conformance {
namespace {

Outcome run(const Json& json, Place& place, const Dispatcher& dispatcher) {
  const CaseCall call = prepare_call(json, place, dispatcher);
  const std::string name = call.op.name().to_string();
  CallCheck check(json, place, call.arguments);

  const bool raises = json.contains("raises");
  auto expected_error = [&] {
    return str_cat("expected ", json["raises"].get<std::string>(), " (", json.value("message", ""),
                   ")");
  };
  std::vector<IValue> results;
  try {
    results = place.call(call.op, call.arguments.positional, call.arguments.keyword);
  } catch (const Error& error) {
    if (!place.has_data() && depends_on_data(error))
      return Outcome::skipped("depends on data", name);
    const std::string got = str_cat(error.kind(), ": ", error.what());
    if (!raises) return Outcome::failed(str_cat("raised ", got));
    if (error.kind() != json["raises"].get<std::string>())
      return Outcome::failed(str_cat("wrong kind of error: ", expected_error(), ", got ", got));
    return Outcome::of(check.arguments());
  }
  if (raises) {
    // Whether an index is in range, say, only the elements tell.
    if (!place.has_data()) return Outcome::skipped("no error without data", name);
    return Outcome::failed(str_cat("did not raise: ", expected_error()));
  }
  if (Difference d = check.results(results)) return Outcome::failed(*d);
  return Outcome::of(check.arguments());
}

}  // namespace

Outcome run_ops_case(const Json& json, Place& place, const Dispatcher& dispatcher) {
  return outcome_of([&] { return run(json, place, dispatcher); });
}

}  // namespace sb::conformance
