// The inputs of a recorded call, as a program that makes the call alone needs them.

#ifndef SWITCHBOARD_IO_RECORDING_CALL_INPUTS_H_
#define SWITCHBOARD_IO_RECORDING_CALL_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

// Storages, each cut to what the call's tensors reach of it, and the tensors on them.
class CallInputs {
 public:
  // Throws ValueError for an event that the run does not have, and for tensors that no source can
  // make: of symbolic sizes, of several dtypes on one memory, of impossible sizes.
  CallInputs(const RecordedRun& run, uint32_t event);

  struct Storage {
    DType dtype = DType::Float32;
    std::string bytes;     // of its elements
    bool known = true;     // otherwise they are zeros
    bool fake = false;     // it has no elements
    bool in_file = false;  // its elements stand in a file, from `file_offset` on
    size_t file_offset = 0;
    int64_t begin = 0;  // the first element that is reached
    int64_t elements = 0;
  };
  struct Tensor {
    RecordedTensor tensor;
    const RecordedMeta* meta;
    uint64_t storage;
    int64_t offset;  // in elements of what is reached
  };
  std::map<uint64_t, Storage> storages;
  std::vector<Tensor> tensors;
  bool all_known = true;

  // The place of a tensor in `tensors`.
  size_t find(const RecordedTensor& tensor) const;
  // Whether the tensor has such a key.
  static bool has_key(const Tensor& input, const char* key);
  // What the file holds.
  std::string file_data() const;
  // What is shown, as one line.
  std::string title() const;

 private:
  void add(const RecordedTensor& tensor);
  void find_reach();
  void read_elements(uint64_t id, Storage& storage);
  void choose_for_file();

  const RecordedRun& run_;
  uint32_t event_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_CALL_INPUTS_H_
