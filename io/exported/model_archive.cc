#include "switchboard/io/exported/model_archive.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/json_tensor_meta.h"
#include "switchboard/io/exported/program_parser.h"
#include "switchboard/io/exported/zip_reader.h"
#include "switchboard/io/safetensors/bool_bytes.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

static_assert(std::endian::native == std::endian::little, "records are copied as they are");

// The largest programs known take tens of megabytes.
constexpr size_t kMaxJsonBytes = size_t{256} << 20;
constexpr size_t kMaxTextBytes = 4096;

// The records of an archive by their names below its root ("models/model.json").
class Records {
 public:
  virtual ~Records() = default;
  virtual std::optional<size_t> find_size(const std::string& record) const = 0;
  virtual std::string read(const std::string& record, size_t max_bytes) const = 0;
  virtual void read_into(const std::string& record, absl::Span<char> destination) const = 0;
  // The records directly in a folder, sorted, without the folder.
  virtual std::vector<std::string> list(const std::string& folder) const = 0;
  // Whether records of weights may be missing.
  virtual bool is_partial() const = 0;
};

class ZipRecords : public Records {
 public:
  ZipRecords(ZipReader zip, const std::string& path) : zip_(std::move(zip)) {
    // The root is what precedes archive_format; where a folder below has one too, the outermost.
    std::vector<absl::string_view> roots;
    for (const std::string& name : zip_.names()) {
      SB_CHECK_KIND(NotImplementedError,
                    name != kLegacy && !absl::EndsWith(name, std::string("/") + kLegacy), path,
                    ": ", quote(name), ": archives of PyTorch 2.7 and before are not supported");
      absl::string_view root = name;
      if (absl::ConsumeSuffix(&root, "archive_format") && (root.empty() || root.back() == '/'))
        roots.push_back(root);
    }
    SB_CHECK_VALUE(!roots.empty(), path, ": not a .pt2 archive: no record 'archive_format'");
    const auto depth = [](absl::string_view root) { return std::ranges::count(root, '/'); };
    std::ranges::stable_sort(roots, {}, depth);
    SB_CHECK_VALUE(roots.size() == 1 || depth(roots[0]) < depth(roots[1]), path,
                   ": has several roots: ", quote({roots[0].data(), roots[0].size()}), ", ",
                   quote({roots[1].data(), roots[1].size()}));
    root_ = std::string(roots[0]);
  }

  std::optional<size_t> find_size(const std::string& record) const override {
    return zip_.find_size(root_ + record);
  }
  std::string read(const std::string& record, size_t max_bytes) const override {
    return zip_.read(root_ + record, max_bytes);
  }
  void read_into(const std::string& record, absl::Span<char> destination) const override {
    zip_.read_into(root_ + record, destination);
  }
  std::vector<std::string> list(const std::string& folder) const override {
    std::vector<std::string> result;
    for (absl::string_view name : zip_.names())
      if (absl::ConsumePrefix(&name, root_) && absl::ConsumePrefix(&name, folder) &&
          absl::ConsumePrefix(&name, "/") && !name.empty() && !absl::StrContains(name, '/'))
        result.emplace_back(name);
    std::ranges::sort(result);
    return result;
  }
  bool is_partial() const override { return false; }

  static constexpr char kLegacy[] = "serialized_exported_program.json";

 private:
  ZipReader zip_;
  std::string root_;  // empty, or ends with a slash
};

class FolderRecords : public Records {
 public:
  explicit FolderRecords(const std::string& path) : path_(path) {
    SB_CHECK_KIND(NotImplementedError, !find_size(ZipRecords::kLegacy), path, ": '",
                  ZipRecords::kLegacy, "': archives of PyTorch 2.7 and before are not supported");
    SB_CHECK_VALUE(find_size("archive_format") || !list("models").empty(), path,
                   ": not an unpacked .pt2 archive: no file 'archive_format', no folder 'models'");
  }

  std::optional<size_t> find_size(const std::string& record) const override {
    std::error_code error;
    const auto type = std::filesystem::status(path_of(record), error).type();
    if (type == std::filesystem::file_type::not_found) return std::nullopt;
    return InputFile(path_of(record)).size();
  }
  std::string read(const std::string& record, size_t max_bytes) const override {
    return InputFile(path_of(record)).read_all(max_bytes);
  }
  void read_into(const std::string& record, absl::Span<char> destination) const override {
    InputFile(path_of(record)).read_at(0, destination);
  }
  std::vector<std::string> list(const std::string& folder) const override {
    std::vector<std::string> result;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_of(folder), error))
      result.push_back(entry.path().filename().string());
    std::ranges::sort(result);
    return result;
  }
  bool is_partial() const override { return true; }

 private:
  std::string path_of(const std::string& record) const { return str_cat(path_, "/", record); }

  std::string path_;
};

// Whether an input is among the weights or the constants.
bool is_stored(InputKind kind) {
  return kind == InputKind::Parameter || kind == InputKind::Buffer ||
         kind == InputKind::TensorConstant;
}

// A record's name comes from the file: it must not lead out of its folder.
bool is_record_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

class ArchiveReader {
 public:
  ArchiveReader(const Records& records, std::string path) : records_(records) {
    archive_.path = std::move(path);
  }

  ModelArchive read() {
    check_text("archive_format", "pt2");
    check_text("archive_version", "0");
    check_text("byteorder", "little");
    const std::string name = find_program_name();
    const std::string record = str_cat("models/", name, ".json");
    archive_.program =
        parse_program(records_.read(record, kMaxJsonBytes), str_cat(archive_.path, ": ", record));
    read_config("data/weights", name + "_weights_config.json", &archive_.weights,
                &archive_.weight_index);
    read_config("data/constants", name + "_constants_config.json", &archive_.constants,
                &archive_.constant_index);
    check_inputs();
    return std::move(archive_);
  }

 private:
  void check_text(const std::string& record, absl::string_view expected) const {
    if (!records_.find_size(record)) return;
    const std::string text = records_.read(record, kMaxTextBytes);
    SB_CHECK_KIND(NotImplementedError, absl::StripAsciiWhitespace(text) == expected, archive_.path,
                  ": ", record, ": expected '", expected, "', got ", quote(text));
  }

  std::string find_program_name() const {
    std::vector<std::string> names;
    for (const std::string& file : records_.list("models")) {
      absl::string_view name = file;
      if (absl::ConsumeSuffix(&name, ".json")) names.emplace_back(name);
    }
    SB_CHECK_VALUE(!names.empty(), archive_.path, ": no program 'models/*.json'");
    SB_CHECK_KIND(NotImplementedError, names.size() == 1, archive_.path, ": holds ", names.size(),
                  " programs: ", quote(absl::StrJoin(names, ", ")), "; expected one");
    return names[0];
  }

  void read_config(const std::string& folder, const std::string& file,
                   std::vector<StoredTensor>* tensors,
                   absl::flat_hash_map<std::string, size_t>* index) const {
    for (const std::string& record : records_.list(folder))
      SB_CHECK_KIND(NotImplementedError, !absl::EndsWith(record, ".pt"), archive_.path, ": ",
                    folder, "/", quote(record), ": pickled weights are not supported");
    const std::string config = str_cat(folder, "/", file);
    // Without one there is nothing to store; an input that wants something then says so.
    if (!records_.find_size(config)) return;
    const JsonDocument document = JsonDocument::parse(records_.read(config, kMaxJsonBytes),
                                                      str_cat(archive_.path, ": ", config));
    // Every record, once, as bytes: the tensors are views of these.
    absl::flat_hash_map<std::string, Tensor> storages;
    for (const auto& [name, json] : document.root().at("config").members()) {
      // A custom object, which is no tensor; who uses it says that it is not here.
      if (!json.find("tensor_meta")) continue;
      const JsonValue path_name = json.at("path_name");
      if (const auto pickled = json.find("use_pickle"); pickled && pickled->to_bool())
        pickled->fail<NotImplementedError>("pickled weights are not supported");
      if (!is_record_name(path_name.to_string()))
        path_name.fail(quote(path_name.to_string()), " is not the name of a record");
      StoredTensor stored;
      stored.name = std::string(name);
      if (const auto is_param = json.find("is_param")) stored.is_param = is_param->to_bool();
      stored.meta = parse_tensor_meta(json.at("tensor_meta"));
      const std::string record = str_cat(folder, "/", path_name.to_string());
      const auto [storage, is_new] = storages.try_emplace(record);
      if (is_new) storage->second = read_bytes(record);
      if (storage->second.defined()) stored.data = view(storage->second, stored.meta, json, record);
      index->emplace(stored.name, tensors->size());
      tensors->push_back(std::move(stored));
    }
  }

  // The bytes of a record as a uint8 tensor; undefined where it may be missing and is.
  Tensor read_bytes(const std::string& record) const {
    const std::optional<size_t> size = records_.find_size(record);
    if (!size && records_.is_partial()) return Tensor();
    SB_CHECK_VALUE(size, archive_.path, ": no record ", quote(record));
    const Tensor bytes = empty_on(DeviceType::CPU, {static_cast<int64_t>(*size)}, DType::UInt8);
    if (*size > 0)
      records_.read_into(record, absl::MakeSpan(static_cast<char*>(bytes.data_ptr()), *size));
    return bytes;
  }

  static Tensor view(const Tensor& bytes, const TensorMeta& meta, const JsonValue& json,
                     const std::string& record) {
    const int64_t available = bytes.numel();
    const int64_t item = static_cast<int64_t>(itemsize(meta.dtype));
    int64_t needed = 0;
    try {
      needed = checked_storage_bytes(meta.sizes, meta.strides, meta.storage_offset, item);
      // A view without elements needs nothing, but its start must be an address, too.
      needed = std::max(needed, checked_mul(meta.storage_offset, item));
    } catch (const Error& error) {
      json.fail(error.what());
    }
    if (needed > available)
      json.fail(meta.describe(), " at offset ", meta.storage_offset, " needs ", needed,
                " bytes; record ", quote(record), " has ", available);
    if (meta.dtype == DType::Bool && checked_numel(meta.sizes) > 0 &&
        !are_bools({bytes.data<uint8_t>() + meta.storage_offset,
                    static_cast<size_t>(needed - meta.storage_offset)}))
      json.fail("record ", quote(record), " has bool bytes other than 0 and 1");
    const Tensor tensor =
        alias_with_unchecked(bytes, meta.sizes, meta.strides, meta.storage_offset);
    tensor.impl()->set_dtype(meta.dtype);
    return tensor;
  }

  // Every stored input is there, and is what the program says.
  void check_inputs() const {
    for (const InputSpec& input : archive_.program.inputs) {
      if (!is_stored(input.kind)) continue;
      const StoredTensor* stored = archive_.stored(input);
      SB_CHECK_VALUE(stored, archive_.path, ": input ", quote(input.name), ": no config entry ",
                     quote(input.target));
      const ValueMeta& expected = archive_.program.graph.meta_of(input.name);
      const bool fits = stored->meta.dtype == expected.dtype &&
                        (!expected.is_static() || stored->meta.sizes == expected.at().sizes);
      SB_CHECK_VALUE(fits, archive_.path, ": ", quote(input.target), ": is stored as ",
                     stored->meta.describe(), "; the program says ", expected.describe());
    }
  }

  const Records& records_;
  ModelArchive archive_;
};

}  // namespace

const StoredTensor* ModelArchive::stored(const InputSpec& input) const {
  if (!is_stored(input.kind)) return nullptr;
  const bool is_weight =
      input.kind == InputKind::Parameter || (input.kind == InputKind::Buffer && input.persistent);
  const auto& index = is_weight ? weight_index : constant_index;
  const auto found = index.find(input.target);
  if (found == index.end()) return nullptr;
  return &(is_weight ? weights : constants)[found->second];
}

bool ModelArchive::has_data() const {
  const auto has_data = [](const StoredTensor& stored) { return stored.data.defined(); };
  return std::ranges::all_of(weights, has_data) && std::ranges::all_of(constants, has_data);
}

ModelArchive read_model_archive(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return ArchiveReader(FolderRecords(path), path).read();
  return ArchiveReader(ZipRecords(ZipReader::open(path), path), path).read();
}

ModelArchive read_model_archive(absl::Span<const char> bytes, const std::string& name) {
  return ArchiveReader(ZipRecords(ZipReader::from_memory(bytes, name), name), name).read();
}

}  // namespace sb::io
