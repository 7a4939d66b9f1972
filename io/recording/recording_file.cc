#include "switchboard/io/recording/recording_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/recording/wire.h"

namespace sb::internal {

namespace wire = io::wire;

RecordingFile::RecordingFile(const std::string& path, RecordedBits bits, bool for_threads)
    : tensors(for_threads),
      storages(for_threads),
      path_(path),
      bits_(bits),
      fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  SB_CHECK(fd_ >= 0, path_, ": cannot write the recording: ", std::strerror(errno));
  std::string header(wire::kMagic);
  const uint32_t words[2] = {io::kRecordingVersion,
                             (bits >= RecordedBits::Hashes ? wire::kHashes : 0) |
                                 (bits >= RecordedBits::Inputs ? wire::kContents : 0)};
  header.append(reinterpret_cast<const char*>(words), sizeof(words));
  write(header.data(), header.size());
  if (bits != RecordedBits::Nothing) fill_.emplace();
}

RecordingFile::~RecordingFile() {
  if (fd_ >= 0) ::close(fd_);
}

uint32_t RecordingFile::new_thread() {
  const std::lock_guard lock(mutex_);
  return ++threads_;
}

void RecordingFile::write_chunk(uint32_t thread, std::string_view records) {
  SB_CHECK(records.size() <= 0xffffffff, path_, ": the contents of one call have ", records.size(),
           " bytes; a recording takes 4 GiB");
  std::string chunk(wire::kChunkHeader, '\0');
  const uint32_t words[4] = {wire::kChunkMagic, thread, static_cast<uint32_t>(records.size()), 0};
  const uint64_t hash = wire::hash_bytes(records.data(), records.size());
  std::memcpy(chunk.data(), words, sizeof(words));
  std::memcpy(chunk.data() + sizeof(words), &hash, sizeof(hash));
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return;
  write(chunk.data(), chunk.size());
  write(records.data(), records.size());
}

void RecordingFile::close() {
  write_chunk(wire::kEndOfFile, {});
  const std::lock_guard lock(mutex_);
  fill_.reset();
  if (fd_ < 0) return;
  const int fd = std::exchange(fd_, -1);
  SB_CHECK(::close(fd) == 0, path_, ": cannot write the recording: ", std::strerror(errno));
}

bool RecordingFile::change_contents(uint64_t storage, uint64_t hash) {
  const std::lock_guard lock(mutex_);
  return std::exchange(contents_[storage], hash) != hash;
}

void RecordingFile::write(const void* data, size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, p, bytes);
    if (written < 0 && errno == EINTR) continue;
    SB_CHECK(written > 0, path_, ": cannot write the recording: ", std::strerror(errno));
    p += written;
    bytes -= static_cast<size_t>(written);
  }
}

}  // namespace sb::internal
