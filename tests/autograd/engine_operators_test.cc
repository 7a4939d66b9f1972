// The operators that autograd looks up by schema are those that //ops registers.

#include "switchboard/autograd/engine_operators.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/schema/schema_parser.h"

namespace sb::internal {
namespace {

template <class Op>
void check_registered(const Op& op) {
  CHECK(op.handle().schema().to_string() == parse_schema(op.schema()).to_string());
}
template <class... Ops>
void check_all_registered(const Ops&... ops) {
  (check_registered(ops), ...);
}

TEST_CASE("the schemas that autograd looks up are those that are registered") {
  using namespace engine;
  check_all_registered(add, add_, div, sum_dim, sum_to_size, index_add_, zero_, clone, copy_,
                       to_dtype, to, alias, detach, real, reshape, squeeze_dim, as_strided, arange,
                       empty_strided, zeros, ones, new_zeros, ones_like);
}

}  // namespace
}  // namespace sb::internal
