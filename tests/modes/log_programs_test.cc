// What a log and a count say of programs of aten operators.

#include "catch2/catch.hpp"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

TEST_CASE("a log reads as the program, below autograd") {
  LoggingMode log;
  const Tensor x = ones({2, 3});
  {
    ModeGuard guard(&log);
    const Tensor y = relu(add(x, x, 2));
    add_Scalar_(y, 1);
    linear(y, ones({4, 3}));
    cat(std::vector<Tensor>{x, y}, 1);
  }
  CHECK(log.to_string() ==
        "%1: float32[2, 3] = aten::add.Tensor(%0: float32[2, 3], %0, alpha=2)\n"
        "%2: float32[2, 3] = aten::relu(%1)\n"
        "%2: float32[2, 3] = aten::add_.Scalar(%2, 1)\n"
        "%3: float32[4, 3] = aten::ones([4, 3])\n"
        "%4: float32[3, 4] = aten::t(%3)\n"
        "%5: float32[2, 4] = aten::mm(%2, %4)\n"
        "%6: float32[2, 6] = aten::cat([%0, %2], 1)\n");
}

TEST_CASE("one call, one line, whatever modes are below") {
  LoggingMode log;
  CountingMode count;
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(ones({2}), Device(DeviceType::CUDA, 0));
  {
    ModeGuard counting(&count), logging(&log);
    relu(x);
  }
  CHECK(log.lines() == std::vector<std::string>{
                           "%1: float32[2] on cuda:0 = aten::relu(%0: float32[2] on cuda:0)"});
  CHECK(count.total() == 1);
  CHECK(count.counts_by_argument_mode() ==
        std::vector<std::pair<std::string, int64_t>>{{"FakeTensorMode", 1}});
}

TEST_CASE("user modes see what a trace records, whether activated before it or inside") {
  CountingMode inside, before;
  const Tensor x = ones({2});
  ModeGuard outer(&before);
  const Graph g = trace(
      [&](const std::vector<Tensor>& in) {
        ModeGuard inner(&inside);
        return std::vector<Tensor>{relu(in[0] + in[0])};
      },
      {x});
  CHECK(inside.total() == 2);
  CHECK(inside.counts() == before.counts());
  CHECK(g.size() == 4);
  before.reset();
  g.run({x});
  CHECK(inside.counts() == before.counts());
}

}  // namespace
}  // namespace sb
