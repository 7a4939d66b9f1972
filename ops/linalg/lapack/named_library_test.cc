// In a program of its own: a library that is found is looked for once.

#include <cstdlib>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/linalg/lapack/lapack.h"

namespace sb::lapack {
namespace {

TEST_CASE("a library that is named and is not there is an error at each call") {
  setenv("SB_LAPACK", "/no/such/liblapack.so", 1);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_WITH(is_available(),
                      Catch::Contains("LAPACK: SB_LAPACK names '/no/such/liblapack.so': "));
  // One that has no routine of LAPACK.
  setenv("SB_LAPACK", "libc.so.6", 1);
  CHECK_THROWS_WITH(is_available(), Catch::Contains("LAPACK: 'libc.so.6' has no sgetrf_"));
  // And none is no error.
  setenv("SB_LAPACK", "none", 1);
  CHECK_FALSE(is_available());
  CHECK(library().empty());
}

}  // namespace
}  // namespace sb::lapack
