// What programs that were exported call, with symbols against itself with numbers.

#include "catch2/catch.hpp"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/weight_norm.h"
#include "switchboard/ops/recurrent/recurrent.h"
#include "switchboard/ops/spatial/grid_sampler.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/symbolic_rules/holds.h"

namespace sb {
namespace {

// With symbols as with numbers, whatever they are.
void holds(const Program& program) {
  CHECK(guards_of(program) == "");
  CHECK(difference(program) == "");
  CHECK(difference_unbacked(program) == "");
}

TEST_CASE("empty_permuted asks nothing") {
  holds([](const Sizes& s) {
    const SymInt size[] = {s.n, 3, s.h};
    return empty_permuted(SymIntArrayRef(size, 3), {2, 0, 1}, DType::Float32, std::nullopt,
                          Device(DeviceType::Meta));
  });
}

TEST_CASE("copy has the sizes and strides of self") {
  holds([](const Sizes& s) { return copy(s({s.n, s.h}), s({s.n, s.h})); });
  holds([](const Sizes& s) { return copy(transpose(s({s.n, s.h}), 0, 1), s({s.h, s.n})); });
}

TEST_CASE("the output of fused attention is laid out as its query") {
  const auto attend = [](const Sizes& s, const Tensor& query) {
    return scaled_dot_product_attention(query, s({s.n, 2, s.w, 8}), s({s.n, 2, s.w, 8}));
  };
  holds([&](const Sizes& s) { return attend(s, transpose(s({s.n, s.h, 2, 8}), 1, 2)); });
}

TEST_CASE("sampling by a grid keeps the sizes of both") {
  const Program sampled = [](const Sizes& s) {
    return grid_sampler_2d(s({2, s.n, 5, 6}), s({2, s.h, s.w, 2}), 0, 0, false);
  };
  CHECK(guards_of(sampled) == "");
  CHECK(difference(sampled) == "");
}

TEST_CASE("a step of an lstm keeps its batch") {
  holds([](const Sizes& s) {
    return lstm_cell(s({s.n, 3}), {s({s.n, 4}), s({s.n, 4})}, s({16, 3}), s({16, 4}));
  });
}

}  // namespace
}  // namespace sb
