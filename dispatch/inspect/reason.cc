#include "switchboard/dispatch/inspect/reason.h"

#include <string_view>

#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

std::string shared(const TableRow& row, std::string_view what) {
  return str_cat("There is no kernel for this key alone; the one at ", to_string(row.source), " ",
                 what, ".");
}

}  // namespace

std::string reason_text(const TableRow& row) {
  constexpr std::string_view kOperators =
      "calls other operators, which have kernels and gradients of their own";
  switch (row.rule) {
    case ResolutionRule::Kernel:
      if (row.is_refused()) return "What is registered at this very key refuses calls.";
      return row.is_fallthrough
                 ? "A fallthrough is registered at this very key: calls pass it over, to the next "
                   "one below."
                 : "A kernel is registered at this very key.";
    case ResolutionRule::DefaultBackendKernel:
      return shared(row, "is for all backends");
    case ResolutionRule::NestedKernel:
      return shared(row, str_cat("is for nested tensors, and ", kOperators));
    case ResolutionRule::AmbiguousAutogradOther:
      return "Ambiguous: a kernel at CompositeImplicitAutograd would serve this key, and so would "
             "that of a backend without an autograd key of its own. A call fails.";
    case ResolutionRule::MathKernel:
      return shared(row, kOperators);
    case ResolutionRule::AutogradKernel:
      return shared(row, "is for the autograd keys of all backends");
    case ResolutionRule::BatchedKernel:
      return shared(row, str_cat("is for batches, and ", kOperators));
    case ResolutionRule::BackendFallback:
      if (row.is_refused())
        return "The operator has no kernel here, and the fallback of this key refuses calls.";
      return row.is_fallthrough
                 ? "The operator has no kernel here, and the fallback of this key is a "
                   "fallthrough: calls pass it over, to the next one below."
                 : "The operator has no kernel here, so the fallback of this key runs, which "
                   "serves every operator.";
    case ResolutionRule::Missing:
      return "Nothing that is registered serves this key: a call that comes to it fails.";
  }
  return "";
}

}  // namespace sb
