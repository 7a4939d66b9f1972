// The file that a recording is written to, and what its threads share.

#ifndef SWITCHBOARD_IO_RECORDING_RECORDING_FILE_H_
#define SWITCHBOARD_IO_RECORDING_RECORDING_FILE_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/storage.h"
#include "switchboard/core/tensor.h"
#include "switchboard/io/recording/clock.h"
#include "switchboard/io/recording/fresh_memory.h"
#include "switchboard/io/recording/identity_table.h"

namespace sb::internal {

// What is written of the elements of tensors.
enum class RecordedBits : uint8_t { Nothing, Hashes, Inputs, All };

// Thread-safe if it is made for several threads. Everything throws RuntimeError that names the file
// for what the system refuses.
class RecordingFile {
 public:
  RecordingFile(const std::string& path, RecordedBits bits, bool for_threads);
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  ~RecordingFile();

  // The number of a thread that is about to write.
  uint32_t new_thread();
  // Whole records of one thread.
  void write_chunk(uint32_t thread, std::string_view records);
  // Says that the file is whole. Nothing is written afterwards.
  void close();

  // Nanoseconds from the beginning.
  uint64_t now() const { return clock_.now(); }
  RecordedBits bits() const { return bits_; }

  IdentityTable<TensorImpl> tensors;
  IdentityTable<StorageImpl> storages;

  // The hash of a storage's bytes as the last recorded call left them, or as they were written to
  // the file. Sets it; returns whether it was another one.
  bool change_contents(uint64_t storage, uint64_t hash);

 private:
  void write(const void* data, size_t bytes);

  std::string path_;
  RecordedBits bits_;
  std::optional<FillFreshMemory> fill_;  // while elements are looked at
  CallClock clock_;
  int fd_ = -1;
  std::mutex mutex_;
  uint32_t threads_ = 0;
  absl::flat_hash_map<uint64_t, uint64_t> contents_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_RECORDING_FILE_H_
