#include "switchboard/ops/define/forms.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace forms_test {

SB_OP(scale, "forms_test::scale.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(scale_, sb::inplace_of(scale));
SB_OP(scale_out, sb::out_of(scale, "out"));
SB_OP(fresh, "forms_test::fresh() -> Tensor");
SB_OP(fresh_out, sb::out_of(fresh, "out"));
SB_OP(split, "forms_test::split(Tensor self, int dim) -> (Tensor low, Tensor high)");
SB_OP(split_out, sb::out_of(split, "low", {"low", "high"}));
SB_OP(odd, "forms_test::odd(Tensor self) -> Tensor");
SB_OP(odd_out, sb::out_form(odd, "forms_test::odd.into(Tensor self, Tensor(a!) into) -> ()"));

}  // namespace forms_test

namespace sb {
namespace {

using namespace forms_test;

TEST_CASE("an in-place form writes to self and returns it", "[ops][define]") {
  CHECK(scale_.schema() ==
        "forms_test::scale_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> "
        "Tensor(a!)");
}

TEST_CASE("an out= form takes its outs last, by name", "[ops][define]") {
  CHECK(scale_out.schema() ==
        "forms_test::scale.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
        "Tensor(a!)");
  CHECK(fresh_out.schema() == "forms_test::fresh.out(*, Tensor(a!) out) -> Tensor(a!)");
  CHECK(split_out.schema() ==
        "forms_test::split.low(Tensor self, int dim, *, Tensor(a!) low, Tensor(b!) high) -> "
        "(Tensor(a!) low, Tensor(b!) high)");
}

TEST_CASE("an out= form with a schema of its own keeps it", "[ops][define]") {
  CHECK(odd_out.schema() == "forms_test::odd.into(Tensor self, Tensor(a!) into) -> ()");
}

TEST_CASE("an operator's forms are found by its type", "[ops][define]") {
  static_assert(std::is_same_v<form_of<InplaceForm, scale_op>, scale__op>);
  static_assert(std::is_same_v<form_of<OutForm, scale_op>, scale_out_op>);
  static_assert(std::is_same_v<form_of<OutForm, odd_op>, odd_out_op>);
  static_assert(!HasForm<InplaceForm, split_op>);
  SUCCEED();
}

TEST_CASE("aten has an owner: nobody else defines it, and anybody may add to it", "[ops][define]") {
  CHECK_THROWS_AS(Library(Library::Kind::Def, "aten"), RuntimeError);
  CHECK_THROWS_WITH(Library(Library::Kind::Def, "aten"),
                    Catch::Contains("aten") && Catch::Contains("FRAGMENT"));
  CHECK_NOTHROW(Library(Library::Kind::Fragment, "aten"));
}

}  // namespace
}  // namespace sb
