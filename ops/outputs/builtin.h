// Which operators are PyTorch's own.

#ifndef SWITCHBOARD_OPS_OUTPUTS_BUILTIN_H_
#define SWITCHBOARD_OPS_OUTPUTS_BUILTIN_H_

#include <string_view>

namespace sb {

// Whether operators of the namespace are this program's own counterparts of PyTorch's, whose
// kernels are known to read no memory where they are composed of operators. As
// `torch._library.utils.is_builtin`.
inline bool is_builtin_namespace(std::string_view ns) {
  return ns == "aten" || ns == "prims" || ns == "prim";
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUTPUTS_BUILTIN_H_
