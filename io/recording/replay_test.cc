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

// What the replay of a program says: nothing, if everything was the same.
template <class F>
std::string replayed(F&& program) {
  const RecordedRun run = record(program, {.elements = Elements::Inputs});
  const Replay again = replay_of(run);
  if (!again.stopped.empty()) return again.stopped;
  if (again.difference) return to_string(run, again.run, *again.difference);
  CHECK(again.calls > 0);
  return "";
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
