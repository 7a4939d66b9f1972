#include "switchboard/fake/cached_call.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/fake/call_arguments.h"
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

// What speaks against it, by the operator.
std::optional<CacheBypass> bypass_of(const OperatorHandle& op, const FakeOp& facts) {
  if (!facts.bypass && facts.is_view && is_implicit_composite(op.entry().resolved_table()))
    return CacheBypass::CompositeImplicitView;
  return facts.bypass;
}

// Where calls with such arguments are remembered.
RememberedCalls& calls_of(FakeMode& mode, bool symbolic) {
  return symbolic ? mode.symbolic_calls() : mode.cache().calls();
}

// Whether calls with symbols of the mode's environment are remembered, as things are.
bool remembers_symbols(const FakeMode& mode) {
  const ShapeEnv* const env = mode.shape_env();
  return env && !env->suppressed() &&
         env->settings().on_data_dependent == OnDataDependent::Throw;  // and not an example's data
}

// For RememberedCalls::find: by the operator and something of the shape of its first tensor.
inline uint64_t place_of(const OperatorHandle& op, const TensorImpl& first) {
  const IntArrayRef sizes = first.hint_sizes();
  const int64_t offset = first.symbolic_shape() ? 0 : first.storage_offset();
  return reinterpret_cast<uintptr_t>(&op.entry()) + static_cast<uint64_t>(offset) +
         (sizes.empty() ? 0 : static_cast<uint64_t>(sizes.front() + 3 * sizes.back()));
}

// The argument that the result is, or whose storage it is on; -1 if none.
int argument_of(const CacheEntry& entry) {
  return entry.same_as >= 0 ? entry.same_as : entry.view_of;
}

// `argument` is that, or null. `data` is what fake tensors of the mode have.
[[gnu::noinline]] Tensor build_any(FakeMode& mode, const IntrusivePtr<ModeData>& data,
                                   const CacheEntry& entry, const Tensor* argument) {
  if (entry.same_as >= 0) return *argument;
  Storage storage;
  if (entry.view_of >= 0) {
    storage = argument->storage();
  } else {
    storage = make_fake_storage(&mode.converter().allocator(), entry.storage_bytes);
    if (!entry.resizable) storage->set_resizable(nullptr);
  }
  IntrusivePtr<TensorImpl> impl;
  if (entry.symbolic) {
    impl = entry.symbolic->shallow_copy();
    impl->set_storage(std::move(storage));
  } else {
    impl = make_intrusive<TensorImpl>(std::move(storage), entry.keys, entry.dtype, entry.device);
    impl->set_sizes_and_strides(entry.sizes, entry.strides);
    impl->set_storage_offset(entry.storage_offset);
  }
  if (entry.view_of >= 0) impl->share_version_counter(*argument->impl());
  impl->set_mode_data(data);
  return Tensor(std::move(impl));
}
inline Tensor build(FakeMode& mode, const IntrusivePtr<ModeData>& data, const CacheEntry& entry,
                    const Tensor* argument) {
  if (entry.numel < 0) return build_any(mode, data, entry, argument);
  auto impl = make_intrusive<TensorImpl>(entry.sizes, entry.numel, &mode.converter().allocator(),
                                         entry.keys, entry.dtype, Device(DeviceType::Meta));
  FreshStorages::note(impl->storage().get());
  impl->set_device(entry.device);
  impl->set_mode_data(data);
  return Tensor(std::move(impl));
}
Tensor build(FakeMode& mode, const CacheEntry& entry, absl::Span<const IValue> arguments) {
  const int i = argument_of(entry);
  return build(mode, mode.data(), entry,
               i < 0 ? nullptr : &arguments[static_cast<size_t>(i)].to_tensor());
}

// Whether a tensor is as fresh ones are, and has the strides that these have, also where a size of
// 1 leaves them open.
bool is_as_fresh(const Tensor& t) {
  if (t.dim() > static_cast<int64_t>(SizesAndStrides::kInline) || t.storage_offset() != 0 ||
      !t.storage()->resizable() ||
      t.storage()->nbytes() != static_cast<size_t>(t.numel()) * t.itemsize())
    return false;
  const SizesAndStrides fresh(t.sizes());
  return std::equal(t.strides().begin(), t.strides().end(), fresh.strides());
}

// The entry of a call; nullptr, with the reason counted, where its results cannot be remembered. As
// `_make_cache_entry`.
std::unique_ptr<CacheEntry> make_entry(FakeMode& mode, const OperatorHandle& op,
                                       const FakeOp& facts, absl::Span<const IValue> arguments,
                                       absl::Span<const IValue> results, bool symbolic) {
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
  if (result.is_symbolic() && !symbolic) return none(CacheBypass::SymbolicShape);
  if (result.impl()->quantizer()) return none(CacheBypass::NonFakeOutput);  // it has a scale

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
  entry->storage_bytes = result.storage()->nbytes();
  entry->resizable = result.storage()->resizable();
  if (result.is_symbolic()) {
    // Something only data tell, which the next call would not find.
    if (find_extras(result)) return none(CacheBypass::ConstantOutput);
    IntrusivePtr<TensorImpl> like = result.impl()->shallow_copy();
    like->set_storage(nullptr);
    like->set_mode_data(nullptr);
    entry->symbolic = std::move(like);
    return entry;
  }
  entry->sizes.assign(result.sizes().begin(), result.sizes().end());
  entry->strides.assign(result.strides().begin(), result.strides().end());
  entry->storage_offset = result.storage_offset();
  entry->dtype = result.dtype();
  entry->device = result.device();
  entry->keys = result.key_set();
  if (entry->view_of < 0 && is_as_fresh(result)) entry->numel = result.numel();
  return entry;
}

// Whether two numbers are one for all sizes. Records nothing.
bool is_same_number(const SymInt& a, const SymInt& b) {
  const std::optional<int64_t> x = a.maybe_int(), y = b.maybe_int();
  return x || y ? x == y : a.node()->is_same(*b.node());
}
bool are_same_numbers(SymIntArrayRef a, SymIntArrayRef b) {
  return std::ranges::equal(a, b, is_same_number);
}

// As `_crosscheck_cache_output`.
void check_same(const OperatorHandle& op, const Tensor& remembered, const Tensor& computed) {
  const bool same =
      remembered.dtype() == computed.dtype() && remembered.device() == computed.device() &&
      are_same_numbers(remembered.sym_sizes(), computed.sym_sizes()) &&
      are_same_numbers(remembered.sym_strides(), computed.sym_strides()) &&
      is_same_number(remembered.sym_storage_offset(), computed.sym_storage_offset()) &&
      remembered.storage()->nbytes() == computed.storage()->nbytes() &&
      remembered.key_set() == computed.key_set();
  SB_CHECK(same, op.name().to_string(), ": the fake tensor cache remembered ",
           remembered.describe(), " with keys ", to_string(remembered.key_set()),
           ", but the call gave ", computed.describe(), " with keys ",
           to_string(computed.key_set()));
}

}  // namespace

bool is_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                   const FakeArguments& arguments, absl::Span<const IValue> given) {
  const FakeCacheUse use = mode.options().cache_use;
  const bool symbolic = arguments.symbolic;
  if (use == FakeCacheUse::Off || use == FakeCacheUse::CrossCheck ||
      (symbolic ? arguments.extras || !remembers_symbols(mode) : has_constant(arguments, given)) ||
      (use == FakeCacheUse::Costly && !symbolic && !is_costly(op, facts)))
    return false;
  const CacheKey key(op, facts.rules_version, mode.cache_settings(), given,
                     symbolic ? mode.shape_env() : nullptr);
  const std::optional<uint64_t> hash = key.hash();
  return hash && calls_of(mode, symbolic).find_by_hash(key, *hash);
}

bool give_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                     const TypedFrame& frame) {
  const CallDescription& call = frame.description;
  if (facts.bypass || !call.returns_tensor || call.tensors == 0) return false;
  const auto argument = [&](int i) { return static_cast<const Tensor*>(frame.arguments[i]); };
  const TensorImpl& first = *argument(__builtin_ctzll(call.tensors))->impl();
  const IntrusivePtr<ModeData>& data = first.mode_data();
  if (!data || data.get() != mode.plain_data()) return false;
  const bool symbolic = first.symbolic_shape();
  if (symbolic && !remembers_symbols(mode)) return false;
  const CacheKey key(op, facts.rules_version, mode.cache_settings(), frame, data.get(),
                     symbolic ? mode.shape_env() : nullptr);
  const CacheEntry* const known = calls_of(mode, symbolic).find(key, place_of(op, first));
  if (!known) return false;
  const int i = argument_of(*known);
  if (i >= 0 && call.types->arguments[static_cast<size_t>(i)] != SB_T(Tensor)) return false;
  mode.cache().count_hit();
  *static_cast<Tensor*>(frame.result) = build(mode, data, *known, i < 0 ? nullptr : argument(i));
  return true;
}

bool give_remembered(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts, Stack* stack) {
  const auto given = arguments_on(op, *stack);
  if (facts.bypass || given.empty() || !given[0].is_Tensor()) return false;
  const CacheKey key(op, facts.rules_version, mode.cache_settings(), given, nullptr);
  const CacheEntry* const known =
      mode.cache().calls().find(key, place_of(op, *given[0].unchecked_tensor().impl()));
  if (!known) return false;
  mode.cache().count_hit();
  IValue result(build(mode, *known, given));
  stack->resize(stack->size() - given.size());
  stack->push_back(std::move(result));
  return true;
}

void run_cached(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                const FakeArguments& arguments, Stack* stack, absl::FunctionRef<void()> run) {
  const FakeCacheUse use = mode.options().cache_use;
  const bool symbolic = arguments.symbolic;
  // A rule takes several times as long with symbols.
  if (use == FakeCacheUse::Off ||
      (use == FakeCacheUse::Costly && !symbolic && !is_costly(op, facts)))
    return run();
  FakeDispatchCache& cache = mode.cache();
  const auto bypass = [&](CacheBypass reason) {
    cache.count_bypass(reason);
    run();
  };
  if (symbolic && (arguments.extras || !remembers_symbols(mode)))
    return bypass(CacheBypass::SymbolicShape);
  const size_t n = op.entry().num_arguments();
  const auto given = absl::MakeConstSpan(*stack).last(n);
  if (has_constant(arguments, given)) return bypass(CacheBypass::ConstantAttribute);
  const ShapeEnv* const env = symbolic ? mode.shape_env() : nullptr;
  const uint64_t version = env ? env->version() : 0;
  const CacheKey key(op, facts.rules_version, mode.cache_settings(), given, env);
  const std::optional<uint64_t> hash = key.hash();
  if (!hash) return bypass(symbolic ? CacheBypass::SymbolicShape : CacheBypass::OtherArgument);

  RememberedCalls& calls = calls_of(mode, symbolic);
  const CacheEntry* const known = calls.find_by_hash(key, *hash);
  if (known) cache.count_hit();
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
  std::vector<uint64_t> words = known ? std::vector<uint64_t>() : key.words();
  run();
  const size_t base = stack->size() - op.entry().num_returns();
  const auto results = absl::MakeConstSpan(*stack).subspan(base);
  // What a call asks of symbols, and learns, it would not ask if its result were remembered.
  const bool learnt = env && env->version() != version;
  if (known) {
    SB_CHECK(!learnt, op.name().to_string(),
             ": the fake tensor cache remembered a call that asks something of symbols");
    check_same(op, build(mode, *known, before), results[0].to_tensor());
  } else if (learnt) {
    cache.count_bypass(CacheBypass::SymbolicShape);
  } else if (auto entry = make_entry(mode, op, facts, before, results, symbolic)) {
    entry->key = std::move(words);
    entry->hash = *hash;
    const RememberedCalls::Inserted inserted = calls.insert(std::move(entry));
    if (inserted == RememberedCalls::Inserted::Now) cache.count_miss();
    if (inserted == RememberedCalls::Inserted::Full) cache.count_bypass(CacheBypass::Full);
  }
}

}  // namespace sb::internal
