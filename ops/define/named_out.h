// Operators whose out= form has names of its own: `aten::avg_pool2d_backward.grad_input(...,
// Tensor(a!) grad_input)`.

#ifndef SWITCHBOARD_OPS_DEFINE_NAMED_OUT_H_
#define SWITCHBOARD_OPS_DEFINE_NAMED_OUT_H_

#include <string_view>

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// As out_schema, with the name of the out.
consteval DerivedSchema named_out_schema(std::string_view functional, std::string_view overload,
                                         std::string_view name) {
  constexpr std::string_view end = "out) -> Tensor(a!)";
  const DerivedSchema plain = out_schema(functional, overload);
  DerivedSchema result;
  result.append(plain.view().substr(0, plain.view().size() - end.size()));
  result.append(name);
  result.append(end.substr(3));
  return result;
}

namespace internal {
constexpr std::string_view schema_view(std::string_view text) { return text; }
constexpr std::string_view schema_view(const DerivedSchema& derived) { return derived.view(); }
}  // namespace internal

}  // namespace sb

// Declares `handle` and `handle_out`. The out= form's schema is a string or a DerivedSchema.
#define SB_OP_WITH_OUT(handle, schema_text, out_schema)                                \
  struct handle##_out_op {                                                             \
    static constexpr auto written = out_schema;                                        \
    static constexpr ::std::string_view schema = ::sb::internal::schema_view(written); \
  };                                                                                   \
  struct handle##_op {                                                                 \
    static constexpr ::std::string_view schema = schema_text;                          \
    using Out = handle##_out_op;                                                       \
  };                                                                                   \
  inline constinit const ::sb::Op<handle##_op> handle{};                               \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

// The same for an operator that computes a gradient: its out is called grad_input, and so is the
// overload.
//
//   SB_GRADIENT(tanh_backward,
//               "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor");
#define SB_GRADIENT(handle, schema_text) \
  SB_OP_WITH_OUT(handle, schema_text,    \
                 ::sb::named_out_schema(schema_text, "grad_input", "grad_input"))

#endif  // SWITCHBOARD_OPS_DEFINE_NAMED_OUT_H_
