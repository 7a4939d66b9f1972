// A file that replaces another only when it is whole.

#ifndef SWITCHBOARD_IO_SAFETENSORS_REPLACEMENT_FILE_H_
#define SWITCHBOARD_IO_SAFETENSORS_REPLACEMENT_FILE_H_

#include <cstddef>
#include <string>

namespace sb::io {

// Writes to a new file beside `path`, which commit() gives that name: `path` holds the old content
// or the new, whole, at every moment. Without commit() the new file goes with the object. Throws
// RuntimeError that names `path` for what the system refuses.
class ReplacementFile {
 public:
  explicit ReplacementFile(const std::string& path);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  void write(const void* data, size_t bytes);
  // Once, at the end.
  void commit();

 private:
  [[noreturn]] void fail(const char* what);

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  bool done_ = false;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_REPLACEMENT_FILE_H_
