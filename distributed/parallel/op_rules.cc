#include "switchboard/distributed/parallel/op_rules.h"

#include <optional>

#include "switchboard/dispatch/dispatcher.h"

namespace sb {

const OpRule* find_rule(const io::Node& node) {
  if (node.kind != io::TargetKind::Operator) return nullptr;
  static const OpRules rules = [] {
    OpRules all;
    add_elementwise_rules(&all);
    add_product_rules(&all);
    add_dim_rules(&all);
    add_view_rules(&all);
    return all;
  }();
  if (const auto found = rules.find(node.op); found != rules.end()) return &found->second;
  const std::optional<OperatorHandle> op = default_dispatcher().find_op(node.target());
  return op ? pointwise_rule(*op) : nullptr;
}

}  // namespace sb
