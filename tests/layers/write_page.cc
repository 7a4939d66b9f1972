// Writes docs/layers.md anew, in the folder that Bazel was called in.

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "switchboard/tests/layers/page.h"

int main() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const sb::layers::Page page = sb::layers::make_page();
  for (const std::string& broken : page.broken) std::cerr << "BROKEN: " << broken << "\n";
  std::ofstream file((workspace ? std::string(workspace) + "/" : "") + "docs/layers.md");
  file << page.text << std::flush;
  if (!file) std::cerr << "docs/layers.md cannot be written\n";
  return file && page.broken.empty() ? 0 : 1;
}
