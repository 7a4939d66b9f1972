// The CPU values that a program's inputs are bound to: weights, constants and samples.

#ifndef SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_
#define SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/io/safetensors/saving.h"

namespace sb::tools {

struct TensorSources {
  std::string inputs_path;       // safetensors; empty if there is none
  std::optional<uint64_t> seed;  // makes what the archive and the inputs lack
  bool allow_missing = false;    // leave out what has no source, as fake runs need no data
  // The sizes of inputs that are made, where the program leaves them open.
  io::SymbolNumbers sizes = {};
};

// A value for each of the program's inputs in order: tensors, numbers for inputs that are numbers;
// None for Constant ones and tokens, an undefined tensor for what is left out. Throws ValueError
// that names the file and the tensor for what is missing, or of another dtype or shape than the
// program says.
std::vector<IValue> program_tensors(const io::ModelArchive& archive, const TensorSources& sources);

// What the file `path` expects of the program's results; undefined for constants, numbers and
// mutations. `names` are what the results are called there, where that is not what the program
// calls them: one for each result that is a tensor, in order; else empty.
std::vector<Tensor> expected_outputs(const io::Program& program, const std::string& path,
                                     const std::vector<std::string>& names = {});
// The names of the program's results that are tensors, in order.
std::vector<std::string> output_names(const io::Program& program);

// The metadata of an input that is a tensor, as the archive stores it or the program says.
io::ValueMeta input_meta(const io::ModelArchive& archive, const io::InputSpec& input);

// What --save-weights and --save-inputs write: by dotted name, and by the user's.
TensorMap weights_by_name(const io::ModelArchive& archive, const std::vector<IValue>& values);
TensorMap inputs_by_name(const io::ModelArchive& archive, const std::vector<IValue>& values);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PROGRAM_TENSORS_H_
