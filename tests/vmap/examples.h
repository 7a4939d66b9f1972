// What tests of vmap share: tensors, and the loop that vmap must agree with.

#ifndef SWITCHBOARD_TESTS_VMAP_EXAMPLES_H_
#define SWITCHBOARD_TESTS_VMAP_EXAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/vmap.h"

namespace sb::test {

using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;

// start, start + step, ... in float32.
inline Tensor numbers(std::vector<int64_t> sizes, double start = 1, double step = 1) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  std::vector<SymInt> shape(sizes.begin(), sizes.end());
  const Tensor all =
      arange_start_step(start, start + step * (static_cast<double>(n) - 0.5), step, DType::Float32);
  return reshape(all, shape);
}

inline bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && allclose(a, b, 1e-5, 1e-6, true);
}

// f of each example, stacked. Every input has its examples in dimension 0.
inline Tensors loop(const Program& f, const Tensors& inputs) {
  std::vector<Tensors> columns;
  for (int64_t i = 0; i < inputs[0].size(0); ++i) {
    Tensors example;
    for (const Tensor& input : inputs) example.push_back(select(input, 0, i));
    const Tensors results = f(example);
    columns.resize(results.size());
    for (size_t r = 0; r < results.size(); ++r) columns[r].push_back(results[r]);
  }
  Tensors stacked;
  for (const Tensors& column : columns) stacked.push_back(stack(column, 0));
  return stacked;
}

// Checks that vmap gives what the loop gives, and does to the inputs what it does.
inline void check_as_loop(const Program& f, const Tensors& inputs) {
  Tensors by_loop, by_vmap;
  for (const Tensor& input : inputs) {
    by_loop.push_back(clone(input));
    by_vmap.push_back(clone(input));
  }
  const Tensors expected = loop(f, by_loop), got = vmap(f, by_vmap);
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, got[i].describe(), expected[i].describe());
    CHECK(same(got[i], expected[i]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) CHECK(same(by_vmap[i], by_loop[i]));
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "no error";
}

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_VMAP_EXAMPLES_H_
