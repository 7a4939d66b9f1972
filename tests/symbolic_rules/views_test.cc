// Views, copies and rearrangements with symbols, against themselves with numbers.

#include "switchboard/ops/views/views.h"

#include "catch2/catch.hpp"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/pad.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/views/repeat.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/tests/symbolic_rules/holds.h"

namespace sb {
namespace {

constexpr int64_t kEnd = INT64_MAX;

void holds(const Program& program) {
  CHECK(guards_of(program) == "");
  CHECK(difference(program) == "");
  CHECK(difference_unbacked(program) == "");
}
// With questions that say for which sizes it is right, and none where sizes come from data.
void holds_where(std::string guards, const Program& program) {
  CHECK(guards_of(program) == guards);
  CHECK(difference(program) == "");
  CHECK(difference_unbacked(program) == "");
}

TEST_CASE("views of the whole ask nothing") {
  holds([](const Sizes& s) { return alias(s({s.n, s.h})); });
  holds([](const Sizes& s) { return detach(s({s.n, s.h})); });
  holds([](const Sizes& s) { return t(s({s.n, s.h})); });
  holds([](const Sizes& s) { return as_strided(s({s.n, s.h}), {s.h, s.n}, {1, s.h}); });
}

TEST_CASE("a slice as long as the dimension is whole, and one longer is cut") {
  holds_where("s0 <= 64", [](const Sizes& s) { return slice(s({64, s.h}), 0, 0, s.n); });
  holds_where("s0 >= 2", [](const Sizes& s) { return slice(s({s.n, s.h}), 0, 0, 2); });
  holds_where("s0 <= 100", [](const Sizes& s) { return slice(s({s.n, s.h}), 0, 0, 100); });
  holds([](const Sizes& s) { return slice(s({s.n, s.h}), 0, 0, kEnd, 2); });
}

TEST_CASE("halves of a dimension are there for all sizes") {
  holds_where("s0//2 <= s0", [](const Sizes& s) { return slice(s({s.n, s.h}), 0, 0, s.n / 2); });
  holds_where("s0//2 <= s0", [](const Sizes& s) { return slice(s({s.n, s.h}), 0, s.n / 2, kEnd); });
}

TEST_CASE("select and narrow check, and ask nothing of sizes from data") {
  holds_where("s0 >= 1", [](const Sizes& s) { return select(s({s.n, s.h}), 0, 0); });
  holds_where("s0 >= 1", [](const Sizes& s) { return select(s({s.n, s.h}), 0, -1); });
  holds_where("s0 <= 64", [](const Sizes& s) { return narrow(s({64, s.h}), 0, 0, s.n); });
}

TEST_CASE("copies in another order ask nothing") {
  holds([](const Sizes& s) { return flip(s({s.n, s.h}), {0}); });
  holds([](const Sizes& s) { return roll(s({s.n, s.h}), {1}, {}); });
  holds([](const Sizes& s) { return repeat(s({s.n, s.h}), {2, 1, 3}); });
  holds([](const Sizes& s) { return repeat(s({s.h, 2}), {s.n, 1}); });
  holds([](const Sizes& s) { return tile(s({s.n, s.h}), {2}); });
  holds([](const Sizes& s) { return triu(s({s.n, s.h}), 1); });
  holds([](const Sizes& s) { return tril(s({s.n, s.h, 3})); });
}

TEST_CASE("padding asks only whether something is taken away") {
  holds([](const Sizes& s) { return constant_pad_nd(s({s.n, s.h}), {1, 2, 3, 4}, 0); });
  holds([](const Sizes& s) { return constant_pad_nd(s({2, 3}), {0, s.h}, 0); });
}

TEST_CASE("diagonals are as long as the shorter side") {
  holds([](const Sizes& s) { return diagonal(s({s.n, s.h}), 0, 0, 1); });
  holds([](const Sizes& s) { return diag_embed(s({s.n, s.h})); });
}

TEST_CASE("windows need a dimension that holds one") {
  holds_where("s1 >= 3", [](const Sizes& s) { return unfold(s({s.n, s.h}), 1, 3, 2); });
}

TEST_CASE("what is scattered has the shape of the view") {
  holds([](const Sizes& s) { return select_scatter(s({s.n, s.h, 4}), s({s.n, s.h}), 2, 1); });
  holds([](const Sizes& s) { return slice_scatter(s({s.n, s.h}), s({s.n, s.h}), 0, 0, kEnd); });
  holds([](const Sizes& s) { return copy(s({s.n, s.h}), s({s.n, s.h})); });
}

TEST_CASE("scatter asks whether the index fits, where it may not") {
  holds([](const Sizes& s) {
    return scatter(s({s.n, s.h}), 1, s({s.n, s.w}, DType::Int64), s({s.n, s.w}));
  });
  holds([](const Sizes& s) {
    return scatter_add(s({s.n, s.h}), 0, s({s.w, s.h}, DType::Int64), s({s.w, s.h}));
  });
  holds([](const Sizes& s) {
    return index_add(s({s.n, s.h}), 0, s({s.w}, DType::Int64), s({s.w, s.h}), 1);
  });
  holds([](const Sizes& s) {
    return index_copy(s({s.n, s.h}), 1, s({s.w}, DType::Int64), s({s.n, s.w}));
  });
}

TEST_CASE("grids ask nothing") {
  CHECK(guards_of([](const Sizes& s) {
          return meshgrid(std::vector<Tensor>{s({s.n}), s({s.h})})[0];
        }) == "");
}

}  // namespace
}  // namespace sb
