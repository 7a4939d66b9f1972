#include "switchboard/io/safetensors/saving.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/safetensors/saved_layout.h"
#include "switchboard/io/safetensors/test_support.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/quantized/quantize.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using io::error_of;
using io::TemporaryFolder;

// 0, 1, 2, ... of a shape.
Tensor counting(IntArrayRef sizes, DType dtype = DType::Float32) {
  const Tensor t = empty_on(DeviceType::CPU, sizes, dtype);
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (dtype == DType::Float32)
      t.data<float>()[i] = static_cast<float>(i);
    else
      t.data<int16_t>()[i] = static_cast<int16_t>(i);
  }
  return t;
}

struct Saved {
  explicit Saved(const TensorMap& tensors, const FileMetadata& metadata = {}) {
    save_tensors(path, tensors, metadata);
  }
  TensorMap load(const LoadOptions& options = {}) const { return load_tensors(path, options); }
  nlohmann::json header() const {
    const std::string bytes = io::read_file(path);
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    return nlohmann::json::parse(bytes.substr(8, size));
  }
  // The elements as a reader sees them that knows the format only.
  template <class T>
  std::vector<T> plain(const std::string& name) const {
    const std::string bytes = io::read_file(path);
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    const auto offsets = header()[name]["data_offsets"].get<std::vector<size_t>>();
    std::vector<T> elements((offsets[1] - offsets[0]) / sizeof(T));
    std::memcpy(elements.data(), bytes.data() + 8 + size + offsets[0], offsets[1] - offsets[0]);
    return elements;
  }

  TemporaryFolder folder;
  std::string path = folder / "a.safetensors";
};

// A file of one tensor of 6 float32, 0 to 5, and that layout.
std::string file_of(const std::string& shape, const nlohmann::json& layouts) {
  std::string header =
      R"({"__metadata__": {"switchboard": )" + nlohmann::json(layouts.dump()).dump() +
      R"(}, "a": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": [0, 24]}})";
  const uint64_t size = header.size();
  header.insert(0, reinterpret_cast<const char*>(&size), 8);
  for (float f : {0.f, 1.f, 2.f, 3.f, 4.f, 5.f})
    header.append(reinterpret_cast<const char*>(&f), sizeof f);
  return header;
}
nlohmann::json layouts_of(const nlohmann::json& a) {
  return {{"version", 1}, {"tensors", {{"a", a}}}};
}

std::string load_error(const std::string& bytes, const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  io::write_file(path, bytes);
  std::string error = error_of([&] { load_tensors(path, options); });
  const size_t at = error.find(path);
  return at == error.npos ? error : error.erase(at, path.size() + 2);
}

TEST_CASE("strides come back, and other readers see rows", "[saving]") {
  const Tensor base = counting({2, 3});
  const Saved saved({{"transposed", alias_with(counting({2, 3}), {3, 2}, {1, 3}, 0)},
                     {"column", alias_with(counting({2, 3}), {2}, {3}, 1)},
                     {"expanded", alias_with(counting({1, 3}), {4, 3}, {0, 1}, 0)},
                     {"windows", alias_with(counting({4}), {3, 2}, {1, 1}, 0)},
                     {"one", alias_with(counting({2, 3}), {1, 1}, {7, 5}, 4)},
                     {"empty", alias_with(counting({2, 3}), {0, 2}, {9, 4}, 0)}});
  const TensorMap loaded = saved.load();
  CHECK(loaded.at("transposed").strides() == IntArrayRef({1, 3}));
  CHECK(loaded.at("column").strides() == IntArrayRef({3}));
  CHECK(loaded.at("expanded").strides() == IntArrayRef({0, 1}));
  CHECK(loaded.at("expanded").storage()->nbytes() == 12);
  CHECK(loaded.at("windows").strides() == IntArrayRef({1, 1}));
  CHECK(loaded.at("one").strides() == IntArrayRef({7, 5}));
  CHECK(loaded.at("empty").strides() == IntArrayRef({9, 4}));
  for (const auto& [name, t] : loaded) CHECK(t.storage_offset() == 0);

  CHECK(saved.plain<float>("transposed") == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(saved.plain<float>("column") == std::vector<float>{1, 4});
  CHECK(saved.plain<float>("windows") == std::vector<float>{0, 1, 1, 2, 2, 3});
  const float* t = loaded.at("transposed").data<float>();
  for (int i = 0; i < 6; ++i) CHECK(t[i] == static_cast<float>(i));
  const float* c = loaded.at("column").data<float>();
  CHECK(std::vector<float>(c, c + 4) == std::vector<float>{1, 0, 0, 4});  // what is between is 0
  CHECK(*loaded.at("one").data<float>() == 4);
  const float* w = loaded.at("windows").data<float>();
  CHECK(std::vector<float>(w, w + 4) == std::vector<float>{0, 1, 2, 3});
}

TEST_CASE("tensors that shared a storage share one again", "[saving]") {
  const Tensor base = counting({4, 4}, DType::Int16);
  Saved saved({{"base", base},
               {"same", base},
               {"row", alias_with(base, {4}, {1}, 4)},
               {"bytes", view_dtype(alias_with(base, {2}, {1}, 10), DType::UInt8)},
               {"other", counting({4, 4}, DType::Int16)}});
  const TensorMap loaded = saved.load();
  CHECK(loaded.at("base").is_alias_of(loaded.at("row")));
  CHECK(loaded.at("base").is_alias_of(loaded.at("same")));
  CHECK(loaded.at("base").is_alias_of(loaded.at("bytes")));
  CHECK_FALSE(loaded.at("base").is_alias_of(loaded.at("other")));
  CHECK(loaded.at("bytes").dtype() == DType::UInt8);
  CHECK(loaded.at("row").storage_offset() == 4);
  CHECK(loaded.at("bytes").storage_offset() == 20);
  CHECK(loaded.at("base").storage()->nbytes() == 32);
  loaded.at("row").data<int16_t>()[1] = 77;
  CHECK(loaded.at("same").data<int16_t>()[5] == 77);
  loaded.at("bytes").data<uint8_t>()[0] = 3;
  CHECK(loaded.at("base").data<int16_t>()[10] == 3);
  CHECK(saved.plain<int16_t>("row") == std::vector<int16_t>{4, 5, 6, 7});
}

TEST_CASE("of a shared storage only what lies between the saved tensors is kept", "[saving]") {
  const Tensor base = counting({1000});
  const Saved saved(
      {{"a", alias_with(base, {2}, {1}, 501)}, {"b", alias_with(base, {2}, {1}, 504)}});
  CHECK(io::read_file(saved.path).size() < 500);
  const TensorMap loaded = saved.load();
  CHECK(loaded.at("a").is_alias_of(loaded.at("b")));
  CHECK(loaded.at("a").storage()->nbytes() == 5 * sizeof(float));
  CHECK(loaded.at("a").storage_offset() == 0);
  CHECK(loaded.at("b").storage_offset() == 3);
  CHECK(loaded.at("b").data<float>()[1] == 505);
}

TEST_CASE("a tensor without elements shares nothing", "[saving]") {
  const Tensor base = counting({4});
  const Saved saved({{"a", base}, {"none", alias_with(base, {0}, {1}, 3)}});
  CHECK_FALSE(saved.header().contains("__metadata__"));
  const TensorMap loaded = saved.load();
  CHECK(loaded.at("none").sizes() == IntArrayRef({0}));
  CHECK_FALSE(loaded.at("none").is_alias_of(loaded.at("a")));
}

TEST_CASE("complex128 is saved as pairs of float64", "[saving]") {
  const Tensor z = empty_on(DeviceType::CPU, {2, 3}, DType::Complex128);
  for (int i = 0; i < 6; ++i) z.data<std::complex<double>>()[i] = {1.0 * i, -0.5 * i};
  const Saved saved({{"z", alias_with(z, {3, 2}, {1, 3}, 0)}});
  CHECK(saved.header()["z"]["dtype"] == "F64");
  CHECK(saved.header()["z"]["shape"] == std::vector<int>{3, 2, 2});
  const Tensor loaded = saved.load().at("z");
  CHECK(loaded.dtype() == DType::Complex128);
  CHECK(loaded.sizes() == IntArrayRef({3, 2}));
  CHECK(loaded.strides() == IntArrayRef({1, 3}));
  CHECK(loaded.data<std::complex<double>>()[5] == std::complex<double>(5, -2.5));
}

TEST_CASE("a file says no more than other programs know where that is all", "[saving]") {
  const Saved saved({{"a", counting({2, 3})}, {"scalar", counting({})}});
  CHECK_FALSE(saved.header().contains("__metadata__"));
}

TEST_CASE("metadata of the caller's own come back", "[saving]") {
  const FileMetadata metadata{{"format", "pt"}, {"\xc3\xa9\n", "\"quoted\""}};
  const Saved saved({{"t", alias_with(counting({2, 3}), {3, 2}, {1, 3}, 0)}}, metadata);
  CHECK(load_metadata(saved.path) == metadata);
  CHECK(saved.header()["__metadata__"]["format"] == "pt");
  CHECK(load_metadata(Saved({}).path).empty());
  CHECK_THAT(error_of([&] {
               save_tensors(saved.path, {}, {{"switchboard", ""}});
             }),
             StartsWith("ValueError: ") && Contains("'switchboard' are not the caller's"));
  CHECK(load_metadata(saved.path) == metadata);
}

TEST_CASE("what has no elements that can be saved is refused, and the file stays", "[saving]") {
  const Saved saved({{"before", counting({1})}});
  const std::string before = io::read_file(saved.path);
  const auto error = [&](const Tensor& t, const std::string& name = "a") {
    return error_of([&] { save_tensors(saved.path, {{"0", counting({1})}, {name, t}}); });
  };
  CHECK(error(Tensor()) == "ValueError: " + saved.path + ": 'a': is undefined");
  CHECK_THAT(error(empty_on(DeviceType::Meta, {2}, DType::Float32)), Contains("'a': is on meta"));
  CHECK_THAT(error(empty_on(DeviceType::Meta, {0}, DType::Float32)), Contains("'a': is on meta"));
  CHECK_THAT(error(quantize_per_tensor(counting({2}), 0.5, 0, DType::QInt8)),
             StartsWith("ValueError: ") && Contains("'a': is quantized"));
  const Tensor z = empty_on(DeviceType::CPU, {2}, DType::Complex64);
  CHECK_THAT(error(conj(z)), Contains("'a': is lazily conjugated or negated"));
  CHECK_THAT(error(imag(conj(z))), Contains("'a': is lazily conjugated or negated"));
  {
    FakeTensorMode fake({.shape_env = ShapeEnv::create()});
    const Tensor symbolic = fake.from_tensor(counting({5, 7}), {.source = "x"});
    REQUIRE(symbolic.is_symbolic());
    CHECK_THAT(error(symbolic), Contains("'a': has symbolic sizes"));
    CHECK(symbolic.is_symbolic());
    CHECK(fake.shape_env()->guards().empty());
  }
  {
    FakeTensorMode fake;
    CHECK_THAT(error(fake.from_tensor(counting({2}))), Contains("'a': is a fake tensor"));
    CHECK_THAT(error(fake.from_tensor(counting({0}))), Contains("'a': is a fake tensor"));
  }
  CHECK_THAT(error(counting({1}), "__metadata__"), Contains("cannot be named '__metadata__'"));
  CHECK_THAT(error(counting({1}), "\xff"), Contains("not UTF-8"));
  CHECK_THAT(error(alias_with(counting({2}), {2}, {0}, 0), "\xff"), Contains("not UTF-8"));
  // Load would refuse 65 dimensions.
  CHECK_THAT(error(empty_on(DeviceType::CPU, DimVector(64, 1), DType::Complex128)),
             StartsWith("ValueError: ") && Contains("a/shape: has 65 dimensions"));
  CHECK(io::read_file(saved.path) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(saved.folder.path()), {}) == 1);
}

TEST_CASE("a tensor that requires a gradient is saved as its numbers", "[saving][autograd]") {
  const Tensor w = counting({2, 3});
  set_requires_grad(w);
  const Saved saved({{"w", w}, {"t", transpose(w, 0, 1)}});
  const TensorMap loaded = saved.load();
  CHECK_FALSE(requires_grad(loaded.at("w")));
  CHECK(loaded.at("w").is_alias_of(loaded.at("t")));
  CHECK(loaded.at("t").data<float>()[3] == 3);
  CHECK(requires_grad(w));
}

TEST_CASE("modes see neither saving nor loading", "[saving][modes]") {
  const Tensor t = alias_with(counting({2, 3}), {3, 2}, {1, 3}, 0);
  LoggingMode log;
  FakeTensorMode fake;
  const ModeGuard on(&log);
  const Saved saved({{"t", t}});
  const Tensor loaded = saved.load().at("t");
  CHECK(log.lines().empty());
  CHECK_FALSE(loaded.impl()->mode_data());
  CHECK(loaded.data<float>()[5] == 5);
}

TEST_CASE("on meta only the header is read", "[saving]") {
  const Tensor base = counting({2, 3});
  Saved saved({{"t", alias_with(base, {3, 2}, {1, 3}, 0)}, {"b", base}});
  const TensorMap loaded =
      saved.load({.map_location = Device(DeviceType::Meta), .max_gap_bytes = 0});
  CHECK(loaded.at("t").is_meta());
  CHECK(loaded.at("t").strides() == IntArrayRef({1, 3}));
  CHECK(loaded.at("t").is_alias_of(loaded.at("b")));
}

TEST_CASE("a device that is not here is named, unless the caller gives another", "[saving]") {
  const std::string on_npu = file_of("[6]", layouts_of({{"device", "npu:3"}}));
  CHECK(load_error(on_npu) ==
        "ValueError: 'a': was saved on 'npu:3', a device that is not here; map_location says where "
        "it goes instead");
  CHECK(load_error(on_npu, {.map_location = Device(DeviceType::CPU)}) == "nothing");
  for (const char* device : {"", "cpu:1", "cpu:", "cuda:0", "ve", "meta\x1b[2J", ":0"}) {
    CAPTURE(device);
    const std::string error = load_error(file_of("[6]", layouts_of({{"device", device}})));
    CHECK_THAT(error, Contains("a device that is not here"));
    CHECK(error.find('\x1b') == error.npos);
  }
  CHECK_THAT(load_error(file_of("[6]", layouts_of({{"device", "meta"}}))),
             Contains("was saved on meta, where it has no elements"));
  const std::string plain = file_of("[6]", layouts_of(nlohmann::json::object()));
  CHECK_THAT(load_error(plain, {.map_location = Device(DeviceType::CUDA)}),
             StartsWith("NotImplementedError: map_location: cuda: no device guard"));
  CHECK_THAT(load_error(plain, {.map_location = Device(DeviceType::CPU, 1)}),
             StartsWith("RuntimeError: map_location: cpu:1: no such device"));
}

struct Refusal {
  const char* shape;
  const char* layout;
  const char* error;
};

TEST_CASE("a layout that lies is refused with its tensor", "[saving]") {
  const Refusal refusal = GENERATE(values<Refusal>({
      {"[6]", R"({"strides": [1, 1]})", "ValueError: 'a': got 1 sizes and 2 strides"},
      {"[6]", R"({"strides": [-1]})", "'a': a stride is negative: -1"},
      {"[6]", R"({"strides": [9223372036854775807]})", "'a': size overflow"},
      {"[6]", R"({"strides": [18446744073709551615]})", "does not fit int64"},
      {"[6]", R"({"strides": [1.5]})", "a/strides[0]: expected an integer, got a number"},
      {"[6]", R"({"strides": {}})", "expected an array, got an object"},
      {"[6]", R"({"strides": [1000000000000]})", "'a': its storage takes 20000000000004 bytes"},
      {"[6]", R"({"storage_offset": -1})", "'a': storage offset is negative: -1"},
      {"[6]", R"({"storage_offset": 9223372036854775807})", "'a': size overflow"},
      {"[6]", R"({"storage_offset": 4611686018427387904})", "'a': size overflow"},
      {"[6]", R"({"storage_offset": 1000000000000})", "gaps of 67108864 bytes in all are loaded"},
      {"[6]", R"({"storage": "0"})", "a/storage: expected an integer, got a string"},
      {"[6]", R"({"dtype": "complex128"})", "'a': complex128 is saved as float64"},
      {"[6]", R"({"dtype": "F64"})", "a/dtype: unknown dtype 'F64'"},
      {"[6]", R"({"device": 1})", "a/device: expected a string"},
      {"[6]", R"({"backend_meta": {"a": 1}})", "expected a string, got an integer"},
      {"[6]", R"({"color": "red"})", "unknown field 'color'"},
      {"[6]", R"([])", "expected an object, got an array"},
      {"[6]", R"({"strides": [0]})", "'a': shares elements, with itself or with another tensor"},
      {"[2, 3]", R"({"strides": [1, 1]})", "that have different values in the file"},
  }));
  CAPTURE(refusal.layout);
  const nlohmann::json layout = nlohmann::json::parse(refusal.layout);
  CHECK_THAT(load_error(file_of(refusal.shape, layouts_of(layout))), Contains(refusal.error));
}

TEST_CASE("a description of another kind is refused", "[saving]") {
  CHECK(load_error(file_of("[6]", layouts_of({{"strides", {2}}}))) == "nothing");
  CHECK_THAT(load_error(file_of("[6]", {{"version", 2}, {"tensors", nlohmann::json::object()}})),
             Contains("__metadata__/switchboard: version: is 2; this program reads version 1"));
  CHECK_THAT(load_error(file_of("[6]", {{"version", 1}})), Contains("no field 'tensors'"));
  CHECK_THAT(load_error(file_of("[6]", nullptr)), Contains("expected an object, got null"));
  const nlohmann::json none = nlohmann::json::object();
  CHECK_THAT(load_error(file_of("[6]", {{"version", 1}, {"tensors", {{"a", none}, {"b", none}}}})),
             Contains("describes 'b', which is not in the file"));
}

TEST_CASE("storages may have gaps as large as the caller allows, together", "[saving]") {
  const Saved saved({{"a", alias_with(counting({101}), {2}, {100}, 0)},
                     {"b", alias_with(counting({101}), {2}, {100}, 0)}});
  CHECK(saved.load({.max_gap_bytes = 2 * 99 * sizeof(float)}).size() == 2);
  const auto error = [&](size_t bytes) {
    return error_of([&] { saved.load({.max_gap_bytes = bytes}); });
  };
  CHECK_THAT(error(2 * 99 * sizeof(float) - 1),
             Contains("'b': its storage takes 404 bytes, for which the file has 8"));
  CHECK_THAT(error(0), Contains("'a': its storage takes 404 bytes"));
}

TEST_CASE("tensors that share elements must agree on them", "[saving]") {
  const Tensor base = counting({4});
  const Saved saved({{"a", base}, {"b", alias_with(base, {2}, {1}, 1)}});
  std::string bytes = io::read_file(saved.path);
  bytes[bytes.size() - 1] ^= 1;  // the last element of b
  CHECK_THAT(load_error(bytes), StartsWith("ValueError: 'a': shares elements"));
}

TEST_CASE("a tensor without elements has no place in a storage", "[saving]") {
  const std::string header =
      R"({"__metadata__": {"switchboard": "{\"version\":1,\"tensors\":{\"a\":{\"storage_offset\":)"
      R"(4611686018427387}}}"}, "a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}})";
  const uint64_t size = header.size();
  CHECK_THAT(load_error(std::string(reinterpret_cast<const char*>(&size), 8) + header),
             Contains("'a': has no elements, and so no place in a storage"));
}

TEST_CASE("a dimension of one may have any stride that has a number of bytes", "[saving]") {
  const auto error_for = [](int64_t stride) {
    return load_error(
        file_of("[1, 6]", layouts_of({{"strides", {stride, 1}}, {"storage_offset", 1}})));
  };
  CHECK(error_for(int64_t{1} << 57) == "nothing");
  CHECK_THAT(error_for(INT64_MAX), Contains("ValueError: 'a': a stride is too large"));
}

TEST_CASE("a file with layouts, cut short or with any bit flipped, is read or refused",
          "[saving][fuzz]") {
  const Tensor base = counting({2, 2}, DType::Int16);
  const Saved saved({{"a", base}, {"b", alias_with(base, {2, 2}, {1, 2}, 0)}});
  std::string bytes = io::read_file(saved.path);
  REQUIRE(load_error(bytes) == "nothing");
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(load_error(bytes.substr(0, size)) != "nothing");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    load_error(bytes);  // anything but an sb::Error leaves it
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace sb
