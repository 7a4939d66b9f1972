#include "switchboard/ops/out_by_copy.h"

#include "switchboard/ops/copy.h"
#include "switchboard/ops/memory_overlap.h"
#include "switchboard/ops/resize.h"

namespace sb {

void copy_result_to_out(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a tensor, got an undefined one");
  SB_CHECK(out.device() == result.device(), op, ": expected out tensor to be on device ",
           to_string(result.device()), ", but got ", to_string(out.device()));
  if (out.sizes() == result.sizes()) check_no_internal_overlap(out);
  resize_output(out, result.sizes());
  copy_(out, result);
}

}  // namespace sb
