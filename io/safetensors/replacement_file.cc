#include "switchboard/io/safetensors/replacement_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::io {

ReplacementFile::ReplacementFile(const std::string& path) : path_(path) {
  // Beside the file, because a rename does not leave its file system. O_EXCL keeps a name that
  // another process made, or a link that it planted, from being written to.
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100 && fd_ < 0; ++attempt) {
    temporary_ = str_cat(path, ".", ::getpid(), ".", counter++, ".tmp");
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) fail("cannot be created");
}

ReplacementFile::~ReplacementFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!done_) ::unlink(temporary_.c_str());
}

void ReplacementFile::write(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, from, std::min(bytes, size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    from += written;
    bytes -= static_cast<size_t>(written);
  }
}

void ReplacementFile::commit() {
  if (::fsync(fd_) != 0) fail("cannot be written");
  if (::close(std::exchange(fd_, -1)) != 0) fail("cannot be written");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be replaced");
  done_ = true;
}

void ReplacementFile::fail(const char* what) {
  const int error = errno;
  SB_THROW(RuntimeError, path_, ": ", what, ": ", std::generic_category().message(error));
}

}  // namespace sb::io
