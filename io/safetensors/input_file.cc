#include "switchboard/io/safetensors/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "switchboard/core/error.h"

namespace sb::io {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Non-blocking, or opening a pipe would wait for its writer before we can refuse it.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  SB_CHECK(fd_ >= 0, path_, ": cannot be opened: ", system_message(errno));
  struct stat status;
  const bool known = ::fstat(fd_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    SB_THROW(RuntimeError, path_, ": ",
             known && S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file");
  }
  size_ = static_cast<size_t>(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read_at(size_t offset, absl::Span<char> destination) const {
  // Linux moves at most 2 GiB a call, so loop over smaller pieces.
  constexpr size_t kPiece = size_t{1} << 30;
  while (!destination.empty()) {
    const ssize_t got = ::pread(fd_, destination.data(), std::min(destination.size(), kPiece),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    SB_CHECK(got >= 0, path_, ": cannot be read: ", system_message(errno));
    SB_CHECK_VALUE(got > 0, path_, ": ends at byte ", offset, ", ", destination.size(),
                   " bytes too early");
    offset += static_cast<size_t>(got);
    destination.remove_prefix(static_cast<size_t>(got));
  }
}

std::string InputFile::read_all(size_t max_bytes) const {
  SB_CHECK_VALUE(size_ <= max_bytes, path_, ": has ", size_, " bytes; at most ", max_bytes,
                 " are read");
  std::string bytes(size_, '\0');
  read_at(0, absl::MakeSpan(bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace sb::io
