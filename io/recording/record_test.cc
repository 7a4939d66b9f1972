#include "switchboard/io/recording/record.h"

#include <optional>
#include <random>
#include <string>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/io/recording/wire.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

using namespace std::string_literals;
using Lines = std::vector<std::string>;

TEST_CASE("A recording holds every kernel, its key, its values and who called it",
          "[io][recording]") {
  const Tensor x = ones({2, 3}), y = ones({3});
  const RecordedRun run = record([&] { add(x, y, 2); });
  CHECK(run.fault.empty());
  CHECK(lines(run) ==
        Lines{"AutogradCPU aten::add.Tensor(%1 float32[2, 3], %2 float32[3], 2) -> %3 "
              "float32[2, 3]",
              "  CPU aten::add.Tensor(%1 float32[2, 3], %2 float32[3], 2) -> %3 float32[2, 3]"});
  REQUIRE(run.events.size() == 2);
  CHECK(run.events[0].parent == RecordedEvent::kNone);
  CHECK(run.events[1].parent == 0);
  CHECK(run.events[0].start <= run.events[1].start);
  CHECK(run.events[1].end <= run.events[0].end);
  CHECK_THAT(run.site(run.events[1]).where, Catch::StartsWith("ops/"));
  CHECK_THAT(run.site(run.events[0]).reason, Catch::Contains("[autograd kernel"));
}

TEST_CASE("The same tensor has the same number, and another at its address a new one",
          "[io][recording]") {
  const RecordedRun run = record([&] {
    Tensor x = ones({2});
    for (int i = 0; i < 1000; ++i) x = neg(x);
  });
  std::vector<uint64_t> made;
  for (const RecordedEvent& event : run.events) {
    if (event.depth != 0 || run.site(event).op != "aten::neg") continue;
    if (!made.empty()) CHECK(run.tensor(run.arguments(event)[0]).id == made.back());
    made.push_back(run.tensor(run.results(event)[0]).id);
  }
  std::sort(made.begin(), made.end());
  CHECK(made.size() == 1000);
  CHECK(std::adjacent_find(made.begin(), made.end()) == made.end());
}

TEST_CASE("Views show the storage, strides and offset that they share", "[io][recording]") {
  const Tensor x = ones({2, 3});
  const RecordedRun run = record([&] { t(x); });
  const RecordedEvent& event = run.events.at(0);
  const RecordedTensor& argument = run.tensor(run.arguments(event)[0]);
  const RecordedTensor& result = run.tensor(run.results(event)[0]);
  CHECK(argument.id != result.id);
  CHECK(argument.storage == result.storage);
  CHECK(run.storages[result.storage].nbytes == 24);
  CHECK(run.meta(result).strides == std::vector<int64_t>{1, 3});
}

TEST_CASE("A write shows in the version and the hash of what was written to", "[io][recording]") {
  const Tensor x = ones({2});
  const RecordedRun run = record([&] { fill_(x, 3); }, {.elements = Elements::Hashes});
  const RecordedEvent& event = run.events.at(0);
  const RecordedTensor& before = run.tensor(run.arguments(event)[0]);
  REQUIRE(run.written(event).size() == 1);
  const RecordedTensor& after = run.tensor(run.written(event)[0]);
  CHECK(before.id == after.id);
  CHECK(after.version == before.version + 1);
  CHECK(after.hash != before.hash);
}

TEST_CASE("Equal elements have equal hashes, whatever their strides", "[io][recording]") {
  const Tensor x = view(arange(6), {2, 3});
  const RecordedRun run = record([&] { contiguous(t(x)); }, {.elements = Elements::Hashes});
  const RecordedTensor& view = run.tensor(run.results(run.events.at(0))[0]);
  const RecordedTensor& copy = run.tensor(run.results(run.events.back())[0]);
  CHECK(view.hash == copy.hash);
  CHECK(view.hash != 0);
}

TEST_CASE("The calls of backward are recorded", "[io][recording]") {
  const Tensor x = ones({2});
  set_requires_grad(x);
  const Tensor y = sum(mul(x, x));
  const RecordedRun run = record([&] { backward(y); });
  CHECK(run.events.size() > 2);
  CHECK(run.fault.empty());
}

TEST_CASE("Fake tensors are recorded without elements", "[io][recording]") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(ones({2, 3}), Device("cuda:0"));
  const RecordedRun run = record([&] { add(x, x); }, {.elements = Elements::All});
  CHECK(run.contents.empty());
  const RecordedTensor& result = run.tensor(run.results(run.events.at(0))[0]);
  CHECK(result.hash == 0);
  CHECK(run.meta(result).fake);
  CHECK(run.meta(result).device == "cuda:0");
}

TEST_CASE("A kernel that throws ends as failed, and what follows is not under it",
          "[io][recording]") {
  const RecordedRun run = record([&] {
    CHECK_THROWS_AS(add(ones({2}), ones({3})), RuntimeError);
    ones({2});
  });
  const RecordedEvent* failed = nullptr;
  for (const RecordedEvent& event : run.events)
    if (run.site(event).op == "aten::add.Tensor" && event.depth == 0) failed = &event;
  REQUIRE(failed);
  CHECK(failed->threw);
  CHECK(run.results(*failed).empty());
  CHECK(run.events.back().depth > 0);
  CHECK(run.site(run.events.back()).op != "aten::add.Tensor");
}

TEST_CASE("Recordings nest, and traces see the calls too", "[io][recording]") {
  const TemporaryFolder folder;
  int traced = 0;
  TraceCallback sink([&](const TraceEvent&) { ++traced; });
  {
    const TraceCalls trace(sink);
    Recording outer(folder / "outer.sbr");
    neg(ones({2}));
    {
      Recording inner(folder / "inner.sbr");
      neg(ones({2}));
    }
    neg(ones({2}));
  }
  const size_t inner = read_recording(folder / "inner.sbr").events.size();
  CHECK(read_recording(folder / "outer.sbr").events.size() == 3 * inner);
  CHECK(traced == static_cast<int>(3 * inner));
}

TEST_CASE("Threads have their own stories, and share the numbers of tensors", "[io][recording]") {
  const Tensor x = ones({4});
  const RecordedRun run = record(
      [&] {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
          threads.emplace_back([&] {
            for (int n = 0; n < 200; ++n) neg(x);
          });
        for (std::thread& thread : threads) thread.join();
      },
      {.all_threads = true});
  CHECK(run.fault.empty());
  CHECK(run.num_threads == 4);
  std::vector<int> calls(5);
  for (const RecordedEvent& event : run.events) {
    if (event.depth != 0) continue;
    ++calls[event.thread];
    CHECK(run.tensor(run.arguments(event)[0]).id == run.tensor(run.arguments(run.events[0])[0]).id);
  }
  CHECK(calls == std::vector<int>{0, 200, 200, 200, 200});
}

TEST_CASE("A recording of this thread does not see others", "[io][recording]") {
  const RecordedRun run = record([] { std::thread([] { neg(ones({2})); }).join(); });
  CHECK(run.events.empty());
  CHECK(run.fault.empty());
}

TEST_CASE("A library may go while its calls are recorded", "[io][recording]") {
  const Tensor x = ones({2});
  const RecordedRun run = record([&] {
    for (int i = 0; i < 3; ++i) {
      Library library(Library::Kind::Def, "recorded_demo");
      const OperatorHandle op = library.define("twice(Tensor x) -> Tensor");
      library.impl("twice", DispatchKey::CPU, [](const Tensor& x) { return add(x, x); });
      op.call({x});
    }
  });
  CHECK(run.fault.empty());
  int calls = 0;
  for (const RecordedEvent& event : run.events)
    if (run.site(event).op == "recorded_demo::twice" && run.site(event).key == "CPU") ++calls;
  CHECK(calls == 3);
}

TEST_CASE("Values of all kinds are recorded as they were given", "[io][recording]") {
  Library library(Library::Kind::Def, "recorded_values");
  const OperatorHandle op = library.define(
      "f(int a, float b, bool c, str d, int[] e, float[] f, bool[] g, ScalarType h, Device i, "
      "Layout j, MemoryFormat k, complex l, Tensor[] m, Tensor?[] n, Scalar? o, Tensor? p) -> ()");
  library.impl("f", DispatchKey::CompositeImplicitAutograd,
               [](const OperatorHandle&, DispatchKeySet, Stack* stack) { stack->clear(); });
  const Tensor x = ones({1});
  const RecordedRun run = record([&] {
    op.call({int64_t{-5}, 0.5, true, "text", std::vector<int64_t>{1, -2}, std::vector<double>{0.25},
             std::vector<bool>{true, false}, DType::Int64, Device("cpu"), Layout::Strided,
             MemoryFormat::ChannelsLast, std::complex<double>(1, -2), std::vector<Tensor>{x, x},
             std::vector<std::optional<Tensor>>{std::nullopt, x}, int64_t{1} << 62, IValue()});
  });
  CHECK(to_string(run, run.events.at(0)) ==
        "recorded_values::f(-5, 0.5, True, 'text', [1, -2], [0.25], [True, False], int64, cpu, "
        "strided, channels_last, (1-2j), [%1 float32[1], %1 float32[1]], [None, %1 float32[1]], "
        "4611686018427387904, None) -> ");
}

TEST_CASE("A file that was cut short gives what it holds and says where it ends",
          "[io][recording]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  {
    Recording recording(path, {.elements = Elements::Inputs});
    for (int i = 0; i < 20; ++i) fill_(add(ones({2}), ones({2}), i), 2.5);
  }
  const std::string whole = read_file(path);
  const RecordedRun run = parse_recording(whole, "whole");
  CHECK(run.fault.empty());
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string_view part = std::string_view(whole).substr(0, length);
    if (length < 8) {
      CHECK_THROWS_AS(parse_recording(part, "part"), ValueError);
      continue;
    }
    const RecordedRun cut = parse_recording(part, "part");
    CHECK(!cut.fault.empty());
    CHECK(cut.events.size() <= run.events.size());
  }
  CHECK(
      parse_recording(std::string_view(whole).substr(0, whole.size() - 24), "part").events.size() ==
      run.events.size());
}

TEST_CASE("A damaged file is an error and never a crash", "[io][recording]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  {
    Recording recording(path, {.elements = Elements::Inputs});
    for (int i = 0; i < 5; ++i) fill_(add(ones({2, 2}), rand({2}), i), 2.5);
  }
  const std::string whole = read_file(path);
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 1 + i % 3; ++n) bytes[random() % bytes.size()] ^= 1 << random() % 8;
    try {
      const RecordedRun run = parse_recording(bytes, "damaged");
      for (const RecordedEvent& event : run.events) to_string(run, event);
    } catch (const ValueError&) {
    }
  }
}

// As above, with the hash of each chunk set right: every byte reaches the parser.
TEST_CASE("A hostile file is an error and never a crash", "[io][recording]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  {
    Recording recording(path, {.elements = Elements::Inputs});
    for (int i = 0; i < 5; ++i) fill_(add(ones({2, 2}), rand({2}), i), 2.5);
  }
  const std::string whole = read_file(path);
  constexpr size_t kBegin = wire::kFileHeader + wire::kChunkHeader;
  uint32_t length;
  std::memcpy(&length, whole.data() + wire::kFileHeader + 8, sizeof(length));
  std::mt19937_64 random(2);
  int whole_runs = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 1 + i % 4; ++n)
      bytes[kBegin + random() % length] = static_cast<char>(random());
    const uint64_t hash = wire::hash_bytes(bytes.data() + kBegin, length);
    std::memcpy(bytes.data() + wire::kFileHeader + 16, &hash, sizeof(hash));
    const RecordedRun run = parse_recording(bytes, "hostile");
    for (const RecordedEvent& event : run.events) to_string(run, event);
    whole_runs += run.fault.empty();
  }
  CHECK(whole_runs > 0);
}

TEST_CASE("A file of a later version, and one that is no recording, are refused",
          "[io][recording]") {
  CHECK_THROWS_WITH(parse_recording("SBRECORD\x02\0\0\0\0\0\0\0"s, "later.sbr"),
                    "later.sbr: a recording of version 2; this program reads versions 1 to 1");
  CHECK_THROWS_WITH(parse_recording("{\"a\": 1}", "a.json"),
                    "a.json: expected a recording, which begins with SBRECORD");
  CHECK(!is_recording("/no/such/file"));
}

TEST_CASE("A recording that cannot be written says so", "[io][recording]") {
  CHECK_THROWS_WITH(Recording("/no/such/folder/run.sbr"),
                    "/no/such/folder/run.sbr: cannot write the recording: No such file or "
                    "directory");
}

}  // namespace
}  // namespace sb::io
