#include "switchboard/core/generator.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/vmap/examples.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

bool all_rows_equal(const Tensor& x) { return same(x, expand(select(x, 0, 0), x.sizes())); }

Tensor draw(const Tensor& x) { return x * 0 + rand({4}); }
Tensor draw_like(const Tensor& x) { return rand_like(x); }
Tensor drop(const Tensor& x) { return dropout(x, 0.5, true); }
Tensor only_draw(const Tensor&) { return rand({4}); }

using Draw = Tensor (*)(const Tensor&);

TEST_CASE("random operators are refused unless vmap says what they draw") {
  const Draw f = GENERATE(draw, draw_like, drop, only_draw);
  CHECK_THAT(message_of([&] {
               vmap(f, {ones({3, 4})});
             }),
             Contains("vmap level 1: it draws random numbers, and randomness is 'error'"));
}

TEST_CASE("all examples draw the same numbers, or each draws others") {
  const Draw f = GENERATE(draw, draw_like, drop, only_draw);
  const Tensor x = ones({3, 64});
  const auto run = [&](Randomness randomness) {
    return vmap([&](const Tensor& row) { return f(narrow(row, 0, 0, 4)); }, {x},
                {.randomness = randomness})[0];
  };
  CHECK(all_rows_equal(run(Randomness::Same)));
  bool differ = false;  // a dropout of four may keep the same ones by chance
  for (int i = 0; i < 20; ++i) differ = differ || !all_rows_equal(run(Randomness::Different));
  CHECK(differ);
}

TEST_CASE("chunks draw the same numbers, too") {
  const Draw f = GENERATE(draw, only_draw);
  const VmapOptions options{.randomness = Randomness::Same, .chunk_size = 2};
  CHECK(all_rows_equal(vmap(f, {ones({5, 4})}, options)[0]));
}

TEST_CASE("randomness goes by its names") {
  CHECK(to_string(Randomness::Different) == "different");
  CHECK(parse_randomness("same") == Randomness::Same);
  CHECK(message_of([] { parse_randomness("foo"); }) ==
        "ValueError: randomness: expected 'error', 'same' or 'different', got 'foo'");
}

}  // namespace
}  // namespace sb::test
