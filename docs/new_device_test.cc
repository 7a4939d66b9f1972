// The device of docs/new-device.md, as a program uses it.

#include <cstdio>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace {

using namespace sb;
// Not a constant: the device gets its name before main, too.
Device mine() { return Device("mine"); }

TEST_CASE("tensors come and go, in any strides and dtypes") {
  const Tensor x = to(arange(6), DType::Float32);
  const Tensor there = to(view(x, {2, 3}), mine());
  CHECK(there.device() == Device("mine:0"));
  const Tensor back = to(transpose(there, 0, 1), Device("cpu"));
  CHECK(back.sizes() == IntArrayRef({3, 2}));
  CHECK(back.data<float>()[back.strides()[0]] == 1);
  CHECK(to(to(there, DType::Int64), Device("cpu")).data<int64_t>()[5] == 5);
}

TEST_CASE("operators without a kernel run on the CPU, and their results are here") {
  const Tensor x = ones({2, 2}, {}, {}, mine());
  const Tensor y = mm(x, x) * 2 - 5;
  CHECK(y.device() == Device("mine:0"));
  CHECK(to(relu(y), Device("cpu")).data<float>()[0] == 0);
  CHECK(to(relu(y * -1), Device("cpu")).data<float>()[3] == 1);
}

TEST_CASE("a network runs on it") {
  FILE* const pipe =
      ::popen("docs/sb_on_new_device run examples/digits_mlp --device mine 2>&1", "r");
  REQUIRE(pipe);
  std::string text;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  INFO(text);
  CHECK(::pclose(pipe) == 0);
  CHECK(text.find("mine") != std::string::npos);
  CHECK(text.find("31/32") != std::string::npos);
}

TEST_CASE("memory is counted, and given back") {
  AllocationStats& stats = get_allocator(mine().type)->stats();
  const int64_t before = stats.current_bytes();
  {
    const Tensor x = empty({100}, {}, {}, mine());
    CHECK(stats.current_bytes() == before + 400);
    CHECK(empty({0}, {}, {}, mine()).numel() == 0);
  }
  CHECK(stats.current_bytes() == before);
}

}  // namespace
