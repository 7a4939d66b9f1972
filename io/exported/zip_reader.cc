#include "switchboard/io/exported/zip_reader.h"

#include <zip.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct EntryCloser {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

// libzip's text for an error, which it then forgets.
std::string take_message(zip_error_t* error) {
  std::string message = zip_error_strerror(error);
  zip_error_fini(error);
  return message;
}

}  // namespace

struct ZipReader::Archive {
  struct Entry {
    zip_uint64_t index;
    size_t size;
  };

  // Takes `source` over. `total` is the size of the whole archive in bytes.
  Archive(std::string name, zip_source_t* source, size_t total) : name(std::move(name)) {
    zip_error_t error;
    zip_error_init(&error);
    zip.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    if (!zip) {
      zip_source_free(source);
      SB_THROW(ValueError, this->name, ": not a zip archive: ", take_message(&error));
    }
    zip_error_fini(&error);
    read_directory(total);
  }

  void read_directory(size_t total) {
    const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
    // Every entry is bounded by the archive, and so is their sum: many entries over the same bytes
    // are the bomb that needs no compression.
    size_t left = total;
    for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(std::max<zip_int64_t>(count, 0)); ++i) {
      zip_stat_t status;
      SB_CHECK_VALUE(zip_stat_index(zip.get(), i, ZIP_FL_ENC_RAW, &status) == 0, name, ": entry ",
                     i, ": ", zip_strerror(zip.get()));
      constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                       ZIP_STAT_COMP_METHOD | ZIP_STAT_CRC |
                                       ZIP_STAT_ENCRYPTION_METHOD;
      SB_CHECK_VALUE((status.valid & kNeeded) == kNeeded, name, ": entry ", i,
                     ": the directory does not describe it");
      const std::string entry = status.name;
      SB_CHECK_VALUE(status.encryption_method == ZIP_EM_NONE, name, ": ", quote(entry),
                     ": is encrypted");
      SB_CHECK_VALUE(status.comp_method == ZIP_CM_STORE, name, ": ", quote(entry),
                     ": is compressed (method ", status.comp_method, "); expected stored records");
      SB_CHECK_VALUE(status.size == status.comp_size, name, ": ", quote(entry), ": is stored as ",
                     status.comp_size, " bytes but declares ", status.size);
      SB_CHECK_VALUE(status.size <= left, name, ": ", quote(entry), ": declares ", status.size,
                     " bytes, more than the archive of ", total, " bytes has left");
      left -= status.size;
      SB_CHECK_VALUE(entries.emplace(entry, Entry{i, static_cast<size_t>(status.size)}).second,
                     name, ": ", quote(entry), ": is there twice");
      names.push_back(entry);
    }
  }

  const Entry& find_or_throw(std::string_view entry) const {
    const auto found = entries.find(to_absl(entry));
    SB_CHECK_VALUE(found != entries.end(), name, ": no record ", quote(entry));
    return found->second;
  }

  std::string name;
  std::unique_ptr<zip_t, ZipCloser> zip;
  std::vector<std::string> names;
  absl::flat_hash_map<std::string, Entry> entries;
};

ZipReader::ZipReader(std::unique_ptr<Archive> archive) : archive_(std::move(archive)) {}
ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader& ZipReader::operator=(ZipReader&&) noexcept = default;
ZipReader::~ZipReader() = default;

ZipReader ZipReader::open(const std::string& path) {
  const size_t size = InputFile(path).size();
  // libzip takes an empty file for an archive without entries.
  SB_CHECK_VALUE(size > 0, path, ": not a zip archive: the file is empty");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_file_create(path.c_str(), 0, -1, &error);
  SB_CHECK(source, path, ": cannot be opened: ", take_message(&error));
  zip_error_fini(&error);
  return ZipReader(std::make_unique<Archive>(path, source, size));
}

ZipReader ZipReader::from_memory(absl::Span<const char> bytes, std::string name) {
  SB_CHECK_VALUE(!bytes.empty(), name, ": not a zip archive: it is empty");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  SB_CHECK(source, name, ": cannot be opened: ", take_message(&error));
  zip_error_fini(&error);
  return ZipReader(std::make_unique<Archive>(std::move(name), source, bytes.size()));
}

absl::Span<const std::string> ZipReader::names() const { return archive_->names; }

std::optional<size_t> ZipReader::find_size(std::string_view name) const {
  const auto found = archive_->entries.find(to_absl(name));
  if (found == archive_->entries.end()) return std::nullopt;
  return found->second.size;
}

std::string ZipReader::read(std::string_view name, size_t max_bytes) const {
  const size_t size = archive_->find_or_throw(name).size;
  SB_CHECK_VALUE(size <= max_bytes, archive_->name, ": ", quote(name), ": has ", size,
                 " bytes; at most ", max_bytes, " are read");
  std::string bytes(size, '\0');
  read_into(name, absl::MakeSpan(bytes.data(), bytes.size()));
  return bytes;
}

void ZipReader::read_into(std::string_view name, absl::Span<char> destination) const {
  const Archive::Entry& entry = archive_->find_or_throw(name);
  SB_CHECK_VALUE(destination.size() == entry.size, archive_->name, ": ", quote(name), ": has ",
                 entry.size, " bytes; ", destination.size(), " were asked for");
  zip_t* zip = archive_->zip.get();
  const std::unique_ptr<zip_file_t, EntryCloser> file(zip_fopen_index(zip, entry.index, 0));
  SB_CHECK_VALUE(file, archive_->name, ": ", quote(name), ": ", zip_strerror(zip));
  for (size_t done = 0;;) {
    // The read past the end is what makes libzip compare length and CRC.
    char beyond;
    const bool at_end = done == destination.size();
    const zip_int64_t got =
        at_end ? zip_fread(file.get(), &beyond, 1)
               : zip_fread(file.get(), destination.data() + done, destination.size() - done);
    SB_CHECK_VALUE(got >= 0, archive_->name, ": ", quote(name),
                   ": is damaged: ", zip_file_strerror(file.get()));
    SB_CHECK_VALUE((got == 0) == at_end, archive_->name, ": ", quote(name),
                   ": is damaged: ", at_end ? "more" : "fewer",
                   " bytes than the directory declares");
    if (at_end) return;
    done += static_cast<size_t>(got);
  }
}

}  // namespace sb::io
