// What one operator call costs: floating-point operations, and bytes read and written.

#ifndef SWITCHBOARD_TOOLS_PLAN_OP_COST_H_
#define SWITCHBOARD_TOOLS_PLAN_OP_COST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/tools/plan/count.h"

namespace sb::plan {

// A call that is done, as formulas see it. Tensors need no data: only sizes and strides are read,
// which may be symbols (sym_size(), sym_numel()).
struct OpCall {
  const FunctionSchema& schema;
  absl::Span<const IValue> arguments;  // one for each argument of the schema
  absl::Span<const IValue> results;

  // The tensor that is argument `index`. Throws TypeError if it is none.
  const Tensor& tensor(size_t index) const { return arguments.at(index).to_tensor(); }
};

// The FLOPs of a call.
using FlopFormula = Count (*)(const OpCall& call);

// Which of its tensors' bytes an operator moves.
enum class Traffic : uint8_t {
  // Reads every tensor argument but those of out=, and writes its results and the arguments that
  // its schema writes to. An operator whose results all share storage with arguments, and which
  // writes to none, is a view whatever its row says, and moves nothing.
  Usual,
  Gathers,     // the same, but of its first argument it reads no more than its result has
  Scatters,    // in place, it touches as many elements of the first argument as the largest of the
               // others has; else as Usual
  Overwrites,  // in place, it does not read its first argument
  None,        // makes room, or changes metadata only
};

struct OpCost {
  FlopFormula flops = nullptr;  // null: not counted
  Traffic traffic = Traffic::Usual;
};

// What one call costs. `flops` is 0 where there is no formula, and `counted` then says so.
struct CallCost {
  Count flops;
  bool counted = false;
  Count bytes_read;
  Count bytes_written;

  // Sums saturate, and are counted if both are.
  CallCost operator+(const CallCost& other) const;
};

// The cost of operators by name. A copy of standard() may be changed for operators of one's own.
//
//   CostTable costs = CostTable::standard();
//   costs.set("demo::attention", {[](const OpCall& call) -> Count { ... }});
class CostTable {
 public:
  // The base operators of aten. Formulas are those of `torch.utils.flop_counter` where it has one:
  // a multiplication and an addition are two FLOPs, so mm of (m, k) and (k, n) is 2mkn, and a bias
  // is not counted. That module stops there; here
  //   - elementwise operators are 1 for each element of the result, whatever the function;
  //   - reductions and scans are 1 for each element of the input;
  //   - normalisations, softmax and pooling have small factors, which flop_formulas.cc shows;
  //   - operators that only move data are 0.
  // Everything else has no formula. A complex operation counts as a real one.
  static const CostTable& standard();

  // The cost of all overloads of an operator, "aten::mm", its in-place and out= forms and the form
  // on lists (_foreach_) included, unless these have a row of their own.
  void set(std::string name, OpCost cost) { costs_[std::move(name)] = cost; }
  // nullptr for an operator without a row.
  const OpCost* find(std::string_view name) const;

 private:
  std::map<std::string, OpCost, std::less<>> costs_;
};

// What the call costs by its row, which may be nullptr.
CallCost cost_of(const OpCost* row, const OpCall& call);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_OP_COST_H_
