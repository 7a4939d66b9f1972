// From what a user calls a model to the files that it is made of.

#ifndef SWITCHBOARD_TOOLS_MODEL_FILES_H_
#define SWITCHBOARD_TOOLS_MODEL_FILES_H_

#include <string>
#include <vector>

namespace sb::tools {

// Paths are empty where there is no such file.
struct ModelFiles {
  std::string name;     // "digits_mlp"
  std::string archive;  // a `.pt2` file, or an unpacked archive's root folder
  std::string inputs;   // safetensors: the user inputs by name
  std::string outputs;  // safetensors: the user outputs by name
  std::string labels;   // expected.json
};

// `path` is one of
//   - a `.pt2` file: nothing but the archive is taken;
//   - an unpacked archive: a folder with a folder `models`;
//   - a folder with a model, its inputs and outputs: NAME.pt2, inputs.safetensors,
//     outputs.safetensors, expected.json, where NAME is the folder's own if there are several. With
//     `training`, NAME.training.pt2 and outputs.training.safetensors instead.
// Throws ValueError that says what was looked for.
ModelFiles find_model_files(const std::string& path, bool training);

// The numbers of the array "labels", one a sample: classes, or values to predict. Empty if the file
// has none. Throws ValueError naming the file and the place.
std::vector<double> read_labels(const std::string& path);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_MODEL_FILES_H_
