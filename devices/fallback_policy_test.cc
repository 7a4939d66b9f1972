#include "switchboard/devices/fallback_policy.h"

#include <memory>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/fallback_stats.h"

namespace sb {
namespace {

TEST_CASE("the CPU fallback is allowed until somebody forbids it, for a scope or for good",
          "[devices][fallback]") {
  CHECK(is_cpu_fallback_allowed_for("aten::sort"));
  {
    ForbidCpuFallback forbidden;
    CHECK_FALSE(is_cpu_fallback_allowed());
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_cpu_fallback_allowed_for("aten::sort"); }).join();
    CHECK_FALSE(elsewhere);
    { ForbidCpuFallback again; }
    CHECK_FALSE(is_cpu_fallback_allowed());
  }
  CHECK(is_cpu_fallback_allowed());
  {
    auto first = std::make_unique<ForbidCpuFallback>();
    const ForbidCpuFallback second;  // as another thread's would, it outlives the first
    first.reset();
    CHECK_FALSE(is_cpu_fallback_allowed());
  }
  CHECK(is_cpu_fallback_allowed());
  set_cpu_fallback_allowed(false);
  CHECK_FALSE(is_cpu_fallback_allowed_for("aten::sort"));
  set_cpu_fallback_allowed(true);
}

TEST_CASE("what is said of one operator goes before what is said of all", "[devices][fallback]") {
  set_cpu_fallback_allowed_for("aten::sort", false);
  CHECK_FALSE(is_cpu_fallback_allowed_for("aten::sort"));
  CHECK(is_cpu_fallback_allowed_for("aten::sort.stable"));  // another overload
  set_cpu_fallback_allowed_for("aten::sort", true);
  {
    ForbidCpuFallback forbidden;
    CHECK(is_cpu_fallback_allowed_for("aten::sort"));
    CHECK_FALSE(is_cpu_fallback_allowed_for("aten::sort.stable"));
    set_cpu_fallback_allowed_for("aten::sort", std::nullopt);
    CHECK_FALSE(is_cpu_fallback_allowed_for("aten::sort"));
  }
  CHECK(is_cpu_fallback_allowed_for("aten::sort"));
}

TEST_CASE("an operator is named with its namespace", "[devices][fallback]") {
  for (const char* bad : {"", "sort", "::sort", "aten::"}) {
    CHECK_THROWS_AS(set_cpu_fallback_allowed_for(bad, true), ValueError);
  }
  CHECK_THROWS_WITH(set_cpu_fallback_allowed_for("sort", true), Catch::Contains("\"sort\""));
}

TEST_CASE("counts of the fallback add up over threads, by device type and operator",
          "[devices][fallback]") {
  constexpr DeviceType kType = DeviceType::VE;
  reset_fallback_stats(kType);
  constexpr int kThreads = 4, kCalls = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < kCalls; ++k) {
        internal::add_fallback_stats(kType, "aten::a", {1, 10, 20, std::chrono::nanoseconds(3)});
        internal::add_fallback_stats(kType, "aten::b", {1, 0, 1, std::chrono::nanoseconds(1)});
        fallback_stats(kType);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FallbackStatsByOp stats = fallback_stats(kType);
  REQUIRE(stats.size() == 2);
  CHECK(stats.at("aten::a").calls == kThreads * kCalls);
  CHECK(stats.at("aten::a").bytes_to_cpu == kThreads * kCalls * 10);
  CHECK(stats.at("aten::a").bytes_from_cpu == kThreads * kCalls * 20);
  CHECK(stats.at("aten::a").time == std::chrono::nanoseconds(kThreads * kCalls * 3));
  CHECK(stats.at("aten::b").calls == kThreads * kCalls);
  CHECK(fallback_stats(DeviceType::XLA).empty());
  reset_fallback_stats(kType);
  CHECK(fallback_stats(kType).empty());
}

}  // namespace
}  // namespace sb
