// Everything that decides the result of a fake call, as words that can be compared.

#ifndef SWITCHBOARD_FAKE_CACHE_KEY_H_
#define SWITCHBOARD_FAKE_CACHE_KEY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// The operator, its fake rules, the keys that the thread includes and excludes, the default dtype,
// how often kernels came and went, and each argument: the metadata of tensors (dtype, sizes,
// strides, offset, bytes of the storage, device, keys, whether it requires grad, whether it is a
// number, and which arguments share a storage), and the values of all others with their types, so
// that 1 and 1.0 differ. The hash is computed once. As `_DispatchCacheKey`.
class CacheKey {
 public:
  CacheKey() {}  // the words are not there yet
  CacheKey(const CacheKey&) = delete;
  CacheKey& operator=(const CacheKey&) = delete;

  // Makes it the key of a call. Returns false where an argument is none of these: a generator, a
  // storage, an object, a symbol.
  bool assign(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
              absl::Span<const IValue> arguments);

  absl::Span<const uint64_t> words() const { return words_; }
  uint64_t hash() const { return hash_; }
  // The count of registrations and removals among the words of a key.
  static uint64_t registrations(absl::Span<const uint64_t> words) { return words[kRegistrations]; }

 private:
  class Writer;
  static constexpr size_t kFew = 96;
  static constexpr size_t kRegistrations = 6;
  uint64_t few_[kFew];
  std::vector<uint64_t> many_;  // where there are more
  absl::Span<const uint64_t> words_;
  uint64_t hash_ = 0;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CACHE_KEY_H_
