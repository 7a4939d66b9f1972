#include "switchboard/fake/cached_call.h"

#include <optional>
#include <string>
#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_mode.h"

namespace sb::internal {
namespace {

// Whether the operator's shape rule is worth remembering.
bool is_costly(const OperatorHandle& op, const FakeOp& facts) {
  const DispatchTable& table = op.entry().resolved_table();
  return facts.has_rules || !table.slots[slot_of(DispatchKey::Meta)] ||
         is_implicit_composite(table);
}

// Whether the data of an argument is known.
bool has_constant(const FakeArguments& arguments, absl::Span<const IValue> given) {
  bool constant = false;
  if (arguments.extras) {
    for (const IValue& value : given)
      value.for_each_tensor([&](const Tensor& t) { constant |= constant_of(t).defined(); });
  }
  return constant;
}

// What speaks against it, by the operator. As `_validate_cache_key`.
std::optional<CacheBypass> bypass_of(const OperatorHandle& op, const FakeOp& facts) {
  OperatorEntry& entry = op.entry();
  if (entry.has_tag(Tag::data_dependent_output)) return CacheBypass::DataDependentOutput;
  if (entry.has_tag(Tag::dynamic_output_shape)) return CacheBypass::DynamicOutputShape;
  if (facts.sets_metadata) return CacheBypass::InplaceView;
  if (op.name().name == "aten::_unsafe_view") return CacheBypass::UnsafeView;
  if (facts.is_lift) return CacheBypass::Lift;
  if (op.name().name == "inductor::resize_storage_bytes_") return CacheBypass::StorageResize;
  if (!facts.is_builtin) return CacheBypass::NonBuiltin;
  if (facts.is_view && is_implicit_composite(entry.resolved_table()))
    return CacheBypass::CompositeImplicitView;
  return std::nullopt;
}

Tensor build(FakeMode& mode, const CacheEntry& entry, absl::Span<const IValue> arguments) {
  if (entry.same_as >= 0) return arguments[static_cast<size_t>(entry.same_as)].to_tensor();
  IntrusivePtr<TensorImpl> impl;
  if (entry.view_of >= 0) {
    const Tensor& base = arguments[static_cast<size_t>(entry.view_of)].to_tensor();
    impl = make_intrusive<TensorImpl>(base.storage(), entry.keys, entry.dtype, entry.device);
    impl->share_version_counter(*base.impl());
  } else {
    Storage storage = make_fake_storage(&mode.converter().allocator(), entry.storage_bytes);
    if (!entry.resizable) storage->set_resizable(nullptr);
    impl = make_intrusive<TensorImpl>(std::move(storage), entry.keys, entry.dtype, entry.device);
  }
  impl->set_sizes_and_strides(entry.sizes, entry.strides);
  impl->set_storage_offset(entry.storage_offset);
  impl->set_mode_data(mode.data());
  return Tensor(std::move(impl));
}

// The entry of a call; nullptr, with the reason counted, where its results cannot be remembered. As
// `_make_cache_entry`.
std::unique_ptr<CacheEntry> make_entry(FakeMode& mode, const OperatorHandle& op,
                                       const FakeOp& facts, absl::Span<const IValue> arguments,
                                       absl::Span<const IValue> results) {
  FakeDispatchCache& cache = mode.cache();
  const auto none = [&](CacheBypass reason) {
    cache.count_bypass(reason);
    return nullptr;
  };
  if (results.size() != 1) return none(CacheBypass::SeveralOutputs);
  if (!results[0].is_Tensor() || !mode.owns(results[0].to_tensor()))
    return none(CacheBypass::NonFakeOutput);
  const Tensor& result = results[0].to_tensor();
  if (constant_of(result).defined()) return none(CacheBypass::ConstantOutput);
  if (result.is_symbolic()) return none(CacheBypass::SymbolicShape);

  auto entry = std::make_unique<CacheEntry>();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_Tensor() || !arguments[i].to_tensor().is_same(result)) continue;
    if (op.schema().arguments[i].kwarg_only) return none(CacheBypass::KeywordAlias);
    entry->same_as = static_cast<int>(i);
    return entry;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_Tensor() || !arguments[i].to_tensor().is_alias_of(result)) continue;
    // That nobody declared: who knows what it shares next time?
    if (!facts.is_view) return none(CacheBypass::KeySetMismatch);
    entry->view_of = static_cast<int>(i);
    break;
  }
  if (facts.is_view && entry->view_of < 0) return none(CacheBypass::KeySetMismatch);
  entry->sizes.assign(result.sizes().begin(), result.sizes().end());
  entry->strides.assign(result.strides().begin(), result.strides().end());
  entry->storage_offset = result.storage_offset();
  entry->storage_bytes = result.storage()->nbytes();
  entry->resizable = result.storage()->resizable();
  entry->dtype = result.dtype();
  entry->device = result.device();
  entry->keys = result.key_set();
  return entry;
}

// As `_crosscheck_cache_output`.
void check_same(const OperatorHandle& op, const Tensor& remembered, const Tensor& computed) {
  const bool same =
      remembered.dtype() == computed.dtype() && remembered.device() == computed.device() &&
      remembered.sizes() == computed.sizes() && remembered.strides() == computed.strides() &&
      remembered.storage_offset() == computed.storage_offset() &&
      remembered.storage()->nbytes() == computed.storage()->nbytes() &&
      remembered.key_set() == computed.key_set();
  SB_CHECK(same, op.name().to_string(), ": the fake tensor cache remembered ",
           remembered.describe(), " with keys ", to_string(remembered.key_set()),
           ", but the call gave ", computed.describe(), " with keys ",
           to_string(computed.key_set()));
}

}  // namespace

bool is_remembered(const FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                   const FakeArguments& arguments, absl::Span<const IValue> given) {
  const FakeCacheUse use = mode.options().cache_use;
  if (use == FakeCacheUse::Off || use == FakeCacheUse::CrossCheck || arguments.symbolic ||
      has_constant(arguments, given) || (use == FakeCacheUse::Costly && !is_costly(op, facts)))
    return false;
  CacheKey key;
  return key.assign(op, facts.rules_version, mode.cache_settings(), given) &&
         mode.cache().contains(key);
}

void run_cached(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                const FakeArguments& arguments, Stack* stack, absl::FunctionRef<void()> run) {
  const FakeCacheUse use = mode.options().cache_use;
  if (use == FakeCacheUse::Off || (use == FakeCacheUse::Costly && !is_costly(op, facts)))
    return run();
  FakeDispatchCache& cache = mode.cache();
  const auto bypass = [&](CacheBypass reason) {
    cache.count_bypass(reason);
    run();
  };
  if (arguments.symbolic) return bypass(CacheBypass::SymbolicShape);
  const size_t n = op.entry().num_arguments();
  const auto given = absl::MakeConstSpan(*stack).last(n);
  if (has_constant(arguments, given)) return bypass(CacheBypass::ConstantAttribute);
  CacheKey key;
  if (!key.assign(op, facts.rules_version, mode.cache_settings(), given))
    return bypass(CacheBypass::OtherArgument);

  const CacheEntry* const known = cache.find(key);
  if (known && use != FakeCacheUse::CrossCheck) {
    IValue result(build(mode, *known, given));
    stack->resize(stack->size() - n);
    stack->push_back(std::move(result));
    return;
  }
  if (!known) {
    if (const std::optional<CacheBypass> reason = bypass_of(op, facts)) return bypass(*reason);
  }
  const Stack before(given.begin(), given.end());
  run();
  const size_t base = stack->size() - op.entry().num_returns();
  const auto results = absl::MakeConstSpan(*stack).subspan(base);
  if (known) {
    check_same(op, build(mode, *known, before), results[0].to_tensor());
  } else if (std::unique_ptr<CacheEntry> entry = make_entry(mode, op, facts, before, results)) {
    entry->key.assign(key.words().begin(), key.words().end());
    entry->hash = key.hash();
    cache.insert(std::move(entry));
  }
}

}  // namespace sb::internal
