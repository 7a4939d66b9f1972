// Printing as a part of a program.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_PRINT_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_PRINT_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/transforms/higher_order/composed_hop.h"

namespace sb {

// `higher_order::print(format, args, kwargs)`: a string, a list of values, and a list of pairs of a
// name and a value.
HigherOrderOperator& print_op();

// Prints the format as a line on standard output, with the values in the places of "{}", or "{0}",
// and "{name}"; "{{" and "}}" are braces. As `torch._higher_order_ops.print`: a graph prints when
// it runs, in the order of the program; on fake tensors nothing is printed. IndexError or
// ValueError for a place without a value, and for a format of a value ("{:.2f}"), which is not
// known here.
void print(const std::string& format, std::vector<IValue> args = {},
           const std::vector<std::pair<std::string, IValue>>& kwargs = {});

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_PRINT_H_
