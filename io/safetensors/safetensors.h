// The safetensors format: named tensors, and strings by key, in a file.
//
// A file is an 8-byte little-endian length, a JSON header of that many bytes that gives each
// tensor's dtype, shape and place, and the data, row by row, without gaps or overlaps. The header's
// `__metadata__` maps strings to strings.

#ifndef SWITCHBOARD_IO_SAFETENSORS_SAFETENSORS_H_
#define SWITCHBOARD_IO_SAFETENSORS_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/io/safetensors/input_file.h"

namespace sb::io {

// A tensor as the header describes it.
struct SafetensorsEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  // Its data: bytes from SafetensorsHeader::data_start on.
  int64_t begin = 0;
  int64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their data
  std::map<std::string, std::string> metadata;
  size_t data_start = 0;  // where data begins in the file
};

// Reads and checks a header; what it says of the data then holds of the file. Throws ValueError for
// a file that is malformed (a header longer than the file or than 100 MB, duplicated names, extents
// that leave the data, overlap, leave a gap or are not the size of the shape, more than 64
// dimensions, metadata that are not strings) and NotImplementedError for a dtype that Switchboard
// lacks; both name the file and the tensor.
SafetensorsHeader read_safetensors_header(const InputFile& file);

// The bytes of a file up to the data: the length, and the header, padded so that the data is
// aligned. `data_start` is not read. Throws ValueError that names `path` for a name or text that is
// not UTF-8, for a tensor named `__metadata__`, and for a header that could not be read again.
std::string safetensors_header_bytes(const std::string& path, const SafetensorsHeader& header);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_SAFETENSORS_H_
