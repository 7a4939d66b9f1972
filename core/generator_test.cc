#include "switchboard/core/generator.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("the CPU generator draws the same bits as PyTorch's with the same seed",
          "[core][generator]") {
  // torch.empty(3, dtype=torch.int64).random_(-2**63, None)
  struct Draws {
    uint64_t seed;
    uint64_t values[3];
  };
  const Draws expected[] = {
      {0, {0x8c7f0aac97c4aa2f, 0xb716a675d821ccc0, 0x9a4eb343dba252fb}},
      {1, {0x6ac1f425ff4780eb, 0xb8672f8ceebc1448, 0x00077eff20ccc389}},
      {4294967301, {0x38d48b630e2048ce, 0xdee84fefd4d1e6bd, 0x34eb8be65d1ddc76}},
  };
  for (const Draws& e : expected) {
    const Generator generator = make_cpu_generator(e.seed);
    CHECK(generator->seed() == e.seed);
    for (uint64_t value : e.values) CHECK(generator->next() == value);
  }
}

TEST_CASE("setting the seed starts the sequence again", "[core][generator]") {
  const Generator generator = make_cpu_generator(7);
  const uint64_t first = generator->next();
  generator->next();
  generator->set_seed(7);
  CHECK(generator->next() == first);
}

TEST_CASE("there is one default generator, on the CPU", "[core][generator]") {
  CHECK(default_cpu_generator() == default_cpu_generator());
  CHECK(default_cpu_generator()->device().is_cpu());
}

}  // namespace
}  // namespace sb
