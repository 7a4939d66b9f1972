#include "switchboard/transforms/functionalization/functional_tensor.h"

#include <atomic>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/transforms/functionalization/functionalization.h"
#include "switchboard/transforms/functionalization/history.h"

namespace sb {
namespace {

// The value's keys but those that would run a kernel on memory that is not there, and with the one
// that leads to functionalisation.
DispatchKeySet functional_keys(const Tensor& value, bool has_owner) {
  constexpr DispatchKeySet kHidden{DispatchKey::Dense, DispatchKey::Python,
                                   DispatchKey::Functionalize};
  return (value.key_set() - kHidden) |
         DispatchKeySet(has_owner ? DispatchKey::Python : DispatchKey::Functionalize);
}

constexpr DispatchKeySet kGradKeys =
    kAutogradFunctionalities | DispatchKeySet(DispatchKey::ADInplaceOrView);

}  // namespace

BelowFunctionalization::BelowFunctionalization(IntrusivePtr<FunctionalOwner> owner)
    // What stands above saw the call before it was functionalised. Observers see every call, and
    // lazy bits are those of the values, and so are gradients.
    : exclude_(
          DispatchKeySet::full() -
          DispatchKeySet::below(owner ? DispatchKey::ADInplaceOrView : DispatchKey::Functionalize) -
          DispatchKeySet{DispatchKey::Observed, DispatchKey::Conjugate, DispatchKey::Negative} -
          kGradKeys),
      record_(internal::records_values() ? kGradKeys : DispatchKeySet()),
      owner_(std::move(owner)) {
  if (owner_) ++owner_->bypasses_;
}

BelowFunctionalization::~BelowFunctionalization() {
  if (owner_) --owner_->bypasses_;
}

namespace {
thread_local uint64_t current_scope = 0;
std::atomic<uint64_t> last_scope = 0;
}  // namespace

FunctionScope::FunctionScope() : previous_(std::exchange(current_scope, ++last_scope)) {}
FunctionScope::~FunctionScope() { current_scope = previous_; }
uint64_t FunctionScope::current() { return current_scope; }

FunctionalStorage::FunctionalStorage(const Tensor& base)
    : StorageImpl(DataPtr(nullptr, base.device()),
                  static_cast<size_t>(stand_in(base.sym_numel())) * base.itemsize(), nullptr),
      bases_({base}) {
  SB_ASSERT(is_whole_storage(base));
}

size_t FunctionalStorage::add_lineage(bool hidden) {
  bases_.push_back(internal::with_history_of(Tensor(), bases_[0]));
  hidden_.resize(bases_.size());
  hidden_.back() = hidden;
  return bases_.size() - 1;
}

void FunctionalStorage::set_history(size_t lineage, const ViewChain& chain, const Tensor& value) {
  SB_ASSERT(updates_.empty());
  Tensor& base = bases_[lineage];
  const Tensor whole = invert_chain(chain, base, value);  // may settle the base's symbols
  base = with_strides(whole, base.sym_strides());
}

void FunctionalStorage::add_update(Tensor value, ViewChain chain, size_t lineage) {
  const bool recorded = internal::grad_hooks->is_grad_enabled() && internal::records_values();
  updates_.push_back({std::move(value), std::move(chain), lineage, recorded});
  if (recorded_.size() <= lineage) recorded_.resize(lineage + 1);
  if (recorded) recorded_[lineage] = true;
  ++generation_;
  for (const Other& other : others_)
    if (const IntrusivePtr<FunctionalStorage> storage = other.storage.lock())
      storage->unknown_ = other.text;
}

void FunctionalStorage::may_be(const IntrusivePtr<FunctionalStorage>& other,
                               const std::string& text) {
  if (other.get() == this) return;
  others_.push_back({WeakIntrusivePtr<FunctionalStorage>(other), text});
  other->others_.push_back(
      {WeakIntrusivePtr<FunctionalStorage>(IntrusivePtr<FunctionalStorage>::share(this)), text});
}

void FunctionalStorage::check_alone(std::string_view who) const {
  for (const Other& other : others_)
    SB_CHECK_NOT_IMPLEMENTED(!other.storage.lock(), who,
                             ": functionalize: it would change the shape of one of two tensors "
                             "alone, which may be one: ",
                             other.text, "; change a view of it");
}

std::string_view FunctionalStorage::may_be_text(const FunctionalStorage& other) const {
  for (const Other& o : others_)
    if (o.storage.lock().get() == &other) return o.text;
  return {};
}

void FunctionalStorage::Update::apply_to(std::vector<Tensor>* bases) const {
  const internal::GradScope grad(recorded);
  const Tensor& old = (*bases)[lineage];
  const Tensor whole = invert_chain(chain, old, value);  // may settle the base's symbols
  Tensor data = with_strides(whole, old.sym_strides());
  std::vector<Tensor> updated(bases->size());
  for (size_t i = 0; i < updated.size(); ++i) {
    const bool has_it = i == lineage && recorded;
    updated[i] = has_it ? data : internal::with_history_of((*bases)[i], data);
  }
  *bases = std::move(updated);
}

void FunctionalStorage::apply_updates() {
  size_t done = 0;
  try {
    for (; done < updates_.size(); ++done) updates_[done].apply_to(&bases_);
  } catch (...) {
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(done));
    throw;
  }
  updates_.clear();
}

Tensor FunctionalStorage::updated_base(size_t lineage) const {
  std::vector<Tensor> bases = bases_;
  for (const Update& update : updates_) update.apply_to(&bases);
  return bases[lineage];
}

void FunctionalStorage::release_resources() {
  bases_.clear();
  updates_.clear();
  smaller_ = nullptr;
  StorageImpl::release_resources();
}

FunctionalTensorImpl::FunctionalTensorImpl(IntrusivePtr<FunctionalStorage> storage, size_t lineage,
                                           ViewChain chain, Tensor value,
                                           IntrusivePtr<FunctionalOwner> owner)
    : TensorImpl(storage, functional_keys(value, owner != nullptr), value.dtype(), value.device()),
      functional_storage_(std::move(storage)),
      lineage_(lineage),
      owner_(std::move(owner)),
      chain_(std::move(chain)),
      value_(std::move(value)),
      generation_(functional_storage_->generation()) {
  set_mode_data(owner_);
  set_wrapped_number(value_.impl()->is_wrapped_number());
  mirror(value_);
  ++functional_storage_->num_tensors_;
}

FunctionalTensorImpl::~FunctionalTensorImpl() { leave_storage(); }

void FunctionalTensorImpl::release_resources() {
  leave_storage();
  chain_.clear();
  value_ = Tensor();
  owner_ = nullptr;
  TensorImpl::release_resources();
}

void FunctionalTensorImpl::leave_storage() {
  if (!functional_storage_) return;
  --functional_storage_->num_tensors_;
  functional_storage_ = nullptr;
}

void FunctionalTensorImpl::mirror(const Tensor& value) {
  set_dtype(value.dtype());
  set_sym_sizes_and_strides(value.sym_sizes(), value.sym_strides(), value.sym_storage_offset());
}

const Tensor& FunctionalTensorImpl::value() {
  functional_storage_->check_known();
  if (generation_ != functional_storage_->generation()) {
    BelowFunctionalization below(owner_);
    functional_storage_->apply_updates();
    // A view has the history of what it views, whoever asks first.
    const internal::GradScope grad(true);
    value_ = apply_chain(chain_, functional_storage_->base(lineage_));
    generation_ = functional_storage_->generation();
  }
  return value_;
}

Tensor FunctionalTensorImpl::captured_value() const {
  functional_storage_->check_known();
  ++functional_storage_->captured_reads_;
  if (generation_ == functional_storage_->generation()) return value_;
  BelowFunctionalization below(owner_);
  const internal::GradScope grad(true);
  return apply_chain(chain_, functional_storage_->updated_base(lineage_));
}

void FunctionalTensorImpl::write(Tensor value) {
  // A view gets its value from the base at its next use, and its strides with it.
  functional_storage_->add_update(std::move(value), chain_, lineage_);
}

void FunctionalTensorImpl::grow(const Tensor& value) {
  auto storage = make_intrusive<FunctionalStorage>(value);
  storage->add_update(value, {}, 0);
  storage->smaller_ = functional_storage_;
  set_storage_view(std::move(storage), 0, {}, value);
  generation_ = 0;
}

void FunctionalTensorImpl::set_view(ViewChain chain, Tensor value, size_t lineage) {
  mirror(value);
  chain_ = std::move(chain);
  value_ = std::move(value);
  lineage_ = lineage;
}

void FunctionalTensorImpl::set_storage_view(IntrusivePtr<FunctionalStorage> storage, size_t lineage,
                                            ViewChain chain, Tensor value) {
  set_storage(storage);
  ++storage->num_tensors_;
  leave_storage();
  functional_storage_ = std::move(storage);
  generation_ = functional_storage_->generation();
  set_view(std::move(chain), std::move(value), lineage);
}

FunctionalTensorImpl* functional_impl(const Tensor& tensor) {
  // Only these have a key that says so; the others are not asked what they are.
  const bool possible =
      tensor.key_set().has(DispatchKey::Functionalize) || tensor.impl()->mode_data();
  return possible ? dynamic_cast<FunctionalTensorImpl*>(tensor.impl()) : nullptr;
}

namespace internal {

Tensor functional_of_result(const Tensor& value, IntrusivePtr<FunctionalOwner> owner) {
  IntrusivePtr<FunctionalStorage> storage;
  ViewChain chain;
  BelowFunctionalization below(owner);
  const internal::GradScope grad(true);
  if (is_whole_storage(value)) {
    storage = make_intrusive<FunctionalStorage>(without_bits(value));
    chain = chain_to_bits(value.key_set());
  } else {
    storage = make_intrusive<FunctionalStorage>(flat_storage(value));
    chain = chain_to(storage->base(), ViewForm(value));
  }
  return Tensor(make_intrusive<FunctionalTensorImpl>(std::move(storage), 0, std::move(chain), value,
                                                     std::move(owner)));
}

namespace {

constexpr ValueHooks kValueHooks{
    .recorded_value =
        [](const Tensor& t) {
          FunctionalTensorImpl* const impl = functional_impl(t);
          if (!impl || !records_values()) return Tensor();
          if (!is_captured(*impl, nullptr)) return impl->value();
          const Tensor value = impl->captured_value();
          check_captured_gradient(t, value);
          return value;
        },
    .with_value =
        [](const Tensor& like, const Tensor& value) {
          return functional_of_result(value, functional_impl(like)->owner());
        },
};

[[maybe_unused]] const bool registered = (value_hooks = &kValueHooks, true);

}  // namespace
}  // namespace internal

Tensor to_functional_tensor(const Tensor& plain, IntrusivePtr<FunctionalOwner> owner) {
  SB_CHECK(plain.defined(), "to_functional_tensor: expected a tensor, got an undefined one");
  SB_CHECK(plain.storage(), "to_functional_tensor: ", plain.describe(), " has no storage");
  SB_CHECK(!is_functional_tensor(plain), "to_functional_tensor: ", plain.describe(),
           " is a functional tensor already");
  Tensor functional = internal::functional_of_result(plain, std::move(owner));
  internal::mirror_history(plain, functional);
  return functional;
}

Tensor from_functional_tensor(const Tensor& tensor) {
  FunctionalTensorImpl* const impl = functional_impl(tensor);
  return impl ? impl->value() : tensor;
}

void sync(const Tensor& tensor) {
  if (FunctionalTensorImpl* const impl = functional_impl(tensor)) impl->value();
}

bool was_mutated(const Tensor& functional) {
  FunctionalTensorImpl* const impl = functional_impl(functional);
  return impl && impl->functional_storage()->mutated();
}

}  // namespace sb
