// A regular file, open for reading.

#ifndef SWITCHBOARD_IO_SAFETENSORS_INPUT_FILE_H_
#define SWITCHBOARD_IO_SAFETENSORS_INPUT_FILE_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"

namespace sb::io {

class InputFile {
 public:
  // Throws RuntimeError that names the file if there is none, if it may not be read, or if it is a
  // folder, a pipe or a device: what has no size cannot be checked against one.
  explicit InputFile(std::string path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  // In bytes, when it was opened.
  size_t size() const { return size_; }

  // Fills `destination` from byte `offset` on. Throws ValueError if the file ends before, as one
  // that is being cut short does; RuntimeError where the system fails.
  void read_at(size_t offset, absl::Span<char> destination) const;
  // The whole file. Throws ValueError if it has more than `max_bytes` bytes.
  std::string read_all(size_t max_bytes) const;

 private:
  std::string path_;
  int fd_;
  size_t size_ = 0;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_INPUT_FILE_H_
