// The command as a user meets it: its pages, its errors, its exit status.

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/io/exported/zip_reader.h"

namespace sb::tools {
namespace {

using Catch::Contains;
using io::TemporaryFolder;

const std::string kModel = "examples/digits_mlp";
const std::string kArchive = kModel + "/digits_mlp.pt2";
const std::string kInputs = kModel + "/inputs.safetensors";

struct Outcome {
  int status;        // of a program that a signal ended: 128 and more
  std::string text;  // both streams
};

Outcome sb(const std::string& words) {
  Outcome outcome;
  FILE* pipe = ::popen(("tools/sb " + words + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
    outcome.text.append(buffer, n);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// Runs `sb` and checks its status; gives what it printed.
std::string sb(const std::string& words, int status) {
  const Outcome outcome = sb(words);
  INFO("sb " << words << "\n" << outcome.text);
  CHECK(outcome.status == status);
  return outcome.text;
}

// Unpacks the example, so that a test can spoil one record.
std::string unpack(const TemporaryFolder& folder) {
  const io::ZipReader zip = io::ZipReader::open(kArchive);
  for (const std::string& name : zip.names())
    io::write_file(folder / name, zip.read(name, *zip.find_size(name)));
  const std::string first = zip.names()[0];
  return folder / first.substr(0, first.find('/'));
}

// Replaces text in the program of an unpacked archive.
void edit_program(const std::string& root, std::string_view from, std::string_view to) {
  const std::string path = root + "/models/model.json";
  io::write_file(path, io::replaced(io::read_file(path), from, to));
}

TEST_CASE("metadata alone are compared where that is asked", "[tools][sb]") {
  const std::string text = sb("run " + kModel + " --device fake:cuda:0 --check-metadata", 0);
  CHECK_THAT(text, Contains("ok: every value has the dtype, sizes and strides that were recorded"));
  CHECK_THAT(sb("run " + kModel + " --check-metadata", 0), !Contains("outputs as expected"));
  CHECK_THAT(sb("run " + kModel + " --check-metadata --expect x", 2), Contains("--expect"));
}

TEST_CASE("the example runs on every device", "[tools][sb]") {
  const std::string text = sb("run " + kModel + " --device all", 0);
  CHECK_THAT(text, Contains("digits_mlp (ATEN, 5 nodes, 4,810 parameters)  " + kArchive));
  CHECK_THAT(text, Contains("in   x float32[32, 64]  " + kInputs));
  CHECK_THAT(text, Contains("out  addmm_1 float32[32, 10]  " + kModel + "/outputs.safetensors"));
  CHECK_THAT(text, Contains("cpu           31/32 96.88%"));
  CHECK_THAT(text, Contains("dummy         31/32 96.88%"));
  CHECK_THAT(text, Contains("CPU 5"));
  CHECK_THAT(text, Contains("dummy 5"));
  CHECK_THAT(text, Contains("left to the cpu by dummy   calls   bytes there   bytes back\n"
                            "aten::addmm                2"));
  CHECK_THAT(text, !Contains("left to the cpu by cpu"));
  CHECK_THAT(text, Contains("fake gives addmm_1 float32[32, 10] on cpu"));
  CHECK_THAT(text, Contains("fake:cuda:0 gives addmm_1 float32[32, 10] on cuda:0"));
  CHECK_THAT(text, Contains("ok"));
}

TEST_CASE("the other dialect gives the same", "[tools][sb]") {
  const std::string text = sb("run " + kModel + " --training --device all", 0);
  CHECK_THAT(text, Contains("digits_mlp (TRAINING, 3 nodes"));
  CHECK_THAT(text, Contains("31/32 96.88%"));
}

TEST_CASE("a file is run with what the command line gives", "[tools][sb]") {
  CHECK_THAT(sb("run " + kArchive + " --inputs " + kInputs + " --expect " + kModel +
                    "/outputs.safetensors",
                0),
             Contains("max |diff|"));
  CHECK_THAT(sb("run " + kArchive + " --device fake:cuda:0", 0), Contains("no data"));
}

TEST_CASE("the trace names operators, keys and source lines", "[tools][sb]") {
  CHECK_THAT(sb("run " + kModel + " --trace", 0),
             Contains("aten::addmm  CPU  ops/") && Contains("permute"));
}

TEST_CASE("what a run found is there as JSON", "[tools][sb]") {
  const auto json = nlohmann::json::parse(sb("run " + kModel + " --device all --json", 0));
  CHECK(json["program"] == "digits_mlp");
  REQUIRE(json["places"].size() >= 3);
  CHECK(json["places"][0]["place"] == "cpu");
  CHECK(json["places"][0]["holds"] == true);
  CHECK(json["places"][0]["error"].is_null());
  CHECK(json["places"][0]["max_difference"].is_number());
  CHECK(json["places"][0]["kernels"]["CPU"] > 0);
  CHECK(json["places"].back()["outputs"].size() == 1);  // of a fake place
  CHECK_THAT(sb("run " + kModel + " --json --trace", 2), Contains("not both"));

  const auto checked = nlohmann::json::parse(sb("check " + kModel + " --json", 0));
  CHECK(checked["missing"].empty());
}

TEST_CASE("every command prints one JSON document where that is asked", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string run = folder / "run.sbr", dump = folder / "dump.txt", out = " -o " + run;
  const std::string in_folder = " -o " + (folder / "made");
  sb("record " + kModel + out, 0);
  io::write_file(dump, sb("dump", 0));
  const std::map<std::string, std::vector<std::string>> arguments = {
      {"run", {kModel}},
      {"check", {kModel}},
      {"trace", {kModel, kModel + in_folder}},
      {"plan",
       {kModel, kModel + " --check", kModel + " --dynamic batch=..", kModel + " --ranks 2"}},
      {"guards", {kModel}},
      {"check-ranks", {"tools/ranks/all_reduce.pt2 --ranks 2"}},
      {"ops", {"", "'aten::add*'"}},
      {"table", {"aten::relu", "higher_order::cond"}},
      {"explain", {"aten::relu", "aten::relu --device fake", "higher_order::cond"}},
      {"dump", {""}},
      {"diff", {dump + " " + dump, run + " " + run}},
      {"record", {kModel + out}},
      {"replay", {run}},
      {"extract", {run + " 3" + in_folder}},
      {"page", {in_folder, run + in_folder}}};
  // The commands are those of the help.
  std::istringstream help(sb("--help", 0));
  size_t commands = 0;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  sb ")) continue;
    const std::string command = line.substr(5, line.find(' ', 5) - 5);
    CAPTURE(command);
    REQUIRE(arguments.contains(command));
    ++commands;
    for (const std::string& words : arguments.at(command)) {
      const std::string text = sb(command + " " + words + " --json", 0);
      CAPTURE(words, text);
      CHECK(nlohmann::json::accept(text));
    }
  }
  CHECK(commands >= arguments.size());
}

TEST_CASE("a fake run calls symbols as the file does", "[tools][sb]") {
  CHECK_THAT(sb("run examples/tiny_bert --form dynamic --device fake", 0),
             Contains("float32[s72, s53, 99] on cpu"));
}

TEST_CASE("further runs for the time leave the peak as it is", "[tools][sb]") {
  const auto peak = [](const std::string& flags) {
    const auto json = nlohmann::json::parse(sb("run " + kModel + " --json" + flags, 0));
    return json["places"][0]["peak_bytes"].get<int64_t>();
  };
  CHECK(peak(" --repeat 2") == peak(""));
}

TEST_CASE("a size for a program that has no dynamic one is refused", "[tools][sb]") {
  CHECK_THAT(sb("run " + kModel + " --dim batch=8", 2), Contains("it has none"));
}

TEST_CASE("a run is recorded, made again, compared and taken apart", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string run = folder / "run.sbr", again = folder / "again.sbr";
  CHECK_THAT(sb("record " + kModel + " -o " + run, 0),
             Contains(": 5 kernels ran, 3 different ones, "));
  sb("record " + kModel + " -o " + again, 0);
  CHECK_THAT(sb("replay " + run, 0), Contains("5 calls made again, 5 kernels ran\n"));
  CHECK_THAT(sb("diff " + run + " " + again, 0), Contains("ok: the same calls"));
  sb("extract " + run + " 3 -o " + (folder / "repro"), 0);
  CHECK(std::filesystem::exists(folder / "repro.cc"));
  CHECK(std::filesystem::exists(folder / "repro.py"));
  CHECK_THAT(sb("extract " + run + " 99999 -o " + (folder / "repro"), 2),
             Contains("expected the number of a call, 0 to 4"));
  CHECK_THAT(sb("replay " + kInputs, 2), Contains("inputs.safetensors"));
}

TEST_CASE("a program with collectives runs on ranks, and the first prints", "[tools][sb]") {
  const std::string program = "tools/ranks/all_reduce.pt2";
  const std::string page =
      sb("--ranks 2 run " + program + " --random-weights 1 --check-metadata", 0);
  CHECK_THAT(page, Contains("ok: every value has the dtype, sizes and strides that were recorded"));
  CHECK(page.find("ok:") == page.rfind("ok:"));
  CHECK_THAT(sb("run " + program + " --random-weights 1 --check-metadata", 2),
             Contains("no ranks were started on this thread"));
  CHECK_THAT(sb("--ranks 3 run " + program + " --random-weights 1 --check-metadata", 2),
             Contains("group_size is 2, and the group has 3 ranks"));
}

TEST_CASE("ranks with parts of the batch give what one gives", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string model = "run examples/tiny_bert --form dynamic";
  const std::string batch8 = model + " --dim batch=8 --dim seq=5 --random-weights 1";
  sb(batch8 + " --save-inputs " + (folder / "in.safetensors") + " --save-outputs " +
         (folder / "out.safetensors"),
     0);
  const std::string expects = " run examples/tiny_bert --form dynamic --parallel data --inputs " +
                              (folder / "in.safetensors") + " --expect " +
                              (folder / "out.safetensors");
  for (const std::string ranks : {"1", "2", "4"})
    CHECK_THAT(sb("--ranks " + ranks + expects, 0), Contains("ok: outputs as expected"));

  CHECK_THAT(sb("--ranks 3" + expects, 2),
             Contains("input 'input_ids': expected a batch that 3 ranks can divide, got 8"));
  CHECK_THAT(sb("--ranks 2 run " + kModel + " --parallel data", 2),
             Contains("has no input whose first dimension, the batch, is dynamic"));
  CHECK_THAT(sb(model + " --parallel data", 2), Contains("--parallel: there is one rank"));
}

TEST_CASE("parts of a batch give the bits of one rank where rows come in fours", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string model = "run examples/tiny_bert --form dynamic";
  sb(model + " --dim batch=16 --dim seq=8 --random-weights 1 --save-inputs " +
         (folder / "in.safetensors") + " --save-outputs " + (folder / "out.safetensors"),
     0);
  for (const std::string ranks : {"2", "4"})
    CHECK_THAT(
        sb("--ranks " + ranks + " " + model + " --parallel data --rtol 0 --atol 0 --inputs " +
               (folder / "in.safetensors") + " --expect " + (folder / "out.safetensors"),
           0),
        Contains("ok: outputs as expected"));
}

TEST_CASE("ranks with parts of the weights give what one gives, and say what they send",
          "[tools][sb]") {
  for (const std::string& model :
       {kModel, kModel + " --training", std::string("examples/tiny_bert"),
        std::string("examples/tiny_bert --form dynamic")})
    for (const std::string ranks : {"1", "2", "4"})
      CHECK_THAT(sb("--ranks " + ranks + " run " + model + " --parallel tensor", 0),
                 Contains("ok: outputs as expected; every value has the dtype and sizes of its "
                          "placement"));

  const std::string page = sb("--ranks 2 run " + kModel + " --parallel tensor --placements", 0);
  CHECK_THAT(page, Contains("tensor parallel over 2 ranks: 3 of 4 weights are sharded; a rank has "
                            "9,640 of their 19,240 bytes\n"
                            "collective   calls   bytes of a rank\n"
                            "all_reduce       1             1,280\n"));
  CHECK_THAT(page, Contains("p_fc1_weight   weight          float32[64, 64]   Shard(0)\n") &&
                       Contains("addmm          aten::addmm     float32[32, 64]   Shard(1)\n") &&
                       Contains("addmm_1        aten::addmm     float32[32, 10]   Partial, "
                                "Replicate\n"));
  CHECK_THAT(page, Contains("all_reduce   addmm_1   Partial   Replicate   1,280   is output 0 of "
                            "the program\n"));
  const auto json =
      nlohmann::json::parse(sb("--ranks 2 run " + kModel + " --parallel tensor --json", 0));
  CHECK(json["parallel"]["ranks"] == 2);
  CHECK(json["parallel"]["collectives"][0]["operator"] == "_c10d_functional::all_reduce");
  CHECK(json["parallel"]["values"][0]["placements"][0] == "Shard(0)");

  CHECK_THAT(sb("--ranks 2 run " + kModel + " --parallel rows", 2),
             Contains("--parallel: expected data or tensor, got rows"));
  CHECK_THAT(sb("--ranks 2 run " + kModel + " --parallel data --placements", 2),
             Contains("--placements: expected --parallel tensor with it"));
  CHECK_THAT(sb("--ranks 2 run tools/ranks/all_reduce.pt2 --random-weights 1 --check-metadata "
                "--parallel tensor",
                2),
             Contains("tensor parallel: ") && Contains("the program knows ranks itself"));
}

TEST_CASE("outputs that differ are status 1", "[tools][sb]") {
  const TemporaryFolder folder;
  sb("run " + kModel + " --save-outputs " + (folder / "saved.safetensors"), 0);
  std::string bytes = io::read_file(folder / "saved.safetensors");
  bytes.back() = 0x42;  // the exponent of the last float
  io::write_file(folder / "other.safetensors", bytes);
  const std::string run = "run " + kModel + " --expect ";
  sb(run + (folder / "saved.safetensors") + " --atol 0 --rtol 0", 0);
  const std::string text = sb(run + (folder / "other.safetensors"), 1);
  CHECK_THAT(text, Contains("output 'addmm_1': 1 of 320 elements are not as expected; [31, 9]"));
  CHECK_THAT(text, Contains("FAILED on cpu"));
  sb(run + (folder / "other.safetensors") + " --atol 1e6", 0);
}

TEST_CASE("metadata that differs is status 1", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string root = unpack(folder);
  // The first value is a transposed weight of strides [1, 64].
  edit_program(root, R"("strides": [{"as_int": 1}, {"as_int": 64}])",
               R"("strides": [{"as_int": 2}, {"as_int": 64}])");
  CHECK_THAT(sb("run " + root + " --inputs " + kInputs, 1),
             Contains("model.json") && Contains("recorded [2, 64]"));
}

TEST_CASE("an archive without weights runs faked, or on random ones", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string root = unpack(folder);
  for (const char* name : {"weight_0", "weight_1", "weight_2", "weight_3"})
    std::remove((root + "/data/weights/" + name).c_str());
  CHECK_THAT(sb("run " + root + " --device fake", 0), Contains("addmm_1 float32[32, 10] on cpu"));
  CHECK_THAT(sb("run " + root + " --inputs " + kInputs, 2), Contains("--random-weights"));

  const auto random = [&](const std::string& seed, const std::string& name) {
    sb("run " + root + " --random-weights " + seed + " --save-weights " + (folder / "w" + name) +
           " --save-inputs " + (folder / "i" + name) + " --save-outputs " + (folder / "o" + name),
       0);
    return io::read_file(folder / "w" + name) + io::read_file(folder / "o" + name);
  };
  CHECK(random("1", "a") == random("1", "b"));
  CHECK(random("1", "a") != random("2", "c"));
  CHECK_THAT(sb("run " + root + " --random-weights 1 --inputs " + (folder / "ia") + " --expect " +
                    (folder / "oa") + " --device dummy",
                0),
             Contains("dummy"));
}

TEST_CASE("broken input is status 2 and is named", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string bytes = io::read_file(kArchive);
  io::write_file(folder / "short.pt2", bytes.substr(0, bytes.size() / 2));
  CHECK_THAT(sb("run " + (folder / "short.pt2"), 2), Contains("short.pt2"));
  io::write_file(folder / "empty.pt2", "");
  CHECK_THAT(sb("run " + (folder / "empty.pt2"), 2), Contains("empty.pt2"));
  std::string spoilt = bytes;
  spoilt[bytes.size() / 3] ^= 1;
  io::write_file(folder / "spoilt.pt2", spoilt);
  CHECK_THAT(sb("run " + (folder / "spoilt.pt2"), 2), Contains("spoilt.pt2"));

  CHECK_THAT(sb("run nowhere", 2), Contains("nowhere: no such file or folder"));
  CHECK_THAT(sb("run tools", 2), Contains("no model in this folder"));
  CHECK_THAT(sb("run " + kArchive, 2),
             Contains(kArchive + ": no data for input 'x' (float32[32, 64])"));
  CHECK_THAT(sb("run " + kModel + " --inputs " + kModel + "/outputs.safetensors", 2),
             Contains("outputs.safetensors: no input 'x'") && Contains("'addmm_1'"));
  CHECK_THAT(sb("run " + kModel + " --expect " + kInputs, 2), Contains("no output 'addmm_1'"));
  CHECK_THAT(sb("run " + kModel + " --inputs " + kArchive, 2), Contains("digits_mlp.pt2"));
}

TEST_CASE("a program with a fault is status 2 and is named", "[tools][sb]") {
  const auto error = [](std::string_view from, std::string_view to) {
    const TemporaryFolder folder;
    const std::string root = unpack(folder);
    edit_program(root, from, to);
    return sb("run " + root + " --inputs " + kInputs, 2);
  };
  CHECK_THAT(error("torch.ops.aten.relu.default", "torch.ops.aten.reloo.default"),
             Contains("models/model.json") && Contains("(relu)") && Contains("aten::reloo"));
  CHECK_THAT(error("torch.ops.aten.relu.default", "torch.ops.aten.relu.wrong"),
             Contains("aten::relu.wrong"));
  CHECK_THAT(error(R"("name": "dims")", R"("name": "dimz")"), Contains("'dimz'"));
  // Fails as it runs.
  CHECK_THAT(error(R"("as_ints": [1, 0])", R"("as_ints": [1, 7])"),
             Contains("models/model.json") && Contains("(permute)"));
}

TEST_CASE("operators are listed by pattern", "[tools][sb]") {
  CHECK_THAT(sb("ops 'aten::relu'", 0), Contains("aten::relu(Tensor self) -> Tensor"));
  CHECK_THAT(sb("ops '*addmm*'", 0), Contains("aten::addmm("));
  CHECK_THAT(sb("ops nothing", 1), Contains("no operator matches 'nothing'"));
}

TEST_CASE("a table gives key, kernel, source line and rule", "[tools][sb]") {
  for (const char* name :
       {"aten::addmm", "addmm", "aten.addmm.default", "torch.ops.aten.addmm", "addmm.default"})
    CHECK_THAT(sb(std::string("table ") + name, 0), Contains("CPU") && Contains("ops/"));
  CHECK_THAT(sb("table aten::nothing", 2), Contains("'aten::nothing': no such operator"));
  CHECK_THAT(sb("table aten::add", 2), Contains("aten::add.Tensor"));
}

TEST_CASE("an explanation ends with the kernel that runs", "[tools][sb]") {
  CHECK_THAT(sb("explain aten::relu --keys CPU,AutogradCPU", 0),
             Contains("AutogradCPU") && Contains("runs") && Contains("ops/"));
  CHECK_THAT(sb("explain aten::relu --device dummy", 0), Contains("AutogradDummy"));
  CHECK_THAT(sb("explain aten::mul.Tensor --keys CPU,AutogradCPU", 0),
             Contains("ops/arithmetic/derivatives/arithmetic.cc"));
  CHECK_THAT(sb("explain aten::relu --keys Tracer,CPU,AutogradCPU", 1),
             Contains("left for the call   {Tracer, AutogradCPU, CPU}") &&
                 Contains("Tracer                      fails: no kernel"));
  CHECK_THAT(sb("explain aten::relu --keys FPGA", 1), Contains("no kernel"));
  CHECK_THAT(sb("explain aten::zeros --device dummy", 0),
             Contains("aten::empty.memory_format") && Contains("devices/dummy/factories.cc"));
  CHECK_THAT(sb("explain aten::relu --keys Nonsense", 2), Contains("Nonsense"));
  CHECK_THAT(sb("explain aten::relu --device fake:cuda:0", 0),
             Contains("argument 0 'self'   {AutocastCUDA,") && Contains("Python  ") &&
                 Contains("Meta                        runs  "));
  CHECK_THAT(sb("explain aten::relu --device cuda", 0), Contains("AutogradCUDA"));
  CHECK_THAT(sb("explain aten::relu --device fake:toaster", 2), Contains("toaster"));
  CHECK_THAT(sb("explain aten::relu --keys Autograd", 2),
             Contains("'Autograd' is not a key of one"));
  CHECK_THAT(sb("explain aten::relu --keys Dense", 2), Contains("--keys"));
  CHECK_THAT(sb("run examples/digits_mlp --device dummy:5", 2), Contains("there are 2"));
  CHECK_THAT(sb("table torch.ops.aten.add.Tensor", 0), Contains("aten::add.Tensor"));
  CHECK_THAT(sb("table aten.relu", 0), Contains("aten::relu"));
}

TEST_CASE("higher-order operators are listed, shown and explained as others are", "[tools][sb]") {
  CHECK_THAT(sb("ops 'higher_order::c*'", 0),
             Contains("higher_order::cond(pred, true_fn, false_fn, operands)"));
  CHECK_THAT(sb("table higher_order.cond", 0),
             Contains("CPU  ") && Contains("transforms/control_flow/cond.cc") &&
                 Contains("mode sb::TracingMode") && !Contains("BackendSelect"));
  CHECK_THAT(sb("explain higher_order::cond", 0),
             Contains("left for the call   {AutogradCPU, CPU}") && Contains("AutogradCPU"));
  CHECK_THAT(sb("table cond", 2), Contains("there is higher_order::cond"));
  CHECK_THAT(sb("dump", 0), Contains("op\thigher_order::cond\t"));
}

TEST_CASE("a trace shows every kernel below its node, with its place and time", "[tools][sb]") {
  const std::string text = sb("trace " + kModel, 0);
  CHECK_THAT(text, Contains("on cpu\n") && Contains("addmm_1\n  aten::addmm  CPU  ops/"));
  CHECK_THAT(text, Contains(" us\n") && Contains("cpu: 5 kernels"));
  CHECK_THAT(sb("trace " + kModel + " --device dummy", 0),
             Contains("  aten::addmm  dummy  devices/dummy/") && Contains("dummy: 7 kernels"));
  CHECK_THAT(sb("trace --help", 0), Contains("ui.perfetto.dev"));
}

TEST_CASE("a trace file replaces the text, unless both are asked for", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string out = " --out " + (folder / "trace.json");
  CHECK_THAT(sb("trace " + kModel + out, 0),
             Contains("trace.json: open it in ui.perfetto.dev") && !Contains("aten::relu"));
  const std::string json = io::read_file(folder / "trace.json");
  CHECK_THAT(json, Catch::StartsWith("[\n{\"name\":\"process_name\"") && Catch::EndsWith("}\n]\n"));
  CHECK_THAT(json, Contains(R"({"name":"aten::relu","cat":"kernel","ph":"X","ts":)"));
  CHECK_THAT(sb("trace " + kModel + out + " --text", 0), Contains("aten::relu  CPU"));
}

TEST_CASE("a trace that cannot be made is an error, and leaves the old file", "[tools][sb]") {
  const TemporaryFolder folder;
  io::write_file(folder / "trace.json", "old");
  CHECK_THAT(sb("trace nowhere --out " + (folder / "trace.json"), 2), Contains("nowhere: no such"));
  CHECK(io::read_file(folder / "trace.json") == "old");
  CHECK_THAT(sb("trace " + kModel + " --out " + (folder / "no/trace.json"), 2),
             Contains("no/trace.json: cannot be opened for writing"));
  CHECK_THAT(sb("trace " + kModel + " --out /dev/full", 2), Contains("not everything could be"));
  // A program that fails as it runs still leaves a whole file.
  const std::string root = unpack(folder);
  edit_program(root, R"("as_ints": [1, 0])", R"("as_ints": [1, 7])");
  CHECK_THAT(sb("trace " + root + " --inputs " + kInputs + " --out " + (folder / "trace.json"), 2),
             Contains("models/model.json") && Contains("(permute)"));
  CHECK_THAT(io::read_file(folder / "trace.json"),
             Contains(R"("threw":true)") && Catch::EndsWith("}\n]\n"));
}

TEST_CASE("dumps of the tables are compared as by diff", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string dump = sb("dump", 0);
  CHECK(dump == sb("dump", 0));
  CHECK_THAT(dump, Contains("slot\taten::relu\tCPU\tkernel\tCPU\tkernel\tops/"));
  const std::string a = folder / "a.txt", b = folder / "b.txt";
  io::write_file(a, dump);
  io::write_file(b, dump);
  CHECK(sb("diff " + a + " " + b, 0) == "");
  io::write_file(b, io::replaced(dump, "aten::relu\tCPU\tkernel\tCPU\tkernel\t",
                                 "aten::relu\tCPU\tkernel\tCPU\tkernel\tnew/"));
  const std::string text = sb("diff " + a + " " + b, 1);
  CHECK_THAT(text, Catch::StartsWith("~ aten::relu\n    CPU\n      - kernel ops/"));
  CHECK_THAT(text, Contains("      + kernel new/ops/"));
  io::write_file(b, std::regex_replace(dump, std::regex("(\\.cc:)"), "$010"));
  sb("diff " + a + " " + b, 1);
  CHECK(sb("diff --ignore-lines " + a + " " + b, 0) == "");
}

TEST_CASE("a broken dump is status 2, with its file and line", "[tools][sb]") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.txt", b = folder / "b.txt";
  const std::string dump = sb("dump", 0);
  io::write_file(a, dump);
  io::write_file(b, dump.substr(0, dump.size() / 2));
  CHECK_THAT(sb("diff " + a + " " + b, 2), Contains("b.txt:") && Contains("cut short"));
  io::write_file(b, "");
  CHECK_THAT(sb("diff " + b + " " + a, 2), Contains("b.txt:1: expected 'switchboard tables"));
  CHECK_THAT(sb("diff " + a + " " + (folder / "none.txt"), 2), Contains("none.txt"));
  CHECK_THAT(sb("diff " + a, 2), Contains("expected OLD NEW"));
  CHECK_THAT(sb("diff " + a + " " + kArchive, 2), Contains("digits_mlp.pt2:1: expected"));
}

TEST_CASE("a wrong command line is status 2", "[tools][sb]") {
  CHECK_THAT(sb("", 2), Contains("sb run MODEL"));
  CHECK_THAT(sb("--help", 0), Contains("sb run MODEL"));
  CHECK_THAT(sb("run --help", 0), Contains("--random-weights SEED"));
  CHECK_THAT(sb("walk", 2), Contains("unknown command 'walk'"));
  CHECK_THAT(sb("run", 2), Contains("expected MODEL"));
  CHECK_THAT(sb("run " + kModel + " --device toaster", 2), Contains("toaster"));
  CHECK_THAT(sb("run " + kModel + " --device cuda", 2), Contains("fake:cuda"));
  CHECK_THAT(sb("run " + kModel + " --atol x", 2), Contains("--atol"));
  CHECK_THAT(sb("run " + kModel + " --device fake --save-outputs o", 2),
             Contains("--save-outputs"));
}

}  // namespace
}  // namespace sb::tools
