#include "switchboard/tools/io/safetensors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tools/io/bool_bytes.h"
#include "switchboard/tools/io/input_file.h"
#include "switchboard/tools/io/json_document.h"
#include "switchboard/tools/io/quote.h"

namespace sb::io {
namespace {

static_assert(std::endian::native == std::endian::little, "data is copied as it is");

constexpr size_t kLengthBytes = 8;
// The bound of the reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr char kMetadata[] = "__metadata__";

struct Tag {
  const char* text;
  DType dtype;
};
constexpr Tag kTags[] = {
    {"BOOL", DType::Bool},   {"U8", DType::UInt8},      {"I8", DType::Int8},
    {"I16", DType::Int16},   {"I32", DType::Int32},     {"I64", DType::Int64},
    {"F16", DType::Float16}, {"BF16", DType::BFloat16}, {"F32", DType::Float32},
    {"F64", DType::Float64}, {"C64", DType::Complex64}};
constexpr const char* kOtherTags[] = {"U16",     "U32",     "U64",     "F8_E4M3", "F8_E5M2",
                                      "F8_E8M0", "F6_E2M3", "F6_E3M2", "F4"};

DType parse_dtype(const JsonValue& json) {
  const std::string& text = json.to_string();
  for (const Tag& tag : kTags)
    if (text == tag.text) return tag.dtype;
  for (const char* other : kOtherTags)
    if (text == other) json.fail<NotImplementedError>("dtype ", quote(text), " is not supported");
  json.fail("unknown dtype ", quote(text));
}

// A tensor as the header describes it. Offsets are in bytes from the end of the header.
struct Entry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t begin;
  int64_t end;
};

Entry parse_entry(std::string_view name, const JsonValue& json, int64_t data_bytes) {
  Entry entry{std::string(name), parse_dtype(json.at("dtype")), {}, 0, 0};
  for (const JsonValue& size : json.at("shape").elements()) {
    entry.shape.push_back(size.to_int());
    if (entry.shape.back() < 0) size.fail("a size is negative: ", entry.shape.back());
  }
  const JsonValue offsets = json.at("data_offsets");
  const std::vector<JsonValue> bounds = offsets.elements();
  if (bounds.size() != 2) offsets.fail("expected two offsets, got ", bounds.size());
  entry.begin = bounds[0].to_int();
  entry.end = bounds[1].to_int();
  if (entry.begin < 0 || entry.end < entry.begin || entry.end > data_bytes)
    offsets.fail("[", entry.begin, ", ", entry.end, ") is not within the ", data_bytes,
                 " bytes of data");
  int64_t needed = 0;
  try {
    needed = checked_mul(checked_numel(entry.shape), static_cast<int64_t>(itemsize(entry.dtype)));
  } catch (const Error& error) {
    json.fail(error.what());
  }
  if (needed != entry.end - entry.begin)
    json.fail("its shape takes ", needed, " bytes, its offsets ", entry.end - entry.begin);
  return entry;
}

// Checks that the data is the tensors, end to end. Sorts them by place.
void check_cover(const std::string& path, std::vector<Entry>* entries, int64_t data_bytes) {
  std::ranges::sort(*entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  int64_t end = 0;
  for (const Entry& entry : *entries) {
    SB_CHECK_VALUE(entry.begin == end, path, ": ", quote(entry.name), ": begins at byte ",
                   entry.begin, " of the data; ",
                   entry.begin < end ? "overlaps what ends at byte " : "leaves a gap after byte ",
                   end);
    end = entry.end;
  }
  SB_CHECK_VALUE(end == data_bytes, path, ": has ", data_bytes,
                 " bytes of data; the header describes ", end);
}

// A file that replaces another only when it is whole.
class ReplacementFile {
 public:
  explicit ReplacementFile(const std::string& path) : path_(path) {
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
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!done_ && !temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(fd_, from, std::min(bytes, size_t{1} << 30));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      from += written;
      bytes -= static_cast<size_t>(written);
    }
  }

  void commit() {
    if (::fsync(fd_) != 0) fail("cannot be written");
    if (::close(std::exchange(fd_, -1)) != 0) fail("cannot be written");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be replaced");
    done_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what) {
    const int error = errno;
    SB_THROW(RuntimeError, path_, ": ", what, ": ", std::generic_category().message(error));
  }

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  bool done_ = false;
};

// The elements of a strided tensor, row by row, one after another.
std::string contiguous_bytes(const Tensor& tensor) {
  const size_t item = tensor.itemsize();
  std::string bytes(tensor.nbytes(), '\0');
  const char* base = static_cast<const char*>(tensor.data_ptr());
  std::vector<int64_t> position(static_cast<size_t>(tensor.dim()), 0);
  int64_t element = 0;  // where `position` is, in elements from `base`
  for (size_t done = 0; done < bytes.size(); done += item) {
    std::memcpy(bytes.data() + done, base + element * static_cast<int64_t>(item), item);
    for (size_t d = position.size(); d-- > 0;) {
      element += tensor.strides()[d];
      if (++position[d] < tensor.sizes()[d]) break;
      element -= tensor.strides()[d] * position[d];
      position[d] = 0;
    }
  }
  return bytes;
}

const char* tag_of(const std::string& path, const std::string& name, const Tensor& tensor) {
  SB_CHECK_VALUE(name != kMetadata, path, ": a tensor cannot be named ", quote(name));
  SB_CHECK_VALUE(tensor.defined(), path, ": ", quote(name), ": is undefined");
  SB_CHECK_VALUE(tensor.is_cpu(), path, ": ", quote(name), ": is on ",
                 to_string(tensor.device().type), "; expected cpu");
  SB_CHECK_VALUE(!tensor.impl()->is_conj() && !tensor.impl()->is_neg(), path, ": ", quote(name),
                 ": is lazily conjugated or negated");
  // As a meta or fake tensor, which may say that it is on the CPU.
  SB_CHECK_VALUE(tensor.nbytes() == 0 || (tensor.storage() && tensor.storage()->data()), path, ": ",
                 quote(name), ": has no data");
  for (const Tag& tag : kTags)
    if (tag.dtype == tensor.dtype()) return tag.text;
  SB_THROW(ValueError, path, ": ", quote(name), ": the format has no dtype ",
           to_string(tensor.dtype()));
}

}  // namespace

TensorMap read_safetensors(const std::string& path) {
  const InputFile file(path);
  SB_CHECK_VALUE(file.size() >= kLengthBytes, path, ": not a safetensors file: has ", file.size(),
                 " bytes; the length of its header takes ", kLengthBytes);
  uint64_t header_bytes = 0;
  file.read_at(0, absl::MakeSpan(reinterpret_cast<char*>(&header_bytes), kLengthBytes));
  SB_CHECK_VALUE(header_bytes <= kMaxHeaderBytes, path, ": a header of ", header_bytes,
                 " bytes; at most ", kMaxHeaderBytes, " are read");
  SB_CHECK_VALUE(header_bytes <= file.size() - kLengthBytes, path, ": a header of ", header_bytes,
                 " bytes in a file of ", file.size());
  std::string header(header_bytes, '\0');
  file.read_at(kLengthBytes, absl::MakeSpan(header.data(), header.size()));
  SB_CHECK_VALUE(header.starts_with('{'), path, ": header: does not begin with '{'");
  const size_t data_start = kLengthBytes + header.size();
  const int64_t data_bytes = static_cast<int64_t>(file.size() - data_start);

  const JsonDocument document = JsonDocument::parse(header, path + ": header");
  std::vector<Entry> entries;
  for (const auto& [name, json] : document.root().members())
    if (name != kMetadata) entries.push_back(parse_entry(name, json, data_bytes));
  check_cover(path, &entries, data_bytes);

  TensorMap tensors;
  for (const Entry& entry : entries) {
    const Tensor tensor = empty_on(DeviceType::CPU, entry.shape, entry.dtype);
    if (const size_t bytes = static_cast<size_t>(entry.end - entry.begin)) {
      file.read_at(data_start + static_cast<size_t>(entry.begin),
                   absl::MakeSpan(static_cast<char*>(tensor.data_ptr()), bytes));
      if (entry.dtype == DType::Bool)
        SB_CHECK_VALUE(are_bools({static_cast<const uint8_t*>(tensor.data_ptr()), bytes}), path,
                       ": ", quote(entry.name), ": has bool bytes other than 0 and 1");
    }
    tensors.emplace(entry.name, tensor);
  }
  return tensors;
}

void write_safetensors(const std::string& path, const TensorMap& tensors) {
  nlohmann::json header = nlohmann::json::object();
  // The widest elements first, as the reference implementation does: then all data is aligned.
  std::vector<const TensorMap::value_type*> order;
  for (const auto& entry : tensors) {
    tag_of(path, entry.first, entry.second);
    order.push_back(&entry);
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const auto* entry) { return entry->second.itemsize(); });
  size_t end = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    const size_t begin = end;
    end += tensor.nbytes();
    header[name] = {{"dtype", tag_of(path, name, tensor)},
                    {"shape", std::vector<int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
                    {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    SB_THROW(ValueError, path, ": a tensor's name is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  SB_CHECK_VALUE(text.size() <= kMaxHeaderBytes, path, ": a header of ", text.size(),
                 " bytes; at most ", kMaxHeaderBytes, " can be read");

  ReplacementFile file(path);
  const uint64_t length = text.size();
  file.write(&length, kLengthBytes);
  file.write(text.data(), text.size());
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    if (tensor.nbytes() == 0) continue;
    if (tensor.is_contiguous()) {
      file.write(tensor.data_ptr(), tensor.nbytes());
    } else {
      const std::string bytes = contiguous_bytes(tensor);
      file.write(bytes.data(), bytes.size());
    }
  }
  file.commit();
}

}  // namespace sb::io
