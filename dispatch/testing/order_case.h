// A dispatch_order_test as its BUILD file states it: a call, and the order that it should take.

#ifndef SWITCHBOARD_DISPATCH_TESTING_ORDER_CASE_H_
#define SWITCHBOARD_DISPATCH_TESTING_ORDER_CASE_H_

#include <map>
#include <string>
#include <vector>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/testing/order_step.h"

namespace sb {

struct OrderCase {
  // A tensor among the arguments: its whole key set, or an undefined one.
  struct TensorKeys {
    DispatchKeySet keys;
    bool undefined = false;
  };

  std::string op;
  // By argument, several for a list; under "*" for every tensor argument without a default.
  std::map<std::string, std::vector<TensorKeys>> tensors;
  std::map<std::string, std::vector<int64_t>> shapes;  // by argument; under "*" for all others
  std::map<std::string, std::string> args;             // values, spelled as a schema's defaults
  DispatchKeySet include, exclude;                     // what the thread adds and takes away
  std::vector<OrderStep> expect;
};

// Reads the arguments that dispatch_order_test.bzl passes to the program: "--op=aten::add.Tensor",
// "--tensor=self=CPU,AutogradCPU", "--shape=self=2x3", "--arg=alpha=2", "--include=Tracer",
// "--exclude=AutogradCPU", "--expect=CPU". Throws ValueError naming the one that it cannot read.
OrderCase parse_order_case(const std::vector<std::string>& arguments);

struct OrderResult {
  bool passed = false;
  // The calls that were made, line by line; where others were expected, both, the first difference
  // and the explanation of the call.
  std::string report;
};

// Makes the call, for real, and watches its kernels. Throws an Error if the case cannot be called:
// no such operator or argument, a value that does not parse.
OrderResult run_order_case(const OrderCase& order, Dispatcher& dispatcher = default_dispatcher());

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_TESTING_ORDER_CASE_H_
