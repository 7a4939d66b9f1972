#include "switchboard/tools/plan_dynamic.h"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/tools/exit_status.h"
#include "switchboard/tools/loaded_model.h"
#include "switchboard/tools/plan_command.h"
#include "switchboard/tools/plan_run.h"

namespace sb::tools {
namespace {

using Catch::Contains;
using Words = std::vector<std::string>;

const Words kBert = {"examples/tiny_bert", "--form", "dynamic"};
const Words kMlp = {"examples/digits_mlp"};

std::string plan(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  std::ostringstream out;
  const int status = plan_command(CommandLine::parse(plan_spec(), words), out);
  CHECK(status == kHolds);
  return out.str();
}

// Whether blocks that are needed at one time have no byte in common, within the arena.
bool is_apart(const std::vector<plan::ArenaBlock>& blocks, const std::vector<int64_t>& offsets,
              int64_t arena) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (offsets[i] % 64 != 0 || offsets[i] + blocks[i].bytes > arena) return false;
    for (size_t k = 0; k < i; ++k)
      if (blocks[i].begin < blocks[k].end && blocks[k].begin < blocks[i].end &&
          offsets[i] < offsets[k] + blocks[k].bytes && offsets[k] < offsets[i] + blocks[i].bytes)
        return false;
  }
  return true;
}

// Plans a network once with symbols and `count` times with random numbers, and compares.
void check_against_numbers(const Words& model, const std::string& ranges, int count) {
  const LoadedModel loaded(CommandLine::parse(plan_spec(), model), true);
  const RunPlan& run = loaded.plan();
  const RunPlace place = RunPlace::parse("fake:cuda:0");
  const DynamicPlan dynamic(place, run, loaded.rules(), DynamicSize::parse_list(ranges), run.sizes);
  const DynamicSizes& sizes = dynamic.sizes();
  const plan::Plan& symbolic = dynamic.report().plan();
  const plan::CallCost cost = symbolic.total();

  std::mt19937_64 random(17);
  for (int round = 0; round < count; ++round) {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < sizes.named().size(); ++i) {
      const symbolic::ValueRange range = sizes.range(i);
      numbers.push_back(
          range.low +
          static_cast<int64_t>(random() % static_cast<uint64_t>(range.high - range.low + 1)));
    }
    INFO("round " << round << ": " << numbers[0] << ", " << numbers.back());
    REQUIRE(sizes.admits(numbers));
    // The same values, with numbers for the symbols.
    io::SymbolValues values;
    for (const auto& [name, value] : sizes.values())
      values.emplace(name, SymValue::of_int(sizes.evaluate(SymInt(value), numbers)));
    const plan::Plan concrete = plan_on(place, run, {values, nullptr, sizes.opened()});
    const auto at = [&](const SymInt& e) { return sizes.evaluate(e, numbers); };

    CHECK(concrete.total().flops.number() == static_cast<uint64_t>(at(cost.flops.expression())));
    CHECK(concrete.total().bytes_read.number() ==
          static_cast<uint64_t>(at(cost.bytes_read.expression())));
    CHECK(concrete.total().bytes_written.number() ==
          static_cast<uint64_t>(at(cost.bytes_written.expression())));
    REQUIRE(concrete.storages.size() == symbolic.storages.size());
    REQUIRE(concrete.devices() == symbolic.devices());
    for (const plan::MemoryFormula& formula : dynamic.report().memories()) {
      const plan::DeviceMemory memory = plan::memory_on(concrete, formula.device);
      CHECK(memory.peak_bytes == at(formula.peak_bytes));
      CHECK(memory.arena.lower_bound == at(formula.arena.lower_bound));
      // The layout of all sizes has a place for each storage of these.
      REQUIRE(memory.arena_storages == formula.arena_storages);
      std::vector<plan::ArenaBlock> blocks;
      std::vector<int64_t> offsets;
      int64_t end = 0;
      for (size_t i = 0; i < formula.arena_storages.size(); ++i) {
        const plan::PlannedStorage& storage = concrete.storages[formula.arena_storages[i]];
        CHECK(storage.bytes.expect_int() == at(symbolic.storages[formula.arena_storages[i]].bytes));
        blocks.push_back({storage.bytes.expect_int(), storage.born, storage.dies});
        offsets.push_back(at(formula.arena.offsets[i]));
        end = std::max(end, offsets.back() + (blocks.back().bytes + 63) / 64 * 64);
      }
      CHECK(is_apart(blocks, offsets, at(formula.arena.bytes)));
      CHECK(at(formula.arena.bytes) == end);
    }
  }
}

TEST_CASE("a hundred plans at random sizes are the formula's values", "[tools][plan]") {
  check_against_numbers(kBert, "batch=2..4096,length=..", 100);
  check_against_numbers(kMlp, "batch=1..4096", 100);
}

TEST_CASE("a plan of symbols is expressions of them, with the sizes that it holds for",
          "[tools][plan]") {
  const std::string text = plan(kMlp, {"--dynamic", "batch=1..4096"});
  CHECK_THAT(text, Contains("digits_mlp (ATEN, 5 nodes) planned on fake:cuda:0 with symbols"));
  // (batch, 64) by (64, 64), relu, then by (64, 10).
  CHECK_THAT(text, Contains("FLOPs: 9536*batch in 5 calls"));
  CHECK_THAT(text, Contains("peak on cuda:0: 768*batch + 19240 bytes; during call 2, aten::relu"));
  CHECK_THAT(text, Contains("arena on cuda:0: 512*batch bytes for 3 temporary storages"));
  CHECK_THAT(text, Contains("batch in 1..4096 (x.size(0))"));
}

TEST_CASE("the largest size that fits is the last whose peak does", "[tools][plan]") {
  // 768 bytes for each of a batch, and 19,240 of weights.
  const auto largest = [](const std::string& memory) {
    return plan(kMlp, {"--dynamic", "batch=1..4096", "--memory", memory, "--summary"});
  };
  CHECK_THAT(largest("96040B"), Contains("largest batch that fits 96,040 bytes: 100\n"));
  CHECK_THAT(largest("96039B"), Contains("largest batch that fits 96,039 bytes: 99\n"));
  CHECK_THAT(largest("1kB"), Contains("no batch that the plan holds for fits 1,000 bytes\n"));
  CHECK_THAT(largest("16GB"), Contains(": 4,096, the largest that the plan holds for\n"));
  CHECK_THAT(
      plan(kBert, {"--dynamic", "batch=..,length=2..32", "--device-memory", "1GB"}),
      Contains("largest batch that fits 1,000,000,000 bytes: ") && Contains(" with length = 32"));
  CHECK_THAT(plan(kMlp, {"--dynamic", "x.0=..", "--memory", "96040B"}),
             Contains("largest x.0 that fits 96,040 bytes: 100\n"));
}

TEST_CASE("a plan of symbols is JSON for programs, too", "[tools][plan]") {
  const io::TemporaryFolder folder;
  const std::string path = folder / "plan.json";
  plan(kMlp, {"--dynamic", "batch=1..64", "--memory", "1GB", "--json", path});
  const io::JsonDocument json = io::JsonDocument::parse(io::read_file(path), path);
  CHECK(json.root().at("flops").to_string() == "9536*batch");
  const io::JsonValue device = json.root().at("devices").elements().at(0);
  CHECK(device.at("peak_bytes").to_string() == "768*batch + 19240");
  CHECK(device.at("arena_bytes").to_string() == "512*batch");
  CHECK(json.root().at("sizes").elements().at(0).at("high").to_int() == 64);
  CHECK(json.root().at("largest").elements().at(0).at("number").to_int() == 64);
}

TEST_CASE("the page of formulas in the README is what the command prints", "[tools][plan]") {
  CHECK_THAT(io::read_file("tools/README.md"),
             Contains(plan(kMlp, {"--dynamic", "batch=1..4096", "--memory", "1MB"})));
}

TEST_CASE("a size that is planned for is one of --dim", "[tools][plan]") {
  CHECK_THAT(plan(kBert, {"--dim", "batch=7,seq=33", "--summary"}), Contains("FLOPs in"));
  CHECK_THROWS_WITH(plan(kBert, {"--dim", "length=65"}), Contains("<= 64, got"));
}

TEST_CASE("symbols and ranges that cannot be are refused", "[tools][plan]") {
  const auto error = [](const Words& model, const std::string& dynamic) {
    return io::error_of([&] { plan(model, {"--dynamic", dynamic}); });
  };
  CHECK_THAT(error(kMlp, "height=1..8"),
             Contains("--dynamic: 'height' is no symbol") && Contains("x float32[32, 64]"));
  CHECK_THAT(error(kBert, "height=1..8"), Contains("s53 = input_ids.size(1)"));
  CHECK_THAT(error(kMlp, "batch=8..1"), Contains("the range 8..1 is empty"));
  CHECK_THAT(error(kMlp, "batch=0..1"), Contains("expected sizes of at least 1"));
  CHECK_THAT(error(kMlp, "batch=8"), Contains("expected NAME=LOW..HIGH"));
  CHECK_THAT(error(kMlp, "batch=a..b"), Contains("expected a range such as 1..64"));
  CHECK_THAT(error(kMlp, "batch=1..2,batch=3..4"), Contains("batch is given twice"));
  CHECK_THAT(error(kBert, "batch=2..4,s43=2..4"), Contains("s43 and batch are one symbol, s43"));
  CHECK_THAT(error(kMlp, "batch=1..4,x.0=1..4"), Contains("are one dimension, x.size(0)"));
  CHECK_THAT(error(kBert, "length=65..99"),
             Contains("length: the program takes none of 65..99, but"));
  CHECK_THAT(io::error_of([] {
               plan(kMlp, {"--dynamic", "batch=1..4", "--check"});
             }),
             Contains("--check"));
  CHECK_THAT(io::error_of([] {
               plan(kMlp, {"--memory", "1GB"});
             }),
             Contains("--memory: expected --dynamic with it"));
}

TEST_CASE("a symbol that the program settles is an error with the operator and the symbol",
          "[tools][plan]") {
  // The weight has 64 rows.
  const std::string error = io::error_of([] { plan(kMlp, {"--dynamic", "x.1=1..64"}); });
  CHECK_THAT(error, Contains("with s0, which is x.1: ") && Contains("(addmm): aten::addmm") &&
                        Contains("settles s0 (x.1), so that s0 == 64"));
}

}  // namespace
}  // namespace sb::tools
