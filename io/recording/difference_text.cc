// A difference of two runs as text.

#include <string>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/diff.h"
#include "switchboard/io/recording/storage_contents.h"

namespace sb::io {

using Cause = RunDifference::Cause;
using Kind = RecordedValue::Kind;
using Values = absl::Span<const RecordedValue>;

std::string to_string(RunDifference::Cause cause) {
  switch (cause) {
    case Cause::MissingCall:
      return "missing call";
    case Cause::AddedCall:
      return "added call";
    case Cause::OtherCall:
      return "another call";
    case Cause::OtherKernel:
      return "another kernel";
    case Cause::OtherInput:
      return "another input";
    case Cause::OtherThrow:
      return "another end";
    case Cause::OtherResult:
      return "another result";
    case Cause::OtherBits:
      return "other bits with the same inputs";
  }
  return "";
}

namespace {

// "element [1, 2]: 3.5 and 3.75", of the first result that differs; nothing where a file lacks it.
std::string element_text(const RecordedRun& a, const RecordedRun& b,
                         const RunDifference& difference) {
  if (difference.cause != Cause::OtherBits && difference.cause != Cause::OtherInput) return "";
  if (difference.first == RecordedEvent::kNone || difference.second == RecordedEvent::kNone)
    return "";
  const RecordedEvent& x = a.events[difference.first];
  const RecordedEvent& y = b.events[difference.second];
  const bool after = difference.cause == Cause::OtherBits;
  const auto find = [&](Values va, Values vb) -> std::string {
    for (size_t i = 0; i < va.size() && i < vb.size(); ++i) {
      if (va[i].kind != Kind::Tensor || vb[i].kind != Kind::Tensor) continue;
      const RecordedTensor& s = a.tensor(va[i]);
      const RecordedTensor& t = b.tensor(vb[i]);
      if (s.hash == t.hash) continue;
      const std::string text = differing_element(
          {a, s, storage_contents(a, s.storage, difference.first, after)},
          {b, t, storage_contents(b, t.storage, difference.second, after)}, difference.tolerance);
      if (!text.empty()) return text;
    }
    return "";
  };
  if (!after) return find(a.arguments(x), b.arguments(y));
  const std::string text = find(a.results(x), b.results(y));
  return text.empty() ? find(a.written(x), b.written(y)) : text;
}

}  // namespace

std::string to_string(const RecordedRun& first, const RecordedRun& second,
                      const RunDifference& difference) {
  std::string text = str_cat(to_string(difference.cause));
  if (!difference.detail.empty()) text += ": " + difference.detail;
  text += "\n" + element_text(first, second, difference);
  for (const auto& [run, event] :
       {std::pair{&first, difference.first}, std::pair{&second, difference.second}}) {
    text += run == &first ? "first   " : "second  ";
    if (event == RecordedEvent::kNone) {
      text += "(none)\n";
      continue;
    }
    text += str_cat("call ", event, "  ", to_string(*run, run->events[event]), "\n        ",
                    kernel_text(run->site(run->events[event])), "\n");
    for (uint32_t caller = run->events[event].parent; caller != RecordedEvent::kNone;
         caller = run->events[caller].parent)
      text += str_cat("        in call ", caller, "  ", run->site(run->events[caller]).op, "  ",
                      kernel_text(run->site(run->events[caller])), "\n");
  }
  return text;
}

}  // namespace sb::io
