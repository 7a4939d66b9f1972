// What a program relied on, and what it said, as operators: torch.export writes them into graphs.
// Assertions throw where they do not hold. A symbolic number is checked as SB_CHECK checks one: at
// once where that is known, else when the program runs.

#ifndef SWITCHBOARD_OPS_ASSERTIONS_ASSERTIONS_H_
#define SWITCHBOARD_OPS_ASSERTIONS_ASSERTIONS_H_

#include <optional>

#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// RuntimeError, naming what differs, unless `a` has what is given. A device without an index is any
// of its type.
SB_OP(_assert_tensor_metadata,
      "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
      "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()");
// The kernel of it, for those who know the tensor's device better.
void check_tensor_metadata(const Tensor& a, OptionalSymIntArrayRef size,
                           OptionalSymIntArrayRef stride, std::optional<DType> dtype,
                           std::optional<Device> device, std::optional<Layout> layout);

// RuntimeError of that message where the number, or the one element, is 0. RuntimeError for a
// tensor of several elements, or none. Nothing is known of tensors without data.
SB_OP(_assert_scalar, "aten::_assert_scalar(Scalar self, str assert_msg) -> ()");
SB_OP(_assert_async, "aten::_assert_async(Tensor self) -> ()");
SB_OP(_assert_async_msg, "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()");

// RuntimeError unless min <= size <= max, both included; a bound that is left out is none. Those
// of _for_size say that the number is the size of something: min is 0 if left out, max is more than
// 2.
SB_OP(sym_constrain_range,
      "aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()");
SB_OP(sym_constrain_range_for_size,
      "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()");

// Prints the text and a line feed on the standard output; nothing while a program is fake.
SB_OP(_print, "aten::_print(str s) -> ()");

// The same as the assertions for graphs in which an operator without a result would be lost: they
// give a copy of dep_token, which others depend on.
SB_OP(_functional_assert_scalar,
      "aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor");
SB_OP(
    _functional_assert_async_msg,
    "aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor");
SB_OP(_functional_sym_constrain_range,
      "aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> "
      "Tensor");
SB_OP(_functional_sym_constrain_range_for_size,
      "aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor "
      "dep_token) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ASSERTIONS_ASSERTIONS_H_
