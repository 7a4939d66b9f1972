// The base of metadata that a device attaches to its tensors. As `c10::BackendMeta`.

#ifndef SWITCHBOARD_CORE_BACKEND_META_H_
#define SWITCHBOARD_CORE_BACKEND_META_H_

#include "switchboard/core/intrusive_ptr.h"

namespace sb {

class BackendMeta : public IntrusiveTarget {
 public:
  // The copy that a shallow copy of the tensor gets. The default shares this one.
  virtual IntrusivePtr<BackendMeta> clone() const {
    return IntrusivePtr<BackendMeta>::share(const_cast<BackendMeta*>(this));
  }
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_BACKEND_META_H_
