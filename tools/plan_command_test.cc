#include "switchboard/tools/plan_command.h"

#include <sstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/io/exported/zip_reader.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/tools/exit_status.h"

namespace sb::tools {
namespace {

using Catch::Contains;
using io::TemporaryFolder;

const std::string kModel = "examples/digits_mlp";

// What `sb plan WORDS` prints, and that its status is 0.
std::string plan(const std::vector<std::string>& words) {
  std::ostringstream out;
  const int status = plan_command(CommandLine::parse(plan_spec(), words), out);
  CHECK(status == kHolds);
  return out.str();
}

TEST_CASE("a plan tells FLOPs, live ranges, the peak and an arena", "[tools][plan]") {
  const std::string text = plan({kModel});
  CHECK_THAT(text, Contains("digits_mlp (ATEN, 5 nodes) planned on fake:cuda:0"));
  // (32, 64) by (64, 64), then by (64, 10).
  CHECK_THAT(text, Contains("aten::addmm     float32[32, 64]   262,144"));
  CHECK_THAT(text, Contains("aten::addmm     float32[32, 10]    40,960"));
  CHECK_THAT(text, Contains("fc1.weight   cuda:0   16,384   0-"));
  CHECK_THAT(text, Contains("relu         cuda:0    8,192   2-4               0"));
  CHECK_THAT(text, Contains("305,152 FLOPs in 5 calls"));
  CHECK_THAT(text, Contains("peak on cuda:0: 43,816 bytes, 27,432 of them weights and inputs"));
  CHECK_THAT(text, Contains("arena on cuda:0: 16,384 bytes for 3 temporary storages"));
  CHECK_THAT(plan({kModel, "--summary"}), Contains("aten::addmm         2   303,104"));
}

TEST_CASE("the planned peak is the one that the CPU counts", "[tools][plan]") {
  const std::string off = "counted on the cpu: 43,816 bytes; the plan is 0 % off";
  CHECK_THAT(plan({kModel, "--check"}), Contains(off));
  CHECK_THAT(plan({kModel, "--check", "--training"}), Contains(off));
  CHECK_THAT(plan({kModel, "--device", "cpu"}), Contains("peak on cpu: 43,816 bytes"));
}

TEST_CASE("the page in the README is what the command prints", "[tools][plan]") {
  CHECK_THAT(io::read_file("tools/README.md"), Contains(plan({kModel, "--check"})));
}

TEST_CASE("the plan for ranks on the page about them is what the command prints", "[tools][plan]") {
  const std::string text =
      plan({"tools/ranks/all_reduce.pt2", "--mesh", "data=2,tensor=1", "--link", "50GB/s",
            "--latency", "2us", "--flops", "300TFLOP/s", "--device-memory", "80GB"});
  std::istringstream lines(text.substr(text.find("planned for")));
  std::string shown;
  for (std::string line; std::getline(lines, line);)
    shown += (line.empty() ? "" : "    " + line) + "\n";
  CHECK_THAT(io::read_file("docs/distributed.md"), Contains(shown));
}

TEST_CASE("a plan is JSON for programs", "[tools][plan]") {
  const TemporaryFolder folder;
  const std::string path = folder / "plan.json";
  plan({kModel, "--json", path});
  const io::JsonDocument json = io::JsonDocument::parse(io::read_file(path), path);
  CHECK(json.root().at("flops").to_int() == 305152);
  CHECK(json.root().at("ops").elements().size() == 5);
  CHECK(json.root().at("devices").elements().at(0).at("peak_bytes").to_int() == 43816);
  CHECK_THROWS_WITH(plan({kModel, "--json", (folder / "none") + "/plan.json"}),
                    Contains("cannot be opened for writing"));
}

TEST_CASE("a plan for ranks tells what each kind sends over which dimension, and how long",
          "[tools][plan]") {
  const std::string collectives = "tools/ranks/all_reduce.pt2";
  const std::string text = plan({collectives, "--ranks", "2", "--link", "50GB/s"});
  CHECK_THAT(text, Contains("planned for 2 ranks, all=2"));
  // An all_reduce of 48 bytes, which go with the 64 that ranks compare, and an all_gather of as
  // many.
  CHECK_THAT(text, Contains("ranks   number   peak bytes   sent over all\n"
                            "0-1          2          192             176\n"));
  CHECK_THAT(text, Contains("time in collectives: 0.015 ms at 50 GB/s and 5 us a step"));
  CHECK_THAT(plan({collectives, "--mesh", "data=2,tensor=1", "--link", "1kB/s", "--latency", "0s"}),
             Contains("data                   2       2   96 ms   144 ms            96 ms"));
  // 305,152 FLOPs, and no collectives.
  CHECK_THAT(
      plan({kModel, "--mesh", "data=64,tensor=16", "--link", "1GB/s", "--flops", "1GFLOP/s"}),
      Contains("0-1023    1,024       43,816\n") &&
          Contains("time in computing: 0.3052 ms; together, one after the other: 0.3052 ms"));
}

TEST_CASE("a plan for ranks says what fits a device's memory", "[tools][plan]") {
  CHECK_THAT(plan({kModel, "--ranks", "2", "--device-memory", "1kB"}),
             Contains("a rank's peak of 43,816 bytes does not fit 1,000 bytes; largest batch: the "
                      "program leaves no batch size open"));
  const auto largest = [](const std::string& memory) {
    const std::string text = plan(
        {"examples/tiny_bert", "--form", "dynamic", "--ranks", "4", "--device-memory", memory});
    return text.substr(text.rfind("; ") + 2);
  };
  // Of two, as the program was exported, and as few as it takes.
  CHECK(largest("108044B") == "largest batch that fits, and that the program takes: 2\n");
  CHECK(largest("108043B") == "largest batch: none that the program takes fits\n");
  CHECK(largest("80GB") == "largest batch that fits, and that the program takes: 7,716,040\n");
}

TEST_CASE("flags for ranks that do not fit each other are refused", "[tools][plan]") {
  CHECK_THROWS_WITH(plan({kModel, "--ranks", "3", "--mesh", "data=2"}),
                    "--mesh: expected sizes that make up 3 ranks, got 2");
  CHECK_THROWS_WITH(plan({kModel, "--mesh", "a=1000000,b=1000000"}), Contains("--mesh: b=1000000"));
  CHECK_THROWS_WITH(plan({kModel, "--ranks", "2", "--link", "5GB"}),
                    "--link: expected a number with one of the units B/s, kB/s, MB/s, GB/s, TB/s; "
                    "got '5GB'");
  CHECK_THROWS_WITH(plan({kModel, "--link", "5GB/s"}),
                    "--link: expected --ranks or --mesh with it");
  CHECK_THROWS_WITH(plan({kModel, "--ranks", "2", "--flops", "1GFLOP/s"}),
                    "--flops: expected --link with it");
  CHECK_THROWS_WITH(plan({kModel, "--ranks", "2", "--check"}), Contains("the ranks are not here"));
}

TEST_CASE("what cannot be planned is refused with its name", "[tools][plan]") {
  CHECK_THROWS_WITH(plan({kModel, "--device", "fake:toaster"}), Contains("toaster"));
  CHECK_THROWS_WITH(plan({kModel, "--device", "cuda:0"}), Contains("no device 'cuda:0'"));
  // An operator that must look at data names its node.
  const TemporaryFolder folder;
  const io::ZipReader zip = io::ZipReader::open(kModel + "/digits_mlp.pt2");
  for (const std::string& name : zip.names())
    io::write_file(folder / name, zip.read(name, *zip.find_size(name)));
  const std::string root = folder / zip.names()[0].substr(0, zip.names()[0].find('/'));
  const std::string program = root + "/models/model.json";
  io::write_file(program, io::replaced(io::read_file(program), "torch.ops.aten.relu.default",
                                       "torch.ops.aten.nonzero.default"));
  CHECK_THROWS_WITH(plan({root}), Contains("nodes[2]") && Contains("aten::nonzero") &&
                                      Contains("depends on the data"));
}

}  // namespace
}  // namespace sb::tools
