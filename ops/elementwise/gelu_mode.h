// The argument `approximate` of gelu and gelu_backward.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_GELU_MODE_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_GELU_MODE_H_

#include <string_view>

namespace sb {

// Whether it is "tanh", or else "none". RuntimeError for anything else.
bool is_tanh_gelu(std::string_view approximate);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_GELU_MODE_H_
