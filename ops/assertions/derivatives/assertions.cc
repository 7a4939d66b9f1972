// Assertions have no result that a gradient could come from.

#include "switchboard/ops/assertions/assertions.h"

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  not_differentiable(m, _assert_tensor_metadata);
  not_differentiable(m, _assert_async);
  not_differentiable(m, _assert_async_msg);
}

}  // namespace
}  // namespace sb
