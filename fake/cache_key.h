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
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::internal {

// The operator, its fake rules, the keys that the thread includes and excludes, the default dtype,
// how often kernels came and went, and each argument: the metadata of tensors (dtype, sizes,
// strides, offset, bytes of the storage, device, keys, whether it requires grad, whether it is a
// number, and which arguments share a storage), and the values of all others with their types, so
// that 1 and 1.0 differ. Symbols are part of it by their expressions, with the version of their
// environment. As `_DispatchCacheKey`.
//
// The words are written down only to be remembered: looking a call up goes through its arguments.
class CacheKey {
 public:
  // Of a call with its arguments on a stack. Symbols of `env`, which may be null, are part of the
  // key: it is that of the environment as it is now.
  CacheKey(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
           absl::Span<const IValue> arguments, const ShapeEnv* env)
      : CacheKey(op, rules_version, settings, env) {
    stacked_ = arguments;
  }
  // The same key for the same call when it is typed. There is none where a tensor has other mode
  // data than this.
  CacheKey(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
           const TypedFrame& frame, const ModeData* data, const ShapeEnv* env)
      : CacheKey(op, rules_version, settings, env) {
    frame_ = &frame;
    data_ = data;
  }

  // nullopt if there is no key: an argument is a generator, a storage, an object, or a symbol of no
  // such environment.
  std::optional<uint64_t> hash() const;
  bool is(absl::Span<const uint64_t> words) const;
  std::vector<uint64_t> words() const;
  // Whether calls like the first cannot come again where the second one does: a kernel or a fake
  // rule came or went between them, or their environment has learnt something.
  static bool is_outdated(absl::Span<const uint64_t> words, absl::Span<const uint64_t> by) {
    return words[kRules] != by[kRules] || words[kRegistrations] != by[kRegistrations] ||
           words[kSettings] >> kSettingsBits != by[kSettings] >> kSettingsBits;
  }

 private:
  template <class Words>
  class Walk;
  static constexpr size_t kRules = 4, kRegistrations = 5, kSettings = 6;
  static constexpr int kSettingsBits = 16;

  CacheKey(const OperatorHandle& op, uint64_t rules_version, uint64_t settings, const ShapeEnv* env)
      : op_(op),
        rules_version_(rules_version),
        settings_(env ? settings + (env->version() << kSettingsBits) : settings),
        env_(env) {}

  OperatorHandle op_;
  uint64_t rules_version_;
  uint64_t settings_;
  const ShapeEnv* env_;
  absl::Span<const IValue> stacked_;
  const TypedFrame* frame_ = nullptr;  // of a typed call
  const ModeData* data_ = nullptr;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CACHE_KEY_H_
