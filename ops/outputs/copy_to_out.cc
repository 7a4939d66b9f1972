#include "switchboard/ops/outputs/copy_to_out.h"

#include <algorithm>
#include <typeinfo>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/views/views.h"

namespace sb {

namespace {

bool same_sizes(const Tensor& a, const Tensor& b) {
  if (!any_symbolic(a, b)) return a.sizes() == b.sizes();
  bool same = a.dim() == b.dim();
  for (int64_t d = 0; same && d < a.dim(); ++d) same = same_size(a.sym_size(d), b.sym_size(d));
  return same;
}

// Whether who stands above kernels is to see what shape an out gets: a mode, or functionalisation,
// whose tensors are of a class of their own.
bool is_seen(const Tensor& out) {
  return current_mode() || typeid(*out.impl()) != typeid(TensorImpl);
}

// With symbols there is no memory to look after.
void copy_symbolic_result(const Tensor& result, const Tensor& out, bool keep_strides) {
  if (same_sizes(result, out)) return void(copy_(out, result));
  if (is_seen(out)) {
    resize_(out, result.sym_sizes());
    if (keep_strides)
      as_strided_(out, result.sym_sizes(), result.sym_strides(), out.sym_storage_offset());
  } else {
    const SymDimVector contiguous = contiguous_strides(result.sym_sizes());
    out.impl()->set_sym_sizes_and_strides(
        result.sym_sizes(), keep_strides ? result.sym_strides() : SymIntArrayRef(contiguous),
        out.sym_storage_offset());
  }
  copy_(out, result);
}

void resize_seen(const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  if (out.sizes() == sizes) return;
  resize_(out, sizes);
  if (!strides.empty() && out.strides() != strides)
    as_strided_(out, sizes, strides, out.storage_offset());
}

const DispatchMode* mode_of(const Tensor& t) {
  const IntrusivePtr<ModeData>& data = t.impl()->mode_data();
  return data ? &data->mode() : nullptr;
}

}  // namespace

void check_result_fits_out(std::string_view op, const Tensor& result, const Tensor& out,
                           const OutOptions& options) {
  if (options.check) options.check(op, result, out);
  SB_CHECK(out.defined(), op, ": out: expected a tensor, got an undefined one");
  SB_CHECK(out.device() == result.device(), op, ": expected out tensor to be on device ",
           to_string(result.device()), ", but got ", to_string(out.device()));
  SB_CHECK(mode_of(out) == mode_of(result), op, ": out is ", out.describe(),
           ", which belongs to another mode than the arguments");
  if (options.dtype == OutDType::Exact) {
    SB_CHECK(out.dtype() == result.dtype(), op, ": expected out tensor to have dtype ",
             to_string(result.dtype()), ", but got ", to_string(out.dtype()));
  } else if (options.dtype == OutDType::Cast) {
    SB_CHECK(can_cast(result.dtype(), out.dtype()), op, ": result type ", to_string(result.dtype()),
             " can't be cast to the desired output type ", to_string(out.dtype()));
  }
  if (options.keep_shape) {
    SB_CHECK(IntArrayRef(broadcast_shapes(out.sizes(), result.sizes())) == out.sizes(), op,
             ": out ", out.describe(), " does not match the broadcast shape of ",
             result.describe());
  }
  if (options.keep_shape || same_sizes(out, result)) check_no_internal_overlap(out);
}

void copy_results_to_outs(std::string_view op, absl::Span<const ResultAndOut> pairs,
                          const OutOptions& options) {
  // What could refuse a copy is looked at before any out changes, and so is whether there is room.
  const auto strides_of = [&](const Tensor& result) {
    return options.keep_strides ? result.strides() : IntArrayRef();
  };
  bool symbolic = false;
  for (const auto& [result, out] : pairs) {
    check_result_fits_out(op, result, out, options);
    symbolic |= any_symbolic(result, out);
    if (symbolic || options.keep_shape || is_seen(out)) continue;
    output_must_grow(out, result.sizes(), strides_of(result));  // throws where it cannot
  }
  if (options.keep_shape) {
    for (const auto& [result, out] : pairs) copy_(out, result);
    return;
  }
  if (symbolic) {
    for (const auto& [result, out] : pairs) copy_symbolic_result(result, out, options.keep_strides);
    return;
  }
  const auto shares_memory_with_an_out = [&](const Tensor& result) {
    return std::ranges::any_of(pairs,
                               [&](const ResultAndOut& p) { return result.is_alias_of(p.second); });
  };
  absl::InlinedVector<Tensor, 2> sources;
  for (const auto& [result, out] : pairs)
    sources.push_back(shares_memory_with_an_out(result) ? clone(result) : result);
  for (const auto& [result, out] : pairs)
    if (!is_seen(out)) reserve_output(out, result.sizes(), strides_of(result));
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [result, out] = pairs[i];
    if (is_seen(out))
      resize_seen(out, result.sizes(), strides_of(result));
    else
      resize_output(out, result.sizes(), strides_of(result));
    copy_(out, sources[i]);
  }
}

void copy_result_to_out(std::string_view op, const Tensor& result, const Tensor& out,
                        const OutOptions& options) {
  const ResultAndOut pair{result, out};
  copy_results_to_outs(op, {&pair, 1}, options);
}

}  // namespace sb
