#include "switchboard/devices/dummy/memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"

namespace sb::dummy {
namespace {

// The signal that ends a process that runs f, or 0 if it ends by itself.
template <class F>
int signal_of(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    // Neither Catch's handler nor a sanitizer's.
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

float read(const Tensor& t) { return *static_cast<const volatile float*>(t.data_ptr()); }
void write(const Tensor& t) { *static_cast<volatile float*>(t.data_ptr()) = 1; }

TEST_CASE("host code that reads or writes device memory dies of it", "[dummy][memory]") {
  const Tensor t = tensor_of<float>(kFirst, {2}, {3, 4});
  CHECK(is_sealed(t));
  CHECK(signal_of([&] { read(t); }) == SIGSEGV);
  CHECK(signal_of([&] { write(t); }) == SIGSEGV);
}

TEST_CASE("an unlocked scope may read and write device memory", "[dummy][memory]") {
  const Tensor t = tensor_of<float>(kFirst, {2}, {3, 4});
  {
    DeviceMemory::Unlock open{t};
    CHECK_FALSE(is_sealed(t));
    CHECK(read(t) == 3);
    write(t);
    CHECK(read(t) == 1);
    CHECK(signal_of([&] { read(t); }) == 0);
  }
  CHECK(signal_of([&] { read(t); }) == SIGSEGV);
  CHECK(storage_of<float>(t) == std::vector<float>{1, 4});
}

TEST_CASE("unlocking one tensor leaves its neighbours sealed", "[dummy][memory]") {
  const Tensor a = tensor_of<float>(kFirst, {2}, {1, 2});
  const Tensor b = tensor_of<float>(kFirst, {2}, {3, 4});
  DeviceMemory::Unlock open{a};
  CHECK(is_sealed(b));
  CHECK(signal_of([&] { read(b); }) == SIGSEGV);
}

TEST_CASE("nested and overlapping scopes seal memory when the last one ends", "[dummy][memory]") {
  const Tensor t = tensor_of<float>(kFirst, {1}, {5});
  auto first = std::make_unique<DeviceMemory::Unlock>(t);
  auto second = std::make_unique<DeviceMemory::Unlock>(t.storage());
  CHECK(DeviceMemory::open_count(t.storage()->data()) == 2);
  first.reset();
  CHECK(read(t) == 5);
  second.reset();
  CHECK(is_sealed(t));
  {
    DeviceMemory::Unlock twice{t, t};
    CHECK(read(t) == 5);
  }
  CHECK(is_sealed(t));
}

TEST_CASE("threads open and seal one memory at the same time", "[dummy][memory]") {
  const Tensor t = tensor_of<float>(kFirst, {1}, {7});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        DeviceMemory::Unlock open{t};
        if (read(t) != 7) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(is_sealed(t));
}

TEST_CASE("memory that is freed while it is open lasts until the scope ends", "[dummy][memory]") {
  DeviceMemory::Unlock outer;
  Tensor t = tensor_of<float>(kFirst, {1}, {9});
  outer.add(t.storage());
  const volatile float* data = static_cast<const float*>(t.data_ptr());
  const int64_t before = allocation_stats(0).current_bytes();
  t = Tensor();
  CHECK(allocation_stats(0).current_bytes() == before - 4);
  CHECK(*data == 9);
  CHECK(DeviceMemory::open_count(const_cast<const float*>(data)) == -1);
}

TEST_CASE("memory that is held lasts, sealed, and opens for who holds it", "[dummy][memory]") {
  auto hold = std::make_unique<DeviceMemory::Hold>();
  Tensor t = tensor_of<float>(kFirst, {1}, {9});
  hold->add(t.storage());
  const volatile float* const data = static_cast<const float*>(t.data_ptr());
  CHECK(is_sealed(t));
  t = Tensor();
  DeviceMemory::Hold moved = std::move(*hold);
  hold.reset();
  CHECK(signal_of([&] { (void)*data; }) == SIGSEGV);
  {
    DeviceMemory::Unlock open(moved);
    CHECK(*data == 9);
  }
  CHECK(signal_of([&] { (void)*data; }) == SIGSEGV);
  const Tensor cpu = empty_on(DeviceType::CPU, {2}, DType::Float32);
  CHECK_THROWS_AS(moved.add(cpu.storage()), RuntimeError);
}

TEST_CASE("without sealing host code reads what it likes, and with it again it does not",
          "[dummy][memory]") {
  const Tensor before = tensor_of<float>(kFirst, {2}, {3, 4});
  const Tensor open_now = tensor_of<float>(kSecond, {1}, {5});
  auto open = std::make_unique<DeviceMemory::Unlock>(open_now);
  REQUIRE(DeviceMemory::sealing());
  DeviceMemory::set_sealing(false);
  DeviceMemory::set_sealing(false);
  CHECK_FALSE(DeviceMemory::sealing());
  CHECK_FALSE(is_sealed(before));
  CHECK(read(before) == 3);
  const Tensor during = tensor_of<float>(kFirst, {1}, {6});
  CHECK(read(during) == 6);
  { DeviceMemory::Unlock scope{before}; }
  CHECK(read(before) == 3);

  DeviceMemory::set_sealing(true);
  for (const Tensor& t : {before, during}) {
    CHECK(is_sealed(t));
    CHECK(signal_of([&] { read(t); }) == SIGSEGV);
  }
  CHECK(read(open_now) == 5);  // until its scope ends
  open.reset();
  CHECK(signal_of([&] { read(open_now); }) == SIGSEGV);
  CHECK(storage_of<float>(during) == std::vector<float>{6});
}

TEST_CASE("only device memory can be unlocked", "[dummy][memory]") {
  const Tensor cpu = empty_on(DeviceType::CPU, {2}, DType::Float32);
  CHECK_THROWS_AS(DeviceMemory::Unlock{cpu}, RuntimeError);
  const Tensor t = tensor_of<float>(kFirst, {1}, {9});
  CHECK_THROWS_AS((DeviceMemory::Unlock{t, cpu}), RuntimeError);
  CHECK(is_sealed(t));
  CHECK_FALSE(is_sealed(cpu));
  DeviceMemory::Unlock nothing{tensor_of<float>(kFirst, {0}, {})};
}

}  // namespace
}  // namespace sb::dummy
