// Values of a recording as values of this process: tensors with their elements, numbers, lists.

#ifndef SWITCHBOARD_IO_RECORDING_RECORDED_VALUES_H_
#define SWITCHBOARD_IO_RECORDING_RECORDED_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

// The tensors and storages that a replay has, by their ids.
class RecordedValues {
 public:
  explicit RecordedValues(const RecordedRun& run);

  // Gives storages the bytes that the recording has as the event began.
  void apply_contents(uint32_t event);
  // The arguments of an event. Throws RuntimeError that names what cannot be made.
  Stack arguments(uint32_t event);
  // Remembers the tensors that a call gave, which are those of the event.
  void note(uint32_t event, const Stack& arguments, const Stack& results);
  // Forgets tensors that no later call of the program takes.
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

  const RecordedRun& run_;
  absl::flat_hash_map<uint64_t, Tensor> tensors_;
  absl::flat_hash_map<uint64_t, Storage> storages_;
  // The last events that take a tensor, or one of a storage.
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
