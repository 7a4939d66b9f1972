// From what a user calls a model to the files that it is made of.

#ifndef SWITCHBOARD_IO_EXPORTED_MODEL_FILES_H_
#define SWITCHBOARD_IO_EXPORTED_MODEL_FILES_H_

#include <string>
#include <string_view>

namespace sb::io {

// A form in which PyTorch exports a model, and its files in a model's folder.
struct Form {
  std::string_view name;
  std::string_view archive;  // after the model's name
  std::string_view inputs;
  std::string_view outputs;
};
// "training": before run_decompositions(). "dynamic": with sizes left open; its results may be
// called otherwise than those of the form whose outputs it shares. "joint": loss and gradients.
inline constexpr Form kForms[] = {
    {"core", ".pt2", "inputs.safetensors", "outputs.safetensors"},
    {"training", ".training.pt2", "inputs.safetensors", "outputs.training.safetensors"},
    {"dynamic", ".dynamic.pt2", "inputs.safetensors", "outputs.safetensors"},
    {"dynamic.training", ".dynamic.training.pt2", "inputs.safetensors",
     "outputs.training.safetensors"},
    {"joint", ".joint.pt2", "inputs.joint.safetensors", "outputs.joint.safetensors"},
};
// "core, training, ...": for messages.
std::string form_names();

// Paths are empty where there is no such file.
struct ModelFiles {
  std::string name;     // "digits_mlp"
  std::string archive;  // a `.pt2` file, or an unpacked archive's root folder
  std::string inputs;   // safetensors: the user inputs by name
  std::string outputs;  // safetensors: the results by name
  std::string labels;   // expected.json
  // The archive whose names `outputs` has, where that may be another: NAME.pt2 for
  // NAME.dynamic.pt2.
  std::string names_from = {};
};

// `path` is one of
//   - a `.pt2` file: nothing but the archive is taken;
//   - an unpacked archive: a folder with a folder `models`;
//   - a folder with a model, its inputs and outputs: NAME.pt2, inputs.safetensors,
//     outputs.safetensors, expected.json, where NAME is the folder's own if there are several.
//     Another `form` has other files: see kForms.
// Throws ValueError that says what was looked for.
ModelFiles find_model_files(const std::string& path, const std::string& form = "core");

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_MODEL_FILES_H_
