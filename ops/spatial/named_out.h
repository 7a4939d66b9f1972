// Out= forms whose out is not called `out`: `aten::avg_pool2d_backward.grad_input(..., Tensor(a!)
// grad_input)`.

#ifndef SWITCHBOARD_OPS_SPATIAL_NAMED_OUT_H_
#define SWITCHBOARD_OPS_SPATIAL_NAMED_OUT_H_

#include <string_view>

#include "switchboard/ops/derived_schema.h"

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

}  // namespace sb

// Declares `handle` and `handle_out`, whose out is called `grad_input`, as its overload is.
#define SB_STRUCTURED_GRAD_INPUT(handle, schema_text)                    \
  struct handle##_out_op {                                               \
    static constexpr ::sb::DerivedSchema derived =                       \
        ::sb::named_out_schema(schema_text, "grad_input", "grad_input"); \
    static constexpr ::std::string_view schema = derived.view();         \
  };                                                                     \
  struct handle##_op {                                                   \
    static constexpr ::std::string_view schema = schema_text;            \
    using Out = handle##_out_op;                                         \
  };                                                                     \
  inline constinit const ::sb::Op<handle##_op> handle{};                 \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

#endif  // SWITCHBOARD_OPS_SPATIAL_NAMED_OUT_H_
