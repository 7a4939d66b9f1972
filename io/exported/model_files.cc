#include "switchboard/io/exported/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchive = ".pt2";

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

// The form of an archive's name: the one with the longest ending.
const Form* form_of_archive(const std::string& name) {
  const Form* best = nullptr;
  for (const Form& form : kForms)
    if (name.ends_with(form.archive) && (!best || form.archive.size() > best->archive.size()))
      best = &form;
  return best;
}

// The archives of a folder of one form, by name.
std::vector<std::string> archives_in(const fs::path& folder, const Form& form) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (form_of_archive(name) == &form) names.push_back(name);
  }
  SB_CHECK_VALUE(!error, folder.string(), ": ", error.message());
  std::ranges::sort(names);
  return names;
}

ModelFiles find_in_folder(const fs::path& folder, const Form& form) {
  std::vector<std::string> names = archives_in(folder, form);
  const std::string own = name_of(folder) + std::string(form.archive);
  if (std::ranges::find(names, own) != names.end()) names = {own};
  SB_CHECK_VALUE(!names.empty(), folder.string(), ": no model in this folder: expected a file NAME",
                 form.archive, " in it",
                 form.name == "core" ? ", or the folder 'models' of an unpacked archive" : "");
  SB_CHECK_VALUE(names.size() == 1, folder.string(), ": several models: ", quote(names[0]), ", ",
                 quote(names[1]), names.size() > 2 ? ", ..." : "", "; name one");
  ModelFiles files{without(names[0], form.archive), (folder / names[0]).string(),
                   if_exists(folder / form.inputs), if_exists(folder / form.outputs),
                   if_exists(folder / "expected.json")};
  for (const Form& other : kForms) {
    if (other.outputs != form.outputs || &other == &form) continue;
    if (form.name.starts_with("dynamic"))
      files.names_from = if_exists(folder / (files.name + std::string(other.archive)));
  }
  return files;
}

}  // namespace

std::string form_names() {
  std::string names;
  for (const Form& form : kForms) names += str_cat(names.empty() ? "" : ", ", form.name);
  return names;
}

ModelFiles find_model_files(const std::string& path, const std::string& form_name) {
  const auto* form = std::ranges::find(kForms, form_name, &Form::name);
  SB_CHECK_VALUE(form != std::end(kForms), "--form: expected one of ", form_names(), ", got ",
                 quote(form_name));
  SB_CHECK_VALUE(is_there(path), path.empty() ? "''" : path, ": no such file or folder");
  const fs::path folder = path;
  if (is_folder(path) && !is_folder(folder / "models")) return find_in_folder(folder, *form);
  SB_CHECK_VALUE(form->name == "core", path,
                 ": --form chooses among the models of a folder, and this is ",
                 is_folder(path) ? "one unpacked archive" : "a file");
  if (!is_folder(path)) return {without(name_of(path), kArchive), path, "", "", ""};
  return {name_of(path), path, if_exists(folder / "inputs.safetensors"),
          if_exists(folder / "outputs.safetensors"), if_exists(folder / "expected.json")};
}

}  // namespace sb::io
