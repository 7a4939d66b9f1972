// Named tensors in a file: the safetensors format.
//
// A file is an 8-byte little-endian length, a JSON header of that many bytes that gives each
// tensor's dtype, shape and place, and the data, without gaps or overlaps.

#ifndef SWITCHBOARD_TOOLS_IO_SAFETENSORS_H_
#define SWITCHBOARD_TOOLS_IO_SAFETENSORS_H_

#include <functional>
#include <map>
#include <string>

#include "switchboard/core/tensor.h"

namespace sb::io {

// Tensors by name, in the order of the names.
using TensorMap = std::map<std::string, Tensor, std::less<>>;

// Reads every tensor of a file: contiguous, on the CPU, each with a storage of its own. Ignores
// `__metadata__`. Throws ValueError for a file that is malformed (a header longer than the file or
// than 100 MB, duplicated names, extents that leave the data, overlap, leave a gap or are not the
// size of the shape, bool bytes other than 0 and 1) and NotImplementedError for a dtype that
// Switchboard lacks; both name the file and the tensor. RuntimeError if the file cannot be opened.
TensorMap read_safetensors(const std::string& path);

// Writes the tensors, which are on the CPU and may be strided, to a file: to a new one beside it
// first, which then takes its name, so that `path` holds the old content or the new, whole. Throws
// ValueError for a tensor that is undefined, not on the CPU, lazily conjugated or negated, or of a
// dtype that the format lacks (complex128), and for the name `__metadata__`; RuntimeError for what
// the system refuses.
void write_safetensors(const std::string& path, const TensorMap& tensors);

}  // namespace sb::io

#endif  // SWITCHBOARD_TOOLS_IO_SAFETENSORS_H_
