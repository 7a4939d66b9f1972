// The handle that programs hold. Tensor has only what needs no kernel; everything else is a free
// function (sb::sum(x, {0})) or an operator (x + y).

#ifndef SWITCHBOARD_CORE_TENSOR_H_
#define SWITCHBOARD_CORE_TENSOR_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/tensor_impl.h"

namespace sb {

// A counted reference to a TensorImpl, one word wide. Copies share the tensor: const is about the
// handle, not about the elements. A default Tensor is undefined: it has keys and nothing else.
class Tensor {
 public:
  Tensor() noexcept : impl_(undefined_tensor_impl()) {}
  explicit Tensor(IntrusivePtr<TensorImpl> impl) noexcept
      : impl_(impl && impl.get() != undefined_tensor_impl() ? impl.leak()
                                                            : undefined_tensor_impl()) {}
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) { retain(); }
  // A moved-from Tensor is undefined.
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, undefined_tensor_impl())) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(std::move(other));
    std::swap(impl_, moved.impl_);
    return *this;
  }
  ~Tensor() {
    if (defined()) impl_->release();
  }

  bool defined() const { return impl_ != undefined_tensor_impl(); }
  TensorImpl* impl() const { return impl_; }
  // Returns whether both handles name the same tensor object.
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  uint32_t use_count() const { return impl_->use_count(); }

  DispatchKeySet key_set() const { return impl_->key_set(); }
  DType dtype() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  Layout layout() const { return impl_->layout(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_meta() const { return device().is_meta(); }

  int64_t dim() const { return impl_->dim(); }
  // In elements.
  IntArrayRef sizes() const { return impl_->sizes(); }
  // Throws RuntimeError for an undefined tensor.
  IntArrayRef strides() const {
    if (!defined()) [[unlikely]]
      throw_no_strides();
    return impl_->strides();
  }
  // Size and stride of a dimension; negative ones count from the end. Throw IndexError.
  int64_t size(int64_t dim) const { return sizes()[wrap(dim)]; }
  int64_t stride(int64_t dim) const { return strides()[wrap(dim)]; }
  int64_t numel() const { return impl_->numel(); }
  int64_t storage_offset() const { return impl_->storage_offset(); }
  size_t itemsize() const { return sb::itemsize(dtype()); }
  // numel() * itemsize().
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return impl_->is_contiguous(format);
  }

  // The same for tensors whose sizes may be symbols (fake ones, under a ShapeEnv), which they leave
  // as they are.
  bool is_symbolic() const { return impl_->symbolic_shape() != nullptr; }
  SymIntArrayRef sym_sizes() const {
    return is_symbolic() ? SymIntArrayRef(impl_->symbolic_shape()->sizes) : as_symbols(sizes());
  }
  SymIntArrayRef sym_strides() const {
    return is_symbolic() ? SymIntArrayRef(impl_->symbolic_shape()->strides) : as_symbols(strides());
  }
  SymInt sym_size(int64_t dim) const { return sym_sizes()[wrap(dim)]; }
  SymInt sym_stride(int64_t dim) const { return sym_strides()[wrap(dim)]; }
  SymInt sym_numel() const { return is_symbolic() ? impl_->symbolic_shape()->numel : numel(); }
  SymInt sym_storage_offset() const {
    return is_symbolic() ? impl_->symbolic_shape()->storage_offset : storage_offset();
  }

  const Storage& storage() const { return impl_->storage(); }
  // Returns whether both share memory's owner (views of one another or of one base).
  bool is_alias_of(const Tensor& other) const { return storage() && storage() == other.storage(); }
  // The address of element 0. Throws RuntimeError for tensors without data (meta, fake).
  void* data_ptr() const { return impl_->data(); }
  // The same, typed. Throws TypeError unless T is the type of dtype().
  template <class T>
  T* data() const {
    if (__builtin_expect(dtype() != dtype_of<std::remove_const_t<T>>, 0))
      throw_wrong_type(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(data_ptr());
  }

  uint32_t version() const { return impl_->version(); }

  // "float32[2, 3] on cpu": for error messages.
  std::string describe() const;

 private:
  // Sizes and strides are never negative, and so need no look at each.
  static SymIntArrayRef as_symbols(IntArrayRef ints) {
    return {reinterpret_cast<const SymInt*>(ints.data()), ints.size()};
  }
  // The undefined impl is not counted: threads would contend for its count.
  void retain() const noexcept {
    if (defined()) impl_->retain();
  }
  size_t wrap(int64_t dim) const {
    const int64_t rank = this->dim();
    if (__builtin_expect(dim < -rank || dim >= rank, 0)) throw_bad_dim(dim);
    return static_cast<size_t>(dim < 0 ? dim + rank : dim);
  }
  [[noreturn, gnu::cold]] void throw_bad_dim(int64_t dim) const;
  [[noreturn, gnu::cold]] static void throw_no_strides();
  [[noreturn, gnu::cold]] void throw_wrong_type(DType asked) const;

  TensorImpl* impl_;  // never null
};

using TensorList = absl::Span<const Tensor>;
using OptionalTensorList = absl::Span<const std::optional<Tensor>>;

}  // namespace sb

#endif  // SWITCHBOARD_CORE_TENSOR_H_
