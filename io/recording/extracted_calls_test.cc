#include "switchboard/io/recording/extracted_calls_test.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {
namespace {

// What is printed in a scope.
class Output {
 public:
  Output() : before_(std::cout.rdbuf(out_.rdbuf())) {}
  ~Output() { std::cout.rdbuf(before_); }
  std::string text() const { return out_.str(); }

 private:
  const std::ostringstream out_;
  std::streambuf* const before_;
};

// Makes a folder the current one for a scope.
class InFolder {
 public:
  explicit InFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~InFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_;
};

TEST_CASE("An extracted call compiles, and prints what the recorded one did", "[io][recording]") {
  const TemporaryFolder folder;
  const InFolder in(folder.path());
  REQUIRE(extracted_calls().size() >= 200);
  size_t compared = 0;
  for (const ExtractedCall& call : extracted_calls()) {
    INFO(call.name);
    std::ofstream(call.name + ".bin") << call.data;
    const Output output;
    call.run();
    if (call.printed.empty()) continue;
    CHECK(output.text() == call.printed);
    ++compared;
  }
  CHECK(compared >= 200);
}

}  // namespace
}  // namespace sb::io
