// The CPU tensors that a program's inputs are bound to: weights, constants and samples.

#ifndef SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_
#define SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/devices/saving/saving.h"
#include "switchboard/tools/io/model_archive.h"

namespace sb::tools {

struct TensorSources {
  std::string inputs_path;       // safetensors; empty if there is none
  std::optional<uint64_t> seed;  // makes what the archive and the inputs lack
  bool allow_missing = false;    // leave undefined what has no source, as fake runs need no data
};

// A tensor for each of the program's inputs in order; undefined for Constant ones. Throws
// ValueError that names the file and the tensor for what is missing, or of another dtype or shape
// than the program says.
std::vector<Tensor> program_tensors(const io::ModelArchive& archive, const TensorSources& sources);

// The same for what the file `path` expects of the program's outputs; undefined for constants and
// mutations.
std::vector<Tensor> expected_outputs(const io::Program& program, const std::string& path);

// The metadata of an input, as the archive stores it or the program says.
const io::TensorMeta& input_meta(const io::ModelArchive& archive, const io::InputSpec& input);

// What --save-weights and --save-inputs write: by dotted name, and by the user's.
TensorMap weights_by_name(const io::ModelArchive& archive, const std::vector<Tensor>& tensors);
TensorMap inputs_by_name(const io::ModelArchive& archive, const std::vector<Tensor>& tensors);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_
