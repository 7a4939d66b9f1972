
#include "switchboard/ops/define/structured.h"

#include <utility>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::Sizes;
using test::sizes_of;
using test::tensor_of;

SB_OP(reversed, "structured_test::reversed(Tensor self) -> Tensor");
SB_OP(reversed_, inplace_of(reversed));
SB_OP(reversed_out, out_of(reversed, "out"));

TensorMeta reversed_rule(const Tensor& self) {
  SB_CHECK(self.dim() == 1, "reversed: argument self: expected 1 dimension, got ", self.dim());
  return {{self.size(0)}, self.dtype()};
}
// Wrong if out shares memory with self, and fails at a negative element.
void reversed_kernel(const Tensor& self, const Tensor& out) {
  const Tensor from = contiguous(self);
  const int64_t n = self.numel();
  for (int64_t i = 0; i < n; ++i) {
    const float v = from.data<float>()[n - 1 - i];
    SB_CHECK(v >= 0, "reversed: negative element");
    out.data<float>()[i * out.stride(0)] = v;
  }
}

// self, and n times its first element.
SB_OP(copies, "structured_test::copies(Tensor self, int n) -> (Tensor a, Tensor b)");
SB_OP(copies_out, out_of(copies, "out", {"a", "b"}));

std::array<TensorMeta, 2> copies_rule(const Tensor& self, int64_t n) {
  return {TensorMeta{{self.size(0)}, self.dtype()}, TensorMeta{{n}, self.dtype()}};
}
void copies_kernel(const Tensor& self, int64_t, const Tensor& a, const Tensor& b) {
  copy_elements(a, self);
  if (b.numel() > 0) copy_elements(b, select(self, 0, 0));
}

// The CPU's memory, in which requests fail once so many were met.
class LimitedAllocator : public Allocator {
 public:
  explicit LimitedAllocator(Allocator& memory) : memory_(memory) {}
  DataPtr allocate(size_t bytes) override {
    SB_CHECK(left-- > 0, "no memory");
    return memory_.allocate(bytes);
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    memory_.copy_data(destination, source, bytes);
  }
  int left = 0;

 private:
  Allocator& memory_;
};

SB_OP(two_copies, "structured_test::two_copies(Tensor self) -> (Tensor a, Tensor b)");

SB_LIBRARY(structured_test, m) {
  define(m, two_copies)
      .cpu([](const Tensor& self) { return std::tuple(clone(self), clone(self)); })
      .out("out");
  define(m, reversed)
      .structured<reversed_rule, reversed_kernel>()
      .inplace(reversed_)
      .out(reversed_out);
  define(m, copies).structured<copies_rule, copies_kernel>().out(copies_out);
}

TEST_CASE("one body serves the functional, in-place and out= forms", "[ops][structured]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {1, 2, 3}, DType::Float32, place);
  CHECK(holds(reversed(x), {3, 2, 1}));
  const Tensor out = tensor_of({0}, {}, DType::Float32, place);
  CHECK(reversed_out(x, out).is_same(out));
  CHECK(sizes_of(out) == Sizes{3});
  CHECK(holds(out, {3, 2, 1}));
  CHECK(reversed_(x).is_same(x));
  CHECK(holds(x, {3, 2, 1}));
}

TEST_CASE("an out that is an input is computed apart", "[ops][structured]") {
  const Tensor x = tensor_of({3}, {1, 2, 3});
  reversed_out(x, x);
  CHECK(holds(x, {3, 2, 1}));
}

TEST_CASE("an out of another dtype, device or overlapping memory is refused", "[ops][structured]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {1, 2, 3}, DType::Float32, place);
  const Device other = place.is_cpu() ? DeviceType::Meta : DeviceType::CPU;
  CHECK_THROWS_AS(reversed_out(x, tensor_of({3}, {}, DType::Float64, place)), RuntimeError);
  CHECK_THROWS_AS(reversed_out(x, empty_on(other, {3}, DType::Float32)), RuntimeError);
  CHECK_THROWS_AS(reversed_out(x, alias_with(x, {3}, {0}, 0)), RuntimeError);
  CHECK_THROWS_AS(reversed_out(x, Tensor()), Error);
  CHECK_THROWS_AS(reversed(Tensor()), Error);
}

TEST_CASE("a kernel that fails leaves an out of another shape alone", "[ops][structured]") {
  const Tensor out = tensor_of({1}, {7});
  CHECK_THROWS_AS(reversed_out(tensor_of({3}, {1, -1, 2}), out), RuntimeError);
  CHECK(sizes_of(out) == Sizes{1});
  CHECK(holds(out, {7}));
}

TEST_CASE("of several outs none is changed where there is no memory for another",
          "[ops][structured]") {
  const Tensor x = tensor_of({3}, {1, 2, 3});
  const Tensor fits = tensor_of({3}, {7, 8, 9});
  const Tensor a = tensor_of({1}, {7});
  static LimitedAllocator memory(*get_allocator(DeviceType::CPU));  // storages remember it
  // How many requests the call makes of the memory.
  const auto requests_of = [&](const auto& call) {
    for (int requests = 0; requests < 20; ++requests) {
      memory.left = 1;
      Allocator* const whole = get_allocator(DeviceType::CPU);
      set_allocator(DeviceType::CPU, &memory);
      const Tensor out = empty_on(DeviceType::CPU, {1}, DType::Float32);
      *out.data<float>() = 8;
      memory.left = requests;
      bool done = true;
      try {
        call(out);
      } catch (const RuntimeError&) {
        done = false;
      }
      set_allocator(DeviceType::CPU, whole);
      if (done) return requests;
      CHECK(holds(fits, {7, 8, 9}));
      CHECK(holds(a, {7}));
      CHECK(holds(out, {8}));
    }
    return 20;
  };
  // A tensor apart for each of the outs, and the room in the second.
  CHECK(requests_of([&](const Tensor& out) { copies_out(x, 3, fits, out); }) == 3);
  CHECK(holds(fits, {1, 2, 3}));
  copy_(fits, tensor_of({3}, {7, 8, 9}));
  const OperatorHandle two =
      default_dispatcher().find_op_or_throw("structured_test::two_copies.out");
  // The two results, and the room in the second; the first has the whole memory.
  CHECK(requests_of([&](const Tensor& out) {
          Stack stack{x, a, out};
          two.call_boxed(&stack);
        }) == 3);
  CHECK(holds(a, {1, 2, 3}));
}

TEST_CASE("of several outs none is changed where another cannot be resized", "[ops][structured]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Float32, place);
  const auto outs = [&] {
    return std::pair(tensor_of({2}, {7, 8}, DType::Float32, place),
                     tensor_of({1}, {9}, DType::Float32, place));
  };
  const auto [a, b] = outs();
  copies_out(x, 3, a, b);
  CHECK(holds(a, {1, 2}));
  CHECK(holds(b, {1, 1, 1}));
  const auto [c, d] = outs();
  d.storage()->set_resizable(nullptr);
  CHECK_THROWS_AS(copies_out(x, 3, c, d), RuntimeError);
  CHECK(holds(c, {7, 8}));
  CHECK(sizes_of(d) == Sizes{1});
  CHECK(holds(d, {9}));
}

}  // namespace
}  // namespace sb
