#include "switchboard/fake/real_run.h"

#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/fake/fake_op.h"
#include "switchboard/fake/fake_tensor_data.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::internal {
namespace {

// A symbol that stands for data alone, such as u0, has that value.
void bind(const SymInt& symbol, int64_t value) {
  if (!symbol.is_symbolic() || symbol.maybe_int()) return;
  ShapeEnv& env = shape_env_of(*symbol.node());
  const std::optional<SymbolInfo> info = env.symbol(symbol.to_string());
  if (info && info->unbacked) env.bind_unbacked(info->name, value);
}

void give_tensor(const Tensor& fake, const Tensor& real) {
  if (!fake.defined() || !find_fake_data(fake) || !real.defined()) return;
  extras_of(fake).real = real;
  if (fake.dim() != real.dim()) return;
  for (size_t d = 0; fake.is_symbolic() && d < fake.sym_sizes().size(); ++d)
    bind(fake.sym_sizes()[d], real.sizes()[d]);
}

}  // namespace

RealRun::RealRun(const OperatorHandle& op, const FakeOp& facts, Stack* stack) {
  const auto arguments = absl::MakeConstSpan(*stack).last(op.entry().num_arguments());
  Stack real(arguments.begin(), arguments.end());
  bool known = !goes_elsewhere(facts, arguments);
  for (IValue& value : real) {
    if (value.is_symbolic() || value.is_SymIntList()) known = false;
    map_tensors(value, [&](const Tensor& fake) {
      const FakeExtras* const extras = fake.defined() ? find_extras(fake) : nullptr;
      if (fake.defined() && !(extras && extras->real.defined())) known = false;
      return extras ? extras->real : Tensor();
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
  const NoModesGuard no_modes;
  op.call_boxed(&real);
  results_ = std::move(real);
}

void RealRun::give(absl::Span<const IValue> fake) const {
  for (size_t i = 0; i < results_.size() && i < fake.size(); ++i) {
    const IValue &f = fake[i], &r = results_[i];
    if (f.is_Tensor() && r.is_Tensor()) {
      give_tensor(f.to_tensor(), r.to_tensor());
    } else if (f.is_TensorList() && r.is_TensorList()) {
      for (size_t j = 0; j < std::min(f.to_tensor_list().size(), r.to_tensor_list().size()); ++j)
        give_tensor(f.to_tensor_list()[j], r.to_tensor_list()[j]);
    } else if (f.is_SymInt() && r.is_Int()) {
      bind(f.to_sym_int(), r.to_int());
    }
  }
}

}  // namespace sb::internal
