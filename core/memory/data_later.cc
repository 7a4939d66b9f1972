// Bytes of a storage that come while the program goes on.

#include "switchboard/core/storage.h"

namespace sb {

void* StorageImpl::data_later() const {
  StorageImpl* const self = const_cast<StorageImpl*>(this);  // it means the same before and after
  void* const start = self->await_data();
  if (start) self->data_.give(start);
  return start;
}

}  // namespace sb
