#include "switchboard/dispatch/reclaim.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(keep, "reclaim::keep(Tensor x) -> Tensor");

// What a kernel holds, and how many hold it.
using Held = std::shared_ptr<int>;

Library define_keep() {
  Library library(Library::Kind::Def, "reclaim");
  library.define(keep);
  return library;
}

TEST_CASE("what a kernel captured is destroyed when its library closes") {
  Library definition = define_keep();
  const Held held = std::make_shared<int>(7);
  {
    Library library(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
    library.impl(keep, [held](const Tensor& x) { return *held == 7 ? x : Tensor(); });
    const Tensor x = tensor_with(DispatchKey::CPU);
    CHECK(keep(x).impl() == x.impl());
    CHECK(held.use_count() == 2);
  }
  CHECK(held.use_count() == 1);
  CHECK(internal::retired_objects() == 0);
}

TEST_CASE("a kernel that closes its own library runs to its end") {
  Library definition = define_keep();
  const Held held = std::make_shared<int>(7);
  auto library = std::make_unique<Library>(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
  library->impl(keep, [held, &library](const Tensor& x) {
    library.reset();
    CHECK(held.use_count() == 2);  // still here
    return *held == 7 ? x : Tensor();
  });
  const Tensor x = tensor_with(DispatchKey::CPU);
  CHECK(keep(x).impl() == x.impl());
  CHECK_THROWS_AS(keep(x), NotImplementedError);
  internal::reclaim();
  CHECK(held.use_count() == 1);
}

TEST_CASE("a kernel that another thread is in outlives its library") {
  Library definition = define_keep();
  const Held held = std::make_shared<int>(7);
  absl::Notification entered, closed;
  auto library = std::make_unique<Library>(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
  library->impl(keep, [held, &entered, &closed](const Tensor& x) {
    entered.Notify();
    closed.WaitForNotification();
    return *held == 7 ? x : Tensor();
  });
  const Tensor x = tensor_with(DispatchKey::CPU);
  bool came_back = false;
  std::thread caller([&] { came_back = keep(x).impl() == x.impl(); });
  entered.WaitForNotification();
  library.reset();
  CHECK(held.use_count() == 2);
  closed.Notify();
  caller.join();
  CHECK(came_back);
  internal::reclaim();
  CHECK(held.use_count() == 1);
}

TEST_CASE("a call that throws is over") {
  Library definition = define_keep();
  const Held held = std::make_shared<int>(7);
  {
    Library library(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
    library.impl(keep, [held](const Tensor&) -> Tensor { throw ValueError("no"); });
    CHECK_THROWS_AS(keep(tensor_with(DispatchKey::CPU)), ValueError);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("the destructors of a thread's variables may call, and reclaiming goes on") {
  Library definition = define_keep();
  Library library(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
  library.impl(keep, [](const Tensor& x) { return x; });
  struct CallAtExit {
    ~CallAtExit() { *ok = keep(tensor_with(DispatchKey::CPU)).defined(); }
    bool* ok;
  };
  bool ok = false;
  std::thread([&] {
    thread_local CallAtExit last{nullptr};
    last.ok = &ok;
    keep(tensor_with(DispatchKey::CPU));
  }).join();
  CHECK(ok);
  const Held held = std::make_shared<int>(7);
  {
    Library other(Library::Kind::Impl, "reclaim", DispatchKey::Meta);
    other.impl(keep, [held](const Tensor& x) { return x; });
    keep(tensor_with(DispatchKey::Meta));
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("a forked process forgets the threads that it does not have") {
  Library definition = define_keep();
  Library library(Library::Kind::Impl, "reclaim", DispatchKey::CPU);
  library.impl(keep, [](const Tensor& x) { return x; });
  absl::Notification end;
  std::atomic<int> called{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      keep(tensor_with(DispatchKey::CPU));
      ++called;
      end.WaitForNotification();
    });
  }
  while (called < 8) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    keep(tensor_with(DispatchKey::CPU));
    library.close();
    ::_exit(internal::retired_objects() == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  end.Notify();
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a kernel may destroy the library that closes") {
  auto library = std::make_shared<Library>(Library::Kind::Def, "reclaim");
  library->define(keep);
  library->impl(keep, DispatchKey::CPU, [library](const Tensor& x) { return x; });
  Library* const raw = library.get();
  library.reset();
  raw->close();
  CHECK_FALSE(default_dispatcher().find_op("reclaim::keep"));
}

}  // namespace
}  // namespace sb
