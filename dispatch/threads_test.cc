#include <atomic>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(pick, "threads::pick(Tensor x) -> int");

TEST_CASE("calls run the old kernel or the new one while another thread overrides it") {
  Library m(Library::Kind::Def, "threads");
  m.define(pick);
  m.impl(pick, DispatchKey::CPU, [](const Tensor&) { return int64_t{1}; });
  std::atomic<bool> stop{false};
  std::atomic<int64_t> wrong{0}, calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const Tensor x = tensor_on(DeviceType::CPU);
      int64_t mine = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        const int64_t got = pick(x);
        if (got != 1 && got != 2) wrong.fetch_add(1);
        ++mine;
      }
      calls.fetch_add(mine);
    });
  }
  for (int i = 0; i < 200; ++i) {
    Library other(Library::Kind::Impl, "threads");
    other.allow_override().impl(pick, DispatchKey::CPU, [](const Tensor&) { return int64_t{2}; });
    Library fallbacks(Library::Kind::Impl, "_");
    fallbacks.fallback(DispatchKey::PrivateUse2, fallthrough);
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(calls > 0);
}

}  // namespace
}  // namespace sb
