// Values of calls as bytes, with what is said once of the tensors in them.

#ifndef SWITCHBOARD_IO_RECORDING_VALUE_WRITER_H_
#define SWITCHBOARD_IO_RECORDING_VALUE_WRITER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/recording/recording_file.h"
#include "switchboard/io/recording/wire.h"

namespace sb::internal {

// Of one thread.
class ValueWriter {
 public:
  explicit ValueWriter(RecordingFile* file) : file_(*file) {}

  io::wire::Writer& out() { return out_; }
  // The number of a text, with the text if it is new. Returns it.
  uint32_t string(std::string_view text);
  void value(const IValue& value);
  // An argument or a result in its C++ type.
  void typed_value(TypeCode code, const void* value);
  void typed_result(TypeCode code, void* value);
  void generator(const Generator& generator);
  // The number of a storage that was written before; 0 for none.
  uint64_t storage_id(const Storage& storage);

 private:
  // What describes a tensor, to compare a few words and hash none; nothing is like one of symbols
  // or of many dimensions.
  struct Description {
    static constexpr size_t kMostDims = 5;
    bool is_of(const TensorImpl& impl, uint64_t facts) const;
    void set(const TensorImpl& impl, uint64_t facts);

    uint64_t keys = 0;
    uint64_t facts = 0;  // dtype, device, flags, number of dimensions; 0 for none
    int64_t offset = 0;
    std::array<int64_t, kMostDims> sizes, strides;
  };
  // A tensor as it was last written.
  struct Known {
    const TensorImpl* impl = nullptr;
    uint64_t id = 0;
    Description description;
    uint64_t meta = 0;  // a hash of all of that
    const StorageImpl* storage = nullptr;
    size_t nbytes = 0;
    uint64_t hash = 0;
    uint32_t version = 0;
    uint64_t epoch = 0;  // of the file's tables: addresses are known for one
  };
  struct Visitor;

  void tensor(const Tensor& tensor);
  void tensor_anew(const Tensor& tensor, Known* known, uint64_t facts, uint64_t epoch);
  void meta(const Tensor& tensor, uint64_t fingerprint);
  void device(Device device);
  void other(io::RecordedValue::Kind kind, size_t room = 0);
  void integer(int64_t v);
  void real(double v);
  void symbol(std::string_view text);
  void list(io::RecordedValue::Kind kind, size_t count);
  void text_value(io::RecordedValue::Kind kind, std::string_view text);

  RecordingFile& file_;
  io::wire::Writer out_;
  uint64_t last_tensor_ = 0, last_storage_ = 0;
  std::array<Known, 1024> known_{};
  // Those that were arguments before they were some tensor's: nothing is said of them yet.
  absl::flat_hash_set<uint64_t> bare_storages_;
  absl::flat_hash_map<std::string, uint32_t> strings_;
  // The device that was written last, and its text's number.
  std::optional<std::pair<Device, uint32_t>> last_device_;
  absl::flat_hash_map<uint64_t, uint32_t> metas_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_VALUE_WRITER_H_
