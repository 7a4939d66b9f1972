// What fake mode does for single operators.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/foreach/foreach.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/loss/packed_sequence.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

struct Fixture {
  FakeTensorMode fake;
  Tensor cuda(IntArrayRef sizes, DType dtype = DType::Float32) {
    return fake.from_tensor(zeros(sizes, dtype), kCuda);
  }
  Tensor cpu(IntArrayRef sizes, DType dtype = DType::Float32) {
    return fake.from_tensor(zeros(sizes, dtype));
  }
};

std::vector<IValue> call(std::string_view op, std::vector<IValue> positional,
                         std::vector<std::pair<std::string, IValue>> keyword = {}) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(positional), std::move(keyword));
}
const Tensor& tensor(const IValue& value) { return value.to_tensor(); }

TEST_CASE("a fake tensor may be of the meta device, unless the mode forbids it") {
  Fixture f;
  const Tensor meta = empty({2}, DType::Float32, std::nullopt, Device(DeviceType::Meta));
  const Tensor fake = f.fake.from_tensor(meta);
  CHECK(is_fake(fake + fake));
  CHECK((fake + fake).device().is_meta());
  CHECK_THROWS_AS(FakeTensorMode({.allow_meta = false}).from_tensor(meta), ValueError);
}

TEST_CASE("a meta tensor becomes the same fake tensor of a device each time") {
  Fixture f;
  const Tensor meta = empty({2, 3}, DType::Float32, std::nullopt, Device(DeviceType::Meta));
  const Tensor fake = f.fake.from_meta(meta, kCuda);
  CHECK(fake.device() == kCuda);
  CHECK(fake.sizes() == meta.sizes());
  CHECK(f.fake.from_meta(meta, kCuda).is_same(fake));
  CHECK_THROWS_AS(f.fake.from_meta(zeros({2}), kCuda), ValueError);
}

TEST_CASE("the result of an index is where self is, wherever the index is") {
  Fixture f;
  const Tensor x = f.cuda({4, 3}), at = f.cpu({2}, DType::Int64);
  const Tensor result = index(x, std::vector<std::optional<Tensor>>{at});
  CHECK(result.device() == kCuda);
  CHECK(result.sizes() == IntArrayRef({2, 3}));
}

TEST_CASE("a mask makes the shape of an index depend on data") {
  Fixture f;
  const Tensor x = f.cuda({4});
  CHECK_THROWS_AS(index(x, std::vector<std::optional<Tensor>>{f.cuda({4}, DType::Bool)}),
                  DynamicOutputShapeError);
}

TEST_CASE("index_put takes values of self's device, or one number of any") {
  Fixture f;
  const Tensor x = f.cuda({4});
  const std::vector<std::optional<Tensor>> at = {f.cuda({2}, DType::Int64)};
  CHECK(index_put_(x, at, f.cuda({2})).is_same(x));
  CHECK(index_put(x, at, f.cpu({})).device() == kCuda);
  CHECK_THROWS_WITH(index_put(x, at, f.cpu({2})), Catch::Contains("aten::index_put") &&
                                                      Catch::Contains("values") &&
                                                      Catch::Contains("cuda:0"));
}

TEST_CASE("resize_as_ looks at the template's shape, not at its device") {
  Fixture f;
  const Tensor x = f.cuda({4});
  CHECK(tensor(call("aten::resize_as_", {x, f.cpu({2, 3})})[0]).is_same(x));
  CHECK(x.sizes() == IntArrayRef({2, 3}));
  CHECK(x.device() == kCuda);
}

TEST_CASE("each result of a foreach operator is on the device of its place") {
  Fixture f;
  const std::vector<Tensor> list = {f.cuda({2}), f.cpu({3})};
  const std::vector<IValue> results = call("aten::_foreach_add.List", {list, list});
  CHECK(results[0].to_tensor_list()[0].device() == kCuda);
  CHECK(results[0].to_tensor_list()[1].device().is_cpu());
  const std::vector<Tensor> other = {f.cpu({2}), f.cpu({3})};
  CHECK_THROWS_WITH(call("aten::_foreach_add.List", {list, other}),
                    Catch::Contains("_foreach_add") && Catch::Contains("place 0"));
}

TEST_CASE("embedding_bag takes tensors of several devices, and tells of each where it is") {
  Fixture f;
  const auto [bags, bag_of, sizes, from] =
      _embedding_bag(f.cuda({9, 4}), f.cpu({6}, DType::Int64), f.cpu({2}, DType::Int64));
  CHECK(bags.device() == kCuda);
  CHECK(bags.sizes() == IntArrayRef({2, 4}));
  CHECK(bag_of.device().is_cpu());
  CHECK(sizes.device().is_cpu());
  CHECK(from.device().is_cpu());
}

TEST_CASE("convolution gives channels last where the input or the weight is") {
  Fixture f;
  const Tensor w = f.cuda({8, 3, 3, 3});
  const auto conv = [&](const Tensor& x) {
    return convolution(x, w, std::nullopt, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1);
  };
  const Tensor x = f.cuda({2, 3, 6, 6});
  CHECK(conv(x).is_contiguous());
  const Tensor last =
      f.fake.from_tensor(empty({2, 3, 6, 6}, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                               MemoryFormat::ChannelsLast),
                         kCuda);
  CHECK(conv(last).is_contiguous(MemoryFormat::ChannelsLast));
}

TEST_CASE("packing a sequence gives symbolic lengths, or is refused without a ShapeEnv") {
  Fixture f;
  const Tensor lengths = f.cpu({2}, DType::Int64);
  CHECK_THROWS_AS(_pack_padded_sequence(f.cuda({5, 2, 3}), lengths, false),
                  DynamicOutputShapeError);
  FakeTensorMode symbolic({.shape_env = ShapeEnv::create()});
  const auto make = [&](IntArrayRef sizes, DType dtype) {
    return symbolic.from_tensor(zeros(sizes, dtype), {.static_shapes = true});
  };
  const auto [data, batch_sizes] =
      _pack_padded_sequence(make({5, 2, 3}, DType::Float32), make({2}, DType::Int64), false);
  CHECK(data.dim() == 2);
  CHECK(data.sym_size(0).is_symbolic());
  CHECK(data.sym_size(1).maybe_int() == 3);
  CHECK(batch_sizes.sym_size(0).is_symbolic());
}

TEST_CASE("flash attention gives output, logsumexp, lengths, seeds and mask") {
  Fixture f;
  const Tensor q = f.cuda({2, 4, 100, 16}), k = f.cuda({2, 4, 300, 16});
  const auto r = call("aten::_scaled_dot_product_flash_attention", {q, k, k});
  REQUIRE(r.size() == 9);
  CHECK(tensor(r[0]).sizes() == IntArrayRef({2, 4, 100, 16}));
  CHECK(tensor(r[0]).strides() == IntArrayRef({6400, 16, 64, 1}));
  CHECK(tensor(r[1]).sizes() == IntArrayRef({2, 4, 100}));
  CHECK(tensor(r[1]).dtype() == DType::Float32);
  CHECK_FALSE(tensor(r[2]).defined());
  CHECK(r[4].to_int() == 100);
  CHECK(r[5].to_int() == 300);
  CHECK(tensor(r[6]).dtype() == DType::Int64);
  CHECK(tensor(r[8]).sizes() == IntArrayRef({0}));
  CHECK(tensor(r[0]).device() == kCuda);
}

TEST_CASE("the debug mask of flash attention is as wide as the kernel's blocks") {
  Fixture f;
  const Tensor q = f.cuda({2, 4, 300, 16});
  const auto columns = [&](int64_t keys) {
    const Tensor k = f.cuda({2, 4, keys, 16});
    const auto r = call("aten::_scaled_dot_product_flash_attention", {q, k, k},
                        {{"return_debug_mask", IValue(true)}});
    return tensor(r[8]).size(3);
  };
  CHECK(columns(100) == 128);
  CHECK(columns(200) == 256);
  CHECK(columns(500) == 2);  // of blocks, as PyTorch has it
}

TEST_CASE("efficient attention rounds the rows of logsumexp up to 32") {
  Fixture f;
  const Tensor q = f.cuda({2, 4, 100, 16}), v = f.cuda({2, 4, 70, 24});
  const auto r = call("aten::_scaled_dot_product_efficient_attention",
                      {q, f.cuda({2, 4, 70, 16}), v, IValue(), IValue(true)});
  CHECK(tensor(r[0]).sizes() == IntArrayRef({2, 4, 100, 24}));
  CHECK(tensor(r[1]).sizes() == IntArrayRef({2, 4, 128}));
  const auto none = call("aten::_scaled_dot_product_efficient_attention",
                         {q, f.cuda({2, 4, 70, 16}), v, IValue(), IValue(false)});
  CHECK(tensor(none[1]).sizes() == IntArrayRef({2, 4, 0}));
}

TEST_CASE("attention that may drop weights draws random numbers, and says so") {
  for (const char* name :
       {"_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
        "_flash_attention_forward", "_efficient_attention_forward",
        "_scaled_dot_product_fused_attention_overrideable"}) {
    CAPTURE(name);
    const OperatorHandle op = default_dispatcher().find_op_or_throw(std::string("aten::") + name);
    CHECK(op.entry().has_tag(Tag::nondeterministic_seeded));
  }
}

TEST_CASE("packed sequences give attention their own batch and lengths") {
  Fixture f;
  const Tensor q = f.cuda({500, 4, 16}), starts = f.cuda({6}, DType::Int32);
  const auto r = call("aten::_flash_attention_forward",
                      {q, q, q, starts, starts, 120, 120, 0.0, false, false});
  CHECK(tensor(r[0]).sizes() == IntArrayRef({500, 4, 16}));
  CHECK(tensor(r[1]).sizes() == IntArrayRef({5, 4, 120}));

  const Tensor b = f.cuda({1, 500, 4, 16});
  const auto e = call("aten::_efficient_attention_forward",
                      {b, b, b, IValue(), starts, starts, 120, 130, 0.0, 0, true});
  CHECK(tensor(e[1]).sizes() == IntArrayRef({5, 4, 128}));
  CHECK(e[4].to_int() == 120);
  CHECK(e[5].to_int() == 130);
}

TEST_CASE("attention refuses tensors of two dtypes or too few dimensions") {
  Fixture f;
  const Tensor q = f.cuda({2, 4, 100, 16});
  CHECK_THROWS_AS(call("aten::_scaled_dot_product_flash_attention",
                       {q, f.cuda({2, 4, 100, 16}, DType::Float16), q}),
                  RuntimeError);
  CHECK_THROWS_AS(call("aten::_scaled_dot_product_flash_attention", {f.cuda({16}), q, q}),
                  RuntimeError);
}

TEST_CASE("a Fourier transform has the strides of the real one") {
  Fixture f;
  const Tensor x = permute(zeros({4, 6, 5}, DType::Complex64), {2, 0, 1});
  const std::vector<int64_t> dims = {1};
  const Tensor real = tensor(call("aten::_fft_c2c", {x, dims, 0, true})[0]);
  const Tensor fake =
      tensor(call("aten::_fft_c2c", {f.fake.from_tensor(x, kCuda), dims, 0, true})[0]);
  CHECK(fake.sizes() == real.sizes());
  CHECK(fake.strides() == real.strides());
}

}  // namespace
}  // namespace sb
