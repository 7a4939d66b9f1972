// What would part or hang is named before the run; what would not raises no alarm.

#include "switchboard/distributed/check/check_ranks.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of;

std::string verdict(int64_t size, const std::function<void()>& program) {
  return error_of([&] { check_ranks(size, program); });
}

// One call of a made-up program.
struct Step {
  enum Kind { AllReduce, AllGather, ReduceScatter, Broadcast, AllToAll, Message, kKinds } kind;
  int group = 0;  // all, or the halves
  int64_t rows = 4;
  bool wide = false;  // float64
  bool max = false;
  bool operator==(const Step&) const = default;
};
using Program = std::vector<Step>;

constexpr int64_t kRanks = 4;

void run_step(const Step& step) {
  const int64_t rank = get_rank();
  const GroupPtr low = new_group({0, 1}), high = new_group({2, 3});
  const GroupRef group = step.group == 0 ? GroupRef() : GroupRef(rank < 2 ? low : high);
  const Tensor x = ones({step.rows, 2}, step.wide ? DType::Float64 : DType::Float32);
  const char* const op = step.max ? "max" : "sum";
  switch (step.kind) {
    case Step::AllReduce:
      all_reduce(x, op, group);
      break;
    case Step::AllGather:
      all_gather_tensor(x, 0, group);
      break;
    case Step::ReduceScatter:
      reduce_scatter_tensor(x, op, 0, group);
      break;
    case Step::Broadcast:
      broadcast(x, step.max ? 1 : 0, group);
      break;
    case Step::AllToAll:
      all_to_all_single(x, {}, {}, group);
      break;
    default:
      send(x, (rank + 1) % kRanks);
      receive(x, (rank + kRanks - 1) % kRanks);
  }
}

Program random_program(std::mt19937& random) {
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Program program;
  for (int i = 0; i < 3 + draw(6); ++i)
    program.push_back({static_cast<Step::Kind>(draw(Step::kKinds)), draw(2), 4 * (1 + draw(3)),
                       draw(2) == 0, draw(2) == 0});
  return program;
}

// The program with one thing different that another rank can see.
Program parted(Program program, std::mt19937& random) {
  const size_t at = random() % program.size();
  Step& step = program[at];
  switch (random() % 6) {
    case 0:
      step.kind = static_cast<Step::Kind>((step.kind + 1) % Step::kKinds);
      break;
    case 1:
      step.rows += 4;
      // Rows are each rank's own there, and so is the number of them.
      if (step.kind == Step::AllToAll) step.wide = !step.wide;
      break;
    case 2:
      step.wide = !step.wide;
      break;
    case 3:
      program.erase(program.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 4:
      program.insert(program.begin() + static_cast<std::ptrdiff_t>(at), {Step::AllReduce, 1, 8});
      break;
    default:
      step.kind = step.kind == Step::AllReduce ? Step::Broadcast : Step::AllReduce;
  }
  return program;
}

TEST_CASE("200 programs whose ranks agree raise no alarm") {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random);
    CHECK(verdict(kRanks, [&] {
            for (const Step& step : program) run_step(step);
          }) == "");
  }
}

TEST_CASE("500 programs of which a rank parts are all named, with rank and line") {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    const Program program = random_program(random);
    const Program other = parted(program, random);
    const int64_t rank = static_cast<int64_t>(random() % kRanks);
    const std::string text = verdict(kRanks, [&] {
      for (const Step& step : get_rank() == rank ? other : program) run_step(step);
    });
    INFO(i << ": " << text);
    CHECK_THAT(text, Catch::StartsWith("DistError: "));
    CHECK_THAT(text, Contains(str_cat("rank ", rank)) || Contains(str_cat(", ", rank)) ||
                         Contains(str_cat("ranks ", rank)));
    CHECK_THAT(text, Contains("check_ranks_test.cc:"));
  }
}

TEST_CASE("the first point is named, with the lines of both sides") {
  const std::string text = verdict(3, [] {
    all_reduce(ones({2}), "sum");
    if (get_rank() == 1)
      broadcast(ones({2}), 0);
    else
      all_reduce(ones({2}), "sum");
  });
  CHECK_THAT(text, Contains("the ranks of group '0' part: ranks 0, 2: call 2 of the rank, in group "
                            "'0', _c10d_functional::all_reduce(float32[2], 'sum') at ") &&
                       Contains("; rank 1: call 2 of the rank, in group '0', "
                                "_c10d_functional::broadcast(float32[2], src=0) at "));
}

TEST_CASE("circles of groups and of messages are named") {
  CHECK_THAT(verdict(2,
                     [] {
                       const GroupPtr a = new_group({0, 1}, "a"), b = new_group({0, 1}, "b");
                       all_reduce(ones({1}), "sum", get_rank() == 0 ? a : b);
                       all_reduce(ones({1}), "sum", get_rank() == 0 ? b : a);
                     }),
             Contains("no rank can go on: rank 0 waits in call 1 of the rank, in group 'a'") &&
                 Contains("rank 1 waits in call 1 of the rank, in group 'b'"));
  CHECK_THAT(verdict(2,
                     [] {
                       receive(ones({1}), 1 - get_rank());
                       send(ones({1}), 1 - get_rank());
                     }),
             Contains("rank 0 waits in receiving float32[1] with tag 0 in group '0' from "
                      "rank 1"));
}

TEST_CASE("backward passes are compared, too") {
  const auto train = [](bool all) {
    return [all] {
      const Tensor w = ones({2});
      set_requires_grad(w);
      const Tensor y = all_reduce(w, "sum");
      if (all || get_rank() == 0) backward(sum(y));
    };
  };
  CHECK(check_ranks(3, train(true)) == 6);
  CHECK_THAT(verdict(3, train(false)), Contains("no rank can go on: rank 0 waits in call 2"));
}

TEST_CASE("a rank that fails, or decides by data, says so") {
  CHECK_THAT(
      verdict(2, [] { reduce_scatter_tensor(ones({get_rank() == 1 ? 3 : 2}), "sum", 0); }),
      Contains("rank 1: ") && Contains("expected a first dimension that 2 ranks can divide"));
  CHECK_THAT(verdict(2,
                     [] {
                       if (item(all_reduce(ones({}), "sum")).to<double>() > 0) barrier();
                     }),
             Contains("rank 0: ") && Contains("depends on the data"));
}

TEST_CASE("ranks that are alike are recorded once, and reported as if each were") {
  int64_t runs = 0;
  const auto right = [&] {
    ++runs;
    all_gather_tensor(all_reduce(ones({2}), "sum"), 0);
  };
  const CheckRanksOptions alike{.same_as = [](int64_t) { return 0; }};
  CHECK(check_ranks(1024, right, alike) == 2048);
  CHECK(runs == 1);
  const auto odd_one = [&] {
    if (get_rank() == 2) barrier();
    all_reduce(ones({2}), "sum");
  };
  const CheckRanksOptions but_one{.same_as = [](int64_t rank) { return rank == 2 ? 2 : 0; }};
  const std::string all = error_of([&] { check_ranks(4, odd_one); });
  CHECK(!all.empty());
  CHECK(error_of([&] { check_ranks(4, odd_one, but_one); }) == all);
}

TEST_CASE("a rank that is not in the groups of the one that it is like is recorded by itself") {
  int64_t runs = 0;
  const auto program = [&] {
    ++runs;
    const DeviceMesh mesh({{"data", 2}, {"tensor", 2}});
    all_reduce(ones({2}), "sum", mesh.group("tensor"));
  };
  CHECK(check_ranks(4, program, {.same_as = [](int64_t) { return 0; }}) == 4);
  CHECK(runs == 3);
  CHECK(error_of([&] { check_ranks(2, program, {.same_as = [](int64_t) { return 1; }}); }) ==
        "ValueError: check_ranks: same_as(0): expected a rank from 0 to 0, got 1");
}

}  // namespace
}  // namespace sb
