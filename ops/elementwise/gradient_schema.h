// Declares the operators that compute a gradient: their `out` is called grad_input, and so is the
// overload.
//
//   SB_GRADIENT(tanh_backward,
//               "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor");

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_GRADIENT_SCHEMA_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_GRADIENT_SCHEMA_H_

#include "switchboard/ops/derived_schema.h"

namespace sb {

consteval DerivedSchema grad_input_schema(std::string_view functional) {
  const DerivedSchema out = out_schema(functional, "grad_input");
  constexpr std::string_view end = "out) -> Tensor(a!)";
  DerivedSchema result;
  result.append(out.view().substr(0, out.length - end.size()));
  result.append("grad_input) -> Tensor(a!)");
  return result;
}

}  // namespace sb

// Declares `handle` and `handle_out`.
#define SB_GRADIENT(handle, schema_text)                                                 \
  struct handle##_out_op {                                                               \
    static constexpr ::sb::DerivedSchema derived = ::sb::grad_input_schema(schema_text); \
    static constexpr ::std::string_view schema = derived.view();                         \
  };                                                                                     \
  struct handle##_op {                                                                   \
    static constexpr ::std::string_view schema = schema_text;                            \
    using Out = handle##_out_op;                                                         \
  };                                                                                     \
  inline constinit const ::sb::Op<handle##_op> handle{};                                 \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_GRADIENT_SCHEMA_H_
