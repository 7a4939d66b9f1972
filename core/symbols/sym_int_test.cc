#include "switchboard/core/symbols/sym_int.h"

#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

struct FakeNode : SymNode {
  explicit FakeNode(int* alive) : alive(alive) { ++*alive; }
  ~FakeNode() override { --*alive; }
  int64_t guard_int(SourceLocation) const override { return 42; }
  std::string to_string() const override { return "s0"; }
  int* alive;
};

TEST_CASE("a plain integer is held as itself", "[core][sym_int]") {
  for (int64_t v : {int64_t{0}, int64_t{-1}, INT64_MAX, -(int64_t{1} << 62)}) {
    const SymInt s(v);
    CHECK_FALSE(s.is_symbolic());
    CHECK(s.node() == nullptr);
    CHECK(s.expect_int() == v);
    CHECK(s.guard_int() == v);
  }
}

TEST_CASE("an integer that looks like a pointer is refused, not followed", "[core][sym_int]") {
  for (int64_t v : {INT64_MIN, INT64_MIN + 4096, -(int64_t{1} << 62) - 1}) {
    CHECK_THROWS_AS(SymInt(v), RuntimeError);
    const std::vector<int64_t> ints = {1, v};
    CHECK_THROWS_AS(SymIntArrayRef(ints), RuntimeError);
  }
}

TEST_CASE("a symbolic integer owns its node", "[core][sym_int]") {
  int alive = 0;
  {
    const SymInt s(make_intrusive<FakeNode>(&alive));
    SymInt copy = s;
    CHECK(s.node()->use_count() == 2);
    copy = SymInt(1);
    CHECK(s.node()->use_count() == 1);
    copy = s;
    const SymInt moved = std::move(copy);
    CHECK(moved.is_symbolic());
    CHECK_FALSE(copy.is_symbolic());
    CHECK(s.guard_int() == 42);
    CHECK_THROWS_WITH(s.expect_int(), Catch::Contains("s0"));
  }
  CHECK(alive == 0);
}

TEST_CASE("a symbolic integer needs a node", "[core][sym_int]") {
  CHECK_THROWS_AS(SymInt(IntrusivePtr<SymNode>()), ValueError);
}

TEST_CASE("a span of plain integers is a span of symbolic ones, and back", "[core][sym_int]") {
  const std::vector<int64_t> ints = {1, 2, 3};
  const SymIntArrayRef syms = ints;
  CHECK(static_cast<const void*>(syms.data()) == ints.data());
  CHECK(syms.expect_ints() == IntArrayRef(ints));
  int alive = 0;
  const std::vector<SymInt> mixed = {SymInt(1), SymInt(make_intrusive<FakeNode>(&alive))};
  CHECK_THROWS_AS(SymIntArrayRef(mixed).expect_ints(), RuntimeError);
}

}  // namespace
}  // namespace sb
