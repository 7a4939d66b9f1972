// From what the command line calls a model to the files that it is made of.

#ifndef SWITCHBOARD_TOOLS_MODEL_FILES_H_
#define SWITCHBOARD_TOOLS_MODEL_FILES_H_

#include <string>
#include <vector>

#include "switchboard/io/exported/model_files.h"
#include "switchboard/tools/command_line.h"

namespace sb::tools {

using io::find_model_files;
using io::form_names;
using io::ModelFiles;

// What --form says, or --training, which is the same as --form training.
std::string form_of(const CommandLine& line);

// The numbers of the array "labels", one a sample: classes, or values to predict. Empty if the file
// has none. Throws ValueError naming the file and the place.
std::vector<double> read_labels(const std::string& path);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_MODEL_FILES_H_
