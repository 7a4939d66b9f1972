// One line of the order in which a call passes keys and runs kernels, as dispatch_order_test.bzl
// spells it.

#ifndef SWITCHBOARD_DISPATCH_TESTING_ORDER_STEP_H_
#define SWITCHBOARD_DISPATCH_TESTING_ORDER_STEP_H_

#include <string>
#include <string_view>

#include "switchboard/core/dispatch_key.h"

namespace sb {

struct OrderStep {
  enum class What {
    Runs,          // a kernel runs for the key
    FallsThrough,  // the key is passed over: its kernel is a fallthrough
    Excluded,      // the key is passed over: the thread excludes it
    Fails,         // the call ends at the key: there is no kernel, or none that can be entered
    Throws,        // a kernel threw; no key
  };
  What what = What::Runs;
  std::string op;  // in an expectation, empty: the operator that is called
  DispatchKey key = DispatchKey::Undefined;
  // Of a kernel that runs; in an expectation, empty: any.
  std::string place;  // "ops/add.cc:31"; in an expectation also "add.cc", "ops/add.cc"
  std::string from;  // the alias key that it is registered at, "fallback", or "key": the key itself

  bool passed_over() const { return what == What::FallsThrough || what == What::Excluded; }
};

// "aten::mm CPU ops/products/matmul.cc:31 from CompositeImplicitAutograd", "AutogradCPU falls
// through". Where the operator is `op`, its name is left out.
std::string to_string(const OrderStep& step, std::string_view op);

// Reads an expectation. Throws ValueError that names it and what is wrong with it.
OrderStep parse_order_step(std::string_view text);

// Returns whether what happened is what was expected of a call of `op`.
bool matches(const OrderStep& expected, const OrderStep& actual, std::string_view op);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_TESTING_ORDER_STEP_H_
