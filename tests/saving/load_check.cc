#include "switchboard/tests/saving/load_check.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>

#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/ops/copying/copy.h"

namespace sb::fuzz {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "load_check: %s\n", what.c_str());
  std::abort();
}

// A file in memory, rewritten for each input: the disk would take a hundred times as long.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("load_check", MFD_CLOEXEC)) {
    if (fd_ < 0) fail("memfd_create failed");
    path_ = str_cat("/proc/self/fd/", fd_);
  }
  const std::string& path() const { return path_; }
  void write(std::string_view bytes) const {
    if (::ftruncate(fd_, 0) != 0 ||
        ::pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      fail("the file in memory cannot be written");
  }

 private:
  int fd_;
  std::string path_;
};

// Where saved files go: to memory, too, where there is a file system of it.
std::string saved_path() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  const auto folder =
      std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path();
  return (folder / str_cat("sb_load_check.", ::getpid(), ".safetensors")).string();
}

std::string elements_of(const Tensor& tensor) {
  if (tensor.numel() == 0) return {};
  const Tensor rows = contiguous(to_device(tensor, DeviceType::CPU, tensor.dtype()));
  return {static_cast<const char*>(rows.data_ptr()), rows.nbytes()};
}

void compare(const TensorMap& first, const TensorMap& again) {
  if (first.size() != again.size()) fail("saved and loaded again, there are other tensors");
  for (const auto& [name, a] : first) {
    const auto found = again.find(name);
    if (found == again.end()) fail("saved and loaded again, a tensor is missing");
    const Tensor& b = found->second;
    if (a.dtype() != b.dtype() || a.device() != b.device() || a.sizes() != b.sizes() ||
        a.strides() != b.strides())
      fail("saved and loaded again, a tensor is " + b.describe() + ", not " + a.describe());
    if (elements_of(a) != elements_of(b)) fail("saved and loaded again, elements differ");
  }
  // Each with its neighbour by name says it for small files.
  for (auto a = first.begin(), b = again.begin(); a != first.end(); ++a, ++b) {
    const auto next_a = std::next(a), next_b = std::next(b);
    if (next_a == first.end()) break;
    if (a->second.numel() != 0 && next_a->second.numel() != 0 &&
        a->second.is_alias_of(next_a->second) != b->second.is_alias_of(next_b->second))
      fail("saved and loaded again, other tensors share a storage");
  }
}

constexpr DeviceType kTypes[] = {DeviceType::CPU, DeviceType::PrivateUse1};

AllocationStats& stats_of(DeviceType type) { return get_allocator(type)->stats(); }

int64_t memory_in_use() {
  int64_t bytes = 0;
  for (DeviceType type : kTypes) bytes += stats_of(type).current_bytes();
  return bytes;
}

constexpr size_t kGap = size_t{1} << 20;

// Loads, and checks that the memory of tensors that this took is bounded by the file's size.
TensorMap load_in_bounds(const std::string& path, const LoadOptions& options, size_t file_bytes) {
  int64_t before[std::size(kTypes)];
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    stats_of(kTypes[i]).reset_peak();
    before[i] = stats_of(kTypes[i]).current_bytes();
  }
  TensorMap tensors = load_tensors(path, options);
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    const int64_t taken = stats_of(kTypes[i]).peak_bytes() - before[i];
    if (taken > static_cast<int64_t>(file_bytes + kGap))
      fail(str_cat("took ", taken, " bytes for a file of ", file_bytes));
  }
  return tensors;
}

Loaded load_and_save(const std::string& path, size_t file_bytes) {
  static const std::string saved = saved_path();
  const LoadOptions options{.max_gap_bytes = kGap};
  TensorMap first;
  try {
    first = load_in_bounds(path, options, file_bytes);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (!message.starts_with(path)) fail(str_cat("the error does not name the file: ", message));
    if (std::ranges::any_of(message, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
      fail("the error has control characters: " + std::string(message));
    return Loaded::Refused;
  }
  save_tensors(saved, first, load_metadata(path));
  compare(first, load_tensors(saved, options));
  if (load_metadata(saved) != load_metadata(path)) fail("metadata differ");
  std::filesystem::remove(saved);
  return Loaded::Yes;
}

}  // namespace

Loaded check_load(std::string_view bytes) {
  static const MemoryFile& file = *new MemoryFile;
  file.write(bytes);
  const int64_t before = memory_in_use();
  Loaded loaded = Loaded::Refused;
  try {
    loaded = load_and_save(file.path(), bytes.size());
  } catch (const std::exception& error) {
    fail(str_cat("threw ", error.what()));
  }
  if (memory_in_use() != before) fail("memory is lost");
  return loaded;
}

}  // namespace sb::fuzz
