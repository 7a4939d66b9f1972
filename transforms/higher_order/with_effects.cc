#include "switchboard/transforms/higher_order/with_effects.h"

#include "switchboard/core/error.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/higher_order/composed_hop.h"
#include "switchboard/transforms/higher_order/functional_op.h"
#include "switchboard/transforms/higher_order/print.h"

namespace sb {
namespace {

constexpr std::string_view kName = "higher_order::with_effects";

// Of higher-order operators only that one: others call functions, which may write.
bool is_print(const IValue& name) {
  if (!name.is_String() || !name.to_string_view().starts_with("higher_order::")) return false;
  SB_CHECK(name.to_string_view() == print_op().name(), kName,
           ": op: expected an operator with a schema, or ", print_op().name(), ", got ",
           name.to_string());
  return true;
}

std::vector<IValue> compose(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_Tensor(), kName, ": token: expected a tensor, got ",
                arguments[0].tag_name());
  std::vector<IValue> results{empty({0})};
  std::vector<IValue> args = higher_order::items_of(kName, "args", arguments[2]);
  auto kwargs = higher_order::NamedValues(kName, "kwargs", arguments[3]).rest();
  if (is_print(arguments[1])) {
    SB_CHECK_TYPE(!args.empty(), kName, ": args: expected a format, got none");
    const IValue format = args[0];
    args.erase(args.begin());
    print_op()({format, std::move(args), higher_order::pairs_of(kwargs)});
    return results;
  }
  const OpOverload op = higher_order::functional_op(kName, arguments[1]);
  for (const IValue& result : op.call(std::move(args), std::move(kwargs)))
    result.for_each_tensor([&](const Tensor& t) { results.emplace_back(t); });
  return results;
}

const higher_order::ComposedHop& hop() {
  // Never destroyed: calls may come while the program ends.
  static const auto* const hop =
      new higher_order::ComposedHop({.name = "with_effects",
                                     .parameters = {"token", "op", "args", "kwargs"},
                                     .compose = compose,
                                     .has_effect = true});
  return *hop;
}

// So that it is found by its name from the start.
[[maybe_unused]] const auto& with_effects_at_start = hop();

}  // namespace

HigherOrderOperator& with_effects_op() { return hop().op(); }

std::pair<Tensor, std::vector<Tensor>> with_effects(
    const Tensor& token, const std::string& op, std::vector<IValue> args,
    const std::vector<higher_order::NamedValue>& kwargs) {
  std::vector<Tensor> results = control_flow::tensors_of(
      kName, "results",
      with_effects_op()({token, op, std::move(args), higher_order::pairs_of(kwargs)}));
  Tensor next = results.at(0);
  results.erase(results.begin());
  return {std::move(next), std::move(results)};
}

}  // namespace sb
