// Values of a recording as values of this process: tensors with their elements, numbers, lists.

#ifndef SWITCHBOARD_IO_RECORDING_RECORDED_VALUES_H_
#define SWITCHBOARD_IO_RECORDING_RECORDED_VALUES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

// The tensors and storages that a replay has, by their ids.
class RecordedValues {
 public:
  // `made`: the events that are made again as calls, in order; their kernels make others.
  RecordedValues(const RecordedRun& run, const std::vector<uint32_t>& made);

  // Gives storages the bytes that the recording has as the event began.
  void apply_contents(uint32_t event);
  // The arguments of an event, as they then were. Throws RuntimeError that names what cannot be
  // made.
  Stack arguments(uint32_t event);
  // Remembers the tensors that a call, or one that its kernel made, was given and gave: they are
  // those of the event.
  void note(absl::Span<const RecordedValue> recorded, absl::Span<const IValue> values);
  // Whether one of these is given to a call later, and not known.
  bool wants(absl::Span<const RecordedValue> recorded) const;
  // Forgets tensors that no call after this one takes.
  void forget_after(uint32_t event);
  // The mode of fake tensors; made at the first need.
  FakeTensorMode& fake_mode();

 private:
  IValue value(absl::Span<const RecordedValue> values);
  Tensor tensor(const RecordedTensor& recorded);
  Tensor make(const RecordedTensor& recorded);
  Storage storage(const RecordedTensor& recorded, Device device);
  void note_value(absl::Span<const RecordedValue> values, const IValue& value);
  void note_tensor(const RecordedTensor& recorded, const Tensor& tensor);
  // Makes a tensor count its writes with another of its memory, where the recording says so. How
  // far its version is ahead.
  uint32_t share_version(const RecordedTensor& recorded, const Tensor& tensor);
  bool share_version(uint64_t a, uint64_t b);

  // A tensor, and its version less that of the recording's.
  struct Known {
    Tensor tensor;
    uint32_t version_ahead = 0;
  };
  const RecordedRun& run_;
  std::vector<bool> made_;  // by event
  absl::flat_hash_map<uint64_t, Known> tensors_;
  absl::flat_hash_map<uint64_t, Storage> storages_;
  absl::flat_hash_set<uint64_t> fake_storages_;  // those that fake tensors have
  // The versions of each tensor, with their places among all; empty until they are asked for.
  absl::flat_hash_map<uint64_t, std::vector<std::pair<size_t, uint32_t>>> versions_;
  // The last calls that take a tensor, or one of a storage.
  absl::flat_hash_map<uint64_t, uint32_t> last_use_, last_storage_use_;
  std::vector<std::pair<uint32_t, uint64_t>> by_last_use_, storages_by_last_use_;
  size_t forgotten_ = 0, forgotten_storages_ = 0;
  size_t next_contents_ = 0;
  std::optional<FakeTensorMode> fake_;
};

// The set that to_string(DispatchKeySet) names. Throws ValueError for other text.
DispatchKeySet parse_key_set(std::string_view text);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_RECORDED_VALUES_H_
