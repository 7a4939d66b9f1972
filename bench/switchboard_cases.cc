#include "switchboard/bench/switchboard_cases.h"

#include <initializer_list>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/normalization/layer_norm.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/views/views.h"

namespace sb::bench {
namespace {

struct Switchboard {
  using Tensor = sb::Tensor;
  static void keep(const Tensor& t) { asm volatile("" : : "r"(t.impl()) : "memory"); }
  static Tensor rand(std::initializer_list<int64_t> sizes) { return sb::rand(sizes); }
  static Tensor indices(int64_t n, int64_t end) { return sb::randint(end, {n}); }
  static Tensor add(const Tensor& a, const Tensor& b) { return sb::add(a, b); }
  static Tensor mul(const Tensor& a, const Tensor& b) { return sb::mul(a, b); }
  static Tensor exp(const Tensor& a) { return sb::exp(a); }
  static Tensor tanh(const Tensor& a) { return sb::tanh(a); }
  static Tensor gelu(const Tensor& a) { return sb::gelu(a); }
  static Tensor sum(const Tensor& a) { return sb::sum(a); }
  static Tensor clone(const Tensor& a) { return sb::clone(a); }
  static Tensor softmax(const Tensor& a) { return sb::softmax(a, -1); }
  static Tensor layer_norm(const Tensor& a) { return sb::layer_norm(a, {a.size(-1)}); }
  static Tensor sum_dim0(const Tensor& a) { return sb::sum(a, {0}); }
  static Tensor sum_dim1(const Tensor& a) { return sb::sum(a, {1}); }
  static Tensor copy_transposed(const Tensor& a) {
    return sb::clone(sb::t(a), MemoryFormat::Contiguous);
  }
  static Tensor mm(const Tensor& a, const Tensor& b) { return sb::mm(a, b); }
  static Tensor mv(const Tensor& a, const Tensor& b) { return sb::mv(a, b); }
  static Tensor bmm(const Tensor& a, const Tensor& b) { return sb::bmm(a, b); }
  static Tensor conv2d(const Tensor& x, const Tensor& w, int64_t stride, int64_t padding,
                       int64_t groups) {
    return sb::conv2d(x, w, std::nullopt, {stride, stride}, {padding, padding}, {1, 1}, groups);
  }
  static Tensor embedding(const Tensor& w, const Tensor& i) { return sb::embedding(w, i); }
  static Tensor index_select(const Tensor& w, const Tensor& i) { return sb::index_select(w, 0, i); }
};

}  // namespace

std::vector<OpCase> switchboard_cases() { return op_cases<Switchboard>(); }

void set_switchboard_threads(int threads) { set_num_threads(threads); }

}  // namespace sb::bench
