#include "switchboard/fake/sym_nbytes.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;

TEST_CASE("bytes and storage offsets of symbolic tensors are expressions", "[fake][symbolic]") {
  const auto env = ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false});
  const SymInt n = env->create_symint(5, "n", DimDynamic::Dynamic, 1);
  const SymInt m = env->create_symint(7, "m", DimDynamic::Dynamic, 1);
  const FakeTensorMode fake(FakeTensorOptions{.shape_env = env});
  const FakeTensorModeGuard guard(fake);
  const Tensor x = sb::empty(std::vector<SymInt>{n, m});
  CHECK(sym_nbytes(x).to_string() == "4*s0*s1");
  CHECK(sym_storage_nbytes(x).to_string() == "4*s0*s1");
  CHECK(env->guards().empty());
  const Tensor row = sb::select(x, 0, 2);
  CHECK(row.sym_storage_offset().to_string() == "2*s1");
  CHECK(sym_nbytes(row).to_string() == "4*s1");
  CHECK_THROWS_WITH(sym_storage_nbytes(row),
                    Contains("has 140 bytes, and its sizes reach 12*s1 = 84 of them"));
  const Tensor plain = sb::empty(std::vector<int64_t>{2, 3});
  CHECK(sym_nbytes(plain).expect_int() == 24);
  CHECK(sym_storage_nbytes(plain).expect_int() == 24);
}

}  // namespace
}  // namespace sb
