// Declarations of operators whose out= form has names of its own, and the `reduction` that most
// losses take.

#ifndef SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_
#define SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_

#include <cstdint>

#include "switchboard/core/tensor.h"
#include "switchboard/ops/derived_schema.h"

// Declares `handle` and `handle_out` with both schemas written out.
#define SB_OP_WITH_OUT(handle, schema_text, out_schema_text)      \
  struct handle##_out_op {                                        \
    static constexpr ::std::string_view schema = out_schema_text; \
  };                                                              \
  struct handle##_op {                                            \
    static constexpr ::std::string_view schema = schema_text;     \
    using Out = handle##_out_op;                                  \
  };                                                              \
  inline constinit const ::sb::Op<handle##_op> handle{};          \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

namespace sb {

// As `at::Reduction`. Other numbers are as kReduceNone where an operator does not refuse them.
inline constexpr int64_t kReduceNone = 0;
inline constexpr int64_t kReduceMean = 1;
inline constexpr int64_t kReduceSum = 2;

// The loss, its mean or its sum, by mean and sum.
Tensor reduce_loss(const Tensor& loss, int64_t reduction);
// The same written to `out`, converted.
Tensor reduce_loss_out(const Tensor& loss, int64_t reduction, const Tensor& out);
// Takes the place of the loss that `out` holds by its mean or sum.
Tensor reduce_loss_in_place(const Tensor& out, int64_t reduction);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_LOSS_SCHEMA_H_
