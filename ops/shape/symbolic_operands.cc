#include "switchboard/ops/shape/symbolic_operands.h"

#include <algorithm>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/size_text.h"

namespace sb::internal {
namespace {

bool has_hints(SymIntArrayRef sizes) {
  return std::ranges::all_of(sizes, [](const SymInt& s) { return has_hint(s); });
}

// Dense strides for `sizes` in the order that a tensor like that of the numbers has.
SymDimVector strides_in_order(IntArrayRef size_numbers, IntArrayRef stride_numbers,
                              SymIntArrayRef sizes) {
  SymDimVector strides(sizes.size());
  SymInt stride = 1;
  for (const size_t d : dims_by_stride(size_numbers, stride_numbers)) {
    strides[d] = stride;
    stride *= sym_max(sizes[d], SymInt(1));
  }
  return strides;
}

// Dense strides in the order that those of the stand-in have.
SymDimVector strides_like(const Tensor& stand_in, SymIntArrayRef sizes) {
  return stand_in.is_contiguous() ? contiguous_strides(sizes)
                                  : strides_in_order(stand_in.sizes(), stand_in.strides(), sizes);
}

}  // namespace

SymDimVector dense_strides_like(const Tensor& t) {
  return t.is_contiguous()
             ? contiguous_strides(t.sym_sizes())
             : strides_in_order(t.impl()->hint_sizes(), t.impl()->hint_strides(), t.sym_sizes());
}

namespace {

// Whether it has these sizes, which are from the last dimension on.
bool has_sizes(const Tensor& t, const SymDimVector& from_last) {
  const SymIntArrayRef sizes = t.sym_sizes();
  bool same = sizes.size() == from_last.size();
  for (size_t d = 0; same && d < sizes.size(); ++d)
    same = same_size(sizes[d], from_last[sizes.size() - 1 - d]);
  return same;
}

Tensor meta_like(const Tensor& t, IntArrayRef sizes, IntArrayRef strides) {
  Tensor result = empty_strided_on(DeviceType::Meta, sizes, strides, t.dtype());
  result.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
  result.impl()->set_device(t.device());
  return result;
}

// What stands for an out that will get another shape.
Tensor stand_in_of_other_shape(const Tensor& out) {
  DimVector sizes(out.impl()->hint_sizes().begin(), out.impl()->hint_sizes().end());
  DimVector strides(out.impl()->hint_strides().begin(), out.impl()->hint_strides().end());
  if (out.is_symbolic() && !has_hints(out.sym_sizes()))
    strides = infer_dense_strides(sizes, strides);
  return meta_like(out, sizes, strides);
}

}  // namespace

SymbolicOperands::SymbolicOperands(const Tensor& out, absl::Span<const Tensor* const> inputs,
                                   bool fixed_output)
    : out_(out) {
  std::vector<Ones> ones(inputs.size());
  Ones out_ones;
  if (fixed_output && out.defined()) broadcast(out, &out_ones);
  for (size_t i = 0; i < inputs.size(); ++i) broadcast(*inputs[i], &ones[i]);
  bool inplace = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto same = std::find_if(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(i),
                                   [&](const Tensor* t) { return t->is_same(*inputs[i]); });
    const size_t first = static_cast<size_t>(same - inputs.begin());
    input_stand_ins_.push_back(first < i ? input_stand_ins_[first] : stand_in(*inputs[i], ones[i]));
    if (!out.is_same(*inputs[i])) continue;
    inplace = true;
    out_stand_in_ = input_stand_ins_.back();
  }
  if (!out.defined()) return;
  if (inplace) {
    // Whether it keeps its shape decides whether the operator may write to it.
    bool keeps = static_cast<size_t>(out.dim()) == shape_.size();
    for (size_t d = 0; keeps && d < shape_.size(); ++d)
      keeps = expect_true(out.sym_sizes()[shape_.size() - 1 - d] == shape_[d]);
    SB_CHECK(keeps, "output with shape ", shape_text(out.sym_sizes()),
             " doesn't match the broadcast shape");
  } else {
    const Ones none(static_cast<size_t>(out.dim()), false);
    out_stand_in_ = has_sizes(out, shape_) ? stand_in(out, none) : stand_in_of_other_shape(out);
  }
}

void SymbolicOperands::broadcast(const Tensor& t, Ones* ones) {
  const SymIntArrayRef sizes = t.sym_sizes();
  for (size_t d = 0; d < sizes.size(); ++d) {
    const SymInt& x = sizes[sizes.size() - 1 - d];
    if (d == shape_.size()) {
      shape_.push_back(x);
      ones->push_back(known(x == 1));
      continue;
    }
    SymInt& y = shape_[d];
    const Spreads spreads = which_spreads(y, x, [&](const SymBool& truth) {
      SB_CHECK(truth, "the size of tensor a (", size_text(y), ") must match the size of tensor b (",
               size_text(x), ") at non-singleton dimension ", d, " from the last");
    });
    ones->push_back(spreads == Spreads::Second || (spreads == Spreads::Neither && known(x == 1)));
    // Of two that are equal from now on, the one that is a number.
    const bool is_told = spreads == Spreads::Neither && !x.is_symbolic();
    if (spreads == Spreads::First || is_told) y = x;
  }
}

Tensor SymbolicOperands::stand_in(const Tensor& t, const Ones& ones) const {
  DimVector sizes(t.impl()->hint_sizes().begin(), t.impl()->hint_sizes().end());
  DimVector strides(t.impl()->hint_strides().begin(), t.impl()->hint_strides().end());
  if (t.is_symbolic() && !has_hints(t.sym_sizes())) {
    // What stands for sizes of the result must agree in all operands.
    for (size_t d = 0; d < sizes.size(); ++d) {
      const size_t from_last = sizes.size() - 1 - d;
      sizes[d] = from_last < ones.size() && ones[from_last] ? 1
                 : from_last < shape_.size()                ? sb::stand_in(shape_[from_last])
                                                            : sb::stand_in(t.sym_sizes()[d]);
    }
    strides = infer_dense_strides(sizes, strides);
  } else {
    for (size_t d = 0; d < sizes.size(); ++d) {
      const size_t from_last = sizes.size() - 1 - d;
      if (from_last < shape_.size() && from_last < ones.size() && !ones[from_last])
        sizes[d] = sb::stand_in(shape_[from_last]);
    }
  }
  return meta_like(t, sizes, strides);
}

Tensor SymbolicOperands::result(const Tensor& stand_in) const {
  SymDimVector sizes(shape_.rbegin(), shape_.rend());
  if (out_.defined()) {
    if (!has_sizes(out_, shape_)) {
      TensorImpl& impl = *out_.impl();
      impl.set_sym_sizes_and_strides(sizes, strides_like(stand_in, sizes),
                                     out_.sym_storage_offset());
      const auto bytes = static_cast<size_t>(checked_storage_bytes(
          impl.hint_sizes(), impl.hint_strides(), sb::stand_in(out_.sym_storage_offset()),
          static_cast<int64_t>(out_.itemsize())));
      if (bytes > out_.storage()->nbytes()) out_.storage()->resize(bytes);
    }
    return out_;
  }
  return empty_with_symbols(sizes, strides_like(stand_in, sizes), stand_in.dtype());
}

}  // namespace sb::internal
