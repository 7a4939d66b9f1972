// What programs assert of fake tensors and of symbols.

#include "switchboard/ops/assertions/assertions.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/composite/facts.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

std::vector<IValue> run(const char* op, std::vector<IValue> arguments,
                        std::vector<std::pair<std::string, IValue>> named = {}) {
  return default_dispatcher().find_op_or_throw(op).call(std::move(arguments), std::move(named));
}

TEST_CASE("a fake tensor's metadata is that of what it stands for, its device too") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(zeros({2, 3}), Device("cuda:0"));
  const auto check = [&](Device device) {
    _assert_tensor_metadata(x, {2, 3}, {3, 1}, DType::Float32, device, Layout::Strided);
  };
  check(Device("cuda"));
  check(Device("cuda:0"));
  CHECK_THROWS_WITH(check(Device("cuda:1")), Contains("the device cuda:1, got cuda:0"));
  CHECK_THROWS_WITH(check(Device("cpu")), Contains("the device cpu, got cuda:0"));
  CHECK_THROWS_AS(_assert_tensor_metadata(x, {3, 2}), RuntimeError);
}

struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode fake{{.shape_env = env}};
  Tensor x = fake.from_tensor(zeros({4, 6}));
  SymInt from_data() {
    const Tensor number = fake.from_tensor(zeros({}, DType::Int64), {.static_shapes = true});
    return run("aten::item", {number})[0].to_sym_int();
  }
};

TEST_CASE("sizes, strides, numel and offset are asked for as symbols") {
  Fixture f;
  const Tensor part = slice(f.x, 0, 1);
  CHECK(run("aten::sym_size.int", {f.x, -1})[0].to_sym_int().to_string() ==
        f.x.sym_size(1).to_string());
  CHECK(run("aten::sym_size.int", {f.x, 0})[0].is_SymInt());
  CHECK(run("aten::sym_stride.int", {f.x, 0})[0].to_sym_int().to_string() ==
        f.x.sym_size(1).to_string());
  CHECK(run("aten::sym_numel", {f.x})[0].is_SymInt());
  CHECK(run("aten::sym_storage_offset", {part})[0].to_sym_int().to_string() ==
        f.x.sym_size(1).to_string());
  CHECK(run("aten::sym_size", {f.x})[0].to_sym_int_list()[0].is_symbolic());
  CHECK(run("aten::sym_stride", {f.x})[0].to_sym_int_list()[1].maybe_int() == 1);
  CHECK(f.env->guards().empty());
  CHECK_THROWS_AS(sym_size_int(f.x, 2), IndexError);
  CHECK_THROWS_AS(sym_stride_int(zeros({}), 0), IndexError);
  CHECK(sym_size_int(zeros({2, 3}), -1).expect_int() == 3);
}

TEST_CASE("what is asserted of a symbol at hand is a guard") {
  Fixture f;
  run("aten::_assert_scalar", {IValue(f.x.sym_size(0) <= 9), "few rows"});
  CHECK(f.env->guards().size() == 1);
  CHECK_THROWS_WITH(run("aten::_assert_scalar", {IValue(f.x.sym_size(0) > 9), "many rows"}),
                    Contains("many rows"));
  const SymInt sizes[] = {f.x.sym_size(0), f.x.sym_size(1)};
  const size_t guards = f.env->guards().size();
  _assert_tensor_metadata(f.x, SymIntArrayRef(sizes, 2));
  CHECK(f.env->guards().size() == guards);
  CHECK_THROWS_AS(_assert_tensor_metadata(f.x, {4, 7}), RuntimeError);
}

TEST_CASE("what is asserted of a symbol from data is checked when the program runs") {
  Fixture f;
  const SymInt n = f.from_data();
  run("aten::_assert_scalar", {IValue(n <= 9), "few"});
  const FakeTensorModeGuard active(f.fake);
  run("aten::sym_constrain_range_for_size", {IValue(n)}, {{"max", 20}});
  CHECK_FALSE(static_cast<bool>(n > 20));
  CHECK(f.env->symbol(n.to_string())->size_like);
  const SymInt m = f.from_data();
  run("aten::sym_constrain_range", {IValue(m)}, {{"min", -2}});
  CHECK(static_cast<bool>(m > -3));
  CHECK_THROWS_AS(sym_constrain_range(5, 6), RuntimeError);
  CHECK_THROWS_AS(run("aten::_assert_scalar", {IValue(n > 20), "many"}), RuntimeError);
}

TEST_CASE("empty_permuted keeps symbols") {
  Fixture f;
  const FakeTensorModeGuard active(f.fake);
  const SymInt sizes[] = {f.x.sym_size(0), 3, f.x.sym_size(1)};
  const Tensor made = empty_permuted(SymIntArrayRef(sizes, 3), {2, 0, 1});
  CHECK(made.sym_size(0).to_string() == f.x.sym_size(0).to_string());
  CHECK(made.sym_stride(1).maybe_int() == 1);
  CHECK(made.sym_stride(0).maybe_int() == 3);
  CHECK(made.sym_stride(2).to_string() == (f.x.sym_size(0) * 3).to_string());
}

TEST_CASE("copy gives what self would be, on self's device, and never its source") {
  FakeTensorMode fake;
  const Tensor self = fake.from_tensor(zeros({2, 3}));
  const Tensor source = fake.from_tensor(zeros({2, 3}), Device("cuda:0"));
  const Tensor result = copy(self, source);
  CHECK(result.device() == self.device());
  CHECK_FALSE(result.is_same(source));
  CHECK(copy(source, self).device() == source.device());
}

}  // namespace
}  // namespace sb
