#include "switchboard/io/recording/replay.h"

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

Replay replay_of(const RecordedRun& run) {
  const TemporaryFolder folder;
  return replay(run, folder / "again.sbr");
}

TEST_CASE("A replay makes the same calls at the same keys and gets the same bits",
          "[io][recording]") {
  const Tensor x = rand({3, 4}), w = rand({4});
  CHECK(replayed([&] { sum(mul(add(x, w, 0.5), x)); }) == "");
}

TEST_CASE("A replay has views, writes through them, and memory that nobody wrote to",
          "[io][recording]") {
  const Tensor x = rand({3, 4});
  CHECK(replayed([&] {
          const Tensor y = empty({4, 3});
          copy_(y, t(x));
          fill_(select(y, 0, 1), 7);
          mul_(y, full({}, 2));
          const Tensor z = empty({6});
          fill_(slice(z, 0, 0, 3), 1);
          neg(z);
        }) == "");
}

TEST_CASE("A replay draws the same random numbers", "[io][recording]") {
  CHECK(replayed([&] {
          const Tensor x = rand({8});
          normal_(x);
          add(rand({8}), x);
        }) == "");
}

TEST_CASE("A replay has gradients: forward with their marks, and the calls of backward",
          "[io][recording]") {
  const Tensor x = rand({5});
  set_requires_grad(x);
  CHECK(replayed([&] {
          const Tensor y = sum(mul(exp(x), x));
          backward(y);
          const NoGradGuard off;
          mul(x, x);
        }) == "");
}

TEST_CASE("What the program writes by itself is in the recording", "[io][recording]") {
  const Tensor x = zeros({3});
  CHECK(replayed([&] {
          neg(x);
          x.data<float>()[1] = 5;
          neg(x);
        }) == "");
}

TEST_CASE("A replay of fake tensors makes fake ones", "[io][recording]") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(ones({2, 3}), Device("cuda:0"));
  CHECK(replayed([&] {
          add(x, x);
          const FakeTensorModeGuard guard(fake);
          t(ones({2, 3}));
        }) == "");
}

TEST_CASE("What a mode of the program's own called is replayed below it", "[io][recording]") {
  const Tensor x = rand({3});
  CHECK(replayed([&] {
          LoggingMode log([](const std::string&) {});
          const ModeGuard guard(&log);
          sum(mul(x, x));
        }) == "");
}

TEST_CASE("Fresh memory is the same in all runs that are recorded with their elements",
          "[io][recording]") {
  CHECK(replayed([&] {
          // Gaps between elements, and an out= that grows.
          const Tensor wide = empty_strided({3, 2}, {4, 1});
          fill_(wide, 1);
          neg(as_strided(wide, {10}, {1}, 0));
          const Tensor out = empty({0});
          add_out(ones({64}), ones({64}), 1, out);
          neg(empty({100}));
        }) == "");
}

TEST_CASE("Views that the program made before the recording count their writes together",
          "[io][recording]") {
  const Tensor base = zeros({6}), view = slice(base, 0, 0, 3), apart = zeros({6});
  const Tensor stranger(apart.impl()->shallow_copy());
  CHECK(replayed([&] {
          fill_(base, 1);
          fill_(view, 2);
          add(view, slice(base, 0, 3, 6));
          fill_(apart, 1);
          add(apart, stranger);
          fill_(stranger, 2);
          add(apart, stranger);
        }) == "");
}

TEST_CASE("What the program writes without a call counts in a replay", "[io][recording]") {
  const Tensor x = zeros({3});
  CHECK(replayed([&] {
          neg(x);
          x.impl()->bump_version();
          neg(x);
        }) == "");
}

TEST_CASE("A replay of fake tensors has their lazy bits", "[io][recording]") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(full({2, 3}, std::complex<double>(1, 2))), y = conj(x);
  CHECK(replayed([&] { mul(y, x); }) == "");
}

TEST_CASE("A replay of fake tensors needs no kernel that a mode's cache has answered for",
          "[io][recording]") {
  FakeTensorMode fake(FakeTensorOptions{.cache_use = FakeCacheUse::All});
  const Tensor x = fake.from_tensor(ones({2, 3})), y = fake.from_tensor(ones({2, 3}));
  const auto program = [&] { copy_(x, add(slice(x, 0, 0, 1), y)); };
  CHECK(replayed(program) == "");
  CHECK(replayed(program) == "");
}

TEST_CASE("A recording of all elements is replayed as one of inputs", "[io][recording]") {
  const Tensor x = rand({5});
  const RecordedRun run = record(
      [&] {
        const Tensor y = zeros({5});
        copy_(y, x);
        sum(mul(y, y));
      },
      {.elements = Elements::All});
  const Replay again = replay_of(run);
  CHECK(again.stopped == "");
  CHECK(!again.difference);
}

TEST_CASE("A call that threw throws again", "[io][recording]") {
  CHECK(replayed([&] {
          CHECK_THROWS_AS(add(ones({2}), ones({3})), RuntimeError);
          add(ones({2}), ones({2}));
        }) == "");
}

TEST_CASE("A replay stops at the first call that differs", "[io][recording]") {
  Library library(Library::Kind::Def, "replayed");
  const OperatorHandle op = library.define("f(Tensor x) -> Tensor");
  float factor = 2;
  library.impl("f", DispatchKey::CPU, [&](const Tensor& x) { return mul(x, full({}, factor)); });
  const Tensor x = ones({2});
  const RecordedRun run = record(
      [&] {
        neg(x);
        op.call({x});
        neg(x);
      },
      {.elements = Elements::Inputs});
  CHECK(!replay_of(run).difference);
  factor = 3;
  const Replay again = replay_of(run);
  REQUIRE(again.difference);
  CHECK(again.difference->cause == RunDifference::Cause::OtherInput);
  CHECK(run.site(run.events[again.difference->first]).op == "aten::full");
}

TEST_CASE("A replay says what it lacks", "[io][recording]") {
  const Tensor x = ones({2});
  const RecordedRun run = record([&] { neg(x); });
  CHECK_THAT(replay_of(run).stopped,
             Catch::Contains("argument 0 'self': a tensor whose elements the file does not hold"));
  std::string name;
  RecordedRun gone;
  {
    Library library(Library::Kind::Def, "gone");
    const OperatorHandle op = library.define("f(Tensor x) -> Tensor");
    library.impl("f", DispatchKey::CPU, [](const Tensor& x) { return neg(x); });
    gone = record([&] { op.call({x}); }, {.elements = Elements::Inputs});
  }
  CHECK(replay_of(gone).stopped == "gone::f: no such operator here");
}

}  // namespace
}  // namespace sb::io
