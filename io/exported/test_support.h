// What the tests of this folder share: small archives, made hostile.

#ifndef SWITCHBOARD_IO_EXPORTED_TEST_SUPPORT_H_
#define SWITCHBOARD_IO_EXPORTED_TEST_SUPPORT_H_

#include <zip.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {

struct ZipEntry {
  std::string name;
  std::string bytes;
  zip_int32_t method = ZIP_CM_STORE;
};

inline std::string make_zip(const std::vector<ZipEntry>& entries) {
  zip_error_t error;
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(target);
  zip_t* zip = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  REQUIRE(zip);
  for (const ZipEntry& entry : entries) {
    zip_source_t* source = zip_source_buffer(zip, entry.bytes.data(), entry.bytes.size(), 0);
    const zip_int64_t index = zip_file_add(zip, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    REQUIRE(index >= 0);
    REQUIRE(zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), entry.method, 0) == 0);
    zip_file_set_mtime(zip, static_cast<zip_uint64_t>(index), 0, 0);
  }
  REQUIRE(zip_close(zip) == 0);
  zip_source_open(target);
  zip_source_seek(target, 0, SEEK_END);
  std::string bytes(static_cast<size_t>(zip_source_tell(target)), '\0');
  zip_source_seek(target, 0, SEEK_SET);
  REQUIRE(zip_source_read(target, bytes.data(), bytes.size()) == std::ssize(bytes));
  zip_source_close(target);
  zip_source_free(target);
  return bytes;
}

// Overwrites a little-endian field of the n-th entry's record in the central directory: the offsets
// are 8 flags (2 bytes), 10 method (2), 16 crc, 20 stored size, 24 size, 42 local header (4 each).
template <class T>
std::string with_directory_field(std::string zip, int n, size_t offset, T value) {
  size_t at = zip.find("PK\x01\x02");
  while (n-- > 0) at = zip.find("PK\x01\x02", at + 4);
  REQUIRE(at != zip.npos);
  std::memcpy(zip.data() + at + offset, &value, sizeof value);
  return zip;
}

// A program that adds a parameter to its input.
inline std::string small_program() {
  const std::string meta =
      R"({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": false,)"
      R"( "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}],)"
      R"( "storage_offset": {"as_int": 0}, "layout": 7})";
  return R"({"graph_module": {"graph": {
    "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
    "outputs": [{"as_tensor": {"name": "add"}}],
    "nodes": [{"target": "torch.ops.aten.add.Tensor",
      "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                 {"name": "other", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1},
                 {"name": "alpha", "arg": {"as_int": 2}, "kind": 2}],
      "outputs": [{"as_tensor": {"name": "add"}}],
      "metadata": {"stack_trace": "net.py, line 3"}, "name": "add_1"}],
    "tensor_values": {"p_w": )" +
         meta + R"(, "x": )" + meta + R"(, "add": )" + meta + R"(},
    "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {}},
    "signature": {"input_specs": [
        {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
        {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}]}},
    "schema_version": {"major": 8, "minor": 20}, "verifiers": ["ATEN"],
    "torch_version": "2.9.0"})";
}

inline std::string small_config() {
  return R"({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": false,
    "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], "requires_grad": true,
    "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}],
    "storage_offset": {"as_int": 0}, "layout": 7}}}})";
}

inline std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// The records of an archive of small_program(), below the root "net/".
inline std::vector<ZipEntry> small_records() {
  return {{"net/data/weights/weight_0", bytes_of({1, 2, 3, 4, 5, 6})},
          {"net/data/weights/model_weights_config.json", small_config()},
          {"net/data/constants/model_constants_config.json", R"({"config": {}})"},
          {"net/models/model.json", small_program()},
          {"net/archive_format", "pt2"},
          {"net/archive_version", "0"},
          {"net/byteorder", "little"}};
}

// The same with one record's bytes replaced, or added at the end.
inline std::vector<ZipEntry> small_records_with(const std::string& name, const std::string& bytes) {
  std::vector<ZipEntry> records = small_records();
  for (ZipEntry& record : records) {
    if (record.name == name) {
      record.bytes = bytes;
      return records;
    }
  }
  records.push_back({name, bytes});
  return records;
}

// Reads every byte that the tensors may, so that the sanitizers see what a kernel would.
inline int touch(const ModelArchive& archive) {
  int sum = 0;
  for (const auto* tensors : {&archive.weights, &archive.constants}) {
    for (const StoredTensor& stored : *tensors) {
      if (!stored.data.defined() || stored.data.numel() == 0) continue;
      const char* data = static_cast<const char*>(stored.data.data_ptr());
      int64_t last = 0;
      for (int64_t d = 0; d < stored.data.dim(); ++d)
        last += (stored.data.size(d) - 1) * stored.data.stride(d);
      const int64_t item = static_cast<int64_t>(stored.data.itemsize());
      for (int64_t i = 0; i < (last + 1) * item; ++i) sum += data[i];
    }
  }
  return sum;
}

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_TEST_SUPPORT_H_
