#include "switchboard/fake/real_run.h"

#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/call_arguments.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_op.h"
#include "switchboard/fake/fake_tensor_data.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/cpu/elementwise.h"

namespace sb::internal {
namespace {

// A symbol that stands for data alone, such as u0, has that value, unless it has one.
void bind(const SymInt& symbol, int64_t value) {
  if (!symbol.is_symbolic() || symbol.maybe_int()) return;
  ShapeEnv& env = shape_env_of(*symbol.node());
  const std::optional<SymbolInfo> info = env.symbol(symbol.to_string());
  if (info && info->unbacked && !env.at_hand(symbol.value())) env.bind_unbacked(info->name, value);
}
void bind_number(const IValue& symbol, const IValue& real) {
  if (symbol.is_SymInt() && real.is_Int()) return bind(symbol.to_sym_int(), real.to_int());
  const SymValue number = symbol.to_scalar().sym_value();
  if (!number.is_symbolic()) return;
  ShapeEnv& env = shape_env_of(*number.node());
  if (env.at_hand(number)) return;
  if (symbol.is_SymBool() && real.is_Bool())
    env.bind_unbacked(number.node()->to_string(), real.to_bool());
  if (symbol.is_SymFloat() && real.is_Double())
    env.bind_unbacked_float(number.node()->to_string(), real.to_double());
}

// Symbols as what they are at hand; false where that is not known.
bool make_plain(IValue& value) {
  const auto number = [](const SymInt& n) {
    return n.is_symbolic() ? shape_env_of(*n.node()).at_hand(n.value()) : n.value();
  };
  if (value.is_SymIntList()) {
    std::vector<int64_t> list;
    for (const SymInt& n : value.to_sym_int_list()) {
      const std::optional<SymValue> known = number(n);
      if (!known) return false;
      list.push_back(known->as_int());
    }
    value = IValue(std::move(list));
  } else if (value.is_symbolic()) {
    const SymValue symbol = value.to_scalar().sym_value();
    const std::optional<SymValue> known = shape_env_of(*symbol.node()).at_hand(symbol);
    if (!known) return false;
    value = known->kind() == SymKind::Int     ? IValue(known->as_int())
            : known->kind() == SymKind::Float ? IValue(known->as_float())
                                              : IValue(known->as_bool());
  }
  return true;
}

// What stands for the fake tensor in the real run; undefined where that is not known.
Tensor known_data(const Tensor& fake) {
  if (const Tensor real = real_of(fake); real.defined()) return real;
  if (const Tensor constant = constant_of(fake); constant.defined()) return constant;
  const Scalar* const symbol = symbolic_number_of(fake);
  if (!symbol) return Tensor();
  IValue number(*symbol);
  return make_plain(number) ? wrapped_scalar_tensor(number.to_scalar()) : Tensor();
}

void give_tensor(const Tensor& fake, const Tensor& real) {
  if (!fake.defined() || !find_fake_data(fake) || !real.defined()) return;
  extras_of(fake).real = real;
  if (fake.dim() != real.dim()) return;
  for (size_t d = 0; fake.is_symbolic() && d < fake.sym_sizes().size(); ++d)
    bind(fake.sym_sizes()[d], real.sizes()[d]);
}

}  // namespace

RealRun::RealRun(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                 const Stack& stack) {
  const auto arguments = arguments_on(op, stack);
  // What an operator is composed of comes here by itself.
  if (mode.runs_parts(op, facts)) return;
  const NoModesGuard no_modes;
  Stack real(arguments.begin(), arguments.end());
  bool known = !goes_elsewhere(facts, arguments);
  for (IValue& value : real) {
    known = make_plain(value) && known;
    map_tensors(value, [&](const Tensor& fake) {
      if (!fake.defined()) return fake;
      const Tensor data = known_data(fake);
      known = known && data.defined();
      return data;
    });
  }
  if (!known) {
    const std::vector<Argument>& declared = op.schema().arguments;
    for (size_t i = 0; facts.mutates && i < arguments.size(); ++i) {
      if (!declared[i].is_write()) continue;
      arguments[i].for_each_tensor([](const Tensor& t) {
        if (find_extras(t)) extras_of(t).real = Tensor();
      });
    }
    return;
  }
  op.call_boxed(&real);
  results_ = std::move(real);
  has_run_ = true;
}

void RealRun::give(absl::Span<const IValue> fake) const {
  for (size_t i = 0; i < results_.size() && i < fake.size(); ++i) {
    const IValue &f = fake[i], &r = results_[i];
    if (f.is_Tensor() && r.is_Tensor()) {
      give_tensor(f.to_tensor(), r.to_tensor());
    } else if (f.is_TensorList() && r.is_TensorList()) {
      for (size_t j = 0; j < std::min(f.to_tensor_list().size(), r.to_tensor_list().size()); ++j)
        give_tensor(f.to_tensor_list()[j], r.to_tensor_list()[j]);
    } else if (f.is_symbolic()) {
      bind_number(f, r);
    }
  }
}

}  // namespace sb::internal
