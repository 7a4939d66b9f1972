// What mpi_test.sh runs on processes: is what distributed/plan says of collectives what they do?
// Prints, for each, the bytes that rank 0 was planned to send and those that it gave its engine,
// and the milliseconds by plan and clock. Fails where bytes differ on a rank, or where one
// collective that is planned to take much longer than another took less.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/mpi/mpi_engine.h"
#include "switchboard/distributed/plan/link_model.h"
#include "switchboard/distributed/plan/traffic.h"
#include "switchboard/distributed/testing/counting_engine.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"

namespace {

using sb::Tensor;

// Plans and clocks differ by less than this, or their order says nothing.
constexpr double kMuchLonger = 16;
constexpr int kRepeats = 7;
// A machine that does something else meanwhile is asked again.
constexpr int kTries = 3;

struct Case {
  std::string name;
  std::function<void()> run;
  int64_t planned = 0, sent = 0;  // bytes of this rank
  double model = 0, clock = 0;    // seconds
};

std::vector<Case> cases(const sb::DeviceMesh& mesh) {
  std::vector<Case> list;
  const auto add = [&](const std::string& name, std::function<void()> run) {
    list.push_back({name, std::move(run)});
  };
  const sb::GroupPtr pair = mesh.group("pair");
  for (const int64_t size : {int64_t{4}, int64_t{40'000}, int64_t{4'000'000}}) {
    const Tensor x = sb::ones({size});
    const std::string suffix = " of " + std::to_string(size) + " floats";
    add("all_reduce" + suffix, [x] { sb::all_reduce(x, "sum"); });
    add("all_gather" + suffix, [x] { sb::all_gather_tensor(x, 0); });
    add("reduce_scatter" + suffix, [x] { sb::reduce_scatter_tensor(x, "sum", 0); });
    add("all_to_all" + suffix, [x] { sb::all_to_all_single(x); });
    add("broadcast" + suffix, [x] { sb::broadcast(x, 0); });
    add("all_reduce of a pair" + suffix, [x, pair] { sb::all_reduce(x, "sum", pair); });
  }
  return list;
}

// The least time of some, on this rank.
double measure(const Case& one) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < kRepeats; ++i) {
    sb::barrier();
    const auto begin = std::chrono::steady_clock::now();
    one.run();
    sb::world().settle();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count());
  }
  return least;
}

// Two collectives of which the one that is planned to take much longer did not; "" if there are
// none.
std::string order_fault(const std::vector<Case>& all) {
  for (const Case& shorter : all)
    for (const Case& longer : all)
      if (longer.model > kMuchLonger * shorter.model && longer.clock < shorter.clock)
        return sb::str_cat(longer.name, " is planned to take much longer than ", shorter.name,
                           ", and took ", longer.clock, " s, less than ", shorter.clock, " s");
  return "";
}

void run() {
  const auto engine = std::make_shared<sb::test::CountingEngine>(sb::world().engine());
  sb::World world(engine);
  const sb::WorldGuard guard(&world);
  const sb::DeviceMesh mesh({{"across", world.size() / 2}, {"pair", 2}});
  std::vector<Case> all = cases(mesh);
  // The link's latency and rate, as the smallest and the largest all_gather have them.
  const auto find = [&](const std::string& name) -> Case& {
    return *std::find_if(all.begin(), all.end(), [&](const Case& c) { return c.name == name; });
  };
  const double steps = static_cast<double>(world.size() - 1);
  const sb::Link link{
      steps * 16e6 / measure(find("all_gather of 4000000 floats")),
      measure(find("all_gather of 4 floats")) / steps,
  };
  for (Case& one : all) {
    const int64_t before = engine->sent;
    sb::TrafficRecorder recorder(mesh);
    {
      const sb::ModeGuard mode(&recorder);
      one.run();
    }
    world.settle();
    one.sent = engine->sent - before;
    for (const sb::PlannedCall& call : recorder.calls()) {
      one.planned += sb::bytes_sent(call, sb::place_of(sb::get_rank(), call.dim, mesh.dims()));
      one.model += std::min(sb::ring_seconds(call, link), sb::tree_seconds(call, link));
    }
    SB_CHECK(one.planned == one.sent, one.name, ": planned to send ", one.planned,
             " bytes, and sent ", one.sent);
  }
  std::string fault;
  for (int i = 0; i < kTries; ++i) {
    for (Case& one : all) one.clock = measure(one);
    fault = sb::get_rank() == 0 ? order_fault(all) : "";
    const Tensor failed = sb::full({1}, fault.empty() ? 0 : 1);
    if (sb::item(sb::broadcast(failed, 0)).to<double>() == 0) break;
  }
  if (sb::get_rank() != 0) return;
  for (const Case& one : all)
    std::printf("%-40s %12lld %12lld %10.3f ms %10.3f ms\n", one.name.c_str(),
                static_cast<long long>(one.planned), static_cast<long long>(one.sent),
                1e3 * one.model, 1e3 * one.clock);
  SB_CHECK(fault.empty(), fault);
  std::printf("bytes are as planned, and so is the order of times\n");
}

}  // namespace

int main() { return sb::run_mpi(run, {.timeout = 60, .library = ""}); }
