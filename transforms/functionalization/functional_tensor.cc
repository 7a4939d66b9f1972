#include "switchboard/transforms/functionalization/functional_tensor.h"

#include <atomic>
#include <utility>

#include "switchboard/core/error.h"

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

}  // namespace

BelowFunctionalization::BelowFunctionalization(IntrusivePtr<FunctionalOwner> owner)
    // What stands above saw the call before it was functionalised. Observers see every call, and
    // lazy bits are those of the values.
    : exclude_(
          DispatchKeySet::full() -
          DispatchKeySet::below(owner ? DispatchKey::ADInplaceOrView : DispatchKey::Functionalize) -
          DispatchKeySet{DispatchKey::Observed, DispatchKey::Conjugate, DispatchKey::Negative}),
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
    : StorageImpl(DataPtr(nullptr, base.device()), base.nbytes(), nullptr), base_(base) {
  SB_ASSERT(is_whole_storage(base));
}

void FunctionalStorage::add_update(Tensor value, ViewChain chain) {
  updates_.push_back({std::move(value), std::move(chain)});
  ++generation_;
}

void FunctionalStorage::apply_updates() {
  size_t done = 0;
  try {
    for (; done < updates_.size(); ++done) {
      const Update& update = updates_[done];
      const Tensor base = invert_chain(update.chain, base_, update.value);
      base_ = with_strides(base, base_.strides());
    }
  } catch (...) {
    updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(done));
    throw;
  }
  updates_.clear();
}

Tensor FunctionalStorage::updated_base() const {
  Tensor base = base_;
  for (const Update& update : updates_)
    base = with_strides(invert_chain(update.chain, base, update.value), base_.strides());
  return base;
}

void FunctionalStorage::release_resources() {
  base_ = Tensor();
  updates_.clear();
  StorageImpl::release_resources();
}

FunctionalTensorImpl::FunctionalTensorImpl(IntrusivePtr<FunctionalStorage> storage, ViewChain chain,
                                           Tensor value, IntrusivePtr<FunctionalOwner> owner)
    : TensorImpl(storage, functional_keys(value, owner != nullptr), value.dtype(), value.device()),
      functional_storage_(std::move(storage)),
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
  set_sizes_and_strides(value.sizes(), value.strides());
  set_storage_offset(value.storage_offset());
}

const Tensor& FunctionalTensorImpl::value() {
  if (generation_ != functional_storage_->generation()) {
    BelowFunctionalization below(owner_);
    functional_storage_->apply_updates();
    value_ = apply_chain(chain_, functional_storage_->base());
    generation_ = functional_storage_->generation();
  }
  return value_;
}

Tensor FunctionalTensorImpl::captured_value() const {
  if (generation_ == functional_storage_->generation()) return value_;
  BelowFunctionalization below(owner_);
  return apply_chain(chain_, functional_storage_->updated_base());
}

void FunctionalTensorImpl::write(Tensor value) {
  // A view gets its value from the base at its next use, and its strides with it.
  functional_storage_->add_update(std::move(value), chain_);
}

void FunctionalTensorImpl::grow(const Tensor& value) {
  auto storage = make_intrusive<FunctionalStorage>(value);
  mirror(value);
  set_storage(storage);
  storage->add_update(value, {});
  ++storage->num_tensors_;
  leave_storage();
  functional_storage_ = std::move(storage);
  chain_.clear();
  value_ = value;
  generation_ = 0;
}

void FunctionalTensorImpl::set_view(ViewChain chain, Tensor value) {
  mirror(value);
  chain_ = std::move(chain);
  value_ = std::move(value);
}

FunctionalTensorImpl* functional_impl(const Tensor& tensor) {
  // Only these have a key that says so; the others are not asked what they are.
  const bool possible =
      tensor.key_set().has(DispatchKey::Functionalize) || tensor.impl()->mode_data();
  return possible ? dynamic_cast<FunctionalTensorImpl*>(tensor.impl()) : nullptr;
}

Tensor to_functional_tensor(const Tensor& plain, IntrusivePtr<FunctionalOwner> owner) {
  SB_CHECK(plain.defined(), "to_functional_tensor: expected a tensor, got an undefined one");
  SB_CHECK(plain.storage(), "to_functional_tensor: ", plain.describe(), " has no storage");
  SB_CHECK(!is_functional_tensor(plain), "to_functional_tensor: ", plain.describe(),
           " is a functional tensor already");
  IntrusivePtr<FunctionalStorage> storage;
  ViewChain chain;
  BelowFunctionalization below(owner);
  if (is_whole_storage(plain)) {
    storage = make_intrusive<FunctionalStorage>(without_bits(plain));
    chain = chain_to_bits(plain.key_set());
  } else {
    storage = make_intrusive<FunctionalStorage>(flat_storage(plain));
    chain = chain_to(storage->base(), ViewForm(plain));
  }
  return Tensor(make_intrusive<FunctionalTensorImpl>(std::move(storage), std::move(chain), plain,
                                                     std::move(owner)));
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
