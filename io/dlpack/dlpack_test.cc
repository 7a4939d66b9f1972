#include "switchboard/io/dlpack/dlpack.h"

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/quantized/quantize.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using Catch::StartsWith;

Tensor counting(IntArrayRef sizes) {
  const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Float32);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}

// Another framework: 12 float32, 0 to 11, as [3, 4].
struct Producer {
  float data[12];
  int64_t sizes[2] = {3, 4};
  int64_t strides[2] = {4, 1};
  DLManagedTensor managed{};
  int deleted = 0;

  Producer() {
    for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
    managed.dl_tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, strides, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Producer*>(self->manager_ctx)->deleted;
    };
  }
  DLTensor& tensor() { return managed.dl_tensor; }
};

void release(DLManagedTensor* managed) { managed->deleter(managed); }

TEST_CASE("a tensor goes out as PyTorch's does", "[dlpack]") {
  const Tensor x = transpose(narrow(counting({4, 6}), 0, 1, 2), 0, 1);
  DLManagedTensor* const managed = to_dlpack(x);
  const DLTensor& t = managed->dl_tensor;
  CHECK(t.data == x.data_ptr());
  CHECK(t.byte_offset == 0);
  CHECK(t.device.device_type == kDLCPU);
  CHECK(t.device.device_id == 0);
  CHECK(t.ndim == 2);
  CHECK(IntArrayRef(t.shape, 2) == IntArrayRef({6, 2}));
  CHECK(IntArrayRef(t.strides, 2) == IntArrayRef({1, 6}));
  static_cast<float*>(t.data)[0] = -1;
  CHECK(*x.data<float>() == -1);
  release(managed);
}

// As PyTorch 1.13 gives them for the same tensors.
TEST_CASE("strides are always there, 1 where they do not matter", "[dlpack]") {
  const auto strides = [](const Tensor& t) {
    DLManagedTensor* const managed = to_dlpack(t);
    REQUIRE(managed->dl_tensor.strides);
    const std::vector<int64_t> result(managed->dl_tensor.strides,
                                      managed->dl_tensor.strides + managed->dl_tensor.ndim);
    release(managed);
    return result;
  };
  using Strides = std::vector<int64_t>;
  CHECK(strides(narrow(counting({4, 6}), 1, 2, 1)) == Strides{6, 1});
  CHECK(strides(expand(counting({3, 1}), {3, 4})) == Strides{1, 0});
  CHECK(strides(counting({0, 3})) == Strides{1, 1});
  CHECK(strides(counting({})) == Strides{});
  CHECK(strides(transpose(counting({1, 5}), 0, 1)) == Strides{1, 1});
  CHECK(strides(counting({2, 3, 0})) == Strides{3, 1, 1});
}

TEST_CASE("every plain dtype goes out and comes back", "[dlpack]") {
  struct Expected {
    DType dtype;
    int code, bits;
  };
  // PyTorch's, but for bool, which 1.13 refuses and later versions give code 6.
  const Expected expected = GENERATE(values<Expected>({{DType::Bool, 6, 8},
                                                       {DType::UInt8, kDLUInt, 8},
                                                       {DType::Int8, kDLInt, 8},
                                                       {DType::Int16, kDLInt, 16},
                                                       {DType::Int32, kDLInt, 32},
                                                       {DType::Int64, kDLInt, 64},
                                                       {DType::Float16, kDLFloat, 16},
                                                       {DType::BFloat16, kDLBfloat, 16},
                                                       {DType::Float32, kDLFloat, 32},
                                                       {DType::Float64, kDLFloat, 64},
                                                       {DType::Complex64, kDLComplex, 64},
                                                       {DType::Complex128, kDLComplex, 128}}));
  const Tensor x = zeros(IntArrayRef{2, 3}, expected.dtype);
  DLManagedTensor* const managed = to_dlpack(x);
  CHECK(managed->dl_tensor.dtype.code == expected.code);
  CHECK(managed->dl_tensor.dtype.bits == expected.bits);
  CHECK(managed->dl_tensor.dtype.lanes == 1);
  const Tensor y = from_dlpack(managed);
  CHECK(y.dtype() == expected.dtype);
  CHECK(y.sizes() == x.sizes());
  CHECK(y.data_ptr() == x.data_ptr());
}

TEST_CASE("what went out lives until its deleter is called, by any thread", "[dlpack]") {
  AllocationStats& stats = get_allocator(DeviceType::CPU)->stats();
  const int64_t before = stats.current_bytes();
  Tensor x = counting({100'000});
  DLManagedTensor* const managed = to_dlpack(x);
  CHECK(x.storage().get()->use_count() == 2);
  x = Tensor();
  CHECK(stats.current_bytes() >= before + 400'000);
  CHECK(static_cast<float*>(managed->dl_tensor.data)[99'999] == 99'999);
  std::thread([&] { release(managed); }).join();
  CHECK(stats.current_bytes() < before + 400'000);
}

TEST_CASE("what went out does not change with the tensor", "[dlpack]") {
  const Tensor x = counting({2, 3});
  DLManagedTensor* const managed = to_dlpack(x);
  transpose_(x, 0, 1);
  CHECK(IntArrayRef(managed->dl_tensor.shape, 2) == IntArrayRef({2, 3}));
  release(managed);
}

TEST_CASE("memory comes in without a copy, and goes back once, with its last view", "[dlpack]") {
  Producer producer;
  Tensor x = from_dlpack(&producer.managed);
  CHECK(x.describe() == "float32[3, 4] on cpu");
  CHECK(x.data_ptr() == producer.data);
  CHECK(x.storage()->nbytes() == sizeof producer.data);
  add_(x, x);
  CHECK(producer.data[11] == 22);
  Tensor row = select(x, 0, 2);
  x = Tensor();
  CHECK(producer.deleted == 0);
  CHECK(row.data<float>()[3] == 22);
  row = Tensor();
  CHECK(producer.deleted == 1);
}

TEST_CASE("memory whose deleter is null is nobody's", "[dlpack]") {
  Producer producer;
  producer.managed.deleter = nullptr;
  { CHECK(from_dlpack(&producer.managed).data<float>()[5] == 5); }
  CHECK(producer.deleted == 0);
}

TEST_CASE("the storage of what came in cannot be resized", "[dlpack]") {
  Producer producer;
  const Tensor x = from_dlpack(&producer.managed);
  CHECK_THROWS_WITH(resize_(x, {100}), Contains("not resizable"));
  CHECK(x.sizes() == IntArrayRef({3, 4}));
  CHECK(producer.deleted == 0);
}

TEST_CASE("strides, offset and sizes come in as they are", "[dlpack]") {
  SECTION("no strides are those of rows") {
    Producer producer;
    producer.tensor().strides = nullptr;
    CHECK(from_dlpack(&producer.managed).strides() == IntArrayRef({4, 1}));
  }
  SECTION("columns") {
    Producer producer;
    producer.sizes[0] = 4, producer.sizes[1] = 3, producer.strides[0] = 1, producer.strides[1] = 4;
    const Tensor x = from_dlpack(&producer.managed);
    CHECK(x.strides() == IntArrayRef({1, 4}));
    CHECK(select(x, 0, 1).data<float>()[4] == 5);
  }
  SECTION("byte_offset") {
    Producer producer;
    producer.sizes[0] = 2;
    producer.tensor().byte_offset = 16;
    const Tensor x = from_dlpack(&producer.managed);
    CHECK(x.data_ptr() == producer.data + 4);
    CHECK(x.storage()->nbytes() == 32);
  }
  SECTION("no elements need no memory") {
    Producer producer;
    producer.sizes[0] = 0;
    producer.tensor().data = nullptr;
    producer.tensor().byte_offset = 3;
    { CHECK(from_dlpack(&producer.managed).sizes() == IntArrayRef({0, 4})); }
    CHECK(producer.deleted == 1);
  }
  SECTION("a scalar needs no sizes") {
    Producer producer;
    producer.tensor().ndim = 0;
    producer.tensor().shape = producer.tensor().strides = nullptr;
    const Tensor x = from_dlpack(&producer.managed);
    CHECK(x.dim() == 0);
    CHECK(*x.data<float>() == 0);
  }
  SECTION("a negative stride that leads nowhere") {
    Producer producer;
    producer.sizes[0] = 1, producer.strides[0] = -4;
    CHECK(from_dlpack(&producer.managed).strides() == IntArrayRef({1, 1}));
  }
  SECTION("the CPU has no number") {
    Producer producer;
    producer.tensor().device.device_id = 3;
    CHECK(from_dlpack(&producer.managed).device() == Device(DeviceType::CPU));
  }
}

struct Refusal {
  void (*change)(Producer&);
  const char* kind;
  const char* error;
};

TEST_CASE("what cannot be a tensor is refused, and stays the caller's", "[dlpack]") {
  const Refusal refusal = GENERATE(values<Refusal>({
      {[](Producer& p) { p.tensor().dtype.lanes = 2; }, "NotImplementedError",
       "from_dlpack: expected elements of 1 lane, got 2"},
      {[](Producer& p) { p.tensor().dtype.lanes = 0; }, "NotImplementedError", "got 0"},
      {[](Producer& p) { p.tensor().dtype.bits = 33; }, "NotImplementedError",
       "no dtype of code 2 and 33 bits"},
      {[](Producer& p) { p.tensor().dtype.code = 255; }, "NotImplementedError",
       "no dtype of code 255 and 32 bits"},
      {[](Producer& p) {
         p.tensor().dtype = {kDLUInt, 16, 1};
       },
       "NotImplementedError", "no dtype of code 1 and 16 bits"},
      {[](Producer& p) { p.tensor().device.device_type = kDLCUDA; }, "NotImplementedError",
       "from_dlpack: expected device type 1 (cpu) or 12"},
      {[](Producer& p) { p.tensor().device.device_type = static_cast<DLDeviceType>(0); },
       "NotImplementedError", "got 0"},
      {[](Producer& p) { p.tensor().ndim = -1; }, "RuntimeError", "negative number of dimensions"},
      {[](Producer& p) { p.tensor().shape = nullptr; }, "RuntimeError", "no sizes for 2"},
      {[](Producer& p) { p.sizes[0] = -1; }, "RuntimeError", "a size is negative"},
      {[](Producer& p) { p.strides[0] = -4; }, "RuntimeError", "a stride is negative"},
      {[](Producer& p) { p.sizes[0] = p.sizes[1] = int64_t{1} << 40; }, "RuntimeError",
       "from_dlpack: "},
      {[](Producer& p) { p.strides[0] = std::numeric_limits<int64_t>::max(); }, "RuntimeError",
       "from_dlpack: size overflow"},
      {[](Producer& p) { p.tensor().data = nullptr; }, "RuntimeError", "no memory for 48 bytes"},
      {[](Producer& p) { p.tensor().byte_offset = 2; }, "RuntimeError", "is not aligned to 4"},
      {[](Producer& p) { p.tensor().byte_offset = ~uint64_t{0} - 3; }, "RuntimeError",
       "leave the address space"},
  }));
  Producer producer;
  refusal.change(producer);
  try {
    from_dlpack(&producer.managed);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == refusal.kind);
    CHECK_THAT(error.what(), StartsWith("from_dlpack: ") && Contains(refusal.error));
  }
  CHECK(producer.deleted == 0);
}

TEST_CASE("null is refused", "[dlpack]") { CHECK_THROWS_AS(from_dlpack(nullptr), ValueError); }

TEST_CASE("what other frameworks would misread does not go out", "[dlpack]") {
  const auto error = [](const Tensor& t) {
    try {
      release(to_dlpack(t));
    } catch (const RuntimeError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK_THAT(error(Tensor()), Contains("is undefined"));
  const Tensor w = counting({2, 3});
  set_requires_grad(w);
  CHECK_THAT(error(w), Contains("to_dlpack: the tensor requires a gradient; detach gives one"));
  CHECK(error(detach(w)) == "nothing");
  CHECK_THAT(error(add(w, w)), Contains("requires a gradient"));
  set_requires_grad(w, false);
  CHECK(error(w) == "nothing");

  const Tensor z = zeros(IntArrayRef{2}, DType::Complex64);
  CHECK_THAT(error(conj(z)), Contains("is lazily conjugated"));
  CHECK_THAT(error(imag(conj(z))), Contains("is lazily negated"));
  CHECK(error(resolve_conj(conj(z))) == "nothing");
  CHECK_THAT(error(quantize_per_tensor(counting({2}), 0.5, 0, DType::QInt8)),
             Contains("DLPack has no dtype qint8"));
  CHECK_THAT(error(empty_on(DeviceType::Meta, {2}, DType::Float32)),
             Contains("to_dlpack: expected a tensor on cpu or ") && Contains("got one on meta"));
  {
    FakeTensorMode fake;
    CHECK_THAT(error(fake.from_tensor(counting({2}))), Contains("the tensor is fake"));
  }
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor symbolic = fake.from_tensor(counting({5, 7}), {.source = "x"});
  REQUIRE(symbolic.is_symbolic());
  CHECK_THAT(error(symbolic), Contains("has symbolic sizes"));
  CHECK(fake.shape_env()->guards().empty());
}

TEST_CASE("out and in again is the same memory, kept by either side", "[dlpack]") {
  Tensor x = counting({2, 3});
  Tensor y = from_dlpack(to_dlpack(x));
  CHECK_FALSE(y.is_alias_of(x));  // two storages, one memory
  y.data<float>()[0] = 9;
  CHECK(x.data<float>()[0] == 9);
  x = Tensor();
  CHECK(y.data<float>()[5] == 5);
  Tensor z = from_dlpack(to_dlpack(y));
  y = Tensor();
  CHECK(z.data<float>()[0] == 9);
}

}  // namespace
}  // namespace sb
