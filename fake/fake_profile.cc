#include "switchboard/fake/fake_profile.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/library_handle.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

OpProfile::Tensors tensors_of(const IValue& value) {
  OpProfile::Tensors tensors;
  value.for_each_tensor([&](const Tensor& t) {
    if (t.defined()) tensors.push_back(TensorProfile::of(t));
  });
  return tensors;
}

std::vector<OpProfile::Tensors> tensors_of_all(const std::vector<IValue>& values) {
  std::vector<OpProfile::Tensors> all;
  for (const IValue& value : values) all.push_back(tensors_of(value));
  return all;
}

Tensor make(const TensorProfile& profile) {
  std::vector<SymInt> sizes;
  for (int64_t i = 0; i < profile.rank; ++i) sizes.push_back(fake_context().new_dynamic_size());
  return empty(sizes, profile.dtype, std::nullopt, profile.device);
}

// The fake rule.
class ProfiledRule {
 public:
  explicit ProfiledRule(std::vector<OpProfile> profiles) : profiles_(std::move(profiles)) {}

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const FunctionSchema& schema = op.schema();
    const auto base = stack->end() - static_cast<std::ptrdiff_t>(schema.arguments.size());
    const std::vector<IValue> given(base, stack->end());
    const auto found = std::ranges::find(profiles_, tensors_of_all(given), &OpProfile::arguments);
    SB_CHECK_KIND(MissingOpProfileError, found != profiles_.end(), op.name().to_string(),
                  ": none of ", profiles_.size(),
                  " profiles has the ranks, dtypes and devices of this call; "
                  "register_fake() a rule: ",
                  schema.to_string());
    stack->erase(base, stack->end());
    for (size_t i = 0; i < schema.returns.size(); ++i) {
      std::vector<Tensor> tensors;
      for (const TensorProfile& profile : found->results[i]) tensors.push_back(make(profile));
      if (schema.returns[i].type.is_list())
        stack->emplace_back(std::move(tensors));
      else
        stack->emplace_back(tensors.empty() ? Tensor() : tensors[0]);
    }
  }

 private:
  std::vector<OpProfile> profiles_;
};

void check(const FunctionSchema& schema, const std::vector<OpProfile>& profiles) {
  const std::string name = schema.name.to_string();
  for (const Return& result : schema.returns) {
    SB_CHECK(result.type.has_tensor(), "unsafe_generate_fake_kernels: ", name,
             ": expected tensors as results, got ", schema.to_string());
  }
  for (const OpProfile& profile : profiles) {
    SB_CHECK_VALUE(profile.arguments.size() == schema.arguments.size() &&
                       profile.results.size() == schema.returns.size(),
                   "unsafe_generate_fake_kernels: ", name, ": a profile of ",
                   profile.arguments.size(), " arguments and ", profile.results.size(),
                   " results: ", schema.to_string());
  }
}

}  // namespace

TensorProfile TensorProfile::of(const Tensor& tensor) {
  return {tensor.dim(), tensor.dtype(), tensor.device()};
}

OpProfile OpProfile::of(const std::vector<IValue>& arguments, const std::vector<IValue>& results) {
  return {tensors_of_all(arguments), tensors_of_all(results)};
}

RegistrationHandle unsafe_generate_fake_kernels(
    const std::map<std::string, std::vector<OpProfile>>& profiles, SourceLocation where) {
  auto rules = std::make_unique<Library>(Library::Kind::Impl, "profiles", std::nullopt, where);
  for (const auto& [name, of_op] : profiles) {
    check(lookup_op(name).schema(), of_op);
    rules->own(register_fake(name, ProfiledRule(of_op), /*allow_override=*/true, where));
  }
  return internal::library_handle(std::move(rules));
}

}  // namespace sb
