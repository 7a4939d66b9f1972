#include "switchboard/io/recording/extracted_calls_test.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {
namespace {

std::string output_of(void (*run)()) {
  const std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  run();
  std::cout.rdbuf(before);
  return out.str();
}

TEST_CASE("An extracted call compiles, and prints what the recorded one did", "[io][recording]") {
  const TemporaryFolder folder;
  std::filesystem::current_path(folder.path());
  REQUIRE(extracted_calls().size() >= 200);
  size_t compared = 0;
  for (const ExtractedCall& call : extracted_calls()) {
    INFO(call.name);
    std::ofstream(call.name + ".bin") << call.data;
    const std::string output = output_of(call.run);
    if (call.printed.empty()) continue;
    CHECK(output == call.printed);
    ++compared;
  }
  CHECK(compared >= 200);
}

}  // namespace
}  // namespace sb::io
