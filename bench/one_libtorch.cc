// Some cases of one.cc on libtorch: valgrind --tool=callgrind bazel-bin/bench/one_libtorch CASE N

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ATen/ATen.h"
#include "torch/csrc/autograd/variable.h"

int main(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[1] : "";
  const long n = argc == 3 ? std::atol(argv[2]) : 0;
  at::Tensor a = at::ones({1}), b = at::ones({1});
  if (name == "add_grad" || name == "mul_grad") {
    a.set_requires_grad(true);
    b.set_requires_grad(true);
  } else if (name != "add") {
    std::fprintf(stderr, "usage: one_libtorch add|add_grad|mul_grad N\n");
    return 2;
  }
  for (long i = 0; i < n; ++i) {
    if (name == "mul_grad")
      at::mul(a, b);
    else
      at::add(a, b);
  }
}
