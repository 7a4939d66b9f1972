// Fake tensors whose sizes are symbols.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

const Device kCuda(DeviceType::CUDA, 0);

struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode fake{{.shape_env = env}};
  Tensor make(IntArrayRef sizes, std::string source) {
    return fake.from_tensor(zeros(sizes), {.device = kCuda, .source = std::move(source)});
  }
};

std::string sizes_text(const Tensor& t) {
  std::string text;
  for (const SymInt& s : t.sym_sizes()) text += (text.empty() ? "" : ", ") + s.to_string();
  return text;
}

TEST_CASE("a real tensor's sizes become symbols, equal ones the same") {
  Fixture f;
  const Tensor x = f.make({5, 7, 5}, "x");
  CHECK(x.is_symbolic());
  CHECK(sizes_text(x) == "s0, s1, s0");
  CHECK(x.describe() == "float32[s0, s1, s0] on cuda:0");
  CHECK(f.env->guards().empty());
}

TEST_CASE("0 and 1 stay numbers, and so do static dimensions and static modes") {
  Fixture f;
  CHECK_FALSE(f.make({1, 0}, "x").is_symbolic());
  const Tensor y = f.fake.from_tensor(zeros({4, 6}),
                                      {.source = "y", .dims = {{.kind = DimDynamic::Static}, {}}});
  CHECK(y.sym_size(0).maybe_int() == 4);
  CHECK(y.sym_size(1).is_symbolic());
  CHECK_FALSE(f.fake.from_tensor(zeros({4}), {.static_shapes = true}).is_symbolic());
  CHECK_THROWS_AS(f.fake.from_tensor(zeros({4}), {.static_shapes = true, .dims = {{}}}),
                  ValueError);
  CHECK_THROWS_AS(f.fake.from_tensor(zeros({4}), {.dims = {{}, {}}}), ValueError);
}

TEST_CASE("strides that follow from the sizes stay so for all sizes") {
  Fixture f;
  const Tensor x = f.fake.from_tensor(permute(zeros({3, 4, 5}), {2, 0, 1}), {.source = "x"});
  CHECK(x.sym_stride(0).maybe_int() == 1);
  CHECK(x.sym_stride(2).to_string() == x.sym_size(0).to_string());
  CHECK(f.env->guards().empty());
}

TEST_CASE("copies lie in the order of what they copy, gaps and expanded dimensions or not") {
  Fixture f;
  const Tensor x = f.fake.from_tensor(permute(zeros({3, 6, 5}), {1, 2, 0}), {.source = "x"});
  const Tensor part = clone(narrow(x, 0, 1, 4));
  CHECK(part.sym_stride(1).maybe_int() == 1);
  CHECK(part.sym_stride(0).to_string() == x.sym_size(1).to_string());
  const Tensor wide = clone(expand(f.make({5, 1}, "y"), {-1, 4}));
  CHECK(wide.sym_stride(0).maybe_int() == 4);
  CHECK(wide.sym_stride(1).maybe_int() == 1);
}

TEST_CASE("copies of tensors whose sizes come from data lie in their order, too") {
  Fixture f;
  FakeTensorModeGuard guard(f.fake);
  const auto size = [&] {
    SymInt u = f.env->create_unbacked_symint();
    constrain_range_for_size(u, 2);
    return u;
  };
  const Tensor x = zeros(std::vector<SymInt>{size(), 3, size()});
  const Tensor y = clone(permute(x, {2, 0, 1}));
  CHECK(sizes_text(y) == "u1, u0, 3");
  CHECK(y.sym_stride(0).maybe_int() == 1);
  CHECK(y.sym_stride(1).to_string() == "3*u1");
  CHECK(y.sym_stride(2).to_string() == "u1");
  CHECK(relu(permute(x, {2, 0, 1})).sym_stride(1).to_string() == "3*u1");
  CHECK(f.env->guards().empty());
}

TEST_CASE("a tensor whose size turns out has room for it") {
  Fixture f;
  FakeTensorModeGuard guard(f.fake);
  SymInt u = f.env->create_unbacked_symint();
  constrain_range_for_size(u, 2);
  const Tensor x = zeros(std::vector<SymInt>{u, 3});
  check(u == 1000);
  CHECK(x.sizes() == IntArrayRef({1000, 3}));
  CHECK(x.storage()->nbytes() == 12000);
  CHECK(as_strided(x, {3000}, {1}).numel() == 3000);
}

TEST_CASE("operators keep the symbols and record only what they rest on") {
  Fixture f;
  const Tensor x = f.make({5, 7}, "x"), y = f.make({7, 3}, "y");
  const Tensor z = relu(mm(x, y));
  CHECK(sizes_text(z) == "s0, s2");
  CHECK(z.device() == kCuda);
  CHECK(f.env->guards().empty());  // 7 and 7 were one symbol from the start
  CHECK(sizes_text(sum_dim(z, {0}, true)) == "1, s2");
  CHECK(sizes_text(transpose(z, 0, 1)) == "s2, s0");
  CHECK(sizes_text(reshape(z, {-1})) == "s0*s2");
  CHECK(sizes_text(clone(z)) == "s0, s2");
  CHECK(sizes_text(zeros_like(z)) == "s0, s2");
  CHECK(f.env->guards().empty());
}

TEST_CASE("sizes that must agree become one, by a guard that tells the operator") {
  Fixture f;
  const Tensor x = f.make({5}, "x");
  const Tensor y = f.fake.from_tensor(
      zeros({5}), {.device = kCuda, .source = "y", .dims = {{.kind = DimDynamic::Dynamic}}});
  const Tensor z = add(x, y);
  REQUIRE(f.env->guards().size() >= 1);
  CHECK(f.env->guards().back().origin.reason == "aten::add");
  CHECK(f.env->evaluate_guards({{"x.size(0)", 9}, {"y.size(0)", 9}}));
  CHECK_FALSE(f.env->evaluate_guards({{"x.size(0)", 9}, {"y.size(0)", 8}}));
}

TEST_CASE("reading a size as a number settles it, and the guards accept no other") {
  Fixture f;
  const Tensor x = f.make({5, 7}, "x");
  CHECK(x.size(0) == 5);
  CHECK_FALSE(x.is_symbolic());
  CHECK(f.env->evaluate_guards({{"x.size(0)", 5}, {"x.size(1)", 7}}));
  CHECK_FALSE(f.env->evaluate_guards({{"x.size(0)", 6}, {"x.size(1)", 7}}));
}

TEST_CASE("broadcasting asks whether a size is 1, and goes on with the other") {
  Fixture f;
  const Tensor x = f.make({5, 7}, "x"), row = f.make({1, 7}, "row");
  CHECK(sizes_text(add(x, row)) == "s0, s1");
  CHECK(sizes_text(expand(row, {4, -1})) == "4, s1");
  CHECK(f.env->guards().empty());
}

TEST_CASE("sizes that do not fit are an error as with numbers") {
  Fixture f;
  CHECK_THROWS_AS(mm(f.make({5, 7}, "x"), f.make({6, 3}, "y")), RuntimeError);
  CHECK_THROWS_AS(add(f.make({4}, "a"), f.make({3}, "b")), RuntimeError);
}

TEST_CASE("views share the fake storage and keep symbolic strides and offsets") {
  Fixture f;
  const Tensor x = f.make({5, 7}, "x");
  const Tensor row = select(x, 0, 2);
  CHECK(row.is_alias_of(x));
  CHECK(sizes_text(row) == "s1");
  CHECK(row.sym_storage_offset().to_string() == "2*s1");
  const Tensor tail = slice(x, 0, 1);
  CHECK(tail.sym_size(0).to_string() == "s0 - 1");
}

TEST_CASE("a tensor without elements is contiguous, whatever its strides") {
  Fixture f;
  const Tensor x = slice(f.make({4, 6}, "x"), 1, 0, 0);
  CHECK(x.describe() == "float32[s0, 0] on cuda:0");
  CHECK(x.is_contiguous());
  CHECK(f.env->guards().empty());
}

TEST_CASE("the sizes of a tensor may be stated as expressions of symbols") {
  const auto env = ShapeEnv::create();
  FakeTensorMode fake({.shape_env = env});
  const SymInt batch = env->create_symint(4, "batch"), length = env->create_symint(5, "length");
  const Tensor x = fake.from_tensor(zeros({4, 5}), {.source = "x", .sizes = {batch, length}});
  const Tensor y =
      fake.from_tensor(zeros({4, 11}), {.source = "y", .sizes = {batch, 2 * length + 1}});
  CHECK(x.describe() == "float32[s0, s1] on cpu");
  CHECK(y.describe() == "float32[s0, 2*s1 + 1] on cpu");
  CHECK(y.sym_stride(0).to_string() == "2*s1 + 1");
  CHECK(env->evaluate_guards({{"batch", 3}, {"length", 7}, {"y.size(1)", 15}}).holds);
  CHECK_FALSE(env->evaluate_guards({{"batch", 3}, {"length", 7}, {"y.size(1)", 16}}).holds);
  CHECK_THROWS_AS(fake.from_tensor(zeros({3, 3}), {.sizes = {batch, 3}}), ValueError);
  CHECK_THROWS_WITH(fake.from_tensor(zeros({3, 3}), {.sizes = {3}}),
                    Catch::Contains("sizes: expected one for each dimension"));
  CHECK_THROWS_WITH(FakeTensorMode().from_tensor(zeros({3}), {.sizes = {3}}),
                    Catch::Contains("sizes: expected a mode with a ShapeEnv"));
}

TEST_CASE("a named integer without dimensions is a number that is at hand") {
  const auto env = ShapeEnv::create();
  FakeTensorMode fake({.shape_env = env});
  const Tensor n = fake.from_tensor(full({}, -3, DType::Int64), {.source = "n"});
  const SymInt number = item(n).to_sym_int();
  CHECK(number.to_string() == "s0");
  CHECK(hint(number) == -3);
  const std::vector<std::pair<std::string, int64_t>> none;
  CHECK(env->evaluate_guards(none).holds);  // nothing was asked of it
  CHECK(guard_bool(number < 0));
  CHECK(env->evaluate_guards({{"n.item()", -7}}).holds);
  CHECK_FALSE(env->evaluate_guards({{"n.item()", 0}}).holds);
  CHECK(item(fake.from_tensor(full({}, 4, DType::Int64))).to_sym_int().to_string() == "u0");
}

TEST_CASE("memory counts what the sizes at hand would take") {
  Fixture f;
  const Tensor x = f.make({5, 7}, "x");
  const int64_t before = f.fake.memory().current_bytes();
  const Tensor y = add(x, x);
  CHECK(f.fake.memory().current_bytes() - before == 5 * 7 * 4);
}

}  // namespace
}  // namespace sb
