#include "switchboard/dispatch/operator_entry.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace {

constexpr DispatchTable make_unresolved_table() {
  DispatchTable table;
  for (DispatchKeySet& mask : table.masks) mask = DispatchKeySet::full();
  return table;
}

// How a C++ type fits the schema's: the same, plain integers for symbolic ones (by way of the stack
// only), or IValue for what has no C++ type of its own.
enum class Fit { No, Boxed, Same };
Fit fit(TypeCode schema, TypeCode cpp) {
  if (schema == cpp) return Fit::Same;
  if (cpp == kDeepType) {
    return base_of(schema) == BaseType::Class || schema == kDeepType ? Fit::Same : Fit::No;
  }
  if (base_of(schema) == BaseType::SymInt &&
      cpp == ((schema & ~TypeCode{0xff}) | type_code(BaseType::Int)))
    return Fit::Boxed;
  return Fit::No;
}

// A typed kernel that typed calls must not enter, as its types are not quite the schema's.
struct BoxedOnly final : KernelState {
  explicit BoxedOnly(KernelFunction f) : function(std::move(f)) {}
  static void call(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys,
                   Stack* stack) {
    const Kernel& inner = static_cast<const BoxedOnly*>(kernel.state)->function.entries;
    inner.boxed(inner, op, keys, stack);
  }
  KernelFunction function;
};

Fit fit_all(const auto& schema, absl::Span<const TypeCode> cpp) {
  if (schema.size() != cpp.size()) return Fit::No;
  Fit worst = Fit::Same;
  for (size_t i = 0; i < cpp.size(); ++i)
    worst = std::min(worst, fit(schema[i].type.code(), cpp[i]));
  return worst;
}

}  // namespace

constinit const DispatchTable kUnresolvedTable = make_unresolved_table();

[[gnu::cold]] std::string to_string(const CppSignature& signature) {
  const auto append = [](std::string* out, TypeCode code) {
    absl::StrAppend(out, to_string(code));
  };
  const auto list = [&](absl::Span<const TypeCode> codes) {
    return str_cat("(", absl::StrJoin(codes, ", ", append), ")");
  };
  return str_cat(list(signature.arguments), " -> ", list(signature.returns));
}

std::string_view to_string(ResolutionRule rule) {
  switch (rule) {
    case ResolutionRule::Kernel:
      return "kernel";
    case ResolutionRule::DefaultBackendKernel:
      return "default backend kernel";
    case ResolutionRule::NestedKernel:
      return "nested kernel";
    case ResolutionRule::AmbiguousAutogradOther:
      return "ambiguous autogradother";
    case ResolutionRule::MathKernel:
      return "math kernel";
    case ResolutionRule::AutogradKernel:
      return "autograd kernel";
    case ResolutionRule::BatchedKernel:
      return "batched kernel";
    case ResolutionRule::BackendFallback:
      return "backend fallback";
    case ResolutionRule::Missing:
      return "missing";
  }
  return "missing";
}

OperatorEntry::OperatorEntry(Dispatcher& dispatcher, OperatorName name)
    : TableHolder(&kUnresolvedTable), dispatcher_(dispatcher), name_(std::move(name)) {}

OperatorEntry::~OperatorEntry() {
  for (const auto& note : notes_) delete note.load(std::memory_order_relaxed);
}

OperatorNote& OperatorEntry::set_note(NoteKind kind, std::unique_ptr<OperatorNote> note) {
  OperatorNote* there = nullptr;
  if (!notes_[static_cast<size_t>(kind)].compare_exchange_strong(there, note.get(),
                                                                 std::memory_order_acq_rel))
    return *there;
  return *note.release();
}

const FunctionSchema& OperatorEntry::schema() const {
  SB_CHECK_NOT_IMPLEMENTED(
      !dead(), name_.to_string(),
      ": the operator was removed; keep the library open that defines it",
      schema_ ? str_cat("\nit was defined at: ", to_string(defined_at())) : "");
  SB_CHECK_NOT_IMPLEMENTED(schema_.has_value(), name_.to_string(),
                           ": the operator has kernels but no schema; define it");
  return *schema_;
}

void OperatorEntry::throw_short_stack(const Stack& stack) const {
  SB_THROW(
      RuntimeError, name_.to_string(), ": expected ", num_arguments_, " values on the stack, got ",
      stack.size(),
      "; a boxed call gives every argument, those with defaults too\nschema: ", describe_schema());
}

Resolution OperatorEntry::resolve(DispatchKey key) const {
  internal::ResolvedKey found{ResolutionRule::Missing, key};
  if (kernels_.has(key) || kernels_.has_alias()) {
    found = internal::resolve_key(key, internal::NestedComposite::Always,
                                  [&](DispatchKey k) { return kernels_.has(k); });
  }
  if (found.rule == ResolutionRule::AmbiguousAutogradOther) return {found.rule, key, nullptr};
  if (found.rule != ResolutionRule::Missing)
    return {found.rule, found.source, &kernels_.at(found.source).back()};
  if (const RegisteredKernel* fallback =
          dispatcher_.fallback_locked(key, schema_ ? &*schema_ : nullptr))
    return {ResolutionRule::BackendFallback, key, fallback};
  return {ResolutionRule::Missing, key, nullptr};
}

const DispatchTable& OperatorEntry::resolve_table() { return dispatcher_.resolve_table(*this); }

void OperatorEntry::publish_table(bool publish) {
  // Calls with objects of classes go the slow way: there one looks whether they are stand-ins.
  const auto is_object = [](const Argument& a) { return a.type.base == BaseType::Class; };
  const bool fast = publish && table_ && std::ranges::none_of(schema_->arguments, is_object);
  table_pointer.store(fast ? &table_->table : &kUnresolvedTable, std::memory_order_release);
}

const DispatchTable& OperatorEntry::build_table() {
  schema();  // an operator without one cannot be called
  auto owned = std::make_shared<OwnedTable>();
  owned->table.masks.fill(DispatchKeySet::full());
  for_each_runtime_key([&](DispatchKey key) {
    const Resolution resolution = resolve(key);
    owned->table.rules[slot_of(key)] = resolution.rule;
    if (!resolution.kernel) return;
    const RegisteredKernel& kernel = *resolution.kernel;
    if (kernel.function.entries.is_refusal()) return;  // as a slot without a kernel
    Kernel& slot = owned->table.slots[slot_of(key)];
    if (kernel.fits_schema) {
      slot = kernel.function.entries;
      if (kernel.function.state) owned->states.push_back(kernel.function.state);
    } else {
      owned->states.push_back(make_intrusive<BoxedOnly>(kernel.function));
      slot = {nullptr, &BoxedOnly::call, owned->states.back().get()};
    }
    const Kernel& at_other = owned->table.slots[slot_of(DispatchKey::AutogradOther)];
    if (is_passed_over(slot, key, at_other) && key != DispatchKey::Undefined) {
      // That of a functionality without backends counts on every one.
      const std::optional<Backend> backend = backend_of(key);
      for (int b = 0; b < kNumBackends; ++b) {
        if (!backend || static_cast<int>(*backend) == b)
          owned->table.masks[b] -= functionality_of(key);
      }
    }
  });
  table_ = std::move(owned);
  resolved_.store(&table_->table, std::memory_order_release);
  return table_->table;
}

void OperatorEntry::invalidate_table() {
  for (const auto& note : notes_)
    if (OperatorNote* const there = note.load(std::memory_order_acquire))
      there->registrations_changed();
  if (!table_) return;
  table_pointer.store(&kUnresolvedTable, std::memory_order_release);
  resolved_.store(nullptr, std::memory_order_release);
  internal::retire(std::move(table_));
  table_ = nullptr;
}

[[gnu::cold]] std::string OperatorEntry::describe_kernels() const {
  std::vector<std::string> parts;
  for (DispatchKey key : keys_with_kernels()) {
    parts.push_back(str_cat(to_string(key), " (", to_string(kernels_.at(key).back().where), ")"));
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

[[gnu::cold]] std::string OperatorEntry::describe_schema() const {
  return str_cat(schema().to_string(), " (", to_string(defined_at()), ")");
}

void OperatorEntry::check_signature(const CppSignature& signature) const {
  const FunctionSchema& s = schema();
  SB_CHECK_TYPE(fit_all(s.arguments, signature.arguments) == Fit::Same &&
                    fit_all(s.returns, signature.returns) == Fit::Same,
                name_.to_string(), ": declared as ", to_string(signature),
                ", which is not the schema that is registered; declare that one\nschema: ",
                describe_schema());
}

bool OperatorEntry::check_kernel(const FunctionSchema& schema, const SourceLocation& where,
                                 const RegisteredKernel& kernel) const {
  const CppSignature* signature = kernel.function.signature;
  if (!signature) return true;
  const Fit worst = std::min(fit_all(schema.arguments, signature->arguments),
                             fit_all(schema.returns, signature->returns));
  SB_CHECK_KIND(RuntimeError, worst != Fit::No, name_.to_string(), " [", to_string(kernel.key),
                "]: the kernel's type does not agree with the schema; change one of them\nkernel: ",
                to_string(*signature), " (", to_string(kernel.where),
                ")\nschema: ", schema.to_string(), " (", to_string(where), ")");
  return worst == Fit::Same;
}

void OperatorEntry::check_kernels(const FunctionSchema& schema, const SourceLocation& where) const {
  SB_CHECK(schema.arguments.size() <= 255, name_.to_string(),
           ": expected at most 255 arguments, got ", schema.arguments.size(),
           "; make lists of them\nschema: ", to_string(where));
  for (const RegisteredKernel& kernel : kernels_) check_kernel(schema, where, kernel);
}

void OperatorEntry::set_schema(FunctionSchema&& schema, const SourceLocation& where) {
  for (RegisteredKernel& kernel : kernels_)
    kernel.fits_schema = check_kernel(schema, where, kernel);
  if (schema_) return;
  num_arguments_ = schema.arguments.size();
  num_returns_ = schema.returns.size();
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].type.has_tensor())
      tensor_arguments_.push_back(static_cast<uint8_t>(num_arguments_ - i));
  }
  schema_ = std::move(schema);
}

}  // namespace sb
