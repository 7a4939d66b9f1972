// Symbols for what only the data will tell.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/sorting/counts.h"
#include "switchboard/ops/sorting/unique.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

struct Fixture {
  IntrusivePtr<ShapeEnv> env = ShapeEnv::create();
  FakeTensorMode fake{{.shape_env = env}};
  Tensor make(IntArrayRef sizes, DType dtype = DType::Float32) {
    return fake.from_tensor(zeros(sizes, dtype), {.static_shapes = true});
  }
};

IValue item_of(const Tensor& t) {
  return default_dispatcher().find_op_or_throw("aten::item").call({t})[0];
}

TEST_CASE("without a ShapeEnv what depends on data is refused, by the operator's name") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(zeros({3}));
  CHECK_THROWS_AS(nonzero(x), DynamicOutputShapeError);
  CHECK_THROWS_WITH(nonzero(x), Catch::Contains("aten::nonzero"));
  CHECK_THROWS_AS(masked_select(x, x), DynamicOutputShapeError);
  CHECK_THROWS_AS(item(fake.from_tensor(zeros({}))), DataDependentOutputError);
}

TEST_CASE("nonzero gives a size that lies between 0 and the number of elements") {
  Fixture f;
  const Tensor found = nonzero(f.make({3, 4}));
  CHECK(found.dtype() == DType::Int64);
  CHECK(found.sym_size(0).to_string() == "u0");
  CHECK(found.sym_size(1).maybe_int() == 2);
  const SymbolInfo u0 = *f.env->symbol("u0");
  CHECK(u0.size_like);
  CHECK(u0.origin.reason == "aten::nonzero");
  CHECK_FALSE(static_cast<bool>(found.sym_size(0) > 12));
}

TEST_CASE(
    "the second nonzero of a tensor gives the first one's size, until somebody writes to it") {
  Fixture f;
  const Tensor x = f.make({3, 4});
  const std::string first = nonzero(x).sym_size(0).to_string();
  CHECK(nonzero(x).sym_size(0).to_string() == first);
  x.impl()->bump_version();
  const std::string second = nonzero(x).sym_size(0).to_string();
  CHECK(second != first);
  f.fake.new_epoch();
  CHECK(nonzero(x).sym_size(0).to_string() != second);
}

TEST_CASE("a write to a view ends what is known of the others") {
  Fixture f;
  const Tensor real = zeros({3, 4});
  const auto fake_of = [&](const Tensor& t) {
    return f.fake.from_tensor(t, {.static_shapes = true});
  };
  const Tensor row = select(real, 0, 1);
  const Tensor x = fake_of(real), view = fake_of(row);
  const std::string first = nonzero(x).sym_size(0).to_string();
  view.impl()->bump_version();
  CHECK(nonzero(x).sym_size(0).to_string() != first);
}

TEST_CASE("nonzero of no element has exactly 0 rows") {
  Fixture f;
  CHECK(nonzero(f.make({0, 4})).sym_size(0).maybe_int() == 0);
}

TEST_CASE("operators go on with sizes that nobody knows") {
  Fixture f;
  const Tensor rows = select(nonzero(f.make({9})), 1, 0);
  CHECK(rows.sym_size(0).to_string() == "u0");
  CHECK(add(rows, rows).sym_size(0).to_string() == "u0");
  CHECK(reshape(rows, {-1, 1}).sym_size(0).to_string() == "u0");
}

TEST_CASE("two unknown sizes that must agree are checked when the data is there") {
  Fixture f;
  const Tensor a = select(nonzero(f.make({9})), 1, 0), b = select(nonzero(f.make({9})), 1, 0);
  CHECK_NOTHROW(add(a, b));
  REQUIRE(f.env->runtime_asserts().size() >= 1);
  f.env->bind_unbacked("u0", 3);
  CHECK_THROWS_AS(f.env->bind_unbacked("u1", 4), RuntimeError);
}

TEST_CASE("reading an unknown size as a number names the symbol, its call and the check to add") {
  Fixture f;
  const Tensor found = nonzero(f.make({9}));
  CHECK_THROWS_AS(found.size(0), GuardOnDataDependentError);
  CHECK_THROWS_WITH(found.size(0), Catch::Contains("u0") && Catch::Contains("aten::nonzero"));
}

TEST_CASE("item() gives a symbol of the tensor's kind, and the same one again") {
  Fixture f;
  const Tensor i = f.make({}, DType::Int64);
  CHECK(item_of(i).is_SymInt());
  CHECK(item_of(f.make({})).is_SymFloat());
  CHECK(item_of(f.make({}, DType::Bool)).is_SymBool());
  CHECK(item_of(i).to_string() == item_of(i).to_string());
  CHECK_THROWS_AS(item_of(f.make({2})), RuntimeError);
  CHECK_THROWS_AS(item_of(f.make({}, DType::Complex64)), NotImplementedError);
}

TEST_CASE("to_list() gives a symbol for each element, of a vector only") {
  Fixture f;
  const std::vector<IValue> elements = to_list(f.make({3}, DType::Int64));
  REQUIRE(elements.size() == 3);
  CHECK(elements[0].is_SymInt());
  CHECK(elements[0].to_string() != elements[1].to_string());
  CHECK(to_list(f.make({0})).empty());
  CHECK_THROWS_WITH(to_list(f.make({2, 2})), Catch::Contains("to_list: expected a tensor of one"));
  CHECK_THROWS_AS(to_list(FakeTensorMode().from_tensor(zeros({2}))), DataDependentOutputError);
  CHECK(to_list(arange(3))[2].to_string() == "2");
}

TEST_CASE("a ShapeEnv may refuse symbols for numbers or for sizes") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create({.allow_scalar_outputs = false,
                                                      .allow_dynamic_output_shape_ops = false})});
  CHECK_THROWS_AS(item_of(fake.from_tensor(zeros({}))), DataDependentOutputError);
  CHECK_THROWS_AS(nonzero(fake.from_tensor(zeros({1}))), DynamicOutputShapeError);
}

TEST_CASE("a tensor may be as large as item() says") {
  Fixture f;
  const SymInt n = item_of(f.make({}, DType::Int64)).to_sym_int();
  constrain_range_for_size(n);
  FakeTensorModeGuard active(f.fake);
  const SymInt sizes[] = {n, 3};
  CHECK(zeros(SymIntArrayRef(sizes, 2)).sym_size(0).to_string() == n.to_string());
}

TEST_CASE("a mask as an index selects as many elements as its nonzero finds") {
  Fixture f;
  using Indices = std::vector<std::optional<Tensor>>;
  const Tensor x = f.make({4, 3, 5}), rows = f.make({4}, DType::Bool);
  const Tensor selected = index(x, Indices{rows});
  REQUIRE(selected.dim() == 3);
  CHECK(selected.sym_size(0).to_string() == "u0");
  CHECK(selected.sym_size(1).maybe_int() == 3);
  CHECK(index(x, Indices{rows, f.make({1}, DType::Int64)}).sym_size(0).to_string() == "u0");
  CHECK(nonzero(rows).sym_size(0).to_string() == "u0");
  const Tensor flat = index(x, Indices{std::nullopt, f.make({3, 5}, DType::Bool)});
  REQUIRE(flat.dim() == 2);
  CHECK(flat.sym_size(0).maybe_int() == 4);
  CHECK(flat.sym_size(1).to_string() == "u1");
  CHECK_THROWS_WITH(index(x, Indices{f.make({3}, DType::Bool)}),
                    Catch::Contains("aten::index.Tensor: the mask") &&
                        Catch::Contains("does not fit self") && Catch::Contains("dimension 0"));
}

TEST_CASE("masked_select, unique and repeat_interleave give sizes of their own") {
  Fixture f;
  const Tensor x = f.make({3, 4});
  const Tensor selected = masked_select(x, f.make({5, 1, 4}, DType::Bool));
  CHECK(selected.sym_size(0).to_string() == "u0");
  CHECK(statically_known(selected.sym_size(0) <= 60) == true);
  CHECK_FALSE(statically_known(selected.sym_size(0) <= 59).has_value());
  const auto [values, inverse, counts] = _unique2(x, true, true, true);
  CHECK(values.sym_size(0).to_string() == "u1");
  CHECK(inverse.sizes() == IntArrayRef({3, 4}));
  CHECK(counts.sym_size(0).to_string() == "u1");
  const auto [slices, which, times] = unique_dim(x, -1, true, false, false);
  CHECK(slices.sym_size(0).maybe_int() == 3);
  CHECK(slices.sym_size(1).to_string() == "u2");
  CHECK(which.sizes() == IntArrayRef({4}));  // on the CPU, wanted or not
  CHECK(times.sym_size(0).to_string() == "u2");
  const Tensor repeats = f.make({4}, DType::Int64);
  CHECK(repeat_interleave_Tensor(repeats).sym_size(0).to_string() == "u3");
  CHECK(repeat_interleave_Tensor(repeats, 10).sizes() == IntArrayRef({10}));
}

TEST_CASE("runs of equal elements, and counts, have sizes of their own") {
  Fixture f;
  const Tensor x = f.make({3, 4}, DType::Int64);
  const auto [runs, inverse, counts] = unique_consecutive(x, true, true);
  CHECK(runs.sym_size(0).to_string() == "u0");
  CHECK(statically_known(runs.sym_size(0) <= 12) == true);
  CHECK(inverse.sizes() == IntArrayRef({3, 4}));
  CHECK(counts.sym_size(0).to_string() == "u0");
  CHECK(std::get<1>(unique_consecutive(x, false, false)).sizes() == IntArrayRef({0}));
  const auto [slices, which, times] = unique_consecutive(x, false, false, 1);
  CHECK(slices.sym_size(1).to_string() == "u2");
  CHECK(which.sizes() == IntArrayRef({4}));
  CHECK(times.sym_size(0).to_string() == "u2");
  CHECK(std::get<0>(unique_dim_consecutive(x, 0)).sym_size(0).to_string() == "u3");
  CHECK(std::get<0>(_unique(x)).sym_size(0).to_string() == "u4");
  CHECK(std::get<1>(_unique(x, true, true)).sizes() == IntArrayRef({3, 4}));

  const Tensor flat = f.make({6}, DType::Int64);
  const Tensor bins = bincount(flat, {}, 3);
  CHECK(bins.dtype() == DType::Int64);
  CHECK(statically_known(bins.sym_size(0) >= 3) == true);
  CHECK(bincount(flat, f.make({6})).dtype() == DType::Float32);
  CHECK(bincount(flat, f.make({6}, DType::Int64)).dtype() == DType::Float64);
  CHECK_THROWS_AS(bincount(x, {}), RuntimeError);
  CHECK_THROWS_AS(bincount(flat, f.make({5})), RuntimeError);
}

TEST_CASE("with real tensors beside it, the run knows what its symbols stand for") {
  const auto env = ShapeEnv::create();
  FakeTensorMode fake({.shape_env = env, .propagate_real_tensors = true});
  const Tensor real = zeros({5});
  fill_(slice(real, 0, 0, 3), 1);
  const Tensor found = nonzero(fake.from_tensor(real, {.static_shapes = true}));
  CHECK(found.sym_size(0).to_string() == "u0");
  REQUIRE(real_of(found).defined());
  CHECK(real_of(found).sizes() == IntArrayRef({3, 1}));
  CHECK(real_of(add(found, found)).sizes() == IntArrayRef({3, 1}));
  CHECK_FALSE(real_of(zeros({1})).defined());
}

TEST_CASE("a real run takes symbols as the numbers that they are at hand") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create(), .propagate_real_tensors = true});
  const FakeTensorModeGuard active(fake);
  const Tensor x = fake.from_tensor(zeros({5, 2}));
  const Tensor n = fake.from_tensor(full({}, 3, DType::Int64));
  CHECK(real_of(arange(item_of(n).to_scalar())).sizes() == IntArrayRef({3}));
  CHECK(test::values_of(real_of(full({2}, x.sym_size(0)))) == std::vector<double>{5, 5});
  const SymInt sizes[] = {x.sym_size(0) * 2};
  CHECK(real_of(reshape(x, SymIntArrayRef(sizes, 1))).sizes() == IntArrayRef({10}));
}

TEST_CASE("the real tensors beside a run are copies, which share memory as the tensors do") {
  FakeTensorMode fake({.propagate_real_tensors = true});
  const Tensor real = zeros({2, 2}), row = select(real, 0, 1);
  const Tensor x = fake.from_tensor(real), y = fake.from_tensor(row);
  fill_(y, 3);
  add_(x, x);
  CHECK(test::values_of(real) == std::vector<double>{0, 0, 0, 0});
  CHECK(test::values_of(real_of(x)) == std::vector<double>{0, 0, 6, 6});
  CHECK(test::values_of(real_of(y)) == std::vector<double>{6, 6});
}

}  // namespace
}  // namespace sb
