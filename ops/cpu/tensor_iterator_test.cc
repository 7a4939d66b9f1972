#include "switchboard/ops/cpu/tensor_iterator.h"

#include <algorithm>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::Sizes;

// Small numbers, each the sum of any two of which is exact in every dtype.
Tensor random_tensor(const Sizes& sizes, DType dtype, std::mt19937& random) {
  const Tensor t = empty_on(DeviceType::CPU, sizes, dtype);
  char* p = static_cast<char*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i, p += t.itemsize()) {
    store_scalar(static_cast<int64_t>(random() % (dtype == DType::Bool ? 2 : 50)), dtype, p);
  }
  return t;
}

// Element number i in the order of the indices of `shape`, to which t broadcasts. Knows nothing of
// the code that it tests.
double element(const Tensor& t, const Sizes& shape, int64_t i) {
  int64_t offset = 0;
  for (size_t d = shape.size(), own = t.sizes().size(); d-- > 0; i /= shape[d]) {
    if (own == 0) break;
    --own;
    if (t.sizes()[own] != 1) offset += i % shape[d] * t.strides()[own];
  }
  return load_scalar(t.dtype(), static_cast<const char*>(t.data_ptr()) +
                                    offset * static_cast<int64_t>(t.itemsize()))
      .to<double>();
}

// A tensor of this shape, or one that broadcasts to it, in some order of dimensions and with gaps.
Tensor random_view(const Sizes& shape, DType dtype, bool may_broadcast, std::mt19937& random) {
  const size_t rank = shape.size();
  Sizes sizes = shape, order(rank), strides(rank);
  for (size_t d = 0; d < rank; ++d) {
    order[d] = static_cast<int64_t>(d);
    if (may_broadcast && random() % 4 == 0) sizes[d] = 1;
  }
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  int64_t stride = random() % 3 == 0 ? 2 : 1;
  for (size_t i = rank; i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = stride;
    stride *= sizes[d] + (random() % 4 == 0 ? 3 : 0);
  }
  return alias_with(random_tensor({stride + 1}, dtype, random), sizes, strides, random() % 2);
}

constexpr DType kDTypes[] = {DType::Float32, DType::Float32, DType::Float64,  DType::Float16,
                             DType::Int32,   DType::UInt8,   DType::Complex64};

Sizes random_shape(std::mt19937& random) {
  static const std::vector<Sizes> shapes = {
      {70000},     {3, 33000}, {700, 49},     {900, 77},        {90, 300, 2}, {2, 300, 90},
      {64, 64, 9}, {10, 2051}, {3, 5, 7, 11}, {16, 3, 40, 40},  {1, 1},       {33, 1000},
      {1000, 33},  {200, 201}, {64, 1, 600},  {5, 2, 3, 2, 600}};
  return shapes[random() % shapes.size()];
}

TEST_CASE("whatever the strides, dtypes and threads, element i is made of elements i", "[ops]") {
  const int before = get_num_threads();
  std::mt19937 random(GENERATE(range(0, 60)));
  set_num_threads(random() % 2 ? 3 : 1);
  const Sizes shape = random_shape(random);
  const DType a_type = kDTypes[random() % std::size(kDTypes)];
  const DType b_type = random() % 2 ? a_type : kDTypes[random() % std::size(kDTypes)];
  const Tensor a = random_view(shape, a_type, true, random);
  const Tensor b = random_view(shape, b_type, true, random);
  const Tensor* const both[] = {&a, &b};
  const DType common = result_type(both);
  const Tensor out = random() % 3 ? random_view(shape, common, false, random)
                                  : random_view(shape, to_complex(common), false, random);
  add_out(a, b, 1, out);
  const Tensor made = add(a, b);
  const Tensor copy = random_view(shape, b_type, false, random);
  copy_(copy, b);
  bool sums = true, new_sums = made.sizes() == IntArrayRef(broadcast_shapes(a.sizes(), b.sizes()));
  bool copies = true;
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double x = element(a, shape, i), y = element(b, shape, i);
    sums &= element(out, shape, i) == x + y;
    new_sums &= element(made, shape, i) == x + y;
    copies &= element(copy, shape, i) == y;
  }
  set_num_threads(before);
  CAPTURE(to_string(a_type), to_string(b_type), shape, a.strides(), b.strides(), out.strides());
  CHECK(sums);
  CHECK(new_sums);
  CHECK(copies);
}

TEST_CASE("a transposed copy moves elements of every size, past the caches if it is large",
          "[ops]") {
  const DType dtype =
      GENERATE(DType::UInt8, DType::Int16, DType::Float32, DType::Float64, DType::Complex128);
  const int64_t rows = GENERATE(9, 203, 1024), columns = dtype == DType::UInt8 ? 9000 : 2050;
  const Tensor source = empty_on(DeviceType::CPU, {rows, columns}, dtype);
  auto* const bytes = static_cast<unsigned char*>(source.data_ptr());
  std::mt19937 random(1);
  for (size_t i = 0; i < source.nbytes(); ++i) bytes[i] = static_cast<unsigned char>(random());
  const Tensor copy = empty_on(DeviceType::CPU, {columns, rows}, dtype);
  copy_(copy, alias_transposed(source, 0, 1));
  const size_t size = source.itemsize();
  const auto* const copied = static_cast<const unsigned char*>(copy.data_ptr());
  bool same = true;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      same &= std::memcmp(copied + static_cast<size_t>(c * rows + r) * size,
                          bytes + static_cast<size_t>(r * columns + c) * size, size) == 0;
    }
  }
  CHECK(same);
}

TEST_CASE("a copy within one storage is made in order", "[ops]") {
  const Tensor numbers = empty_on(DeviceType::CPU, {200001}, DType::Int32);
  for (int32_t i = 0; i < 200001; ++i) numbers.data<int32_t>()[i] = i;
  const Tensor to = alias_with(numbers, {200000}, {1}, 1),
               from = alias_with(numbers, {200000}, {1}, 0);
  copy_elements(to, from, /*check_overlap=*/false);
  bool moved = true;
  for (int32_t i = 0; i < 200000; ++i) moved &= to.data<int32_t>()[i] == i;
  CHECK(moved);
}

TEST_CASE("a 16-bit result is rounded as such before it goes to a wider out", "[ops]") {
  const Sizes sizes = GENERATE(Sizes{3}, Sizes{50, 3}, Sizes{3, 5000});
  const auto filled = [&](double v) {
    const Tensor t = empty_on(DeviceType::CPU, sizes, DType::BFloat16);
    fill_(t, v);
    return t;
  };
  // 1 and 2^-9, whose sum has more digits than a bfloat16.
  const Tensor one = filled(1), small = filled(0.001953125);
  DType dtype = GENERATE(DType::Float32, DType::Float64);
  Sizes padded = sizes;
  padded.back() += 1;
  const Tensor memory = empty_on(DeviceType::CPU, padded, dtype);
  const auto check = [&](const Tensor& out) {
    add_out(one, small, 1, out);
    CHECK(test::values_of(out) == std::vector<double>(static_cast<size_t>(out.numel()), 1.0));
  };
  check(empty_on(DeviceType::CPU, sizes, dtype));
  check(alias_with(memory, sizes, memory.strides(), 1));  // with gaps
  // A common dtype that has the digits keeps them.
  const Tensor wide = empty_on(DeviceType::CPU, sizes, DType::Float32);
  add_out(cast_copy(one, DType::Float32), small, 1, wide);
  CHECK(test::values_of(wide).front() == 1.001953125);
}

TEST_CASE("whatever byte a bool has in memory, what is not 0 is true", "[ops]") {
  const Tensor one = test::tensor_of({3}, {1, 1, 1}, DType::Bool);
  const Tensor odd = test::tensor_of({3}, {0, 0, 0}, DType::Bool);
  auto* const bytes = static_cast<unsigned char*>(odd.data_ptr());
  bytes[0] = 2, bytes[1] = 255;
  CHECK(test::holds(eq(odd, one), {1, 1, 0}));
  CHECK(test::holds(add(odd, odd, 1), {1, 1, 0}));
  CHECK(test::holds(mul(odd, one), {1, 1, 0}));
  const Tensor sum = add(odd, odd, 1);
  const auto* const sums = static_cast<const unsigned char*>(sum.data_ptr());
  CHECK((sums[0] == 1 && sums[1] == 1 && sums[2] == 0));
}

TEST_CASE("an integer division by zero that only another thread sees is found", "[ops]") {
  const int before = get_num_threads();
  set_num_threads(4);
  const Tensor divisor = empty_on(DeviceType::CPU, {300000}, DType::Int32);
  fill_(divisor, 1);
  divisor.data<int32_t>()[299999] = 0;
  CHECK_THROWS_AS(div_Tensor_mode(divisor, divisor, "trunc"), Error);
  set_num_threads(before);
}

}  // namespace
}  // namespace sb
