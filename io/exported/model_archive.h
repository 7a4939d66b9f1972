// A program and its weights: a `.pt2` file, or the folder that one unpacks to.

#ifndef SWITCHBOARD_IO_EXPORTED_MODEL_ARCHIVE_H_
#define SWITCHBOARD_IO_EXPORTED_MODEL_ARCHIVE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/io/exported/program.h"

namespace sb::io {

// A parameter, buffer or tensor constant of an archive.
struct StoredTensor {
  std::string name;  // dotted, as in the module: "fc1.weight"
  bool is_param = false;
  TensorMeta meta;
  // On the CPU, with the sizes, strides and offset of `meta`. Tensors of one record share one
  // storage. Undefined where an unpacked archive leaves the record out.
  Tensor data;
};

struct ModelArchive {
  std::string path;  // of the file or folder, for messages
  Program program;
  // In the order of the archive. Names are unique in each.
  std::vector<StoredTensor> weights;    // parameters and persistent buffers
  std::vector<StoredTensor> constants;  // tensor constants and non-persistent buffers

  // Where each name is in `weights` and `constants`.
  absl::flat_hash_map<std::string, size_t> weight_index;
  absl::flat_hash_map<std::string, size_t> constant_index;

  // What is bound to an input of kind Parameter, Buffer or TensorConstant; every such input of
  // `program` has one, of the dtype and sizes that the program says. nullptr for the other kinds.
  const StoredTensor* stored(const InputSpec& input) const;
  // Whether every stored tensor has its data: true for a `.pt2` file, and for a folder with all
  // records.
  bool has_data() const;
};

// Reads the whole archive into memory. `path` is a `.pt2` file or an unpacked archive's root
// folder, which may lack its weight records and the `archive_format`, `archive_version` and
// `byteorder` files. Refused are: what is no archive of format `pt2`, version 0 and little-endian
// bytes; what ZipReader refuses; no program or several; layouts of PyTorch before 2.9 and pickled
// weights; what parse_program refuses; stored tensors that are missing, differ from the program in
// dtype or sizes, leave their record, or have bool bytes other than 0 and 1. Throws ValueError
// (malformed, damaged, missing), NotImplementedError (well-formed, unsupported) or RuntimeError
// (the file cannot be opened, no memory), each naming the file and the record.
ModelArchive read_model_archive(const std::string& path);
// The same for the bytes of a `.pt2` file. `name` is for messages.
ModelArchive read_model_archive(absl::Span<const char> bytes, const std::string& name);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_MODEL_ARCHIVE_H_
