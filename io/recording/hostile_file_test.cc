// What a file says need not be true: it is an error, and leads nobody out of their memory.

#include <cstring>
#include <random>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/io/recording/diff.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/io/recording/wire.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

// A whole file with these records, all of one thread.
std::string file_of(const wire::Writer& records) {
  std::string bytes(wire::kMagic);
  const uint32_t header[2] = {kRecordingVersion, 0};
  bytes.append(reinterpret_cast<const char*>(header), sizeof(header));
  const auto add_chunk = [&](uint32_t thread, std::string_view payload) {
    const uint32_t words[4] = {wire::kChunkMagic, thread, static_cast<uint32_t>(payload.size()), 0};
    const uint64_t hash = wire::hash_bytes(payload.data(), payload.size());
    std::string chunk(wire::kChunkHeader, '\0');
    std::memcpy(chunk.data(), words, sizeof(words));
    std::memcpy(chunk.data() + sizeof(words), &hash, sizeof(hash));
    bytes += chunk.append(payload);
  };
  add_chunk(1, records.bytes());
  add_chunk(wire::kEndOfFile, {});
  return bytes;
}

void add_number(wire::Writer* records, uint64_t number) {
  records->reserve(wire::Writer::kLongest);
  records->number(number);
}
// The first call of a kernel without arguments, which begins after `time`.
void enter_first(wire::Writer* records, uint64_t time) {
  add_number(records, 0);  // the record, and the kernel's number
  for (uint64_t i = 0; i < 6; ++i) {
    add_number(records, i);
    records->text("a::b" + std::to_string(i));
  }
  for (int i = 0; i < 4; ++i) add_number(records, 0);
  add_number(records, time);
}
wire::Writer calls_within_calls(int depth) {
  wire::Writer records;
  enter_first(&records, 0);
  for (int i = 1; i < depth; ++i) {
    add_number(&records, 0);
    add_number(&records, 0);
  }
  for (int i = 0; i < depth; ++i) {
    add_number(&records, static_cast<uint64_t>(wire::Record::Leave));
    add_number(&records, 0);
  }
  return records;
}

TEST_CASE("Calls within calls may be as deep as a program's stack, and no deeper",
          "[io][recording]") {
  constexpr int kDeepest = 4096;
  const RecordedRun run = parse_recording(file_of(calls_within_calls(kDeepest)), "deep");
  CHECK(run.fault == "");
  CHECK(run.events.size() == kDeepest);
  CHECK(!diff_runs(run, run));
  const TemporaryFolder folder;
  CHECK(replay(run, folder / "again.sbr").stopped == "a::b0: no such operator here");

  const RecordedRun cut = parse_recording(file_of(calls_within_calls(100'000)), "deeper");
  CHECK_THAT(cut.fault, Catch::Contains("calls within calls, 4096 of them"));
  CHECK(cut.events.size() == kDeepest);
}

TEST_CASE("Calls whose times do not fit a number are an error", "[io][recording]") {
  wire::Writer records;
  enter_first(&records, 1);
  add_number(&records, 0);
  add_number(&records, ~uint64_t{0});
  CHECK_THAT(parse_recording(file_of(records), "late").fault,
             Catch::Contains("a time without end"));
}

// Why the replay of a program's recording stops, which `change` has falsified.
template <class Program, class Change>
std::string stopped(Program&& program, Change&& change) {
  RecordedRun run = record(program, {.elements = Elements::Inputs});
  change(&run);
  const TemporaryFolder folder;
  return replay(run, folder / "again.sbr").stopped;
}

void make_meta(RecordedMeta* meta) {
  meta->device = "meta";
  meta->keys = "{Meta}";
}

TEST_CASE("A replay makes no tensor that reaches out of its storage", "[io][recording]") {
  const Tensor x = ones({5});
  const auto with_strides = [&](std::vector<int64_t> strides) {
    return stopped([&] { neg(x); }, [&](RecordedRun* run) { run->metas.at(0).strides = strides; });
  };
  CHECK_THAT(with_strides({2}), Catch::Contains("reaches out of its storage"));
  // Around all numbers and back to the first element.
  CHECK_THAT(with_strides({int64_t{1} << 62}), Catch::Contains("size overflow"));
  CHECK_THAT(with_strides({-1}), Catch::Contains("a stride is negative"));
}

TEST_CASE("A replay gives no tensor to another device's kernels", "[io][recording]") {
  const Tensor x = ones({5});
  CHECK_THAT(stopped([&] { neg(x); }, [](RecordedRun* run) { run->metas.at(0).device = "meta"; }),
             Catch::Contains("a tensor on meta with the keys {"));
}

TEST_CASE("A replay says on which devices it makes calls", "[io][recording]") {
  const Tensor x = ones({5});
  CHECK_THAT(stopped([&] { neg(x); }, [](RecordedRun* run) { run->metas.at(0).device = "cuda:0"; }),
             Catch::Contains("a tensor on cuda:0: calls are made again on the CPU, on meta and on "
                             "fake tensors; sb diff compares runs on other devices"));
}

TEST_CASE("A replay does not take a meta tensor's storage for memory", "[io][recording]") {
  const Tensor x = ones({5});
  CHECK_THAT(stopped([&] { add(slice(x, 0, 0, 2), slice(x, 0, 2, 4)); },
                     [](RecordedRun* run) {
                       const RecordedEvent sum = run->events.back();
                       REQUIRE(sum.depth > 0);
                       run->events = {sum};
                       run->events[0].depth = 0;
                       run->events[0].parent = RecordedEvent::kNone;
                       run->contents.clear();
                       make_meta(&run->metas.at(run->tensor(run->arguments(sum)[0]).meta));
                     }),
             Catch::Contains("whose storage is that of one on meta"));
  const auto write_between = [&] {
    neg(x);
    x.data<float>()[1] = 5;
    neg(x);
  };
  CHECK(stopped(write_between, [](RecordedRun* run) {
          run->contents.erase(run->contents.begin());
          make_meta(&run->metas.at(0));
        }) == "");
}

// With the hash of each chunk set right: every byte reaches the replay.
TEST_CASE("Any byte of a file that is replayed may be wrong", "[io][recording]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  {
    const Tensor x = ones({4, 3});
    Recording recording(path, {.elements = Elements::Inputs});
    fill_(select(x, 0, 1), 2.5);
    sum(mul(add(t(x), rand({4}), 2), slice(ones({5}), 0, 1)));
    normal_(x);
  }
  const std::string whole = read_file(path);
  constexpr size_t kBegin = wire::kFileHeader + wire::kChunkHeader;
  uint32_t length;
  std::memcpy(&length, whole.data() + wire::kFileHeader + 8, sizeof(length));
  std::mt19937_64 random(3);
  int whole_runs = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 1 + i % 3; ++n)
      bytes[kBegin + random() % length] = static_cast<char>(random() % (i % 2 ? 256 : 16));
    const uint64_t hash = wire::hash_bytes(bytes.data() + kBegin, length);
    std::memcpy(bytes.data() + wire::kFileHeader + 16, &hash, sizeof(hash));
    const RecordedRun run = parse_recording(bytes, "hostile");
    const Replay again = replay(run, folder / "again.sbr");
    if (again.difference) to_string(run, again.run, *again.difference);
    whole_runs += run.fault.empty() && again.stopped.empty();
  }
  CHECK(whole_runs > 0);
}

TEST_CASE("A difference names no element that lies outside of a storage", "[io][recording]") {
  const Tensor x = ones({5}), y = zeros({5});
  RecordedRun a = record([&] { neg(x); }, {.elements = Elements::Inputs});
  RecordedRun b = record([&] { neg(y); }, {.elements = Elements::Inputs});
  const auto text = [&] { return to_string(a, b, diff_runs(a, b).value()); };
  CHECK_THAT(text(), Catch::Contains("element [0]: 1 and 0"));
  for (const int64_t stride : {int64_t{2}, int64_t{1} << 62, int64_t{-1}}) {
    for (RecordedRun* run : {&a, &b}) run->metas.at(0).strides = {stride};
    CHECK_THAT(text(), !Catch::Contains("element ["));
  }
}

}  // namespace
}  // namespace sb::io
