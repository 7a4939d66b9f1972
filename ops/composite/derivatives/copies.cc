// The derivatives of copies of views are those of the views; of detach and of another dtype there
// is none.

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  m.impl("detach_copy", DispatchKey::Autograd, fallthrough);
  m.impl("view_copy.dtype", DispatchKey::Autograd, fallthrough);
}

}  // namespace
}  // namespace sb
