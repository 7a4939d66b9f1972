// Programs of aten operators as graphs: what they print, and that they give what eager gives.

#include <atomic>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;

// 0, 1, 2, ... times `factor`.
Tensor counted(std::vector<int64_t> sizes, float factor = 1) {
  const Tensor t = zeros(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = factor * static_cast<float>(i);
  return t;
}
std::vector<int64_t> sizes_of(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

// Whether the graph gives what the program gives, on fresh copies of the inputs for each.
void check_same_as_eager(const Graph& graph, const Program& program, const Tensors& inputs) {
  Tensors a, b;
  for (const Tensor& t : inputs) {
    a.push_back(clone(t));
    b.push_back(clone(t));
  }
  const Tensors expected = program(a), got = graph.run(b);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(equal(got[i], expected[i]));
  for (size_t i = 0; i < a.size(); ++i) CHECK(equal(a[i], b[i]));  // what was written to them
}

TEST_CASE("a traced program prints as code and runs again as the program does") {
  const Program f = [](const Tensors& in) {
    return Tensors{relu(add(in[0], in[1], 2)), sum_dim(in[0], {1}, true)};
  };
  const Tensors inputs{counted({2, 3}, -1), counted({3})};
  const Graph g = trace(f, inputs, {.input_names = {"x", "y"}});
  CHECK(g.to_string() ==
        "graph(x: float32[2, 3], y: float32[3]):\n"
        "  add = aten::add.Tensor(x, y, alpha=2)\n"
        "  relu = aten::relu(add)\n"
        "  sum = aten::sum.dim_IntList(x, [1], True)\n"
        "  return (relu, sum)\n");
  g.lint();
  check_same_as_eager(g, f, inputs);
  check_same_as_eager(g, f, {counted({5, 3}, 7), counted({5, 3}, -2)});
}

TEST_CASE("lists of tensors go into calls and come out of them") {
  const Program f = [](const Tensors& in) {
    const Tensors parts = split(in[0], 2, 1);
    return Tensors{cat(Tensors{parts[1], parts[0], in[1]}, 1)};
  };
  const Tensors inputs{counted({2, 4}), counted({2, 1})};
  Graph g = trace(f, inputs);
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 4], arg1: float32[2, 1]):\n"
        "  split = aten::split.Tensor(arg0, 2, 1)\n"
        "  getitem = split[0]\n"
        "  getitem_1 = split[1]\n"
        "  cat = aten::cat([getitem_1, getitem, arg1], 1)\n"
        "  return (cat,)\n");
  check_same_as_eager(g, f, inputs);
}

TEST_CASE("unused parts and calculations are dead code") {
  const Program f = [](const Tensors& in) {
    exp(in[0]);
    const auto [values, indices] = max_dim(in[0], 1);
    return Tensors{values};
  };
  Graph g = trace(f, {counted({2, 3})});
  CHECK(g.eliminate_dead_code() == 2);
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 3]):\n"
        "  max = aten::max.dim(arg0, 1)\n"
        "  getitem = max[0]\n"
        "  return (getitem,)\n");
  check_same_as_eager(g, f, {counted({4, 2}, -1)});
}

TEST_CASE("programs that write in place, through views too, run again as they ran") {
  const Program f = [](const Tensors& in) {
    const Tensor y = clone(in[0]);
    const Tensor row = select(y, 0, 1);
    add_(row, in[1]);
    fill_(select(y, 0, 0), 3);
    mul_(in[1], row);
    add_out(in[1], in[1], 1, row);
    return Tensors{y, row};
  };
  const Tensors inputs{counted({2, 3}), counted({3}, 2)};
  Graph g = trace(f, {clone(inputs[0]), clone(inputs[1])});
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 3], arg1: float32[3]):\n"
        "  clone = aten::clone(arg0)\n"
        "  select = aten::select.int(clone, 0, 1)\n"
        "  add_ = aten::add_.Tensor(select, arg1)\n"
        "  select_1 = aten::select.int(clone, 0, 0)\n"
        "  fill_ = aten::fill_.Scalar(select_1, 3)\n"
        "  mul_ = aten::mul_.Tensor(arg1, add_)\n"
        "  add = aten::add.out(mul_, mul_, out=add_)\n"
        "  return (clone, add)\n");
  check_same_as_eager(g, f, inputs);
  CHECK(g.eliminate_dead_code() == 0);  // all of it writes, or is used by what does
  check_same_as_eager(g, f, inputs);
}

TEST_CASE("tensors made inside are calls, those from outside constants, numbers numbers") {
  const Tensor weight = counted({3, 2});
  const Program f = [&](const Tensors& in) {
    const Tensor product = mm(in[0], weight) * 2.5;
    return Tensors{product + ones({2}), add(in[0], wrapped_scalar_tensor(7))};
  };
  const Graph g = trace(f, {counted({2, 3})});
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 3]):\n"
        "  _tensor_constant0 = self._tensor_constant0  # float32[3, 2]\n"
        "  mm = aten::mm(arg0, _tensor_constant0)\n"
        "  mul = aten::mul.Scalar(mm, 2.5)\n"
        "  ones = aten::ones([2])\n"
        "  add = aten::add.Tensor(mul, ones)\n"
        "  add_1 = aten::add.Tensor(arg0, 7)\n"
        "  return (add, add_1)\n");
  check_same_as_eager(g, f, {counted({4, 3}, 3)});
}

TEST_CASE("composite operators are recorded as what they are made of") {
  const Program f = [](const Tensors& in) { return Tensors{matmul(in[0], in[1])}; };
  const Graph g = trace(f, {counted({2, 3}), counted({3, 2})});
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 3], arg1: float32[3, 2]):\n"
        "  mm = aten::mm(arg0, arg1)\n"
        "  return (mm,)\n");
}

TEST_CASE("a graph runs on meta tensors, and on fake ones of a device that is not here") {
  const Program f = [](const Tensors& in) {
    const Tensors halves = chunk(in[0], 2);
    return Tensors{mm(halves[0], in[1]), add_Scalar_(in[1], 1)};
  };
  const Graph g = trace(f, {counted({4, 3}), counted({3, 5})});
  const Tensors meta =
      g.run({zeros({8, 3}, Device(DeviceType::Meta)), zeros({3, 7}, Device(DeviceType::Meta))});
  CHECK(meta[0].is_meta());
  CHECK(sizes_of(meta[0]) == std::vector<int64_t>{2, 7});  // the size of a chunk is burnt in

  FakeTensorMode fake;
  const Device cuda(DeviceType::CUDA, 0);
  const Tensors faked =
      g.run({fake.from_tensor(counted({4, 3}), cuda), fake.from_tensor(counted({3, 6}), cuda)});
  CHECK(is_fake(faked[0]));
  CHECK(faked[0].device() == cuda);
  CHECK(sizes_of(faked[0]) == std::vector<int64_t>{2, 6});
}

TEST_CASE("a program is traced on fake tensors, in no memory, and runs on real ones") {
  const Program f = [](const Tensors& in) {
    const Tensor y = relu(mm(in[0], in[1]));
    return Tensors{y + zeros({2, 2})};
  };
  FakeTensorMode fake;
  const Tensors inputs{fake.from_tensor(counted({2, 3})), fake.from_tensor(counted({3, 2}))};
  Graph g;
  {
    FakeTensorModeGuard active(fake);  // for zeros
    g = trace(f, inputs);
  }
  CHECK(g.to_string() ==
        "graph(arg0: float32[2, 3], arg1: float32[3, 2]):\n"
        "  mm = aten::mm(arg0, arg1)\n"
        "  relu = aten::relu(mm)\n"
        "  zeros = aten::zeros([2, 2])\n"
        "  add = aten::add.Tensor(relu, zeros)\n"
        "  return (add,)\n");
  check_same_as_eager(g, f, {counted({2, 3}, -1), counted({3, 2})});
}

TEST_CASE("a graph is traced again when it runs in a trace, and gives the same graph") {
  const Program f = [](const Tensors& in) {
    const Tensors parts = unbind(in[0]);
    return Tensors{stack(Tensors{parts[1], parts[0]}) - in[0]};
  };
  const Tensors inputs{counted({2, 2})};
  const Graph g = trace(f, inputs);
  const Graph again = trace([&](const Tensors& in) { return g.run(in); }, inputs);
  CHECK(again.to_string() == g.to_string());
  check_same_as_eager(again, f, inputs);
}

TEST_CASE("a number read with item is burnt in, or refused where it depends on an input") {
  const Program f = [](const Tensors& in) { return Tensors{in[0] + item(sum_all(in[0]))}; };
  const Graph g = trace(f, {counted({3})}, {.refuse_data_dependent = false});
  CHECK_THAT(g.to_string(), Catch::Contains("aten::add.Scalar(arg0, 3.0)"));
  CHECK_THROWS_AS(trace(f, {counted({3})}), DataDependentOutputError);
  CHECK(mode_stack_size() == 0);
  FakeTensorMode fake;
  CHECK_THROWS_AS(trace(f, {fake.from_tensor(counted({3}))}), DataDependentOutputError);
  // Run on data, the graph of a read names the node that cannot be.
  CHECK_THROWS_WITH(g.run({fake.from_tensor(counted({3}))}),
                    Catch::StartsWith("graph: node '") && Catch::Contains("depends on the data"));
  CHECK_THROWS_AS(g.run({fake.from_tensor(counted({3}))}), DataDependentOutputError);
}

TEST_CASE("each thread has traces of its own") {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int n = 1; n <= 8; ++n) {
    threads.emplace_back([n, &good] {
      const Graph g = trace(
          [n](const Tensors& in) {
            Tensor t = in[0];
            for (int i = 0; i < 50 * n; ++i) t = add(t, in[0]);
            return Tensors{t};
          },
          {ones({1})});
      const Tensor out = g.run({ones({1})})[0];
      if (g.size() == static_cast<size_t>(50 * n) + 2 &&
          *out.data<float>() == static_cast<float>(50 * n + 1))
        ++good;
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 8);
}

TEST_CASE("several threads run one graph") {
  const Graph g =
      trace([](const Tensors& in) { return Tensors{relu(in[0] + in[0])}; }, {ones({4})});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([n, &g, &good] {
      bool same = true;
      for (int i = 0; i < 100; ++i)
        same &= *g.run({full({4}, static_cast<double>(n))})[0].data<float>() == 2.f * n;
      good += same;
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 4);
}

TEST_CASE("a program of 20,000 operators is traced, printed, pruned and run without recursion") {
  Graph g = trace(
      [](const Tensors& in) {
        Tensor t = in[0];
        for (int i = 0; i < 10000; ++i) {
          t = add(t, in[0]);
          neg(t);
        }
        return Tensors{t};
      },
      {ones({1})});
  CHECK(g.size() == 20002);
  CHECK(g.to_string().size() > 20000);
  CHECK(g.eliminate_dead_code() == 10000);
  g.lint();
  CHECK(*g.run({ones({1})})[0].data<float>() == 10001);
}

}  // namespace
}  // namespace sb
