#include "switchboard/io/exported/model_archive.h"

#include <nlohmann/json.hpp>
#include <set>

#include "switchboard/io/exported/program_parser.h"
#include "switchboard/io/exported/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr char kModel[] = "examples/digits_mlp/digits_mlp.pt2";
constexpr char kTrainingModel[] = "examples/digits_mlp/digits_mlp.training.pt2";
constexpr char kConfig[] = "net/data/weights/model_weights_config.json";
constexpr char kWeight[] = "net/data/weights/weight_0";

ModelArchive read(const std::vector<ZipEntry>& records) {
  return read_model_archive(make_zip(records), "net.pt2");
}
std::string read_error(const std::vector<ZipEntry>& records) {
  return error_of([&] { touch(read(records)); });
}
std::string config_error(const std::string& config) {
  return read_error(small_records_with(kConfig, config));
}

// Writes the records to a folder, without their root.
void unpack(const std::string& folder, const std::vector<ZipEntry>& records) {
  for (const ZipEntry& record : records) write_file(folder + record.name.substr(3), record.bytes);
}

TEST_CASE("a trained network is read with its weights", "[io][archive]") {
  const ModelArchive archive = read_model_archive(kModel);
  CHECK(archive.program.dialect == Dialect::Aten);
  CHECK(archive.program.graph.nodes.size() == 5);
  CHECK(archive.weights.size() == 4);
  CHECK(archive.constants.empty());
  CHECK(archive.has_data());
  for (const InputSpec& input : archive.program.inputs) {
    const StoredTensor* stored = archive.stored(input);
    CHECK((stored != nullptr) == (input.kind == InputKind::Parameter));
    if (!stored) continue;
    CHECK(stored->is_param);
    CHECK(stored->data.dtype() == DType::Float32);
    CHECK(stored->data.sizes() ==
          absl::MakeConstSpan(archive.program.graph.meta_of(input.name).at().sizes));
    CHECK(stored->data.is_contiguous());
  }
  CHECK(read_model_archive(kTrainingModel).program.dialect == Dialect::Training);
}

TEST_CASE("weights come from the record, exactly", "[io][archive]") {
  const ModelArchive archive = read(small_records());
  const Tensor w = archive.stored(archive.program.inputs[0])->data;
  CHECK(w.sizes() == absl::MakeConstSpan({int64_t{2}, int64_t{3}}));
  for (int i = 0; i < 6; ++i) CHECK(w.data<float>()[i] == float(i + 1));
}

TEST_CASE("an archive without a root folder is read", "[io][archive]") {
  std::vector<ZipEntry> records = small_records();
  for (ZipEntry& record : records) record.name = record.name.substr(4);
  CHECK(read(records).has_data());
}

TEST_CASE("the outermost archive_format is the root", "[io][archive]") {
  CHECK(read(small_records_with("net/extra/archive_format", "other")).has_data());
  CHECK_THAT(read_error(small_records_with("other/archive_format", "pt2")),
             Contains("net.pt2: has several roots: 'net/', 'other/'"));
}

TEST_CASE("an unpacked archive is read, with or without its weight records", "[io][archive]") {
  const TemporaryFolder folder;
  unpack(folder.path(), small_records());
  CHECK(read_model_archive(folder.path()).has_data());
  for (const char* file :
       {"data/weights/weight_0", "archive_format", "archive_version", "byteorder"})
    std::filesystem::remove(folder / file);
  const ModelArchive archive = read_model_archive(folder.path());
  CHECK_FALSE(archive.has_data());
  CHECK(archive.weights[0].meta.describe() == "float32[2, 3]");
  CHECK_FALSE(archive.weights[0].data.defined());

  std::filesystem::create_directory(folder / "data/weights/weight_0");
  CHECK_THAT(error_of([&] { read_model_archive(folder.path()); }),
             Contains("weight_0: is a folder"));
  CHECK_THAT(error_of([&] { read_model_archive(folder / "data"); }),
             Contains("not an unpacked .pt2 archive"));
}

TEST_CASE("names of one record share its storage, whatever their dtype", "[io][archive]") {
  std::string config = small_config();
  std::string entry = config.substr(config.find("\"w\""));
  entry = entry.substr(0, entry.size() - 2);
  std::string row = replaced(replaced(replaced(entry, "\"w\"", "\"row\""),
                                      R"([{"as_int": 2}, {"as_int": 3}])", R"([{"as_int": 3}])"),
                             R"([{"as_int": 3}, {"as_int": 1}])", R"([{"as_int": 1}])");
  row = replaced(row, R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 3})");
  const std::string bits =
      replaced(replaced(row, "\"row\"", "\"bits\""), "\"dtype\": 7", "\"dtype\": 4");
  config = replaced(config, entry, entry + ", " + row + ", " + bits);
  const ModelArchive archive = read(small_records_with(kConfig, config));
  REQUIRE(archive.weights.size() == 3);
  const Tensor w = archive.weights[0].data;
  CHECK(archive.weights[1].data.is_alias_of(w));
  CHECK(archive.weights[2].data.is_alias_of(w));
  CHECK(archive.weights[1].data.data<float>() == w.data<float>() + 3);
  CHECK(archive.weights[2].data.data<int32_t>()[0] == 0x40800000);  // the bits of 4
}

TEST_CASE("a record may be longer than its tensor", "[io][archive]") {
  CHECK(read_error(small_records_with(kWeight, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}))) == "nothing");
}

TEST_CASE("an empty tensor has an empty record", "[io][archive]") {
  std::vector<ZipEntry> records = small_records_with(kWeight, "");
  for (ZipEntry& record : records)
    if (absl::string_view(record.name).find("json") != absl::string_view::npos)
      while (record.bytes.find(R"([{"as_int": 2}, )") != std::string::npos)
        record.bytes = replaced(record.bytes, R"([{"as_int": 2}, )", R"([{"as_int": 0}, )");
  const ModelArchive archive = read(records);
  CHECK(archive.weights[0].data.numel() == 0);
  CHECK_THAT(read_error(small_records_with(kWeight, "")),
             Contains("needs 24 bytes; record "
                      "'data/weights/weight_0' has 0"));
}

TEST_CASE("bool bytes other than 0 and 1 are refused", "[io][archive]") {
  std::vector<ZipEntry> records = small_records_with(kWeight, std::string("\0\1\1\0\1\1", 6));
  for (ZipEntry& record : records)
    if (record.bytes.find("\"dtype\": 7") != std::string::npos)
      record.bytes = replaced(record.bytes, "\"dtype\": 7", "\"dtype\": 12");
  CHECK(read(records).weights[0].data.data<bool>()[1]);
  for (ZipEntry& record : records)
    if (record.name == kWeight) record.bytes[4] = 2;
  CHECK_THAT(read_error(records),
             Contains("config/w: record 'data/weights/weight_0' has bool bytes"));
}

TEST_CASE("an archive that is not one is refused", "[io][archive]") {
  CHECK(read_error({{"net/models/model.json", small_program()}}) ==
        "ValueError: net.pt2: not a .pt2 archive: no record 'archive_format'");
  CHECK_THAT(read_error({{"serialized_exported_program.json", "{}"}}),
             StartsWith("NotImplementedError: net.pt2: ") && Contains("PyTorch 2.7 and before"));
  CHECK_THAT(read_error(small_records_with("net/archive_format", "pt3")),
             Contains("net.pt2: archive_format: expected 'pt2', got 'pt3'"));
  CHECK_THAT(read_error(small_records_with("net/archive_version", "1")),
             Contains("archive_version: expected '0', got '1'"));
  CHECK_THAT(read_error(small_records_with("net/byteorder", "big")),
             Contains("byteorder: expected 'little', got 'big'"));
  CHECK_THAT(read_error(small_records_with("net/models/second.json", "{}")),
             Contains("holds 2 programs: 'model, second'; expected one"));
  CHECK_THAT(read_error(small_records_with("net/data/weights/model.pt", "x")),
             Contains("pickled weights are not supported"));
  std::vector<ZipEntry> records = small_records();
  std::erase_if(records, [](const ZipEntry& r) { return r.name == "net/models/model.json"; });
  CHECK_THAT(read_error(records), Contains("no program 'models/*.json'"));
  CHECK_THAT(error_of([] { read_model_archive("no/such/file.pt2"); }),
             StartsWith("RuntimeError: no/such/file.pt2: cannot be opened"));
}

TEST_CASE("a missing record or config entry is refused", "[io][archive]") {
  std::vector<ZipEntry> records = small_records();
  std::erase_if(records, [](const ZipEntry& r) { return r.name == kWeight; });
  CHECK(read_error(records) == "ValueError: net.pt2: no record 'data/weights/weight_0'");
  CHECK_THAT(config_error(R"({"config": {}})"), Contains("input 'p_w': no config entry 'w'"));
  std::erase_if(records, [](const ZipEntry& r) { return r.name == kConfig; });
  CHECK_THAT(read_error(records), Contains("input 'p_w': no config entry 'w'"));
}

struct Refusal {
  const char* from;
  const char* to;
  const char* error;
};

TEST_CASE("a weights config that lies is refused with its place", "[io][archive]") {
  const Refusal refusal = GENERATE(values<Refusal>({
      {"\"use_pickle\": false", "\"use_pickle\": true",
       "NotImplementedError: net.pt2: data/weights/model_weights_config.json: config/w/use_pickle: "
       "pickled weights"},
      {"weight_0", "../weights/weight_0", "'../weights/weight_0' is not the name of a record"},
      {"weight_0", "..", "'..' is not the name of a record"},
      {"weight_0", "", "'' is not the name of a record"},
      {"weight_0", "weight_1", "no record 'data/weights/weight_1'"},
      {R"("sizes": [{"as_int": 2},)", R"("sizes": [{"as_int": 3},)",
       "config/w: float32[3, 3] at offset 0 needs 36 bytes; record 'data/weights/weight_0' has 24"},
      {R"("strides": [{"as_int": 3},)", R"("strides": [{"as_int": 4},)", "needs 28 bytes"},
      {R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 1})",
       "float32[2, 3] at offset 1 needs 28 bytes"},
      {R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 9223372036854775807})",
       "does not fit int64"},
      {R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": 4611686018427387904})",
       "does not fit int64"},
      {R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": -1})",
       "the storage offset is negative: -1"},
      {R"("strides": [{"as_int": 3},)", R"("strides": [{"as_int": 9223372036854775807},)",
       "does not fit int64"},
      {R"("strides": [{"as_int": 3},)", R"("strides": [{"as_int": -3},)", "a stride is negative"},
      {R"("sizes": [{"as_int": 2},)", R"("sizes": [{"as_int": 9223372036854775807},)",
       "does not fit int64"},
      {R"("sizes": [{"as_int": 2},)", R"("sizes": [{"as_int": 1},)",
       "'w': is stored as float32[1, 3]; the program says float32[2, 3]"},
      {"\"dtype\": 7", "\"dtype\": 4", "'w': is stored as int32[2, 3]; the program says float32"},
      {"\"dtype\": 7", "\"dtype\": 8", "needs 48 bytes"},
      {"\"dtype\": 7", "\"dtype\": 29", "dtype float8_e4m3fn is not supported"},
      {R"("config")", R"("configs")", "no field 'config'"},
  }));
  CHECK_THAT(config_error(replaced(small_config(), refusal.from, refusal.to)),
             Contains(refusal.error));
}

// Every value of the document, in turn, becomes every one of some others, or goes.
template <class F>
void for_each_change(const nlohmann::json& document, F&& check) {
  const std::vector<nlohmann::json> others = {
      nullptr, true, -1, INT64_MAX, 0.5, "x", nlohmann::json::array(), nlohmann::json::object()};
  const nlohmann::json flat = document.flatten();
  std::set<std::string> places;
  for (const auto& [place, value] : flat.items()) {
    for (auto p = nlohmann::json::json_pointer(place); !p.empty(); p.pop_back())
      places.insert(p.to_string());
  }
  for (const std::string& place : places) {
    const nlohmann::json::json_pointer pointer(place);
    for (const nlohmann::json& other : others) {
      nlohmann::json changed = document;
      changed[pointer] = other;
      check(changed.dump());
    }
    nlohmann::json changed = document;
    nlohmann::json& parent = changed[pointer.parent_pointer()];
    if (parent.is_object())
      parent.erase(pointer.back());
    else
      parent.erase(std::stoul(pointer.back()));
    check(changed.dump());
  }
}

TEST_CASE("any value of a program or config may be changed without harm", "[io][archive][fuzz]") {
  int read = 0, refused = 0;
  for_each_change(nlohmann::json::parse(small_program()), [&](const std::string& json) {
    ++(error_of([&] { parse_program(json, "m.json"); }) == "nothing" ? read : refused);
  });
  CHECK(refused > read);
  CHECK(read > 0);
  for_each_change(nlohmann::json::parse(small_config()),
                  [](const std::string& json) { config_error(json); });
}

TEST_CASE("a real archive cut short anywhere is refused", "[io][archive][fuzz]") {
  const std::string zip = read_file(kModel);
  for (size_t size = 0; size < zip.size(); size += size < zip.size() - 4096 ? 997 : 13) {
    CAPTURE(size);
    const std::string part = zip.substr(0, size);
    REQUIRE(error_of([&] { touch(read_model_archive(part, "cut.pt2")); }) != "nothing");
  }
}

TEST_CASE("a small archive cut short at any byte is refused", "[io][archive][fuzz]") {
  const std::string zip = make_zip(small_records());
  for (size_t size = 0; size < zip.size(); ++size) {
    CAPTURE(size);
    const std::string part = zip.substr(0, size);
    REQUIRE(error_of([&] { touch(read_model_archive(part, "cut.pt2")); }) != "nothing");
  }
}

TEST_CASE("a small archive with any bit flipped is read the same or refused",
          "[io][archive][fuzz]") {
  std::string zip = make_zip(small_records());
  const int expected = touch(read_model_archive(zip, "flipped.pt2"));
  int read = 0;
  for (size_t bit = 0; bit < zip.size() * 8; ++bit) {
    zip[bit / 8] ^= static_cast<char>(1 << bit % 8);
    int sum = expected;
    read += error_of([&] { sum = touch(read_model_archive(zip, "flipped.pt2")); }) == "nothing";
    zip[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CAPTURE(bit);
    REQUIRE(sum == expected);  // the CRC guards every record
  }
  CHECK(read > 0);  // time stamps and the like
}

TEST_CASE("a real archive with some bits flipped is read the same or refused",
          "[io][archive][fuzz]") {
  std::string zip = read_file(kModel);
  const int expected = touch(read_model_archive(zip, "flipped.pt2"));
  for (size_t bit = 0; bit < zip.size() * 8; bit += 4001) {
    zip[bit / 8] ^= static_cast<char>(1 << bit % 8);
    int sum = expected;
    error_of([&] { sum = touch(read_model_archive(zip, "flipped.pt2")); });
    zip[bit / 8] ^= static_cast<char>(1 << bit % 8);
    CAPTURE(bit);
    REQUIRE(sum == expected);
  }
}

}  // namespace
}  // namespace sb::io
