// The program behind dispatch_order_test. Exits with 0 if the call took the expected order, 1 if
// not, 2 if it cannot be made.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/testing/order_case.h"

int main(int argc, char** argv) {
  try {
    const sb::OrderCase order = sb::parse_order_case({argv + 1, argv + argc});
    const sb::OrderResult result = sb::run_order_case(order);
    std::cout << result.report;
    return result.passed ? 0 : 1;
  } catch (const sb::Error& error) {
    std::cout << "dispatch_order_test: " << error.what() << "\n";
    return 2;
  }
}
