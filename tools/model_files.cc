#include "switchboard/tools/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "switchboard/core/error.h"
#include "switchboard/devices/saving/input_file.h"
#include "switchboard/devices/saving/json_document.h"
#include "switchboard/devices/saving/quote.h"

namespace sb::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchive = ".pt2";
constexpr std::string_view kTraining = ".training.pt2";
constexpr size_t kMaxLabelBytes = size_t{64} << 20;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string if_exists(const fs::path& path) { return is_there(path) ? path.string() : ""; }

// The name of a path's last part, trailing slashes and dots aside.
std::string name_of(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
}

std::string without(std::string name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

// The archives of a folder of one dialect, by name.
std::vector<std::string> archives_in(const fs::path& folder, bool training) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(kTraining) ? training : !training && name.ends_with(kArchive))
      names.push_back(name);
  }
  SB_CHECK_VALUE(!error, folder.string(), ": ", error.message());
  std::ranges::sort(names);
  return names;
}

ModelFiles find_in_folder(const fs::path& folder, bool training) {
  const std::string_view suffix = training ? kTraining : kArchive;
  std::vector<std::string> names = archives_in(folder, training);
  const std::string own = name_of(folder) + std::string(suffix);
  if (std::ranges::find(names, own) != names.end()) names = {own};
  SB_CHECK_VALUE(!names.empty(), folder.string(), ": no model in this folder: expected a file NAME",
                 suffix, " in it",
                 training ? "" : ", or the folder 'models' of an unpacked archive");
  SB_CHECK_VALUE(names.size() == 1, folder.string(), ": several models: ", io::quote(names[0]),
                 ", ", io::quote(names[1]), names.size() > 2 ? ", ..." : "", "; name one");
  const char* outputs = training ? "outputs.training.safetensors" : "outputs.safetensors";
  return {without(names[0], suffix), (folder / names[0]).string(),
          if_exists(folder / "inputs.safetensors"), if_exists(folder / outputs),
          if_exists(folder / "expected.json")};
}

}  // namespace

ModelFiles find_model_files(const std::string& path, bool training) {
  SB_CHECK_VALUE(is_there(path), path.empty() ? "''" : path, ": no such file or folder");
  const fs::path folder = path;
  if (is_folder(path) && !is_folder(folder / "models")) return find_in_folder(folder, training);
  SB_CHECK_VALUE(!training, path, ": --training chooses among the models of a folder, and this is ",
                 is_folder(path) ? "one unpacked archive" : "a file");
  if (!is_folder(path)) return {without(name_of(path), kArchive), path, "", "", ""};
  return {name_of(path), path, if_exists(folder / "inputs.safetensors"),
          if_exists(folder / "outputs.safetensors"), if_exists(folder / "expected.json")};
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
