// What decides the result of a fake call, as words that can be compared.

#ifndef SWITCHBOARD_FAKE_CACHE_KEY_H_
#define SWITCHBOARD_FAKE_CACHE_KEY_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// The operator, its rules, what the thread includes and excludes,
// the default dtype, and each argument: the metadata of tensors (dtype, sizes, strides, offset,
// bytes of the storage, device, keys, whether it requires grad, whether it is a number, and which
// arguments share a storage), and the values of all others with their types, so that 1 and 1.0
// differ. The hash is computed once. As `_DispatchCacheKey`.
class CacheKey {
 public:
  CacheKey() = default;
  // nullopt where an argument is none of these: a generator, a storage, an object, a symbol.
  static std::optional<CacheKey> of(const OperatorHandle& op, uint64_t rules_version,
                                    uint64_t settings, absl::Span<const IValue> arguments);

  uint64_t hash() const { return hash_; }
  bool operator==(const CacheKey& other) const {
    return hash_ == other.hash_ && words_ == other.words_;
  }

 private:
  class Writer;
  absl::InlinedVector<uint64_t, 48> words_;
  uint64_t hash_ = 0;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CACHE_KEY_H_
