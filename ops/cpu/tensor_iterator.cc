#include "switchboard/ops/cpu/tensor_iterator.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

using Dims = TensorIterator::Dims;

// As at::native::ResultTypeState: a category yields to the ones above it unless it is of a higher
// kind (bool < integral < floating-point < complex).
struct Category {
  bool any = false;
  DType dtype = DType::Bool;

  void add(DType t) {
    dtype = any ? promote_types(dtype, t) : t;
    any = true;
  }
};

Category combine(Category higher, Category lower) {
  if (!higher.any) return lower;
  if (!lower.any || is_complex(higher.dtype)) return higher;
  if (is_floating_point(higher.dtype)) {
    if (is_complex(lower.dtype)) higher.dtype = to_complex(higher.dtype);
    return higher;
  }
  if (higher.dtype == DType::Bool || is_floating_point(lower.dtype) || is_complex(lower.dtype)) {
    higher.dtype = promote_types(higher.dtype, lower.dtype);
  }
  return higher;
}

}  // namespace

DType result_type(absl::Span<const Tensor* const> tensors) {
  Category dimensioned, zero_dim, wrapped;
  for (const Tensor* t : tensors) {
    DType dtype = t->dtype();
    const bool is_wrapped = t->impl()->is_wrapped_number();
    if (is_wrapped && is_complex(dtype)) dtype = to_complex(default_dtype());
    if (is_wrapped && is_floating_point(dtype)) dtype = default_dtype();
    (t->dim() > 0 ? dimensioned : is_wrapped ? wrapped : zero_dim).add(dtype);
  }
  return combine(dimensioned, combine(zero_dim, wrapped)).dtype;
}

Dims broadcast_shapes(IntArrayRef a, IntArrayRef b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims shape(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last dimension
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    SB_CHECK(x == y || x == 1 || y == 1, "the size of tensor a (", x,
             ") must match the size of tensor b (", y, ") at non-singleton dimension ",
             rank - 1 - i);
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

TensorIterator::TensorIterator(std::string_view op, IteratorFlags flags, const Tensor& out,
                               absl::Span<const Tensor* const> inputs)
    : flags_(flags), num_operands_(inputs.size() + 1) {
  SB_ASSERT(num_operands_ <= kMaxOperands);
  operands_[0].is_output = true;
  if (out.defined()) operands_[0].tensor = &out;
  bool symbolic = out.is_symbolic();
  for (size_t i = 0; i < inputs.size(); ++i) {
    SB_CHECK(inputs[i]->defined(), op, ": argument ", i,
             ": expected a tensor, got an undefined one");
    operands_[i + 1].tensor = inputs[i];
    if (out.is_same(*inputs[i])) inplace_ = true;
    symbolic |= inputs[i]->is_symbolic();
  }
  if (symbolic) [[unlikely]] {
    symbols_ = std::make_unique<internal::SymbolicOperands>(out, inputs, flags_ & kFixedOutput);
    if (out.defined()) operands_[0].tensor = &symbols_->out();
    for (size_t i = 0; i < inputs.size(); ++i) operands_[i + 1].tensor = &symbols_->input(i);
  } else if (out.defined() && !(flags_ & kNoOverlapCheck)) {
    check_no_internal_overlap(out);
    for (const Tensor* input : inputs) check_no_partial_overlap(out, *input);
  }
  compute_shape();
  compute_types(op);
}

void TensorIterator::compute_shape() {
  bool first = true;
  for (const Operand& o : operands()) {
    if (!o.tensor || (o.is_output && !(flags_ & kFixedOutput))) continue;
    const IntArrayRef sizes = o.tensor->sizes();
    if (first) {
      shape_.assign(sizes.begin(), sizes.end());
      first = false;
    } else if (sizes != IntArrayRef(shape_)) {
      same_shape_ = false;
      shape_ = broadcast_shapes(shape_, sizes);
    }
  }
  Operand& out = operands_[0];
  if (out.tensor && out.tensor->sizes() != IntArrayRef(shape_)) {
    SB_CHECK(!inplace_ && !(flags_ & kFixedOutput), "output with shape [",
             absl::StrJoin(out.tensor->sizes(), ", "), "] doesn't match the broadcast shape [",
             absl::StrJoin(shape_, ", "), "]");
    out.will_resize = true;
  }
  bool empty = false;
  for (int64_t s : shape_) {
    if (s == 0) empty = true;
    // Bytes are checked when the output is made; this is for the walk.
    SB_CHECK(s == 0 || !__builtin_mul_overflow(numel_, s, &numel_), "shape [",
             absl::StrJoin(shape_, ", "), "]: the number of elements does not fit int64");
  }
  if (empty) numel_ = 0;
  out_sizes_ = shape_;
}

void TensorIterator::compute_types(std::string_view op) {
  const absl::Span<Operand> inputs = operands().subspan(1);
  const Tensor* const out = operands_[0].tensor;
  common_dtype_ = inputs[0].tensor->dtype();
  device_ = inputs[0].tensor->device();
  bool different = false;
  for (const Operand& o : inputs) {
    if (o.tensor->dtype() != common_dtype_) different = true;
    if (device_.is_cpu()) device_ = o.tensor->device();
  }
  if (out && device_.is_cpu()) device_ = out->device();
  if (!(flags_ & kAnyDevice)) {
    for (const Operand& o : operands()) {
      if (!o.tensor || o.tensor->device() == device_) continue;
      SB_CHECK(!o.is_output && o.tensor->is_cpu() && o.tensor->dim() == 0, op,
               ": expected all tensors to be on the same device, but found at least two devices, ",
               to_string(device_), " and ", to_string(o.tensor->device()));
    }
  }
  if (different && (flags_ & kPromoteInputs)) {
    absl::InlinedVector<const Tensor*, kMaxOperands> tensors;
    for (const Operand& o : inputs) tensors.push_back(o.tensor);
    common_dtype_ = result_type(tensors);
  }
  if ((flags_ & kIntToFloat) && is_integral(common_dtype_, true)) common_dtype_ = default_dtype();
  if (flags_ & kPromoteInputs) {
    for (Operand& o : inputs) {
      if (o.tensor->dtype() == common_dtype_ || o.tensor->impl()->is_non_overlapping_and_dense()) {
        continue;
      }
      const IntArrayRef sizes = o.tensor->sizes();
      o.converted = empty_strided_on(
          DeviceType::Meta, sizes, infer_dense_strides(sizes, o.tensor->strides()), common_dtype_);
    }
  }
  if (!out || out->dtype() == common_dtype_) return;
  SB_CHECK(!(flags_ & kSameDtypeOutput), op, ": found dtype ", to_string(out->dtype()),
           " but expected ", to_string(common_dtype_));
  SB_CHECK(!(flags_ & kSafeCastOutput) || can_cast(common_dtype_, out->dtype()), op,
           ": result type ", to_string(common_dtype_), " can't be cast to the desired output type ",
           to_string(out->dtype()));
}

// The strides of a new output where no dimension need be reordered to find them. As fast_set_up.
bool TensorIterator::fast_output_strides() {
  if (!same_shape_) return false;
  bool contiguous = true, channels_last = true, dense = true;
  for (const Operand& o : operands()) {
    if (!o.present()) continue;
    contiguous &= o.layout().is_contiguous();
    channels_last &= o.layout().is_contiguous(MemoryFormat::ChannelsLast);
    dense &= o.layout().impl()->is_non_overlapping_and_dense();
  }
  if (contiguous) {
    out_strides_.clear();
    return true;
  }
  if (channels_last) {
    const IntArrayRef s = out_sizes_;
    out_strides_ = {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
    return true;
  }
  if (!dense) return false;
  const Operand* last = nullptr;
  for (size_t i = num_operands_; i-- > 0;) {
    const Operand& o = operands_[i];
    if (!o.present()) continue;
    if (!last)
      last = &o;
    else if (o.layout().strides() != last->layout().strides())
      return false;
  }
  const IntArrayRef strides = last->layout().strides();
  out_strides_.assign(strides.begin(), strides.end());
  return true;
}

void TensorIterator::compute_strides() {
  const auto broadcast = [&](const Tensor& t, Dims* strides) {
    const size_t rank = t.sizes().size(), lead = shape_.size() - rank;
    strides->assign(shape_.size(), 0);
    for (size_t d = 0; d < rank; ++d) {
      if (t.sizes()[d] == 1 && shape_[lead + d] != 1) continue;
      // The stride of a dimension of one element may be any number; it is never used.
      (*strides)[lead + d] =
          static_cast<int64_t>(static_cast<uint64_t>(t.strides()[d]) * t.itemsize());
    }
  };
  for (Operand& o : operands()) {
    if (!o.present()) continue;
    broadcast(*o.tensor, &o.strides);
    broadcast(o.layout(), &o.order);
  }
}

// Below 0 if dim0 is rightly before (faster than) dim1, above 0 if they must be swapped.
int TensorIterator::compare_dimensions(size_t dim0, size_t dim1) const {
  for (size_t i = 0; i < num_operands_; ++i) {
    const Operand& o = operands_[i];
    if (!o.present()) continue;
    const int64_t stride0 = o.order[dim0], stride1 = o.order[dim1];
    if (stride0 == 0 || stride1 == 0) continue;  // broadcast
    if (stride0 != stride1) return stride0 < stride1 ? -1 : 1;
    if (shape_[dim0] > shape_[dim1]) return 1;
  }
  return 0;
}

void TensorIterator::reorder_dimensions() {
  const size_t rank = shape_.size();
  perm_.resize(rank);
  for (size_t i = 0; i < rank; ++i) perm_[i] = static_cast<int64_t>(rank - 1 - i);
  // An insertion sort that lets ambiguous comparisons stand.
  for (size_t i = 1; i < rank; ++i) {
    size_t dim1 = i;
    for (size_t dim0 = i; dim0-- > 0;) {
      const int order =
          compare_dimensions(static_cast<size_t>(perm_[dim0]), static_cast<size_t>(perm_[dim1]));
      if (order < 0) break;
      if (order > 0) {
        std::swap(perm_[dim0], perm_[dim1]);
        dim1 = dim0;
      }
    }
  }
  const auto permute = [&](Dims* dims) {
    const Dims old = *dims;
    for (size_t i = 0; i < rank; ++i) (*dims)[i] = old[static_cast<size_t>(perm_[i])];
  };
  permute(&shape_);
  for (Operand& o : operands()) {
    if (o.present()) permute(&o.strides);
  }
}

const Tensor& TensorIterator::allocate_output(DType dtype) {
  Operand& out = operands_[0];
  result_dtype_ = dtype;
  const bool fast = fast_output_strides();
  compute_strides();
  reorder_dimensions();
  const size_t rank = shape_.size();
  if (!out.present()) {
    if (!fast) {
      bool inverted = true;
      for (size_t i = 0; i < rank; ++i) inverted &= perm_[i] == static_cast<int64_t>(rank - 1 - i);
      if (!inverted) {
        out_strides_.assign(rank, 0);
        int64_t stride = 1;
        for (size_t i = 0; i < rank; ++i) {
          out_strides_[static_cast<size_t>(perm_[i])] = stride;
          stride *= shape_[i];
        }
      }
    }
    if (out.tensor) {
      resize_output(*out.tensor, out_sizes_, out_strides_);
    } else {
      made_ = out_strides_.empty() ? empty_on(device_, out_sizes_, dtype)
                                   : empty_strided_on(device_, out_sizes_, out_strides_, dtype);
      out.tensor = &made_;
    }
    out.will_resize = false;
    out.strides.resize(rank);
    for (size_t i = 0; i < rank; ++i) {
      const int64_t stride = out.tensor->strides()[static_cast<size_t>(perm_[i])];
      out.strides[i] = static_cast<int64_t>(static_cast<uint64_t>(stride) * out.tensor->itemsize());
    }
  }
  if (symbols_) [[unlikely]] {
    made_ = symbols_->result(*out.tensor);
    out.tensor = &made_;
  }
  return *out.tensor;
}

void TensorIterator::coalesce_dimensions() {
  if (shape_.size() <= 1) return;
  const auto mergeable = [&](size_t dim0, size_t dim1) {
    if (shape_[dim0] == 1 || shape_[dim1] == 1) return true;
    return std::ranges::all_of(operands(), [&](const Operand& o) {
      return shape_[dim0] * o.strides[dim0] == o.strides[dim1];
    });
  };
  size_t last = 0;
  for (size_t d = 1; d < shape_.size(); ++d) {
    if (mergeable(last, d)) {
      if (shape_[last] == 1) {
        for (Operand& o : operands()) o.strides[last] = o.strides[d];
      }
      shape_[last] *= shape_[d];
    } else if (++last != d) {
      for (Operand& o : operands()) o.strides[last] = o.strides[d];
      shape_[last] = shape_[d];
    }
  }
  shape_.resize(last + 1);
  for (Operand& o : operands()) o.strides.resize(last + 1);
}

void TensorIterator::prepare_walk() {
  for (Operand& o : operands()) o.data = static_cast<char*>(o.tensor->data_ptr());
  coalesce_dimensions();
  if (shape_.empty()) {
    shape_.assign(1, 1);
    for (Operand& o : operands()) o.strides.assign(1, 0);
  } else if (shape_.size() == 1 && shape_[0] == 1) {
    // Any numbers, which no loop is to add to an address.
    for (Operand& o : operands()) o.strides[0] = static_cast<int64_t>(o.tensor->itemsize());
  }
}

bool TensorIterator::is_contiguous() const {
  for (size_t i = 0; i < num_operands_; ++i) {
    const Tensor& t = *operands_[i].tensor;
    if (!t.is_contiguous() || t.sizes() != output().sizes()) return false;
    if (i > 0 && t.dtype() != common_dtype_) return false;
  }
  return true;
}

}  // namespace sb
