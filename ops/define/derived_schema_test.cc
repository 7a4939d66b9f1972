#include "switchboard/ops/define/derived_schema.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("an in-place schema writes to self and returns it", "[ops][schema]") {
  CHECK(inplace_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
            .view() ==
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  CHECK(inplace_schema("aten::relu(Tensor self) -> Tensor").view() ==
        "aten::relu_(Tensor(a!) self) -> Tensor(a!)");
}

TEST_CASE("an out= schema takes the output last, by name", "[ops][schema]") {
  CHECK(out_schema("aten::add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor", "out").view() ==
        "aten::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
  CHECK(out_schema("aten::mm(Tensor self, Tensor mat2) -> Tensor", "out").view() ==
        "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)");
}

}  // namespace
}  // namespace sb
