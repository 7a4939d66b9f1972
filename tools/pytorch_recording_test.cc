// A network here against its graph as PyTorch recorded it (pytorch/record_graph.py).

#include <cstring>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/diff.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/safetensors/test_support.h"
#include "switchboard/tools/record_command.h"

namespace sb::tools {
namespace {

using io::RecordedRun;
using io::RunDifference;
using Cause = RunDifference::Cause;
using Kind = io::RecordedValue::Kind;

RecordedRun ours() {
  const io::TemporaryFolder folder;
  const std::string path = folder / "ours.sbr";
  std::ostringstream out;
  const std::vector<std::string> words = {"examples/digits_mlp", "--elements", "all", "-o", path};
  REQUIRE(record_command(CommandLine::parse(record_spec(), words), out) == 0);
  return io::read_recording(path);
}

RecordedRun theirs() {
  const RecordedRun run = io::read_recording("tools/pytorch/data/digits_mlp.sbr");
  REQUIRE(run.fault.empty());
  REQUIRE(run.events.size() == 5);
  return run;
}

std::optional<RunDifference> difference(const RecordedRun& a, const RecordedRun& b,
                                        double tolerance = 1e-4) {
  return io::diff_runs(a, b, {.ignore_kernels = true, .tolerance = tolerance});
}

TEST_CASE("A network makes the calls that PyTorch recorded, with its numbers", "[tools]") {
  const RecordedRun a = ours(), b = theirs();
  const auto found = difference(a, b);
  INFO((found ? to_string(a, b, *found) : ""));
  CHECK(!found);
}

TEST_CASE("Its hashes are those of the same elements here", "[tools]") {
  const RecordedRun a = ours(), b = theirs();
  // The inputs of the first matrix product.
  const auto first = a.arguments(a.events.at(1)), second = b.arguments(b.events.at(1));
  for (size_t i = 0; i < 3; ++i) CHECK(a.tensor(first[i]).hash == b.tensor(second[i]).hash);
}

// Each fault is put into PyTorch's run, at each call of it.
TEST_CASE("Of faults in what PyTorch recorded each is found at its call", "[tools]") {
  const RecordedRun a = ours(), whole = theirs();
  const auto expect = [&](const RecordedRun& b, uint32_t event, Cause cause) {
    const auto found = difference(a, b);
    REQUIRE(found);
    INFO(to_string(a, b, *found));
    CHECK(found->first == event);
    CHECK(found->cause == cause);
  };
  for (uint32_t event = 0; event < whole.events.size(); ++event) {
    CAPTURE(event);
    const io::RecordedEvent& call = whole.events[event];
    RecordedRun b = whole;
    b.events.erase(b.events.begin() + event);
    expect(b, event, Cause::MissingCall);

    b = whole;
    b.sites.push_back(b.site(call));
    b.sites.back().op = "aten::other";
    b.events[event].site = static_cast<uint32_t>(b.sites.size() - 1);
    expect(b, event, Cause::OtherCall);

    b = whole;
    io::RecordedTensor& result = b.tensors[b.results(call)[0].index()];
    io::RecordedMeta meta = b.meta(result);
    meta.strides[0] += 1;
    b.metas.push_back(meta);
    result.meta = static_cast<uint32_t>(b.metas.size() - 1);
    expect(b, event, Cause::OtherResult);

    for (uint64_t v = call.first_argument; v < call.end_arguments; ++v) {
      if (whole.values[v].kind != Kind::Int) continue;
      b = whole;
      b.values[v].number += 1;
      expect(b, event, Cause::OtherInput);
    }

    // One element is off by a tenth.
    for (size_t c = 0; c < whole.contents.size(); ++c) {
      if (whole.contents[c].event != event || !whole.contents[c].after) continue;
      b = whole;
      float element;
      std::memcpy(&element, b.contents[c].bytes.data(), sizeof(element));
      element += 0.1F;
      std::memcpy(b.contents[c].bytes.data(), &element, sizeof(element));
      b.tensors[b.results(call)[0].index()].hash ^= 1;
      expect(b, event, Cause::OtherBits);
      CHECK_THAT(to_string(a, b, *difference(a, b)), Catch::Contains("element [0, 0]: "));
    }
  }
}

TEST_CASE("Without a tolerance the last bits of numbers count", "[tools]") {
  RecordedRun b = theirs();
  b.tensors[b.results(b.events[4])[0].index()].hash ^= 1;
  const auto found = difference(ours(), b, 0);
  REQUIRE(found);
  CHECK(found->cause == Cause::OtherBits);
}

}  // namespace
}  // namespace sb::tools
