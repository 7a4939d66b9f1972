#include "switchboard/dispatch/testing/order_step.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

using What = OrderStep::What;

std::string_view words_of(What what) {
  switch (what) {
    case What::Runs:
      return "";
    case What::FallsThrough:
      return "falls through";
    case What::Excluded:
      return "excluded";
    case What::Fails:
      return "fails";
    case What::Throws:
      return "throws";
  }
  return "";
}

bool is_place(std::string_view word) {
  return word.find('.') != word.npos || word.find('/') != word.npos;
}

// Whether `place`, "ops/add.cc:31", ends in `wanted`, with or without the line, from a folder's
// name on.
bool is_at(std::string_view place, std::string_view wanted) {
  if (wanted.find(':') == wanted.npos) place = place.substr(0, place.rfind(':'));
  if (!place.ends_with(wanted)) return false;
  return place.size() == wanted.size() || place[place.size() - wanted.size() - 1] == '/';
}

}  // namespace

std::string to_string(const OrderStep& step, std::string_view op) {
  if (step.what == What::Throws) return "throws";
  std::string text;
  if (!step.op.empty() && step.op != op) text = str_cat(step.op, " ");
  text += to_string(step.key);
  if (step.what != What::Runs) return str_cat(text, " ", words_of(step.what));
  if (!step.place.empty()) text += str_cat(" ", step.place);
  if (!step.from.empty() && step.from != "key") text += str_cat(" from ", step.from);
  return text;
}

OrderStep parse_order_step(std::string_view text) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::string_view(text.data(), text.size()), ' ', absl::SkipEmpty());
  auto refuse = [&](const std::string& why) {
    SB_THROW(ValueError, "expect: \"", text, "\": ", why);
  };
  OrderStep step;
  if (words == std::vector<std::string>{"throws"}) {
    step.what = What::Throws;
    return step;
  }
  size_t i = 0;
  if (i < words.size() && words[i].find("::") != std::string::npos) step.op = words[i++];
  if (i == words.size()) refuse("expected a dispatch key");
  const std::optional<DispatchKey> key = find_dispatch_key(words[i]);
  if (!key || !is_runtime_key(*key))
    refuse(str_cat("expected a dispatch key that a call can go to, got '", words[i], "'"));
  step.key = *key;
  ++i;
  const size_t begin = i;
  for (What what : {What::FallsThrough, What::Excluded, What::Fails}) {
    const std::vector<std::string> wanted =
        absl::StrSplit(std::string(words_of(what)), ' ', absl::SkipEmpty());
    if (std::vector<std::string>(words.begin() + begin, words.end()) == wanted) {
      step.what = what;
      return step;
    }
  }
  while (i < words.size()) {
    if (words[i] == "from" && i + 1 < words.size() && step.from.empty()) {
      step.from = words[++i];
      const std::optional<DispatchKey> alias = find_dispatch_key(step.from);
      if (step.from != "fallback" && step.from != "key" && !(alias && is_alias_key(*alias)))
        refuse(str_cat("after 'from', expected an alias key, 'fallback' or 'key', got '", step.from,
                       "'"));
    } else if (is_place(words[i]) && step.place.empty()) {
      step.place = words[i];
    } else {
      refuse(str_cat("'", words[i], "' is neither a place, as ops/add.cc, nor 'from', ",
                     "'falls through', 'excluded' or 'fails'"));
    }
    ++i;
  }
  return step;
}

bool matches(const OrderStep& expected, const OrderStep& actual, std::string_view op) {
  if (expected.what != actual.what) return false;
  if (expected.what == What::Throws) return true;
  const std::string_view wanted_op = expected.op.empty() ? op : expected.op;
  return wanted_op == actual.op && expected.key == actual.key &&
         (expected.place.empty() || is_at(actual.place, expected.place)) &&
         (expected.from.empty() || expected.from == actual.from);
}

}  // namespace sb
