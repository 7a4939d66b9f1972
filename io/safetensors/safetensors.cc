#include "switchboard/io/safetensors/safetensors.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

static_assert(std::endian::native == std::endian::little, "data is copied as it is");

constexpr size_t kLengthBytes = 8;
// The bound of the reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
// As many as PyTorch's kernels take.
constexpr size_t kMaxDims = 64;
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

const Tag* find_tag(DType dtype) {
  const Tag* const tag = std::ranges::find(kTags, dtype, &Tag::dtype);
  return tag == std::end(kTags) ? nullptr : tag;
}

DType parse_dtype(const JsonValue& json) {
  const std::string& text = json.to_string();
  for (const Tag& tag : kTags)
    if (text == tag.text) return tag.dtype;
  for (const char* other : kOtherTags)
    if (text == other) json.fail<NotImplementedError>("dtype ", quote(text), " is not supported");
  json.fail("unknown dtype ", quote(text));
}

SafetensorsEntry parse_entry(std::string_view name, const JsonValue& json, int64_t data_bytes) {
  SafetensorsEntry entry{std::string(name), parse_dtype(json.at("dtype")), {}, 0, 0};
  const JsonValue shape = json.at("shape");
  for (const JsonValue& size : shape.elements()) {
    entry.shape.push_back(size.to_int());
    if (entry.shape.back() < 0) size.fail("a size is negative: ", entry.shape.back());
  }
  if (entry.shape.size() > kMaxDims)
    shape.fail("has ", entry.shape.size(), " dimensions; at most ", kMaxDims, " are read");
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
void check_cover(const std::string& path, std::vector<SafetensorsEntry>* entries,
                 int64_t data_bytes) {
  std::ranges::sort(*entries, {}, [](const auto& e) { return std::pair(e.begin, e.end); });
  int64_t end = 0;
  for (const SafetensorsEntry& entry : *entries) {
    SB_CHECK_VALUE(entry.begin == end, path, ": ", quote(entry.name), ": begins at byte ",
                   entry.begin, " of the data; ",
                   entry.begin < end ? "overlaps what ends at byte " : "leaves a gap after byte ",
                   end);
    end = entry.end;
  }
  SB_CHECK_VALUE(end == data_bytes, path, ": has ", data_bytes,
                 " bytes of data; the header describes ", end);
}

void check_header_bytes(const std::string& path, uint64_t bytes) {
  SB_CHECK_VALUE(bytes <= kMaxHeaderBytes, path, ": a header of ", bytes, " bytes; at most ",
                 kMaxHeaderBytes, " can be read");
}

SafetensorsHeader parse_header(const std::string& path, const std::string& text,
                               int64_t data_bytes) {
  SafetensorsHeader header;
  header.data_start = kLengthBytes + text.size();
  const JsonDocument document = JsonDocument::parse(text, path + ": header");
  for (const auto& [name, json] : document.root().members()) {
    if (name != kMetadata) {
      header.entries.push_back(parse_entry(name, json, data_bytes));
    } else if (!json.is_null()) {
      for (const auto& [key, value] : json.members())
        header.metadata.emplace(key, value.to_string());
    }
  }
  check_cover(path, &header.entries, data_bytes);
  return header;
}

}  // namespace

SafetensorsHeader read_safetensors_header(const InputFile& file) {
  const std::string& path = file.path();
  SB_CHECK_VALUE(file.size() >= kLengthBytes, path, ": not a safetensors file: has ", file.size(),
                 " bytes; the length of its header takes ", kLengthBytes);
  uint64_t header_bytes = 0;
  file.read_at(0, absl::MakeSpan(reinterpret_cast<char*>(&header_bytes), kLengthBytes));
  check_header_bytes(path, header_bytes);
  SB_CHECK_VALUE(header_bytes <= file.size() - kLengthBytes, path, ": a header of ", header_bytes,
                 " bytes in a file of ", file.size());
  std::string text(header_bytes, '\0');
  file.read_at(kLengthBytes, absl::MakeSpan(text.data(), text.size()));
  SB_CHECK_VALUE(text.starts_with('{'), path, ": header: does not begin with '{'");

  return parse_header(path, text, static_cast<int64_t>(file.size() - kLengthBytes - text.size()));
}

std::string safetensors_header_bytes(const std::string& path, const SafetensorsHeader& header) {
  nlohmann::json json = nlohmann::json::object();
  if (!header.metadata.empty()) json[kMetadata] = header.metadata;
  for (const SafetensorsEntry& entry : header.entries) {
    SB_CHECK_VALUE(entry.name != kMetadata, path, ": a tensor cannot be named ", quote(entry.name));
    const Tag* const tag = find_tag(entry.dtype);
    SB_CHECK_VALUE(tag, path, ": ", quote(entry.name), ": the format has no dtype ",
                   to_string(entry.dtype));
    json[entry.name] = {
        {"dtype", tag->text}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception&) {
    SB_THROW(ValueError, path, ": a tensor's name, or the metadata, are not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  check_header_bytes(path, text.size());
  parse_header(path, text, header.entries.empty() ? 0 : header.entries.back().end);
  const uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), kLengthBytes);
  return text;
}

}  // namespace sb::io
