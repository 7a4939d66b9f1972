#include "switchboard/tests/failures/failure_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
Tensor numbers(int64_t n) {
  const Tensor t = empty_on(DeviceType::CPU, {n}, DType::Float32);
  for (int64_t i = 0; i < n; ++i) t.data<float>()[i] = static_cast<float>(i) + 0.5f;
  return t;
}

TEST_CASE("A call is left with its exact arguments, and is not made") {
  const io::TemporaryFolder folder;
  const OperatorHandle crashes = default_dispatcher().find_op_or_throw("fault::crashes");
  const std::vector<std::string> paths =
      leave_call(folder / "deep/down", "call", crashes, {numbers(3), 4});
  REQUIRE(paths == std::vector<std::string>{folder / "deep/down/call.cc"});
  const std::string text = text_of(paths[0]);
  CHECK_THAT(text, Contains("{0.5, 1.5, 2.5}") || Contains("{0.5f, 1.5f, 2.5f}"));
  CHECK_THAT(text, Contains("Stack stack = {x0, int64_t{4}};"));
  CHECK_THAT(text, Contains("find_op_or_throw(\"fault::crashes\")"));
  CHECK_THAT(text, Contains("op.call_boxed(&stack);"));
  CHECK(std::count(text.begin(), text.end(), '\n') <= 30);
  CHECK_FALSE(std::filesystem::exists(folder / "deep/down/call.sbr"));
}

TEST_CASE("Many elements lie in a file beside the program") {
  const io::TemporaryFolder folder;
  const OperatorHandle crashes = default_dispatcher().find_op_or_throw("fault::crashes");
  const std::vector<std::string> paths =
      leave_call(folder.path(), "call", crashes, {numbers(5000), 4});
  REQUIRE(paths.size() == 2);
  CHECK(std::filesystem::file_size(paths[1]) == 20000);
}

TEST_CASE("Failures are left where somebody says, or with a test's outputs") {
  setenv("TEST_UNDECLARED_OUTPUTS_DIR", "/outputs", 1);
  CHECK(failure_folder("") == "/outputs/");
  CHECK(failure_folder("below") == "/outputs/below");
  CHECK(failure_folder("/elsewhere") == "/elsewhere");
  unsetenv("TEST_UNDECLARED_OUTPUTS_DIR");
  setenv("BUILD_WORKING_DIRECTORY", "/here", 1);
  CHECK(failure_folder("below") == "/here/below");
}

TEST_CASE("A file that cannot be written is named") {
  CHECK_THROWS_WITH(leave_file("/dev/null", "call.cc", ""), Contains("/dev/null/call.cc"));
}

}  // namespace
}  // namespace sb::test
