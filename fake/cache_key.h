// Everything that decides the result of a fake call, as words that can be compared.

#ifndef SWITCHBOARD_FAKE_CACHE_KEY_H_
#define SWITCHBOARD_FAKE_CACHE_KEY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/typed_frame.h"

namespace sb::internal {

// The operator, its fake rules, the keys that the thread includes and excludes, the default dtype,
// how often kernels came and went, and each argument: the metadata of tensors (dtype, sizes,
// strides, offset, bytes of the storage, device, keys, whether it requires grad, whether it is a
// number, and which arguments share a storage), and the values of all others with their types, so
// that 1 and 1.0 differ. As `_DispatchCacheKey`.
//
// The words are written down only to be remembered: looking a call up goes through its arguments.
class CacheKey {
 public:
  // Of a call with its arguments on a stack, in which there are no tensors with symbols.
  CacheKey(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
           absl::Span<const IValue> arguments)
      : op_(op), rules_version_(rules_version), settings_(settings), stacked_(arguments) {}
  // The same key for the same call when it is typed. There is none where a tensor has symbols, or
  // other mode data than this.
  CacheKey(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
           const TypedFrame& frame, const ModeData* data)
      : op_(op), rules_version_(rules_version), settings_(settings), frame_(&frame), data_(data) {}

  // nullopt if there is no key: an argument is a generator, a storage, an object or a symbol.
  std::optional<uint64_t> hash() const;
  bool is(absl::Span<const uint64_t> words) const;
  std::vector<uint64_t> words() const;
  // The count of registrations and removals among the words of a key.
  static uint64_t registrations(absl::Span<const uint64_t> words) { return words[kRegistrations]; }

 private:
  template <class Words>
  class Walk;
  static constexpr size_t kRegistrations = 5;

  OperatorHandle op_;
  uint64_t rules_version_;
  uint64_t settings_;
  absl::Span<const IValue> stacked_;
  const TypedFrame* frame_ = nullptr;  // of a typed call
  const ModeData* data_ = nullptr;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CACHE_KEY_H_
