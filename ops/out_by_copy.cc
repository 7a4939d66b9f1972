#include "switchboard/ops/out_by_copy.h"

#include "switchboard/ops/copy.h"
#include "switchboard/ops/memory_overlap.h"
#include "switchboard/ops/resize.h"

namespace sb {

void check_result_fits_out(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a tensor, got an undefined one");
  SB_CHECK(out.device() == result.device(), op, ": expected out tensor to be on device ",
           to_string(result.device()), ", but got ", to_string(out.device()));
  SB_CHECK(out.impl()->mode_data() == result.impl()->mode_data(), op, ": out is ", out.describe(),
           ", which belongs to another mode than the arguments");
  if (out.sizes() == result.sizes()) check_no_internal_overlap(out);
}

void copy_result_to_out(std::string_view op, const Tensor& result, const Tensor& out) {
  // What could refuse the copy is looked at before out changes.
  check_result_fits_out(op, result, out);
  const Tensor source = result.is_alias_of(out) ? clone(result) : result;
  resize_output(out, result.sizes());
  copy_(out, source);
}

}  // namespace sb
