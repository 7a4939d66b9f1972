#include "switchboard/io/recording/record.h"

#include <optional>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/safetensors/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

using Elements = RecordingOptions::Elements;

// What a recording of `program` holds.
template <class F>
RecordedRun record(F&& program, const RecordingOptions& options = {}) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.sbr";
  Recording recording(path, options);
  program();
  recording.close();
  return read_recording(path);
}

std::vector<std::string> lines(const RecordedRun& run) {
  std::vector<std::string> lines;
  for (const RecordedEvent& event : run.events)
    lines.push_back(std::string(2 * event.depth, ' ') + run.site(event).key + " " +
                    to_string(run, event));
  return lines;
}

TEST_CASE("A recording holds every kernel, its key, its values and who called it",
          "[io][recording]") {
  const Tensor x = ones({2, 3}), y = ones({3});
  const RecordedRun run = record([&] { add(x, y, 2); });
  CHECK(run.fault.empty());
  CHECK(lines(run) ==
        std::vector<std::string>{
            "AutogradCPU aten::add.Tensor(%1 float32[2, 3], %2 float32[3], 2) -> %3 float32[2, 3]",
            "  CPU aten::add.Tensor(%1 float32[2, 3], %2 float32[3], 2) -> %3 float32[2, 3]"});
  REQUIRE(run.events.size() == 2);
  CHECK(run.events[0].parent == RecordedEvent::kNone);
  CHECK(run.events[1].parent == 0);
  CHECK(run.events[0].start <= run.events[1].start);
  CHECK(run.events[1].end <= run.events[0].end);
  CHECK_THAT(run.site(run.events[1]).where, Catch::StartsWith("ops/"));
  CHECK_THAT(run.site(run.events[0]).reason, Catch::Contains("[autograd kernel"));
}

}  // namespace
}  // namespace sb::io
