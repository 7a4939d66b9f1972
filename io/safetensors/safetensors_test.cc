#include "switchboard/io/safetensors/safetensors.h"

#include "switchboard/core/empty_tensor.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;
using Catch::StartsWith;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + data;
}

// Where the tests' files go.
class File {
 public:
  const std::string& path() const { return path_; }
  TensorMap read(const std::string& bytes) const {
    write_file(path_, bytes);
    return load_tensors(path_);
  }
  // The error without its path.
  std::string error(const std::string& bytes) const {
    std::string error = error_of([&] { read(bytes); });
    const size_t at = error.find(path_);
    return at == error.npos ? error : error.erase(at, path_.size() + 2);
  }
  std::string error(const std::string& header, size_t data_bytes) const {
    return error(file_of(header, std::string(data_bytes, '\0')));
  }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.safetensors";
};

Tensor counting(std::vector<int64_t> sizes, DType dtype) {
  const Tensor tensor = empty_on(DeviceType::CPU, sizes, dtype);
  auto* bytes = static_cast<uint8_t*>(tensor.data_ptr());
  for (size_t i = 0; i < tensor.nbytes(); ++i)
    bytes[i] = dtype == DType::Bool ? i % 2 : static_cast<uint8_t>(i + 1);
  return tensor;
}

std::string bytes_of(const Tensor& tensor) {
  return tensor.nbytes() == 0
             ? std::string()
             : std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
}

TEST_CASE("tensors of every dtype and rank come back as they were", "[io][safetensors]") {
  const File file;
  TensorMap written;
  for (int i = 0; i < kNumPlainDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    written[str_cat("t/", to_string(dtype))] = counting({3, 5}, dtype);
  }
  written["scalar"] = counting({}, DType::Int64);
  written["empty"] = counting({4, 0, 2}, DType::Float16);
  written["a \"name\"\n\xc3\xa9"] = counting({1}, DType::UInt8);
  save_tensors(file.path(), written);
  const TensorMap read = load_tensors(file.path());
  REQUIRE(read.size() == written.size());
  for (const auto& [name, tensor] : written) {
    CAPTURE(name);
    REQUIRE(read.contains(name));
    const Tensor& other = read.at(name);
    CHECK(other.dtype() == tensor.dtype());
    CHECK(other.sizes() == tensor.sizes());
    CHECK(other.is_contiguous());
    CHECK(bytes_of(other) == bytes_of(tensor));
  }
  uint64_t header = 0;
  std::memcpy(&header, read_file(file.path()).data(), 8);
  CHECK(header % 8 == 0);
}

TEST_CASE("a file that another program wrote is read", "[io][safetensors]") {
  const TensorMap inputs = load_tensors("examples/digits_mlp/inputs.safetensors");
  REQUIRE(inputs.size() == 1);
  CHECK(inputs.at("x").describe() == "float32[32, 64] on cpu");
  const File file;
  save_tensors(file.path(), inputs);
  CHECK(bytes_of(load_tensors(file.path()).at("x")) == bytes_of(inputs.at("x")));
}

TEST_CASE("a failed write leaves nothing behind", "[io][safetensors]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "taken");
  CHECK_THAT(error_of([&] { save_tensors(folder / "taken", {}); }),
             StartsWith("RuntimeError: ") && Contains("cannot be replaced"));
  CHECK_THAT(error_of([&] { save_tensors(folder / "none/a", {}); }), Contains("cannot be created"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("padding is ignored, and metadata need not say anything", "[io][safetensors]") {
  const File file;
  const TensorMap read =
      file.read(file_of(R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "U8", "shape": [2],)"
                        R"( "data_offsets": [0, 2]}}     )",
                        "xy"));
  REQUIRE(read.size() == 1);
  CHECK(read.at("a").data<uint8_t>()[1] == 'y');
  CHECK(file.read(file_of("{}", "")).empty());
  CHECK(file.read(file_of(R"({"__metadata__": null})", "")).empty());
}

TEST_CASE("the length of the header is checked against the file", "[io][safetensors]") {
  const File file;
  CHECK(file.error("") ==
        "ValueError: not a safetensors file: has 0 bytes; the length of its "
        "header takes 8");
  CHECK_THAT(file.error("1234567"), Contains("has 7 bytes"));
  CHECK_THAT(file.error(std::string(8, '\xff')),
             Contains("a header of 18446744073709551615 bytes"));
  const uint64_t size = 100'000'000;
  CHECK_THAT(file.error(std::string(reinterpret_cast<const char*>(&size), 8) + "{}"),
             Contains("a header of 100000000 bytes in a file of 10"));
  CHECK_THAT(file.error("[]", 0), Contains("header: does not begin with '{'"));
  CHECK_THAT(file.error("", 0), Contains("header: does not begin with '{'"));
  CHECK_THAT(file.error(" {}", 0), Contains("header: does not begin with '{'"));
}

TEST_CASE("what is no file is refused", "[io][safetensors]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { load_tensors(folder.path()); }), Contains("is a folder"));
  CHECK_THAT(error_of([&] { load_tensors(folder / "none"); }), Contains("No such file"));
  CHECK_THAT(error_of([&] { load_tensors("/dev/null"); }), Contains("is not a regular file"));
}

struct Refusal {
  const char* header;
  size_t data_bytes;
  const char* error;
};

TEST_CASE("a header that lies is refused with its place", "[io][safetensors]") {
  const File file;
  const Refusal refusal = GENERATE(values<Refusal>({
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", 7,
       "header: a/data_offsets: [0, 8) is not within the 7 bytes of data"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", 9,
       "has 9 bytes of data; the header describes 8"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}})", 8, "is not within"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}})", 8, "is not within"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}})", 8, "expected two offsets"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})", 8,
       "header: a: its shape takes 12 bytes, its offsets 8"},
      {R"({"a": {"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]}})", 8,
       "header: a/shape[0]: a size is negative: -2"},
      {R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})", 0,
       "does not fit int64"},
      {R"({"a": {"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 0]}})", 0,
       "does not fit int64"},
      {R"({"a": {"dtype": "F32", "shape": [18446744073709551615], "data_offsets": [0, 0]}})", 0,
       "does not fit int64"},
      {R"({"a": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}})", 2,
       "NotImplementedError: header: a/dtype: dtype 'F8_E4M3' is not supported"},
      {R"({"a": {"dtype": "f32", "shape": [2], "data_offsets": [0, 8]}})", 8,
       "ValueError: header: a/dtype: unknown dtype 'f32'"},
      {R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
           "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}})",
       3, "'b': begins at byte 1 of the data; overlaps what ends at byte 2"},
      {R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
           "b": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]}})",
       5, "'b': begins at byte 3 of the data; leaves a gap after byte 2"},
      {R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
           "a": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})",
       2, "header: the name 'a' is there twice in one object"},
      {R"({"a": {"dtype": "U8", "shape": 1, "data_offsets": [0, 1]}})", 1, "expected an array"},
      {R"({"a": {"shape": [1], "data_offsets": [0, 1]}})", 1, "header: a: no field 'dtype'"},
      {R"({"a": [[[[)", 0, "ValueError: header: byte "},
      {R"({"__metadata__": {"a": 1}})", 0,
       "header: __metadata__/a: expected a string, got an integer"},
      {R"({"__metadata__": []})", 0, "header: __metadata__: expected an object, got an array"},
  }));
  CHECK_THAT(file.error(refusal.header, refusal.data_bytes), Contains(refusal.error));
}

TEST_CASE("a tensor of more dimensions than kernels take is refused", "[io][safetensors]") {
  const File file;
  const auto header = [](int ones) {
    std::string shape;
    for (int i = 0; i < ones; ++i) shape += "1,";
    return R"({"a": {"dtype": "U8", "shape": [)" + shape + R"(1], "data_offsets": [0, 1]}})";
  };
  CHECK(file.read(file_of(header(63), "x")).at("a").dim() == 64);
  CHECK_THAT(file.error(header(64), 1),
             Contains("header: a/shape: has 65 dimensions; at most 64 are read"));
}

TEST_CASE("what a malformed header shows of itself is escaped, and short", "[io][safetensors]") {
  const File file;
  const std::string error = file.error("{\"a\x7f\x9b[2J" + std::string(100'000, 'x'), 0);
  CHECK_THAT(error, StartsWith("ValueError: header: byte ") && Contains("a\\x7f\\x9b"));
  CHECK(error.size() < 2000);
  CHECK(file.error("{\"" + std::string(100'000, 'x'), 0).size() < 2000);
}

TEST_CASE("a deeply nested header is refused", "[io][safetensors]") {
  const File file;
  CHECK_THAT(file.error("{\"a\": " + std::string(1'000'000, '['), 0), Contains("nested deeper"));
}

TEST_CASE("bool bytes other than 0 and 1 in a file are refused", "[io][safetensors]") {
  const File file;
  const std::string header = R"({"a": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}})";
  CHECK(file.read(file_of(header, std::string("\0\1", 2))).at("a").data<bool>()[1]);
  CHECK_THAT(file.error(file_of(header, "\1\2")),
             Contains("'a': has bool bytes other than 0 and 1"));
}

TEST_CASE("a file cut short or with any bit flipped is read or refused",
          "[io][safetensors][fuzz]") {
  const File file;
  std::string bytes = file_of(R"({"a": {"dtype": "I16", "shape": [1, 2], "data_offsets": [0, 4]},)"
                              R"( "b": {"dtype": "BOOL", "shape": [], "data_offsets": [4, 5]}})",
                              std::string("abcd\1", 5));
  CHECK(file.error(bytes) == "nothing");
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(file.error(bytes.substr(0, size)) != "nothing");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    file.error(bytes);  // anything but an sb::Error leaves it
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace sb::io
