#include "switchboard/dispatch/inspect/reason.h"

#include <set>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using Catch::Contains;

TableRow row(ResolutionRule rule, DispatchKey source = DispatchKey::CPU) {
  TableRow row = {DispatchKey::CPU, rule, source, false, false, false, {}};
  row.has_kernel = rule != ResolutionRule::Missing;
  return row;
}

TEST_CASE("each resolution rule has a sentence of its own", "[inspect][reason]") {
  std::set<std::string> sentences;
  for (int i = 0; i <= static_cast<int>(ResolutionRule::Missing); ++i) {
    const std::string sentence = reason_text(row(static_cast<ResolutionRule>(i)));
    CHECK_THAT(sentence, Catch::EndsWith("."));
    CHECK(sentences.insert(sentence).second);
  }
}

TEST_CASE("a kernel that serves several keys is named by the key that it is registered at",
          "[inspect][reason]") {
  CHECK(reason_text(row(ResolutionRule::AutogradKernel, DispatchKey::Autograd)) ==
        "There is no kernel for this key alone; the one at Autograd is for the autograd keys of "
        "all backends.");
}

TEST_CASE("a fallthrough is passed over, and what refuses calls says so", "[inspect][reason]") {
  for (const ResolutionRule rule : {ResolutionRule::Kernel, ResolutionRule::BackendFallback}) {
    TableRow slot = row(rule);
    slot.is_fallthrough = true;
    CHECK_THAT(reason_text(slot), Contains("calls pass it over"));
    slot.is_fallthrough = slot.has_kernel = false;
    CHECK_THAT(reason_text(slot), Contains("refuses calls"));
  }
}

}  // namespace
}  // namespace sb
