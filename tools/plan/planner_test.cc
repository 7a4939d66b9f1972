#include "switchboard/tools/plan/planner.h"

#include <algorithm>
#include <functional>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tools/plan/plan_report.h"

namespace sb::plan {
namespace {

using Catch::Contains;
using Sizes = std::vector<int64_t>;
using Program = std::function<Tensor(const Tensor&)>;

constexpr int64_t kFloat = 4;

// The plan of a program of one input, on the fake CPU.
Plan plan_of(const Sizes& sizes, const Program& program) {
  const FakeTensorMode fake;
  const FakeTensorModeGuard guard(fake);
  const Tensor x = sb::empty(sizes);
  Planner planner;
  planner.add_input(x, "x");
  Tensor y;
  {
    const ModeGuard planning(&planner);
    y = program(x);
  }
  return planner.finish();
}

std::vector<std::string> ops_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlannedOp& op : plan.ops) names.push_back(op.name);
  return names;
}

TEST_CASE("a storage lives from the call that makes it to the last that finds it", "[plan]") {
  const Plan plan = plan_of({8}, [](const Tensor& x) {
    Tensor a = sb::relu(x);  // call 0
    Tensor b = sb::relu(a);  // call 1, the last that has a
    a = Tensor();
    b = sb::relu(b);    // call 2: the result takes b's handle when it is there
    return sb::neg(b);  // call 3
  });
  REQUIRE(plan.ops.size() == 4);
  REQUIRE(plan.storages.size() == 5);
  const auto range = [&](size_t i) {
    return std::pair(plan.storages[i].born, plan.storages[i].dies);
  };
  CHECK(plan.storages[0].name == "x");
  CHECK(plan.storages[0].is_input);
  CHECK(range(0) == std::pair<size_t, size_t>(0, 4));
  CHECK(range(1) == std::pair<size_t, size_t>(0, 2));
  CHECK(range(2) == std::pair<size_t, size_t>(1, 3));
  CHECK(range(3) == std::pair<size_t, size_t>(2, 4));
  CHECK(range(4) == std::pair<size_t, size_t>(3, 4));
  CHECK_FALSE(plan.storages[3].outlives);
  CHECK(plan.storages[4].outlives);  // the result
  const DeviceMemory memory = memory_on(plan, DeviceType::CPU);
  CHECK(memory.live_bytes[0] == 2 * 8 * kFloat);
  CHECK(memory.peak_bytes == 3 * 8 * kFloat);
  CHECK(memory.peak_op == 1);
  CHECK(memory.inputs_at_peak == 8 * kFloat);
  CHECK(memory.arena.bytes == 2 * 64);
}

TEST_CASE("a view keeps its base alive, and takes nothing", "[plan]") {
  const Plan plan = plan_of({8}, [](const Tensor& x) {
    Tensor view = sb::select(sb::relu(x), 0, 3);
    sb::neg(x);
    return sb::neg(view);
  });
  CHECK(ops_of(plan) ==
        std::vector<std::string>{"aten::relu", "aten::select.int", "aten::neg", "aten::neg"});
  REQUIRE(plan.storages.size() == 4);
  CHECK(plan.storages[1].born == 0);
  CHECK(plan.storages[1].dies == 4);
  CHECK(plan.storages[2].dies == 3);  // the neg that nobody took
}

TEST_CASE("an in-place operator makes no storage", "[plan]") {
  const Plan plan = plan_of({8}, [](const Tensor& x) {
    Tensor y = sb::relu(x);
    y += y;
    return y;
  });
  CHECK(plan.ops.size() == 2);
  CHECK(plan.storages.size() == 2);
}

TEST_CASE("a storage that grows is there twice while its bytes are copied", "[plan]") {
  const Plan plan = plan_of({8}, [](const Tensor& x) {
    Tensor y = sb::relu(x);
    sb::resize_(y, Sizes{20});
    return sb::neg(y);
  });
  REQUIRE(plan.storages.size() == 4);
  CHECK(plan.storages[1].bytes == 8 * kFloat);
  CHECK(plan.storages[1].dies == 2);
  CHECK(plan.storages[2].bytes == 20 * kFloat);
  CHECK(plan.storages[2].born == 1);
  CHECK(memory_on(plan, DeviceType::CPU).live_bytes[1] == (8 + 8 + 20) * kFloat);
}

TEST_CASE("the planned peak is what an allocator counts", "[plan]") {
  const Program program = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 5; ++i) {
      const Tensor hidden = sb::relu(sb::mm(y, sb::transpose(x, 0, 1)));
      y = sb::mm(hidden, x) + y;
      y *= 0.5;
    }
    return y;
  };
  // On a fake device, by the mode's own count.
  {
    const FakeTensorMode fake;
    const FakeTensorModeGuard guard(fake);
    const Tensor x = sb::empty(Sizes{30, 70}, std::nullopt, std::nullopt, Device("cuda:0"));
    Planner planner;
    planner.add_input(x, "x");
    {
      const ModeGuard planning(&planner);
      program(x);
    }
    CHECK(memory_on(planner.finish(), Device("cuda:0")).peak_bytes == fake.memory().peak_bytes());
  }
  // On this machine, by the CPU's.
  const Tensor x = sb::ones(Sizes{30, 70});
  AllocationStats& stats = get_allocator(DeviceType::CPU)->stats();
  const int64_t before = stats.current_bytes() - static_cast<int64_t>(x.nbytes());
  stats.reset_peak();
  program(x);
  const int64_t counted = stats.peak_bytes() - before;
  Planner planner;
  planner.add_input(x, "x");
  {
    const ModeGuard planning(&planner);
    program(x);
  }
  const int64_t planned = memory_on(planner.finish(), DeviceType::CPU).peak_bytes;
  CHECK(planned == counted);
  CHECK(memory_on(plan_of({30, 70}, program), DeviceType::CPU).peak_bytes == counted);
}

TEST_CASE("what nobody declared counts from the beginning", "[plan]") {
  const FakeTensorMode fake;
  const FakeTensorModeGuard guard(fake);
  const Tensor x = sb::empty(Sizes{8}), weight = sb::empty(Sizes{100});
  Planner planner;
  planner.add_input(x, "x");
  {
    const ModeGuard planning(&planner);
    sb::relu(x);
    sb::relu(weight);
  }
  const PlanReport report(planner.finish());
  REQUIRE(report.plan().storages.size() == 4);
  CHECK(report.plan().storages[2].is_input);
  CHECK(report.plan().storages[2].born == 0);
  CHECK_THAT(report.storages_text(), Contains("(not declared)"));
  // A weight that the program makes itself is declared afterwards.
  {
    const ModeGuard planning(&planner);
    const Tensor made = sb::empty(Sizes{8});
    planner.add_input(made, "made");
    sb::relu(made);
  }
  const Plan plan = planner.finish();
  CHECK(plan.storages[0].name == "made");
  CHECK(plan.storages[0].is_input);
  CHECK_THROWS_AS(planner.add_input(Tensor(), "nothing"), RuntimeError);
}

TEST_CASE("composite operators are recorded as what they are made of", "[plan]") {
  const Plan plan =
      plan_of({4, 8}, [](const Tensor& x) { return sb::matmul(x, sb::transpose(x, 0, 1)); });
  CHECK(ops_of(plan).back() == "aten::mm");
  CHECK(plan.total().flops == 2 * 4 * 8 * 4);
}

TEST_CASE("a call that throws is not recorded", "[plan]") {
  const Plan plan = plan_of({4, 8}, [](const Tensor& x) {
    CHECK_THROWS_AS(sb::mm(x, x), Error);
    return sb::relu(x);
  });
  CHECK(ops_of(plan) == std::vector<std::string>{"aten::relu"});
}

TEST_CASE("the page and the JSON say the same", "[plan]") {
  const FakeTensorMode fake;
  const FakeTensorModeGuard guard(fake);
  const Tensor x = sb::empty(Sizes{4, 8}, std::nullopt, std::nullopt, Device("cuda:0"));
  Planner planner;
  planner.add_input(x, "x\x1b");
  Tensor y;
  {
    const ModeGuard planning(&planner);
    planner.set_label("double \"u\"");
    y = x + x;
    planner.set_label("");
    y = sb::relu(y);
  }
  const PlanReport report(planner.finish());
  CHECK(report.calls_text() ==
        "#   label          operator           results         FLOPs   read   written   live\n"
        "0   double \\\"u\\\"   aten::add.Tensor   float32[4, 8]      32    128       128    256\n"
        "1                  aten::relu         float32[4, 8]      32    128       128    384\n");
  CHECK(report.summary_text() ==
        "64 FLOPs in 2 calls; 256 bytes read, 256 written\n"
        "peak on cuda:0: 384 bytes, 128 of them weights and inputs; during call 1, aten::relu\n"
        "arena on cuda:0: 256 bytes for 2 temporary storages; at least 256 are needed, and 256 "
        "without reuse\n");
  CHECK_THAT(report.storages_text(), Contains("x\\x1b") && Contains("cuda:0") && Contains("0-1"));

  const io::JsonDocument json = io::JsonDocument::parse(report.to_json(), "plan.json");
  CHECK(json.root().at("flops").to_int() == 64);
  CHECK(json.root().at("ops").elements().at(0).at("label").to_string() == "double \"u\"");
  CHECK(json.root().at("ops").elements().at(1).at("bytes_read").to_int() == 128);
  const io::JsonValue device = json.root().at("devices").elements().at(0);
  CHECK(device.at("peak_bytes").to_int() == 384);
  CHECK(device.at("arena_bytes").to_int() == 256);
  CHECK(json.root().at("storages").elements().at(0).at("arena_offset").is_null());
  CHECK(json.root().at("storages").elements().at(2).at("arena_offset").to_int() == 128);
}

TEST_CASE("sums of hostile sizes are refused or saturate", "[plan]") {
  const int64_t huge = int64_t{1} << 59;
  const Plan plan = plan_of({huge}, [](const Tensor& x) {
    for (int i = 0; i < 40; ++i) sb::neg(x);
    return x;
  });
  const OpTotal total = totals_by_op(plan).at(0);
  CHECK(total.calls == 40);
  CHECK(total.cost.bytes_read == UINT64_MAX);
  CHECK(total.cost.flops == UINT64_MAX);
}

}  // namespace
}  // namespace sb::plan
