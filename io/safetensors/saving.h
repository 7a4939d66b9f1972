// Tensors in files: safetensors, which other programs read too.
//
//   save_tensors("net.safetensors", {{"weight", w}, {"bias", b}});
//   const TensorMap net = load_tensors("net.safetensors");
//
// Any reader of the format sees each tensor by its name, dtype and shape. Beside that, a file keeps
// strides, which tensors share a storage, each tensor's device, by its registered name, and what
// the device's hooks write of its backend metadata; all that stands under one key of the format's
// metadata, "switchboard", and only where it says something.
//
// Thread-safe, as long as nobody writes to the tensors.

#ifndef SWITCHBOARD_IO_SAFETENSORS_SAVING_H_
#define SWITCHBOARD_IO_SAFETENSORS_SAVING_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Tensors by name, in the order of the names.
using TensorMap = std::map<std::string, Tensor, std::less<>>;
// What `safetensors` calls metadata: strings by key, for the caller's own use.
using FileMetadata = std::map<std::string, std::string>;

// Writes the tensors to a new file beside `path`, which then takes its name, so that `path` holds
// the old content or the new, whole. A link at `path` is replaced, not followed, and the new file
// has default permissions. Waits for the devices' queued work. As `save_file` of safetensors, but
// for tensors that share memory, which that refuses: here each is written with all its elements,
// and load_tensors() has them share again. Gradients, and whether a tensor requires one, are not
// saved.
//
// Throws ValueError that names the file and the tensor, and leaves `path` as it is, for a tensor
// that is undefined, on the meta device, fake or otherwise a mode's own, of symbolic sizes,
// quantized, or lazily conjugated or negated; for a tensor named `__metadata__`, metadata under
// "switchboard", and text that is not UTF-8. RuntimeError for what the system refuses.
void save_tensors(const std::string& path, const TensorMap& tensors,
                  const FileMetadata& metadata = {});

struct LoadOptions {
  // Where all tensors go, as `map_location` of torch.load; nullopt: to the device that each was on
  // when it was saved. On meta nothing is read but the header. A device without an index is the
  // current one of its type.
  std::optional<Device> map_location = std::nullopt;
  // A storage may be larger than the tensors saved of it: one column of a matrix takes the matrix.
  // The bytes in between, which are zero, of all storages together; a file that needs more is
  // refused, as its size says nothing of the memory that it takes.
  size_t max_gap_bytes = size_t{64} << 20;
};

// Reads every tensor of a file, into memory of its own, and as it was saved. A file of another
// program gives contiguous tensors on the CPU. Backend metadata goes to the hooks of the device if
// its type is that which the tensor was saved on, else it is dropped.
//
// The file is taken to be hostile: all that the header says is checked before memory is taken for
// elements, which is twice the size of the file and max_gap_bytes at most. Throws, naming the
// file and the tensor, ValueError for what is malformed (see safetensors.h), for strides and
// offsets that do not fit, for bool bytes other than 0 and 1, for tensors that share elements and
// disagree on them, for devices that are not here and for what the hooks refuse;
// NotImplementedError for a dtype that Switchboard lacks; RuntimeError if the file cannot be
// opened.
TensorMap load_tensors(const std::string& path, const LoadOptions& options = {});

// The metadata that were given when the file was saved. Throws as load_tensors, for the header.
FileMetadata load_metadata(const std::string& path);

}  // namespace sb

#endif  // SWITCHBOARD_IO_SAFETENSORS_SAVING_H_
