#include "switchboard/tools/model_files.h"

#include <optional>

#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/json_document.h"

namespace sb::tools {
namespace {

constexpr size_t kMaxLabelBytes = size_t{64} << 20;

}  // namespace

std::string form_of(const CommandLine& line) {
  SB_CHECK_VALUE(!line.has("form") || !line.has("training"),
                 "--form and --training both name the form of the model");
  return line.get("form", line.has("training") ? "training" : "core");
}

std::vector<double> read_labels(const std::string& path) {
  const io::JsonDocument document =
      io::JsonDocument::parse(io::InputFile(path).read_all(kMaxLabelBytes), path);
  std::vector<double> labels;
  if (const std::optional<io::JsonValue> array = document.root().find("labels"))
    for (const io::JsonValue& label : array->elements()) labels.push_back(label.to_double());
  return labels;
}

}  // namespace sb::tools
