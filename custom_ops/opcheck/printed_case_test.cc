#include "catch2/catch.hpp"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"

TEST_CASE("printed::weighted passes opcheck: test_strides") {
  using namespace sb;
  // printed::weighted: result 0, element [1] is 2, not 4 as with contiguous arguments; argument 0
  // 'x' has strides [2]
  const Tensor memory0 = tensor_with({3}, DType::Float32, {0, 1, 2});
  const Tensor x = view_of(memory0, {2}, {2});
  const Tensor more_0 = tensor_with({}, DType::Float32, {0});
  opcheck("printed::weighted", {x, std::vector<Tensor>{more_0}}, {{"factor", 2.0}});
}
