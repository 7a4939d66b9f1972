// Runs the fuzzer's check, without the fuzzer, on files: each as it is, cut short at every byte,
// and with every byte replaced by some that mean something to a header. Files are those of the
// folders given; names that begin with "ok_" must load, all others must be refused.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "switchboard/tests/saving/load_check.h"

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How many variants loaded.
int check_variants(const std::string& bytes) {
  using sb::fuzz::check_load;
  int loaded = 0;
  for (size_t size = 0; size < bytes.size(); ++size)
    loaded += check_load(std::string_view(bytes).substr(0, size)) == sb::fuzz::Loaded::Yes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char byte : {'\0', '\xff', '0', '9', '-', '"', '[', '}', ' '}) {
      std::string variant = bytes;
      variant[i] = byte;
      loaded += check_load(variant) == sb::fuzz::Loaded::Yes;
    }
  }
  return loaded;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0, faults = 0, loaded = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::filesystem::path& path : files_in(argv[i])) {
      const std::string bytes = read(path);
      const bool expected = path.filename().string().starts_with("ok_");
      const bool got = sb::fuzz::check_load(bytes) == sb::fuzz::Loaded::Yes;
      if (got != expected) {
        std::printf("%s: expected to be %s\n", path.c_str(), expected ? "loaded" : "refused");
        ++faults;
      }
      loaded += check_variants(bytes);
      ++files;
    }
  }
  std::printf("%d files, %d of their variants loaded, %d faults\n", files, loaded, faults);
  if (files == 0) std::printf("no files\n");
  return faults == 0 && files > 0 ? 0 : 1;
}
