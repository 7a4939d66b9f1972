// The tensor itself: a typed, strided view of a storage, with the dispatch keys that its calls
// carry.

#ifndef SWITCHBOARD_CORE_TENSOR_IMPL_H_
#define SWITCHBOARD_CORE_TENSOR_IMPL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/backend_meta.h"
#include "switchboard/core/device.h"
#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/layout.h"
#include "switchboard/core/quantizer.h"
#include "switchboard/core/storage.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/symbols/symbolic_shape.h"

namespace sb {

// Counts writes to a tensor; views share their base's. As `c10::VariableVersion`. It remembers who
// was the last to write, for error messages: core does not know what a writer is.
class VersionCounter : public IntrusiveTarget {
 public:
  uint32_t value() const { return value_.load(std::memory_order_relaxed); }
  const void* last_writer() const { return last_writer_.load(std::memory_order_relaxed); }
  void bump(const void* writer) {
    last_writer_.store(writer, std::memory_order_relaxed);
    value_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> value_{0};
  std::atomic<const void*> last_writer_{nullptr};
};

// Data that other rooms attach to a tensor. Core only carries it: autograd's node and gradient, and
// what the dispatch mode that owns the tensor knows of it (a fake tensor's mode). A tensor with
// mode data has the Python key, so that its calls reach the mode.
class DispatchMode;
class Tensor;
class AutogradMeta : public IntrusiveTarget {
 public:
  // Makes `copy`, a new tensor that stands for this one elsewhere, as a fake one does, require a
  // gradient if this one does. No gradient flows from it to this one.
  virtual void mark_copy(const Tensor& /*copy*/) const {}
};
class ModeData : public IntrusiveTarget {
 public:
  virtual DispatchMode& mode() const = 0;
};

// Sizes and strides, side by side, without an allocation up to five dimensions.
class SizesAndStrides {
 public:
  static constexpr size_t kInline = 5;

  constexpr SizesAndStrides() : inline_{} {}
  // At most kInline valid sizes, contiguous.
  explicit SizesAndStrides(IntArrayRef sizes) { set_contiguous(sizes); }
  SizesAndStrides(const SizesAndStrides&) = delete;
  SizesAndStrides& operator=(const SizesAndStrides&) = delete;

  size_t rank() const { return rank_; }
  bool on_heap() const { return heap_ != nullptr; }
  int64_t* sizes() { return heap_ ? heap_.get() : inline_; }
  int64_t* strides() { return sizes() + rank_; }
  const int64_t* sizes() const { return heap_ ? heap_.get() : inline_; }
  const int64_t* strides() const { return sizes() + rank_; }
  // The elements are unspecified afterwards.
  void resize(size_t rank) {
    if (rank > kInline) {
      if (rank != rank_) heap_ = std::make_unique<int64_t[]>(2 * rank);
    } else {
      heap_.reset();
    }
    rank_ = rank;
  }
  // For the fast path, while nothing is on the heap: the same, and sizes().
  void resize_inline(size_t rank) { rank_ = rank; }
  int64_t* inline_sizes() { return inline_; }
  // At most kInline valid sizes that are not in this object, while nothing is on the heap, with
  // contiguous strides.
  void set_contiguous(IntArrayRef sizes) {
    const size_t rank = sizes.size();
    const int64_t* const given = sizes.data();
    rank_ = rank;
    int64_t stride = 1;
    for (size_t d = rank; d-- > 0;) {
      const int64_t s = given[d];
      inline_[d] = s;
      inline_[rank + d] = stride;
      stride *= s == 0 ? 1 : s;
    }
  }
  // Returns whether `p` points into this object.
  bool holds(const int64_t* p) const {
    return reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(inline_) < sizeof(inline_);
  }

 private:
  size_t rank_ = 0;
  int64_t inline_[2 * kInline];  // what is past the rank is never read
  std::unique_ptr<int64_t[]> heap_;
};

namespace internal {
// The same as checked_numel, for all sizes.
int64_t checked_numel_slow(IntArrayRef sizes, DType dtype);

// The number of elements. Throws RuntimeError where a size is negative, or where the bytes, or the
// product of the sizes that are not zero (the largest stride), do not fit int64.
inline int64_t checked_numel(IntArrayRef sizes, DType dtype) {
  int64_t product = 1;
  const int64_t* const end = sizes.data() + sizes.size();
  for (const int64_t* p = sizes.data(); p != end; ++p) {
    if (*p <= 0 || __builtin_mul_overflow(product, *p, &product)) [[unlikely]] {
      return checked_numel_slow(sizes, dtype);
    }
  }
  int64_t bytes;
  if (__builtin_mul_overflow(product, static_cast<int64_t>(itemsize(dtype)), &bytes)) [[unlikely]] {
    return checked_numel_slow(sizes, dtype);
  }
  return product;
}
}  // namespace internal

// As `c10::TensorImpl`. Reading metadata from several threads is safe; changing it is not.
class TensorImpl : public IntrusiveTarget {
 public:
  // A tensor of shape [0] on `storage`. `keys` is everything that its calls carry.
  TensorImpl(Storage storage, DispatchKeySet keys, DType dtype, Device device)
      : key_set_(keys), dtype_(dtype), device_(device), storage_(std::move(storage)) {
    shape_.resize(1);
    shape_.sizes()[0] = 0;
    shape_.strides()[0] = 1;
  }
  // A contiguous tensor of at most SizesAndStrides::kInline dimensions, as most fresh ones are, on
  // a storage of its own. `numel` is what internal::checked_numel(sizes, dtype) gave.
  TensorImpl(IntArrayRef sizes, int64_t numel, Allocator* allocator, DispatchKeySet keys,
             DType dtype, Device device)
      : key_set_(keys),
        numel_(numel),
        dtype_(dtype),
        device_(device),
        shape_(sizes),
        storage_(
            make_storage(static_cast<size_t>(numel) * itemsize(dtype), allocator, device.type)) {
    if (shape_.rank() >= 4) compute_channels_last();
  }
  // The undefined tensor; see undefined_tensor_impl().
  constexpr explicit TensorImpl(DispatchKeySet keys) : key_set_(keys), defined_(false) {}

  DispatchKeySet key_set() const { return key_set_; }
  void set_key_set(DispatchKeySet keys) { key_set_ = keys; }

  bool defined() const { return defined_; }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  Layout layout() const { return Layout::Strided; }
  void set_dtype(DType dtype) { dtype_ = dtype; }
  void set_device(Device device) { device_ = device; }

  int64_t dim() const { return static_cast<int64_t>(shape_.rank()); }
  // Reading one of these as a number settles the symbols of a symbolic tensor: each becomes the
  // number that it stands for here, and a guard says so (as `int(s0)`). Throws
  // GuardOnDataDependentError where a symbol stands for no number yet.
  IntArrayRef sizes() const {
    settle();
    return {shape_.sizes(), shape_.rank()};
  }
  IntArrayRef strides() const {
    settle();
    return {shape_.strides(), shape_.rank()};
  }
  int64_t numel() const {
    settle();
    return numel_;
  }
  int64_t storage_offset() const {
    settle();
    return offset_;
  }
  void set_storage_offset(int64_t offset) {
    settle();
    offset_ = offset;
  }

  // The symbols, where there are any; nullptr for all other tensors. They live as long as the
  // tensor has its shape, also where they are settled meanwhile.
  const SymbolicShape* symbolic_shape() const {
    return symbolic_shape_ && !symbolic_shape_->settled ? symbolic_shape_ : nullptr;
  }
  // Gives the tensor a shape of symbols. Its old shape has the numbers that the symbols stand for
  // at the moment, or, where they stand for none yet, is some shape of that rank; see hint_sizes().
  void set_symbolic_shape(std::unique_ptr<SymbolicShape> shape) {
    forget_symbols();
    symbolic_shape_ = shape.release();
  }
  // The same with what the symbols stand for, or some number (stand_in); or, if none
  // of the numbers is a symbol, just these sizes, strides and offset. Throws as
  // set_sizes_and_strides.
  void set_sym_sizes_and_strides(SymIntArrayRef sizes, SymIntArrayRef strides,
                                 const SymInt& storage_offset);
  // Sizes and strides without a look at symbols.
  IntArrayRef hint_sizes() const { return {shape_.sizes(), shape_.rank()}; }
  IntArrayRef hint_strides() const { return {shape_.strides(), shape_.rank()}; }

  // Sets sizes with the strides of the memory format (Contiguous or a channels-last one that fits
  // the rank). Throws RuntimeError, changing nothing, on a negative size or overflow.
  void set_sizes_contiguous(IntArrayRef sizes, MemoryFormat format = MemoryFormat::Contiguous);
  // The same errors; negative strides are refused, too. Callers check the storage's size.
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides);
  // Those of `base`, which may be this very tensor, with two of its dimensions (not negative, in
  // range) swapped. Cheaper than the above.
  void set_transposed(const TensorImpl& base, size_t dim0, size_t dim1);

  // Facts about sizes and strides, computed when these are set. Those of symbolic sizes are
  // computed when they are asked for; one that holds for all sizes records nothing.
  bool is_contiguous() const {
    if (symbolic_shape()) [[unlikely]]
      return is_symbolic_contiguous(MemoryFormat::Contiguous);
    return contiguous_;
  }
  bool is_contiguous(MemoryFormat format) const;
  // Every element has a place of its own and there are no gaps.
  bool is_non_overlapping_and_dense() const {
    if (symbolic_shape()) [[unlikely]]
      return is_symbolic_dense();
    return non_overlapping_and_dense_;
  }
  // Whether that is known, for all sizes: asks nothing of symbols.
  bool is_known_dense() const;

  const Storage& storage() const { return storage_; }
  void set_storage(Storage storage) { storage_ = std::move(storage); }

  // The address of element 0. Throws RuntimeError for a tensor without data (meta, fake), naming
  // it; tensors without elements give a null or unusable pointer.
  void* data() const {
    char* const start = storage_ ? static_cast<char*>(storage_->data()) : nullptr;
    if (__builtin_expect(!start, 0)) {
      if (!storage_ || numel_ != 0) throw_no_data();
      return nullptr;
    }
    return start + offset_ * static_cast<int64_t>(itemsize(dtype_));
  }

  // A 0-dim tensor made from a number: it does not raise the result dtype within its category.
  bool is_wrapped_number() const { return wrapped_number_; }
  void set_wrapped_number(bool wrapped) { wrapped_number_ = wrapped; }
  // Made in inference mode: has no autograd keys and no version, and bump_version() throws.
  bool is_inference() const { return !key_set_.has(DispatchKey::ADInplaceOrView) && defined_; }
  // The lazy conjugate and negative bits are dispatch keys.
  bool is_conj() const { return key_set_.has(DispatchKey::Conjugate); }
  bool is_neg() const { return key_set_.has(DispatchKey::Negative); }

  // Counts the writes to the tensor, and to tensors that share its counter.
  uint32_t version() const {
    const VersionCounter* counter = version_.load(std::memory_order_acquire);
    return counter ? counter->value() : 0;
  }
  // `writer` is the OperatorEntry of the operator that wrote, or null. Throws RuntimeError for an
  // inference tensor outside of inference mode; inside, nothing is counted for it.
  void bump_version(const void* writer = nullptr) {
    if (!bump_counted_version(writer)) bump_first_version(writer);
  }
  // The two parts of that: false where nobody has asked for a counter yet; and what is then to do.
  bool bump_counted_version(const void* writer) {
    VersionCounter* const counter = version_.load(std::memory_order_acquire);
    if (!counter) return false;
    counter->bump(writer);
    return true;
  }
  void bump_first_version(const void* writer);
  // The caller that bumped last.
  const void* last_writer() const {
    const VersionCounter* counter = version_.load(std::memory_order_acquire);
    return counter ? counter->last_writer() : nullptr;
  }
  // Makes this tensor count with `other`, as a view does with its base.
  void share_version_counter(const TensorImpl& other);

  const IntrusivePtr<BackendMeta>& backend_meta() const { return backend_meta_; }
  void set_backend_meta(IntrusivePtr<BackendMeta> meta) { backend_meta_ = std::move(meta); }
  const IntrusivePtr<AutogradMeta>& autograd_meta() const { return autograd_meta_; }
  void set_autograd_meta(IntrusivePtr<AutogradMeta> meta) { autograd_meta_ = std::move(meta); }
  const IntrusivePtr<ModeData>& mode_data() const { return mode_data_; }
  void set_mode_data(IntrusivePtr<ModeData> data) { mode_data_ = std::move(data); }
  IntrusivePtr<ModeData> exchange_mode_data(IntrusivePtr<ModeData> data) {
    return std::exchange(mode_data_, std::move(data));
  }
  // Of a tensor of a quantized dtype; nullptr for all others.
  const IntrusivePtr<Quantizer>& quantizer() const { return quantizer_; }
  void set_quantizer(IntrusivePtr<Quantizer> quantizer) { quantizer_ = std::move(quantizer); }

  // The same storage, metadata and keys, no autograd state, a version counter of its own; backend
  // metadata is cloned, mode data and quantizer are shared. As `shallow_copy_and_detach`.
  IntrusivePtr<TensorImpl> shallow_copy() const;

  // Always inline: into the one function that also frees the memory.
  [[gnu::always_inline]] ~TensorImpl() override {
    forget_symbols();
    if (VersionCounter* counter = version_.load(std::memory_order_relaxed)) counter->release();
  }

 protected:
  void release_resources() override;

 private:
  void settle() const {
    if (symbolic_shape()) [[unlikely]]
      settle_symbols();
  }
  [[gnu::cold, gnu::noinline]] void settle_symbols() const;
  [[gnu::cold, gnu::noinline]] bool is_symbolic_contiguous(MemoryFormat format) const;
  [[gnu::cold, gnu::noinline]] bool is_symbolic_dense() const;
  // Takes the symbols away. Apart, so that the usual call needs no register for it.
  void forget_symbols() {
    if (symbolic_shape_) [[unlikely]]
      delete_symbols();
  }
  [[gnu::cold, gnu::noinline]] void delete_symbols();
  void set_sizes_in_format(IntArrayRef sizes, MemoryFormat format);
  void compute_channels_last();
  // The inputs are valid and do not point into shape_.
  void store_strided(const int64_t* sizes, const int64_t* strides, size_t rank, int64_t numel);
  // From the sizes and strides just stored.
  void compute_facts(const int64_t* sizes, const int64_t* strides, size_t rank, int64_t numel);
  VersionCounter& version_counter() const;
  [[noreturn, gnu::cold]] void throw_no_data() const;

  DispatchKeySet key_set_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  DType dtype_ = DType::Float32;
  Device device_;
  bool defined_ = true;
  bool contiguous_ = true;
  bool non_overlapping_and_dense_ = true;
  bool channels_last_ = false;
  bool channels_last_3d_ = false;
  bool wrapped_number_ = false;
  SizesAndStrides shape_;
  SymbolicShape* symbolic_shape_ = nullptr;                // owned
  mutable std::atomic<VersionCounter*> version_{nullptr};  // made at the first need
  IntrusivePtr<BackendMeta> backend_meta_;
  IntrusivePtr<AutogradMeta> autograd_meta_;
  IntrusivePtr<ModeData> mode_data_;
  IntrusivePtr<Quantizer> quantizer_;
  Storage storage_;  // last: a fresh tensor is ready when its memory is there
};

namespace internal {
// Keeps the undefined tensor alive past static destruction.
union UndefinedTensor {
  TensorImpl impl;
  constexpr UndefinedTensor() : impl(kUndefinedTensorKeys) {}
  ~UndefinedTensor() {}
};
extern constinit UndefinedTensor undefined_tensor;
}  // namespace internal

// The impl of every undefined Tensor. It has keys, so that calls need not ask whether it is one.
inline TensorImpl* undefined_tensor_impl() { return &internal::undefined_tensor.impl; }

}  // namespace sb

#endif  // SWITCHBOARD_CORE_TENSOR_IMPL_H_
