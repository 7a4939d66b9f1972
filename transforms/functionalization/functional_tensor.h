// Tensors that a program may mutate while nothing below it is mutated: each holds a value that is
// never written to, and takes a new one instead.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_TENSOR_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_TENSOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb {

// The data of a mode whose tensors are functional.
class FunctionalOwner : public ModeData {
 public:
  // Whether the mode lets calls pass: they are made for values, not by the program.
  bool bypassed() const { return bypasses_ != 0; }

 private:
  friend class BelowFunctionalization;
  int bypasses_ = 0;
};

// For a scope, calls go to what lies below the functionalisation of one mode, or of the
// Functionalize key where `owner` is null. They are calls on values, which autograd records where
// gradients are on: so gradients pass through a functionalised program. See history.h.
class BelowFunctionalization {
 public:
  explicit BelowFunctionalization(IntrusivePtr<FunctionalOwner> owner);
  ~BelowFunctionalization();
  BelowFunctionalization(const BelowFunctionalization&) = delete;
  BelowFunctionalization& operator=(const BelowFunctionalization&) = delete;

 private:
  ExcludeKeysGuard exclude_;
  UnexcludeKeysGuard record_;
  IntrusivePtr<FunctionalOwner> owner_;
};

// For the time that the Functionalize key runs a function that an operator takes: the memory that
// is made meanwhile is the function's own, any other is captured. Scopes nest; one thread each.
class FunctionScope {
 public:
  FunctionScope();
  ~FunctionScope();
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

  // The innermost one of this thread, by a number that no other scope of the process has; 0 if
  // there is none.
  static uint64_t current();

 private:
  uint64_t previous_;
};

// What the views of one memory share: the value of all of it, and the writes that it has not taken
// in yet. As `FunctionalStorageImpl`. It is the storage of functional tensors and holds no data.
//
// Autograd may know one memory by several tensors that are no views of each other: x and
// x.detach(). Each is a lineage here, which has a base of its own: all bases have the same
// elements, and each its own history. A write changes the history of the lineage that it goes
// through only.
//
// Invariant: a base is a whole storage (is_whole_storage) of the size that this storage has in the
// program as written, so that offsets and strides mean the same in both.
class FunctionalStorage : public StorageImpl {
 public:
  // `base` is a whole storage, of the first lineage.
  explicit FunctionalStorage(const Tensor& base);

  const Tensor& base(size_t lineage = 0) const { return bases_[lineage]; }
  // A further lineage, which starts without a history. To be called below functionalisation. Writes
  // to a hidden one are not counted together with those to others: see hidden_view_of().
  size_t add_lineage(bool hidden = false);
  bool is_hidden(size_t lineage) const { return lineage < hidden_.size() && hidden_[lineage]; }
  // Takes the gradient of what `chain` makes of a lineage's base from `value`, which has the same
  // elements. All updates must have been applied.
  void set_history(size_t lineage, const ViewChain& chain, const Tensor& value);
  size_t num_lineages() const { return bases_.size(); }
  // nbytes(), which with symbols is a number that stands in for them.
  SymInt sym_nbytes() const {
    return bases_[0].sym_numel() * static_cast<int64_t>(bases_[0].itemsize());
  }
  // Counts writes.
  uint64_t generation() const { return generation_; }
  // Returns whether a write changed the base since the storage was made.
  bool mutated() const { return generation_ != 0; }
  // Returns whether a write through the lineage was one that autograd records.
  bool recorded(size_t lineage) const { return lineage < recorded_.size() && recorded_[lineage]; }

  // Notes that the view which `chain` makes of the base now holds `value`.
  void add_update(Tensor value, ViewChain chain, size_t lineage);
  // Takes the noted writes into the bases. If it throws, those not yet taken in stay noted.
  void apply_updates();
  // The base as apply_updates() would leave it. The calls are the caller's: nothing keeps their
  // results.
  Tensor updated_base(size_t lineage) const;

  // Says that this memory and another are one in the program as written, or not, as only the data
  // tell, which `text` says: after a write to one nobody knows what the other holds, and reading
  // that throws NotImplementedError.
  void may_be(const IntrusivePtr<FunctionalStorage>& other, const std::string& text);
  // Throws if a write to another memory may have been one to this.
  void check_known() const {
    SB_CHECK_NOT_IMPLEMENTED(unknown_.empty(), unknown_,
                             ", and one of both has been written to; write to a clone");
  }
  // Throws, for who would change what lies where, if another memory may be this.
  void check_alone(std::string_view who) const;
  // Why nobody knows whether this memory and the other are one; empty if they are known to be two.
  std::string_view may_be_text(const FunctionalStorage& other) const;

  // Says that the first base is the caller's memory: what it holds at the end is written to it.
  void mark_input() { is_input_ = true; }
  // Whether a value of this memory may be the caller's memory itself.
  bool shows_input() const { return is_input_ && !mutated(); }

  // Says that the tensor that a function was given does not have all of the memory, one element
  // behind the other: in a graph it may lie otherwise.
  void note_gaps() { has_gaps_ = true; }
  bool has_gaps() const { return has_gaps_; }

  // Counts how often functions that operators take have read the memory without being given it.
  uint64_t captured_reads() const { return captured_reads_; }

  // The FunctionScope in which the storage was made.
  uint64_t scope() const { return scope_; }
  // How many functional tensors have this storage.
  size_t num_tensors() const { return num_tensors_; }
  // The storage that it was before it grew; nullptr if it has not.
  const FunctionalStorage* smaller() const { return smaller_.get(); }

 protected:
  void release_resources() override;

 private:
  friend class FunctionalTensorImpl;
  struct Update {
    Tensor value;
    ViewChain chain;
    size_t lineage;
    bool recorded;

    // Replaces the bases of all lineages.
    void apply_to(std::vector<Tensor>* bases) const;
  };
  std::vector<Tensor> bases_;  // by lineage
  std::vector<bool> recorded_, hidden_;
  std::vector<Update> updates_;
  uint64_t generation_ = 0;
  uint64_t captured_reads_ = 0;
  bool is_input_ = false;
  bool has_gaps_ = false;
  const uint64_t scope_ = FunctionScope::current();
  size_t num_tensors_ = 0;
  IntrusivePtr<FunctionalStorage> smaller_;
  struct Other {
    WeakIntrusivePtr<FunctionalStorage> storage;
    std::string text;
  };
  std::vector<Other> others_;  // that may be this one
  std::string unknown_;        // why nobody knows what it holds; or empty
};

// As `FunctionalTensorWrapper`. Sizes, strides and offset are those of the program as written, and
// the value's too. One thread at a time, for all tensors of one storage.
class FunctionalTensorImpl : public TensorImpl {
 public:
  // A view of the storage's base. `owner` is that of the mode that the tensor belongs to; null for
  // one whose calls go to the Functionalize key.
  FunctionalTensorImpl(IntrusivePtr<FunctionalStorage> storage, size_t lineage, ViewChain chain,
                       Tensor value, IntrusivePtr<FunctionalOwner> owner);
  ~FunctionalTensorImpl() override;

  // The value now, after every write to the memory through any view of it.
  const Tensor& value();
  // The value as it was when somebody last asked for it: of the same keys, dtype and device.
  const Tensor& last_value() const { return value_; }
  // The value now, without keeping it, for a function that has captured the tensor: what a trace
  // records for it is in the function's graph, and means nothing outside.
  Tensor captured_value() const;
  const IntrusivePtr<FunctionalStorage>& functional_storage() const { return functional_storage_; }
  const IntrusivePtr<FunctionalOwner>& owner() const { return owner_; }
  const ViewChain& chain() const { return chain_; }
  size_t lineage() const { return lineage_; }

  // What an in-place write does: takes a value of this tensor's dtype and shape.
  void write(Tensor value);
  // What a write does that makes the memory larger: takes a value that is a whole storage. Only for
  // the one tensor of its storage, which gets another.
  void grow(const Tensor& value);
  // What an in-place view does: makes the tensor another view of its storage.
  void set_view(ViewChain chain, Tensor value, size_t lineage);
  // What set_ does: makes the tensor a view of another storage.
  void set_storage_view(IntrusivePtr<FunctionalStorage> storage, size_t lineage, ViewChain chain,
                        Tensor value);
  // The chain of a view of the same storage with other sizes, strides and offset.
  ViewChain chain_of(SymIntArrayRef sizes, SymIntArrayRef strides, const SymInt& offset) const {
    return chain_to(functional_storage_->base(), {dtype(), sizes, strides, offset, key_set()});
  }

 protected:
  void release_resources() override;

 private:
  void mirror(const Tensor& value);
  void leave_storage();

  IntrusivePtr<FunctionalStorage> functional_storage_;
  size_t lineage_;
  IntrusivePtr<FunctionalOwner> owner_;
  ViewChain chain_;
  Tensor value_;
  uint64_t generation_;  // of the storage when value_ was made
};

// The functional tensor behind a handle, or nullptr.
FunctionalTensorImpl* functional_impl(const Tensor& tensor);
inline bool is_functional_tensor(const Tensor& tensor) {
  return functional_impl(tensor) != nullptr;
}

// A functional tensor that starts with the value of a plain one, which it never writes to. As
// `torch._to_functional_tensor`. Its calls go to the Functionalize key, or to the mode that `owner`
// is of. It requires a gradient where `plain` does. Two that are made of views of one storage do
// not see each other's writes: see FunctionalInputs. Throws RuntimeError for an undefined tensor or
// one without storage.
Tensor to_functional_tensor(const Tensor& plain, IntrusivePtr<FunctionalOwner> owner = nullptr);
// The value of a functional tensor, with every write in it; a plain tensor itself. As
// `torch._from_functional_tensor` after `torch._sync`.
Tensor from_functional_tensor(const Tensor& tensor);
// Brings the value of a functional tensor up to date.
void sync(const Tensor& tensor);

// Whether the memory of a functional tensor was written to since it was made.
bool was_mutated(const Tensor& functional);

namespace internal {
// to_functional_tensor() for what an operator gave, whose history is not yet made.
Tensor functional_of_result(const Tensor& value, IntrusivePtr<FunctionalOwner> owner);
}  // namespace internal

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_TENSOR_H_
