// Reads the records of a zip archive that was not made to compress: stored entries only.

#ifndef SWITCHBOARD_IO_EXPORTED_ZIP_READER_H_
#define SWITCHBOARD_IO_EXPORTED_ZIP_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace sb::io {

// A zip archive, open for reading. Not thread-safe. Everything that it throws is a ValueError that
// names the archive and the entry, or a RuntimeError if the file cannot be opened.
class ZipReader {
 public:
  // Opens a file and checks its directory. Throws for a file that is not a zip archive, and for
  // entries that are compressed, encrypted, of a size that the file cannot hold, or of the same
  // name as another: the whole archive is refused, as none of its writers makes such entries.
  static ZipReader open(const std::string& path);
  // The same for an archive in memory, which must stay alive. `name` is for messages.
  static ZipReader from_memory(absl::Span<const char> bytes, std::string name);

  ZipReader(ZipReader&&) noexcept;
  ZipReader& operator=(ZipReader&&) noexcept;
  ~ZipReader();

  // Entries' names, in the order of the archive.
  absl::Span<const std::string> names() const;
  // The bytes of an entry as the directory declares them; nullopt if there is no such entry.
  std::optional<size_t> find_size(std::string_view name) const;

  // Reads an entry and checks its length and CRC. Throws if there is no such entry, or if it has
  // more than `max_bytes` bytes, before any memory is taken.
  std::string read(std::string_view name, size_t max_bytes) const;
  // The same, into memory of exactly the entry's size.
  void read_into(std::string_view name, absl::Span<char> destination) const;

 private:
  struct Archive;
  explicit ZipReader(std::unique_ptr<Archive> archive);

  std::unique_ptr<Archive> archive_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_ZIP_READER_H_
