// Switchboard and libtorch side by side: each case on both in turn, in one process. Prints
// how many times as long libtorch takes. See docs/performance.md.
//
//   ./bazelw run //bench:vs_libtorch -- [PART_OF_A_NAME]

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "switchboard/bench/op_cases.h"
#include "switchboard/bench/side_by_side.h"
#include "switchboard/bench/switchboard_cases.h"

namespace sb::bench {
namespace {

struct Libtorch {
  using Tensor = at::Tensor;
  static void keep(const Tensor& t) {
    asm volatile("" : : "r"(t.unsafeGetTensorImpl()) : "memory");
  }
  static Tensor rand(std::initializer_list<int64_t> sizes) { return at::rand(sizes); }
  static Tensor indices(int64_t n, int64_t end) { return at::randint(end, {n}, at::kLong); }
  static Tensor add(const Tensor& a, const Tensor& b) { return at::add(a, b); }
  static Tensor mul(const Tensor& a, const Tensor& b) { return at::mul(a, b); }
  static Tensor exp(const Tensor& a) { return at::exp(a); }
  static Tensor tanh(const Tensor& a) { return at::tanh(a); }
  static Tensor gelu(const Tensor& a) { return at::gelu(a); }
  static Tensor sum(const Tensor& a) { return at::sum(a); }
  static Tensor clone(const Tensor& a) { return at::clone(a); }
  static Tensor softmax(const Tensor& a) { return at::softmax(a, -1); }
  static Tensor layer_norm(const Tensor& a) { return at::layer_norm(a, {a.size(-1)}); }
  static Tensor sum_dim0(const Tensor& a) { return at::sum(a, 0); }
  static Tensor sum_dim1(const Tensor& a) { return at::sum(a, 1); }
  static Tensor copy_transposed(const Tensor& a) {
    return at::clone(a.t(), at::MemoryFormat::Contiguous);
  }
  static Tensor mm(const Tensor& a, const Tensor& b) { return at::mm(a, b); }
  static Tensor mv(const Tensor& a, const Tensor& b) { return at::mv(a, b); }
  static Tensor bmm(const Tensor& a, const Tensor& b) { return at::bmm(a, b); }
  static Tensor conv2d(const Tensor& x, const Tensor& w, int64_t stride, int64_t padding,
                       int64_t groups) {
    return at::conv2d(x, w, {}, stride, padding, 1, groups);
  }
  static Tensor embedding(const Tensor& w, const Tensor& i) { return at::embedding(w, i); }
  static Tensor index_select(const Tensor& w, const Tensor& i) { return at::index_select(w, 0, i); }
};

void set_libtorch_threads(int threads) {
  at::set_num_threads(threads);
  set_openblas_threads(threads);
}

}  // namespace
}  // namespace sb::bench

int main(int argc, char** argv) {
  using namespace sb::bench;
  const char* const filter = argc > 1 ? argv[1] : "";
  at::NoGradGuard no_grad;
  const std::vector<OpCase> ours = switchboard_cases(), theirs = op_cases<Libtorch>();
  std::printf("%-28s %14s %14s %10s %10s\n", "libtorch's time / ours", "1 thread", "2 threads",
              "GB/s", "GFLOP/s");
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!std::strstr(ours[i].name.c_str(), filter)) continue;
    double ratios[2];
    double alone = 0;
    for (int threads : {1, 2}) {
      set_switchboard_threads(threads);
      set_libtorch_threads(threads);
      const Times r = measure(ours[i].run, theirs[i].run);
      ratios[threads - 1] = r.theirs / r.ours;
      if (threads == 1) alone = r.ours;
    }
    std::printf("%-28s %14.2f %14.2f", ours[i].name.c_str(), ratios[0], ratios[1]);
    if (ours[i].bytes > 0) std::printf(" %10.1f", ours[i].bytes / alone * 1e-9);
    if (ours[i].flops > 0) std::printf(" %10s %10.1f", "", ours[i].flops / alone * 1e-9);
    std::printf("\n");
    std::fflush(stdout);
  }
}
