// Runs that go on where a plain fake run would stop, and tell what to mend.

#include "switchboard/fake/draft_run.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

// Three of its rows are not 0.
Tensor example() {
  const Tensor x = zeros({5, 4});
  fill_(slice(x, 0, 0, 3), 2);
  return x;
}
IValue item_of(const Tensor& t) {
  return default_dispatcher().find_op_or_throw("aten::item").call({t})[0];
}

TEST_CASE("a program that a plain run takes has nothing to mend", "[fake][draft]") {
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.source = "x"});
  const FakeTensorModeGuard active(draft.mode());
  const Tensor rows = masked_select(x, gt_Scalar(x, 1));
  add(rows, rows);
  mm(x, transpose(x, 0, 1));
  CHECK(draft.findings().empty());
  CHECK(draft.report() == "nothing to mend\n");
}

TEST_CASE("what the program asks of data is what the example answers, and to be stated",
          "[fake][draft]") {
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.static_shapes = true, .source = "x"});
  const FakeTensorModeGuard active(draft.mode());
  const Tensor rows = nonzero(x);
  CHECK(guard_bool(rows.sym_size(0) > 8));
  CHECK(guard_bool(rows.sym_size(0) > 8));
  CHECK(rows.size(0) == 12);
  CHECK(item_of(select(select(x, 0, 0), 0, 0)).to_sym_float().guard_float() == 2);
  const std::vector<DraftFinding> found = draft.findings();
  REQUIRE(found.size() == 3);
  CHECK(found[0].fault == DraftFault::UnstatedCheck);
  CHECK_THAT(found[0].text, Contains("u0 >= 9, where u0 was made by aten::nonzero ("));
  CHECK(found[0].mend == "sb::check(u0 >= 9);");
  CHECK_THAT(found[0].where, Contains("draft_run_test.cc:"));
  CHECK(found[1].mend == "sb::check(u0 == 12);");
  CHECK(found[2].mend == "sb::check(f0 == 2);");
  CHECK(draft.shape_env().runtime_asserts().size() == 3);
}

TEST_CASE("an operator that would stop at a question begins again with the example's answer",
          "[fake][draft]") {
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.static_shapes = true, .source = "x"});
  const FakeTensorModeGuard active(draft.mode());
  const SymInt n = item_of(draft.from_tensor(full({}, 2, DType::Int64))).to_sym_int();
  CHECK(real_of(narrow(x, 0, n, 3)).sizes() == IntArrayRef({3, 4}));
  const SymInt sizes[] = {n, 10};
  CHECK(real_of(view(x, sizes)).sizes() == IntArrayRef({2, 10}));
  for (const DraftFinding& f : draft.findings()) CHECK(f.fault == DraftFault::UnstatedCheck);
}

SB_OP(halves, "draft_test::halves(Tensor x) -> (Tensor, int)");
SB_OP(grown, "draft_test::grown(Tensor x) -> Tensor");

TEST_CASE("an operator without a rule gives what is like the example's results", "[fake][draft]") {
  Library library(Library::Kind::Def, "draft_test");
  library.define(halves);
  library.impl(halves, DispatchKey::CPU, [](const Tensor& x) {
    return std::tuple(transpose(full({4, x.size(0) / 2}, 1.5), 0, 1), x.size(1));
  });
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.static_shapes = true, .source = "x"});
  {
    const FakeTensorModeGuard active(draft.mode());
    const auto [half, columns] = halves(x);
    CHECK(half.is_symbolic());
    CHECK(half.sym_stride(0).maybe_int() == 1);
    CHECK(real_of(add(half, half)).sizes() == IntArrayRef({2, 4}));
    CHECK(columns == 4);
  }
  const std::vector<DraftFinding> found = draft.findings();
  REQUIRE(!found.empty());
  CHECK(found[0].fault == DraftFault::MissingRule);
  CHECK_THAT(found[0].text, Contains("draft_test::halves: ") && Contains("no shape rule"));
  CHECK_THAT(found[0].mend, Contains("sb::register_fake(\"draft_test::halves\", ...);") &&
                                Contains("draft_test::halves(Tensor x) -> (Tensor, int)"));
  CHECK_THAT(found[0].where, Contains("draft_test::halves(float32[5, 4] on cpu)"));
  CHECK(draft.profiles().at("draft_test::halves").size() == 1);
}

TEST_CASE("a rule that gives something else than the operator is found out", "[fake][draft]") {
  Library library(Library::Kind::Def, "draft_test");
  library.define(grown);
  library.impl(grown, DispatchKey::CPU, [](const Tensor& x) {
    const Tensor both[] = {x, x};
    return cat(both, 0);
  });
  const auto rule =
      register_fake("draft_test::grown", [](const Tensor& x) { return empty_like(x); });
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.static_shapes = true, .source = "x"});
  const FakeTensorModeGuard active(draft.mode());
  const Tensor y = grown(grown(x));
  CHECK(real_of(y).sizes() == IntArrayRef({20, 4}));
  const std::vector<DraftFinding> found = draft.findings();
  REQUIRE(found.size() == 2);
  CHECK(found[0].fault == DraftFault::WrongRule);
  CHECK_THAT(found[0].text, Contains("draft_test::grown: result 0: float32[5, 4] on cpu for "
                                     "float32[10, 4] on cpu"));
}

TEST_CASE("sizes of inputs that become numbers are listed with what reads them", "[fake][draft]") {
  DraftRun draft;
  const Tensor x = draft.from_tensor(example(), {.source = "x"});
  const Tensor y = draft.from_tensor(zeros({4, 6}), {.source = "y"});
  const FakeTensorModeGuard active(draft.mode());
  arange(x.size(0));
  if (guard_bool(y.sym_size(1) == 6)) add(y, y);
  const std::vector<DraftFinding> found = draft.findings();
  REQUIRE(found.size() == 3);  // the size of one dimension settles those of all
  CHECK(found[0].fault == DraftFault::SettledSize);
  CHECK(found[0].text == "s0 == 5, where s0 is x.size(0)");
  CHECK(found[0].mend == "read x.sym_size(0) in the place of x.size(0)");
  CHECK(found[1].text == "s1 == 4, where s1 is x.size(1), y.size(0)");
  CHECK_THAT(found[2].mend, Contains("DimDynamic::Static of y.size(1)"));
  CHECK_THAT(draft.report(), Contains("settled size: s0 == 5, where s0 is x.size(0)  # ") &&
                                 Contains("\n  read x.sym_size(0) in the place of x.size(0)\n"));
}

TEST_CASE("what the program throws on the example, it throws in a draft", "[fake][draft]") {
  DraftRun draft;
  const Tensor real = example();
  const Tensor x = draft.from_tensor(real, {.source = "x"});
  const FakeTensorModeGuard active(draft.mode());
  CHECK_THROWS_AS(mm(x, x), RuntimeError);
  const Tensor rows = nonzero(x);
  CHECK_THROWS_WITH(SB_CHECK(rows.sym_size(0) == 3, "three rows"), Contains("three rows"));
  fill_(x, 7);
  CHECK(test::values_of(real)[0] == 2);  // and it does not write to it
}

}  // namespace
}  // namespace sb
