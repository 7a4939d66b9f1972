#include "switchboard/distributed/parallel/op_rules.h"

namespace sb {

const OpRule* find_rule(std::string_view op) {
  static const OpRules rules = [] {
    OpRules all;
    add_elementwise_rules(&all);
    add_product_rules(&all);
    add_dim_rules(&all);
    add_view_rules(&all);
    return all;
  }();
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace sb
