#include "switchboard/core/intrusive_ptr.h"

#include <atomic>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

// Counts its own life.
struct Probe : IntrusiveTarget {
  explicit Probe(std::atomic<int>& alive, int* released = nullptr)
      : alive(alive), released(released) {
    ++alive;
  }
  ~Probe() override { --alive; }
  void release_resources() override {
    if (released) ++*released;
  }
  std::atomic<int>& alive;
  int* released;
};
using Ptr = IntrusivePtr<Probe>;
using Weak = WeakIntrusivePtr<Probe>;

TEST_CASE("the last strong reference deletes the object", "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  Ptr a = make_intrusive<Probe>(alive);
  Ptr b = a;
  CHECK(a->use_count() == 2);
  a = nullptr;
  CHECK(alive == 1);
  b = std::move(b);
  CHECK(alive == 1);
  b = nullptr;
  CHECK(alive == 0);
}

TEST_CASE("adopt takes a reference over, share adds one, leak gives one up",
          "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  Ptr a = make_intrusive<Probe>(alive);
  Probe* raw = a.leak();
  CHECK_FALSE(a);
  a = Ptr::adopt(raw);
  const Ptr b = Ptr::share(raw);
  CHECK(raw->use_count() == 2);
  CHECK_FALSE(Ptr::share(nullptr));
}

TEST_CASE("a pointer to a derived object converts to one to its base", "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  {
    const IntrusivePtr<IntrusiveTarget> base = make_intrusive<Probe>(alive);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a weak reference locks while a strong one lives", "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  Ptr strong = make_intrusive<Probe>(alive);
  const Weak weak(strong);
  CHECK(weak.lock() == strong);
  CHECK_FALSE(weak.expired());
  strong = nullptr;
  CHECK(weak.expired());
  CHECK_FALSE(weak.lock());
}

TEST_CASE("an object that only weak references name gives up its resources, then its memory",
          "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  int released = 0;
  {
    Weak weak;
    CHECK(weak.expired());
    {
      const Ptr strong = make_intrusive<Probe>(alive, &released);
      weak = Weak(strong);
    }
    CHECK(released == 1);
    CHECK(alive == 1);
    CHECK(weak.address() != nullptr);
  }
  CHECK(alive == 0);
  CHECK(released == 1);
}

TEST_CASE("threads that share and lock one object delete it once", "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  for (int round = 0; round < 200; ++round) {
    Ptr strong = make_intrusive<Probe>(alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([copy = strong, weak = Weak(strong)]() mutable {
        for (int k = 0; k < 20; ++k) {
          const Ptr locked = weak.lock();
          const Ptr again = locked;
        }
        copy = nullptr;
        weak.lock();
      });
    }
    strong = nullptr;
    for (std::thread& t : threads) t.join();
    REQUIRE(alive == 0);
  }
}

TEST_CASE("an over-aligned object gets its alignment", "[core][intrusive_ptr]") {
  struct alignas(128) Wide : IntrusiveTarget {};
  std::vector<IntrusivePtr<Wide>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(make_intrusive<Wide>());
    CHECK(reinterpret_cast<uintptr_t>(all.back().get()) % 128 == 0);
  }
}

TEST_CASE("a block that another thread freed is good for use", "[core][intrusive_ptr]") {
  std::atomic<int> alive = 0;
  std::vector<Ptr> made;
  for (int i = 0; i < 500; ++i) made.push_back(make_intrusive<Probe>(alive));
  std::thread([&] { made.clear(); }).join();
  CHECK(alive == 0);
  for (int i = 0; i < 500; ++i) made.push_back(make_intrusive<Probe>(alive));
  CHECK(alive == 500);
}

}  // namespace
}  // namespace sb
