// The cases that //bench:ops and //bench:vs_libtorch time: a list for any tensor library.

#ifndef SWITCHBOARD_BENCH_OP_CASES_H_
#define SWITCHBOARD_BENCH_OP_CASES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sb::bench {

struct OpCase {
  std::string name;  // "add 1048576"
  std::function<void()> run;
  double bytes = 0;  // read and written at least, where memory is what limits it
  double flops = 0;  // of products
};

// L names a library: L::Tensor, and the functions used below, with PyTorch's meanings. Tensors are
// float32; `rand` gives numbers of [0, 1).
template <class L>
std::vector<OpCase> op_cases() {
  using Tensor = typename L::Tensor;
  std::vector<OpCase> cases;
  const auto add = [&](std::string name, double bytes, double flops, auto f) {
    cases.push_back({std::move(name), [f] { L::keep(f()); }, bytes, flops});
  };
  const auto unary = [&](const char* name, Tensor (*op)(const Tensor&), int64_t n) {
    add(std::string(name) + " " + std::to_string(n), 8.0 * static_cast<double>(n), 0,
        [op, x = L::rand({n})] { return op(x); });
  };
  const auto binary = [&](const char* name, Tensor (*op)(const Tensor&, const Tensor&), int64_t n) {
    add(std::string(name) + " " + std::to_string(n), 12.0 * static_cast<double>(n), 0,
        [op, x = L::rand({n}), y = L::rand({n})] { return op(x, y); });
  };
  for (int64_t n : {int64_t{1}, int64_t{64}, int64_t{1} << 20, int64_t{1} << 24}) {
    binary("add", L::add, n);
    binary("mul", L::mul, n);
    unary("exp", L::exp, n);
    unary("tanh", L::tanh, n);
    unary("gelu", L::gelu, n);
    unary("sum", L::sum, n);
    unary("clone", L::clone, n);
  }
  const auto rows = [&](const char* name, Tensor (*op)(const Tensor&), int64_t r, int64_t c) {
    add(std::string(name) + " " + std::to_string(r) + "x" + std::to_string(c),
        8.0 * static_cast<double>(r * c), 0, [op, x = L::rand({r, c})] { return op(x); });
  };
  for (int64_t r : {int64_t{1}, int64_t{1024}}) {
    const int64_t c = r == 1 ? 64 : 1024;
    rows("softmax", L::softmax, r, c);
    rows("layer_norm", L::layer_norm, r, c);
    rows("sum dim 0", L::sum_dim0, r, c);
    rows("sum dim 1", L::sum_dim1, r, c);
    rows("copy of transposed", L::copy_transposed, r, c);
  }
  rows("copy of transposed", L::copy_transposed, 4096, 4096);
  add("add row 1024x1024", 8.0 * 1024 * 1024, 0,
      [x = L::rand({1024, 1024}), y = L::rand({1024})] { return L::add(x, y); });

  for (int64_t n : {int64_t{1}, int64_t{8}, int64_t{64}, int64_t{256}, int64_t{1024}}) {
    const double d = static_cast<double>(n);
    add("mm " + std::to_string(n), 0, 2 * d * d * d,
        [x = L::rand({n, n}), y = L::rand({n, n})] { return L::mm(x, y); });
  }
  add("mv 1024", 0, 2.0 * 1024 * 1024,
      [x = L::rand({1024, 1024}), y = L::rand({1024})] { return L::mv(x, y); });
  add("bmm 32x128x128x64", 0, 2.0 * 32 * 128 * 128 * 64,
      [x = L::rand({32, 128, 128}), y = L::rand({32, 128, 64})] { return L::bmm(x, y); });

  const auto conv = [&](const char* name, int64_t in, int64_t out, int64_t size, int64_t kernel,
                        int64_t stride, int64_t groups) {
    const double outputs = static_cast<double>(out * (size / stride) * (size / stride));
    add(std::string("conv2d ") + name, 0,
        2 * outputs * static_cast<double>(in / groups * kernel * kernel),
        [=, x = L::rand({1, in, size, size}), w = L::rand({out, in / groups, kernel, kernel})] {
          return L::conv2d(x, w, stride, kernel / 2, groups);
        });
  };
  conv("3x3 64>64 56", 64, 64, 56, 3, 1, 1);
  conv("3x3 512>512 7", 512, 512, 7, 3, 1, 1);
  conv("1x1 64>256 56", 64, 256, 56, 1, 1, 1);
  conv("7x7 s2 3>64 224", 3, 64, 224, 7, 2, 1);
  conv("3x3 depthwise 96 28", 96, 96, 28, 3, 1, 96);

  const double gathered = 2 * 4.0 * 4096 * 512;
  add("embedding 4096x512", gathered, 0,
      [w = L::rand({20000, 512}), i = L::indices(4096, 20000)] { return L::embedding(w, i); });
  add("index_select 4096x512", gathered, 0,
      [w = L::rand({20000, 512}), i = L::indices(4096, 20000)] { return L::index_select(w, i); });
  return cases;
}

}  // namespace sb::bench

#endif  // SWITCHBOARD_BENCH_OP_CASES_H_
