// What a ShapeEnv's symbols are when a graph runs that was traced with them.

#include "switchboard/dispatch/graph/symbol_values.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/fake/symbolic/substitution.h"

namespace sb {
namespace {

// A symbol of somebody else's is what it is in every run.
bool is_foreign(const SymNode& node) { return !dynamic_cast<const ExprSymNode*>(&node); }

class GraphSymbols final : public SymbolValues {
 public:
  explicit GraphSymbols(std::shared_ptr<const symbolic::Substitution> outer)
      : values_(std::make_shared<symbolic::Substitution>(std::move(outer))) {}

  bool bind(const SymNode& expression, const SymValue& value) override {
    return is_foreign(expression) || values_->bind(expression, value);
  }
  std::optional<SymValue> value_of(const SymNode& expression) const override {
    return is_foreign(expression) ? SymValue(IntrusivePtr<const SymNode>::share(&expression))
                                  : values_->value_of(expression);
  }
  bool is_told(const SymNode& expression) const override {
    return !is_foreign(expression) && expr_node(expression).expr()->has_unbacked;
  }
  bool is_at_hand(const SymNode& expression) const override {
    const auto* const fake = dynamic_cast<const internal::FakeMode*>(get_mode(ModeKey::Fake));
    return fake && fake->shape_env() == &shape_env_of(expression);
  }
  std::string broken_condition() override { return values_->broken_condition(); }

  const std::shared_ptr<symbolic::Substitution>& values() const { return values_; }

 private:
  const std::shared_ptr<symbolic::Substitution> values_;
};

std::shared_ptr<SymbolValues> new_graph_symbols(std::shared_ptr<const SymbolValues> outer) {
  const auto* const around = dynamic_cast<const GraphSymbols*>(outer.get());
  return std::make_shared<GraphSymbols>(around ? around->values() : nullptr);
}

[[maybe_unused]] const bool registered = (internal::new_symbol_values = new_graph_symbols, true);

}  // namespace
}  // namespace sb
