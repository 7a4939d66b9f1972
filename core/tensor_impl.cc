#include "switchboard/core/tensor_impl.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/symbols/known.h"

namespace sb {
namespace {

using Dims = absl::InlinedVector<int64_t, 2 * SizesAndStrides::kInline>;

// Whether strides are those of a dense tensor whose dimensions, fastest first, are `order`.
// Strides of dimensions of size 1 do not matter.
template <size_t N>
bool is_dense_in_order(const int64_t* sizes, const int64_t* strides, const int (&order)[N]) {
  int64_t expected = 1;
  for (int d : order) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

constexpr int kChannelsLast[] = {1, 3, 2, 0};
constexpr int kChannelsLast3d[] = {1, 4, 3, 2, 0};

bool is_channels_last(const int64_t* sizes, const int64_t* strides, size_t rank) {
  return rank == 4 && is_dense_in_order(sizes, strides, kChannelsLast);
}
bool is_channels_last_3d(const int64_t* sizes, const int64_t* strides, size_t rank) {
  return rank == 5 && is_dense_in_order(sizes, strides, kChannelsLast3d);
}

bool is_row_major(const int64_t* sizes, const int64_t* strides, size_t rank) {
  int64_t expected = 1;
  for (size_t d = rank; d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

// As PyTorch's compute_non_overlapping_and_dense: whether some order of the dimensions is dense. No
// size is 0, so that each place in that order has one stride.
bool is_dense_in_some_order(const int64_t* sizes, const int64_t* strides, size_t rank) {
  size_t left = 0;  // dimensions that matter and have no place yet
  for (size_t d = 0; d < rank; ++d) left += sizes[d] != 1;
  for (int64_t expected = 1; left > 0; --left) {
    size_t d = 0;
    while (d < rank && (sizes[d] == 1 || strides[d] != expected)) ++d;
    if (d == rank) return false;
    expected *= sizes[d];
  }
  return true;
}

template <size_t N>
void fill_strides_in_order(IntArrayRef sizes, int64_t* strides, const int (&order)[N]) {
  int64_t stride = 1;
  for (int d : order) {
    strides[d] = stride;
    stride *= sizes[static_cast<size_t>(d)];
  }
}

}  // namespace

namespace internal {
constinit UndefinedTensor undefined_tensor;

int64_t checked_numel_slow(IntArrayRef sizes, DType dtype) {
  for (int64_t s : sizes) {
    SB_CHECK(s >= 0, "sizes [", absl::StrJoin(sizes, ", "), "]: a size is negative");
  }
  int64_t bytes = static_cast<int64_t>(itemsize(dtype));
  bool empty = false;
  for (int64_t s : sizes) {
    empty = empty || s == 0;
    SB_CHECK(s == 0 || !__builtin_mul_overflow(bytes, s, &bytes), "sizes [",
             absl::StrJoin(sizes, ", "), "] of ", to_string(dtype),
             ": the number of bytes does not fit int64");
  }
  return empty ? 0 : bytes / static_cast<int64_t>(itemsize(dtype));
}
}  // namespace internal

void TensorImpl::release_resources() {
  storage_ = nullptr;
  backend_meta_ = nullptr;
  autograd_meta_ = nullptr;
  mode_data_ = nullptr;
  forget_symbols();
}

void TensorImpl::delete_symbols() {
  delete symbolic_shape_;
  symbolic_shape_ = nullptr;
}

void TensorImpl::settle_symbols() const {
  // Apart while the symbols are asked, which may throw.
  const SymbolicShape& symbols = *symbolic_shape_;
  Dims sizes, strides;
  for (const SymInt& s : symbols.sizes) sizes.push_back(s.guard_int());
  for (const SymInt& s : symbols.strides) strides.push_back(s.guard_int());
  const int64_t offset = symbols.storage_offset.guard_int();
  // A tensor means the same before and after, hence const. As all that changes a tensor, this is
  // not for two threads at once.
  TensorImpl* const self = const_cast<TensorImpl*>(this);
  const int64_t bytes =
      checked_storage_bytes(sizes, strides, offset, static_cast<int64_t>(itemsize(dtype_)));
  // Whoever reads sizes may have had them as symbols before.
  std::unique_ptr<SymbolicShape> kept(std::exchange(self->symbolic_shape_, nullptr));
  self->set_sizes_and_strides(sizes, strides);
  self->offset_ = offset;
  kept->settled = true;
  self->symbolic_shape_ = kept.release();
  // It was made for numbers that stood in for the sizes.
  if (storage_ && storage_->resizable() && static_cast<size_t>(bytes) > storage_->nbytes())
    storage_->resize(static_cast<size_t>(bytes));
}

void TensorImpl::set_sym_sizes_and_strides(SymIntArrayRef sizes, SymIntArrayRef strides,
                                           const SymInt& storage_offset) {
  SB_CHECK(sizes.size() == strides.size(), "got ", sizes.size(), " sizes and ", strides.size(),
           " strides");
  bool symbolic = false;
  const auto number_of = [&](const SymInt& s) {
    const std::optional<int64_t> number = s.maybe_int();
    symbolic = symbolic || !number;
    return number ? *number : stand_in(s);
  };
  Dims size_numbers, stride_numbers;
  for (const SymInt& s : sizes) size_numbers.push_back(number_of(s));
  for (const SymInt& s : strides) stride_numbers.push_back(number_of(s));
  const int64_t offset = number_of(storage_offset);
  set_sizes_and_strides(size_numbers, stride_numbers);
  offset_ = offset;
  if (!symbolic) return;
  auto shape = std::make_unique<SymbolicShape>();
  shape->sizes.assign(sizes.begin(), sizes.end());
  shape->strides.assign(strides.begin(), strides.end());
  shape->storage_offset = storage_offset;
  shape->numel = sym_product(sizes);
  set_symbolic_shape(std::move(shape));
}

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes, MemoryFormat format) {
  if (__builtin_expect(format != MemoryFormat::Contiguous ||
                           sizes.size() > SizesAndStrides::kInline || shape_.on_heap() ||
                           shape_.holds(sizes.data()),
                       0)) {
    set_sizes_in_format(sizes, format);
    return;
  }
  numel_ = internal::checked_numel(sizes, dtype_);
  forget_symbols();
  contiguous_ = true;
  non_overlapping_and_dense_ = true;
  channels_last_ = false;
  channels_last_3d_ = false;
  shape_.set_contiguous(sizes);
  if (sizes.size() >= 4) compute_channels_last();
}

void TensorImpl::compute_channels_last() {
  channels_last_ = is_channels_last(shape_.sizes(), shape_.strides(), shape_.rank());
  channels_last_3d_ = is_channels_last_3d(shape_.sizes(), shape_.strides(), shape_.rank());
}

void TensorImpl::set_sizes_in_format(IntArrayRef sizes, MemoryFormat format) {
  const int64_t numel = internal::checked_numel(sizes, dtype_);
  const size_t rank = sizes.size();
  const Dims copy(sizes.begin(), sizes.end());
  Dims strides(rank);
  if (format == MemoryFormat::Contiguous) {
    int64_t stride = 1;
    for (size_t d = rank; d-- > 0;) {
      strides[d] = stride;
      stride *= std::max<int64_t>(copy[d], 1);
    }
  } else {
    const size_t wanted = format == MemoryFormat::ChannelsLast     ? 4
                          : format == MemoryFormat::ChannelsLast3d ? 5
                                                                   : 0;
    SB_CHECK(wanted != 0, "memory format ", to_string(format),
             " does not name an order of strides");
    SB_CHECK(rank == wanted, "memory format ", to_string(format), ": expected ", wanted,
             " dimensions, got ", rank);
    if (format == MemoryFormat::ChannelsLast)
      fill_strides_in_order(copy, strides.data(), kChannelsLast);
    else
      fill_strides_in_order(copy, strides.data(), kChannelsLast3d);
  }
  store_strided(copy.data(), strides.data(), rank, numel);
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {
  SB_CHECK(sizes.size() == strides.size(), "got ", sizes.size(), " sizes and ", strides.size(),
           " strides");
  const int64_t numel = internal::checked_numel(sizes, dtype_);
  const size_t rank = sizes.size();
  for (size_t d = 0; d < rank; ++d) {
    SB_CHECK(strides[d] >= 0, "strides [", absl::StrJoin(strides, ", "), "]: a stride is negative");
  }
  if (__builtin_expect(rank > SizesAndStrides::kInline || shape_.on_heap() ||
                           shape_.holds(sizes.data()) || shape_.holds(strides.data()),
                       0)) {
    Dims copy(sizes.begin(), sizes.end());
    copy.insert(copy.end(), strides.begin(), strides.end());
    store_strided(copy.data(), copy.data() + rank, rank, numel);
    return;
  }
  // What nearly every view needs.
  shape_.resize_inline(rank);
  int64_t* const own_sizes = shape_.inline_sizes();
  int64_t* const own_strides = own_sizes + rank;
  for (size_t d = 0; d < rank; ++d) {
    own_sizes[d] = sizes[d];
    own_strides[d] = strides[d];
  }
  compute_facts(own_sizes, own_strides, rank, numel);
}

void TensorImpl::store_strided(const int64_t* sizes, const int64_t* strides, size_t rank,
                               int64_t numel) {
  shape_.resize(rank);
  std::copy_n(sizes, rank, shape_.sizes());
  std::copy_n(strides, rank, shape_.strides());
  compute_facts(shape_.sizes(), shape_.strides(), rank, numel);
}

void TensorImpl::compute_facts(const int64_t* sizes, const int64_t* strides, size_t rank,
                               int64_t numel) {
  forget_symbols();
  numel_ = numel;
  contiguous_ = numel == 0 || is_row_major(sizes, strides, rank);
  channels_last_ = false;
  channels_last_3d_ = false;
  if (rank >= 4) compute_channels_last();
  non_overlapping_and_dense_ = contiguous_ || channels_last_ || channels_last_3d_ ||
                               is_dense_in_some_order(sizes, strides, rank);
}

void TensorImpl::set_transposed(const TensorImpl& base, size_t dim0, size_t dim1) {
  base.settle();
  forget_symbols();
  const size_t rank = base.shape_.rank();
  if (&base != this) {
    shape_.resize(rank);
    const int64_t* const from = base.shape_.sizes();
    int64_t* const to = shape_.sizes();
    for (size_t i = 0; i < 2 * rank; ++i) to[i] = from[i];
  }
  int64_t* const sizes = shape_.sizes();
  int64_t* const strides = sizes + rank;
  if (rank != 0) {  // or there is nothing to swap with itself
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  numel_ = base.numel_;
  non_overlapping_and_dense_ = base.non_overlapping_and_dense_;
  contiguous_ = numel_ == 0 || is_row_major(sizes, strides, rank);
  channels_last_ = false;
  channels_last_3d_ = false;
  if (rank >= 4) compute_channels_last();
}

bool TensorImpl::is_symbolic_contiguous(MemoryFormat format) const {
  const bool last = format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
  if (!last && symbolic_shape_->numel.maybe_int() == 0) return true;
  if (last && shape_.rank() != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  absl::InlinedVector<size_t, SizesAndStrides::kInline> order;
  if (last) order.push_back(1);
  for (size_t d = shape_.rank(); d-- > 0;)
    if (!last || d != 1) order.push_back(d);
  if (is_dense(*symbolic_shape_, order)) return true;
  return !last && asked_or_false(symbolic_shape_->numel == 0);
}

bool TensorImpl::is_known_dense() const {
  return symbolic_shape() ? sb::is_known_dense(*symbolic_shape_, hint_sizes(), hint_strides())
                          : non_overlapping_and_dense_;
}

bool TensorImpl::is_symbolic_dense() const {
  if (is_known_dense()) return true;
  // That no other order is dense, for other sizes, cannot be said in a guard.
  settle_symbols();
  return non_overlapping_and_dense_;
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  if (symbolic_shape()) [[unlikely]]
    return is_symbolic_contiguous(format);
  if (format == MemoryFormat::ChannelsLast) return channels_last_;
  return format == MemoryFormat::ChannelsLast3d ? channels_last_3d_ : contiguous_;
}

VersionCounter& TensorImpl::version_counter() const {
  VersionCounter* counter = version_.load(std::memory_order_acquire);
  if (counter) return *counter;
  IntrusivePtr<VersionCounter> fresh = make_intrusive<VersionCounter>();
  // Another thread may have been quicker; then its counter stays.
  if (version_.compare_exchange_strong(counter, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.leak();
  }
  return *counter;
}

void TensorImpl::bump_first_version(const void* writer) {
  if (!is_inference()) return version_counter().bump(writer);
  SB_CHECK(internal::fresh_tensor_keys == internal::kDeviceKeys.tensor[1],
           "an inference tensor is written to outside of inference mode; write to a clone of it");
}

void TensorImpl::share_version_counter(const TensorImpl& other) {
  if (!defined_ || !other.defined_ || other.is_inference()) return;
  VersionCounter& shared = other.version_counter();
  shared.retain();
  if (VersionCounter* old = version_.exchange(&shared, std::memory_order_acq_rel)) old->release();
}

IntrusivePtr<TensorImpl> TensorImpl::shallow_copy() const {
  if (!defined_) return IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(this));
  IntrusivePtr<TensorImpl> copy = make_intrusive<TensorImpl>(storage_, key_set_, dtype_, device_);
  const size_t rank = shape_.rank();
  copy->shape_.resize(rank);
  std::copy_n(shape_.sizes(), 2 * rank, copy->shape_.sizes());
  copy->offset_ = offset_;
  copy->numel_ = numel_;
  copy->contiguous_ = contiguous_;
  copy->non_overlapping_and_dense_ = non_overlapping_and_dense_;
  copy->channels_last_ = channels_last_;
  copy->channels_last_3d_ = channels_last_3d_;
  copy->wrapped_number_ = wrapped_number_;
  copy->backend_meta_ = backend_meta_ ? backend_meta_->clone() : nullptr;
  copy->mode_data_ = mode_data_;
  copy->quantizer_ = quantizer_;
  if (symbolic_shape()) copy->set_symbolic_shape(std::make_unique<SymbolicShape>(*symbolic_shape_));
  return copy;
}

void TensorImpl::throw_no_data() const {
  SB_CHECK(defined_, "an undefined tensor has no data");
  const auto sizes_text = [this] {
    return symbolic_shape() ? absl::StrJoin(symbolic_shape_->sizes, ", ",
                                            [](std::string* text, const SymInt& size) {
                                              *text += size.to_string();
                                            })
                            : absl::StrJoin(hint_sizes(), ", ");
  };
  const char* what = mode_data_ ? "a fake tensor" : device_.is_meta() ? "a meta tensor" : nullptr;
  SB_CHECK(what == nullptr, what, " has no data: ", to_string(dtype_), "[", sizes_text(), "] on ",
           to_string(device_));
  SB_THROW(RuntimeError, "a tensor on ", to_string(device_), " has no data: ", to_string(dtype_),
           "[", sizes_text(), "]");
}

}  // namespace sb
