#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/generator.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/tag.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::values_of;

std::vector<double> normals(uint64_t seed, const Tensor& into) {
  return values_of(normal_(into, 0, 1, make_cpu_generator(seed)));
}

TEST_CASE("every operator that takes a generator is tagged as drawing random numbers") {
  std::string untagged;
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    const std::vector<Argument>& arguments = op.schema().arguments;
    const auto is_generator = [](const Argument& a) { return a.type.base == BaseType::Generator; };
    if (std::ranges::any_of(arguments, is_generator) &&
        !op.entry().has_tag(Tag::nondeterministic_seeded))
      untagged += op.name().to_string() + "\n";
  }
  CHECK(untagged == "");
}

TEST_CASE("a seed gives the same numbers for any number of threads") {
  const int before = get_num_threads();
  set_num_threads(1);
  const auto alone = normals(7, empty({100'003}));
  set_num_threads(4);
  const auto together = normals(7, empty({100'003}));
  set_num_threads(before);
  CHECK(alone == together);
  CHECK(alone != normals(8, empty({100'003})));
}

TEST_CASE("an element's number does not depend on strides") {
  CHECK(normals(3, empty({5, 7})) == normals(3, transpose(empty({7, 5}), 0, 1)));
}

TEST_CASE("a shorter tensor has the first numbers of a longer one") {
  const auto all = normals(3, empty({1000}));
  for (int64_t n : {0, 1, 3, 255, 257, 999}) {
    const auto some = normals(3, empty({n}));
    INFO("n " << n);
    CHECK(std::equal(some.begin(), some.end(), all.begin(), all.begin() + n));
  }
}

TEST_CASE("normal numbers of 16 bits are those of float32, rounded") {
  const Tensor floats = normal_(empty({1001}), 1, 2, make_cpu_generator(3));
  for (DType dtype : {DType::Float16, DType::BFloat16})
    CHECK(values_of(normal_(empty({1001}, dtype), 1, 2, make_cpu_generator(3))) ==
          values_of(cast_copy(floats, dtype)));
}

TEST_CASE("a call takes a counter for each element, whatever the dtype") {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const Generator generator = make_cpu_generator(1);
    normal_(empty({10}, dtype), 0, 1, generator);
    CHECK(generator->take(0).offset == 10);
  }
}

TEST_CASE("a saved state draws on where it was") {
  const Generator generator = make_cpu_generator(1);
  rand_generator({1000}, generator);
  const std::vector<uint8_t> state = generator->state();
  const auto next = values_of(rand_generator({10}, generator));
  generator->set_state(state);
  CHECK(values_of(rand_generator({10}, generator)) == next);
}

TEST_CASE("meta tensors draw nothing") {
  const Generator generator = make_cpu_generator(1);
  normal_(empty({10}, DType::Float32, std::nullopt, DeviceType::Meta), 0, 1, generator);
  CHECK(generator->take(0).offset == 0);
}

TEST_CASE("uniform numbers are below the end, whatever the dtype rounds to") {
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    const Generator generator = make_cpu_generator(5);
    for (double v : values_of(uniform_(empty({50'000}, dtype), 0, 1, generator))) {
      REQUIRE((v >= 0 && v < 1));
    }
  }
}

TEST_CASE("draws have the moments of their distributions") {
  constexpr int64_t n = 200'000;
  const Generator generator = make_cpu_generator(11);
  const auto moments = [](const std::vector<double>& v) {
    double sum = 0, squares = 0;
    for (double x : v) {
      sum += x;
      squares += x * x;
    }
    const double mean = sum / static_cast<double>(v.size());
    return std::pair(mean, squares / static_cast<double>(v.size()) - mean * mean);
  };
  const Tensor t = empty({n}, DType::Float64);
  const auto [normal_mean, normal_variance] = moments(values_of(normal_(t, 3, 2, generator)));
  CHECK(normal_mean == Approx(3).margin(0.03));
  CHECK(normal_variance == Approx(4).epsilon(0.02));
  const auto [rate_mean, rate_variance] = moments(values_of(exponential_(t, 2, generator)));
  CHECK(rate_mean == Approx(0.5).epsilon(0.02));
  CHECK(rate_variance == Approx(0.25).epsilon(0.04));
  const auto [one_mean, one_variance] = moments(values_of(bernoulli_float_(t, 0.25, generator)));
  CHECK(one_mean == Approx(0.25).epsilon(0.02));
  const auto [wait_mean, wait_variance] = moments(values_of(geometric_(t, 0.25, generator)));
  CHECK(wait_mean == Approx(4).epsilon(0.02));
}

TEST_CASE("randint draws every integer of its range, and no other") {
  const auto values = values_of(randint_low_generator(-2, 3, {1000}, make_cpu_generator(1)));
  CHECK(std::set<double>(values.begin(), values.end()) == std::set<double>{-2, -1, 0, 1, 2});
}

TEST_CASE("randperm is a permutation") {
  const auto values = values_of(randperm_generator(1000, make_cpu_generator(1)));
  CHECK(std::set<double>(values.begin(), values.end()).size() == 1000);
  CHECK(values[0] + values[1] != 1);
}

TEST_CASE("parameters outside of the distribution are refused, and self stays") {
  const Tensor t = zeros({3});
  CHECK_THROWS_AS(uniform_(t, 2, 1), RuntimeError);
  CHECK_THROWS_AS(normal_(t, 0, -1), RuntimeError);
  CHECK_THROWS_AS(bernoulli_Tensor_(t, full({3}, 1.5)), RuntimeError);
  CHECK_THROWS_AS(random_from_(zeros({2}, DType::UInt8), 0, 300), RuntimeError);
  CHECK_THROWS_AS(normal_(expand(zeros({1}), {3})), RuntimeError);
  CHECK(values_of(t) == std::vector<double>{0, 0, 0});
}

}  // namespace
}  // namespace sb
