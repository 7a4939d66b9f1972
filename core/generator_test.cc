#include "switchboard/core/generator.h"

#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/philox.h"

namespace sb {
namespace {

TEST_CASE("Philox gives the bits that its authors publish", "[core][generator]") {
  // kat_vectors of Random123: philox 4x32 with 10 rounds.
  PhiloxBlock block;
  philox(0, 0, 0, absl::MakeSpan(&block, 1));
  CHECK(block == PhiloxBlock{0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c});
  philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, absl::MakeSpan(&block, 1));
  CHECK(block == PhiloxBlock{0x41c83b0e408f276d, 0x6d5451fda20bc7c6});
}

TEST_CASE("blocks are the same however they are taken", "[core][generator]") {
  std::vector<PhiloxBlock> all(8), halves(8);
  philox(5, 100, 0, absl::MakeSpan(all));
  philox(5, 104, 0, absl::MakeSpan(halves).subspan(4));
  philox(5, 100, 0, absl::MakeSpan(halves).subspan(0, 4));
  CHECK(all == halves);
  philox(5, 100, 1, absl::MakeSpan(halves));
  CHECK(all != halves);
}

TEST_CASE("setting the seed starts the sequence again", "[core][generator]") {
  const Generator generator = make_cpu_generator(7);
  const uint64_t first = generator->next();
  CHECK(generator->next() != first);
  generator->set_seed(7);
  CHECK(generator->next() == first);
}

TEST_CASE("a saved state continues the sequence", "[core][generator]") {
  const Generator generator = make_cpu_generator(7);
  generator->next();
  const std::vector<uint8_t> state = generator->state();
  const uint64_t second = generator->next();
  const Generator other = make_cpu_generator(8);
  other->set_state(state);
  CHECK(other->seed() == 7);
  CHECK(other->next() == second);
  CHECK_THROWS_AS(other->set_state(std::vector<uint8_t>(15)), ValueError);
  CHECK(other->seed() == 7);
}

TEST_CASE("who takes counters leaves the next ones to others", "[core][generator]") {
  const Generator generator = make_cpu_generator(3);
  CHECK(generator->take(10).offset == 0);
  CHECK(generator->take(1).offset == 10);
  CHECK(generator->take(0).offset == 11);
}

TEST_CASE("there is one default generator, on the CPU", "[core][generator]") {
  CHECK(default_cpu_generator() == default_cpu_generator());
  CHECK(default_cpu_generator()->device().is_cpu());
}

}  // namespace
}  // namespace sb
