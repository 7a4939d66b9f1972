#include "switchboard/ops/outputs/output_plan.h"

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/shape/resize.h"

namespace sb::internal {

Device check_arguments(std::string_view op, const TensorArguments& tensors) {
  const Tensor* first = nullptr;
  for (const Tensor* t : tensors) {
    SB_CHECK(t->defined(), op, ": expected a defined tensor, got an undefined one");
    if (first && t->device() == first->device()) continue;
    const bool free_scalar = t->dim() == 0 && t->is_cpu();
    if (!first || (first->dim() == 0 && first->is_cpu() && !free_scalar)) {
      first = t;
    } else {
      SB_CHECK(free_scalar, op,
               ": expected all tensors to be on the same device, but found at least two devices, ",
               to_string(first->device()), " and ", to_string(t->device()));
    }
  }
  SB_CHECK_VALUE(first, op, ": got no tensor to take the device from");
  return first->device();
}

Tensor make_result(const TensorMeta& meta, Device device) {
  return meta.strides.empty() ? empty_on(device, meta.sizes, meta.dtype)
                              : empty_strided_on(device, meta.sizes, meta.strides, meta.dtype);
}

Tensor make_result(const SymTensorMeta& meta, Device device) {
  SB_ASSERT(device.is_meta());
  return empty_with_symbols(meta.sizes, meta.strides, meta.dtype);
}

void check_outs_apart(std::string_view op, absl::Span<const Tensor* const> outs) {
  for (size_t a = 0; a < outs.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (!outs[a]->defined() || !outs[b]->defined()) continue;
      SB_CHECK(!outs[a]->is_same(*outs[b]), op,
               ": expected each out to be another tensor, got one twice");
      check_no_overlap(*outs[a], *outs[b]);
    }
  }
}

void start_from(const Tensor& out, const Tensor& self) { copy_elements(out, self); }

namespace {

void check_out(std::string_view op, const Tensor& out, DType dtype, Device device,
               StructuredOptions options) {
  SB_CHECK(out.defined(), op, ": out: expected a defined tensor, got an undefined one");
  SB_CHECK(out.device() == device, op, ": expected out tensor to be on device ", to_string(device),
           ", but got ", to_string(out.device()));
  if (options.cast_to_out) {
    SB_CHECK_TYPE(can_cast(dtype, out.dtype()), op, ": result type ", to_string(dtype),
                  " can't be cast to the desired output type ", to_string(out.dtype()));
  } else {
    SB_CHECK(dtype == out.dtype(), op, ": expected out tensor to have dtype ", to_string(dtype),
             ", but got ", to_string(out.dtype()));
  }
}

}  // namespace

void set_symbolic_output(std::string_view op, const Tensor& out, const SymTensorMeta& meta,
                         Device device, StructuredOptions options, bool inplace) {
  check_out(op, out, meta.dtype, device, options);
  const SymIntArrayRef own = out.sym_sizes();
  bool same = own.size() == meta.sizes.size();
  for (size_t d = 0; same && d < own.size(); ++d) {
    // In place they must agree, and need not be asked.
    if (inplace) {
      SB_CHECK(own[d] == meta.sizes[d], op, ": in-place: self of shape ", shape_text(own),
               " doesn't match the result's shape ", shape_text(SymIntArrayRef(meta.sizes)));
    } else {
      same = same_size(own[d], meta.sizes[d]);
    }
  }
  SB_CHECK(same || !inplace, op, ": in-place: self of shape ", shape_text(own),
           " doesn't match the result's shape ", shape_text(SymIntArrayRef(meta.sizes)));
  if (same) return;
  out.impl()->set_sym_sizes_and_strides(
      meta.sizes, meta.strides.empty() ? contiguous_strides(meta.sizes) : meta.strides,
      out.sym_storage_offset());
}

OutputPlan::OutputPlan(std::string_view op, const Tensor& out, const TensorMeta& meta,
                       Device device, absl::Span<const Tensor* const> inputs,
                       StructuredOptions options, bool inplace)
    : out_(out), sizes_(meta.sizes), strides_(meta.strides) {
  check_out(op, out, meta.dtype, device, options);
  const bool same_sizes = out.sizes() == IntArrayRef(sizes_);
  SB_CHECK(same_sizes || !inplace, op, ": in-place: self of shape [",
           absl::StrJoin(out.sizes(), ", "), "] doesn't match the result's shape [",
           absl::StrJoin(sizes_, ", "), "]");
  bool apart = !same_sizes || meta.dtype != out.dtype() ||
               (!strides_.empty() && out.strides() != IntArrayRef(strides_));
  if (same_sizes) check_no_internal_overlap(out);
  for (const Tensor* input : inputs) {
    switch (overlap_between(out, *input)) {
      case Overlap::No:
        break;
      case Overlap::Partial:
      case Overlap::Full:
        if (options.refuse_overlap && !inplace) check_no_overlap(out, *input);
        apart = true;
        break;
      case Overlap::TooHard:
        apart = true;
    }
  }
  output_must_grow(out, sizes_, strides_);  // throws where it cannot
  target_ = apart ? make_result(meta, device) : out;
}

bool OutputPlan::must_grow() const {
  return !target_.is_same(out_) && output_must_grow(out_, sizes_, strides_);
}

void OutputPlan::keep_apart() {
  if (target_.is_same(out_)) target_ = make_result({sizes_, out_.dtype(), strides_}, out_.device());
}

void OutputPlan::reserve() {
  if (!target_.is_same(out_)) reserve_output(out_, sizes_, strides_);
}

void OutputPlan::finish(bool with_data) {
  if (target_.is_same(out_)) return;
  resize_output(out_, sizes_, strides_);
  if (with_data) copy_elements(out_, target_);
}

}  // namespace sb::internal
