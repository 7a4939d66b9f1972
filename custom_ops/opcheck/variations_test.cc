#include <fstream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/custom_ops/opcheck/opcheck.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

Tensor x() { return tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}); }

// printed::weighted as somebody wrote it: with a factor, x is read in order of its memory.
class WrongWeighted {
 public:
  WrongWeighted() : library_(Library::Kind::Def, "printed") {
    const OperatorHandle op =
        library_.define("weighted(Tensor x, Tensor[] more, *, float factor=1.) -> Tensor");
    library_.impl(op, DispatchKey::CPU, [](const Tensor& x, TensorList more, double factor) {
      SB_CHECK(!more.empty(), "printed::weighted: expected tensors, got none");
      const Tensor read = factor == 1 || x.numel() == 0
                              ? x
                              : alias_with(x, x.sizes(), contiguous(x), x.storage_offset());
      return add(mul_Scalar(read, factor), more[0]);
    });
    library_.impl(op, DispatchKey::Meta, [](const Tensor& x, TensorList more, double factor) {
      SB_CHECK(!more.empty(), "printed::weighted: expected tensors, got none");
      return add(mul_Scalar(x, factor), more[0]);
    });
  }

 private:
  static std::vector<int64_t> contiguous(const Tensor& x) {
    std::vector<int64_t> strides(static_cast<size_t>(x.dim()), 1);
    for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * x.sizes()[d];
    return strides;
  }
  ScopedLibrary library_;
};

TEST_CASE("a failure is made small, and written down as a test") {
  const WrongWeighted op;
  const Arguments arguments{x(), std::vector<Tensor>{x(), x()}};
  const KeywordArguments keyword{{"factor", 3.5}};
  CHECK_NOTHROW(opcheck("printed::weighted", arguments, keyword));
  const auto failed = find_failing_variation("printed::weighted", arguments, keyword);
  REQUIRE(failed);
  CHECK(failed->result.check == "test_strides");
  CHECK(failed->call == "printed::weighted(float32[2] strides [2], [float32[]], factor=2.0)");
  // The test is compiled, and run with the operator as it should be: printed_case_test.cc.
  std::ifstream file("custom_ops/opcheck/printed_case_test.cc");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(failed->test == text.str());
  // The arguments themselves show the failure, as the test does.
  CHECK_THROWS_AS(opcheck("printed::weighted", failed->arguments, failed->keyword), OpCheckError);
}

TEST_CASE("opcheck_variations throws the message, the call and the test") {
  const WrongWeighted op;
  const Arguments arguments{x(), std::vector<Tensor>{x()}};
  const KeywordArguments keyword{{"factor", 3.5}};
  try {
    opcheck_variations("printed::weighted", arguments, keyword);
    FAIL("nothing was thrown");
  } catch (const OpCheckError& error) {
    CHECK_THAT(error.what(),
               Catch::StartsWith("opcheck: test_strides: printed::weighted: result 0, "));
    CHECK_THAT(error.what(), Catch::Contains("\nwith printed::weighted(float32[2] strides [2], "));
    CHECK_THAT(error.what(), Catch::Contains("\n#include \"catch2/catch.hpp\"\n"));
  }
}

TEST_CASE("the same seed tries the same, and none tries nothing but the arguments") {
  const WrongWeighted op;
  const Arguments arguments{x(), std::vector<Tensor>{x()}};
  const KeywordArguments keyword{{"factor", 3.5}};
  for (const uint64_t seed : {1, 2}) {
    VariationOptions options;
    options.seed = seed;
    const auto a = find_failing_variation("printed::weighted", arguments, keyword, options);
    const auto b = find_failing_variation("printed::weighted", arguments, keyword, options);
    REQUIRE((a && b));
    CHECK(a->test == b->test);
  }
  CHECK_FALSE(find_failing_variation("printed::weighted", arguments, keyword, {.count = 0}));
  CHECK_FALSE(find_failing_variation("printed::weighted", arguments, keyword,
                                     {.opcheck = {.checks = {"test_schema"}}}));
}

TEST_CASE("arguments that fail themselves are made small, too") {
  const WrongWeighted op;
  const Tensor strided = view_of(x(), {3, 2}, {1, 3});
  const auto failed =
      find_failing_variation("printed::weighted", {strided, std::vector<Tensor>{ones({2})}},
                             {{"factor", 3.5}}, {.count = 0});
  REQUIRE(failed);
  CHECK(failed->call == "printed::weighted(float32[2] strides [2], [float32[]], factor=2.0)");
}

TEST_CASE("operators of aten pass with variations of their arguments") {
  const Tensor leaf = requiring_grad(x());
  const VariationOptions few{.count = 60};
  opcheck_variations("aten::add.Tensor", {leaf, x()}, {{"alpha", 2}}, few);
  opcheck_variations("aten::sum.dim_IntList", {leaf, std::vector<int64_t>{1}}, {}, few);
  opcheck_variations("aten::mm", {x(), view_of(x(), {3, 2}, {1, 3})}, {}, few);
  opcheck_variations("aten::cat", {std::vector<Tensor>{leaf, x()}, 0}, {}, few);
  opcheck_variations("aten::mul_.Tensor", {x(), x()}, {}, few);
  opcheck_variations("aten::select.int", {leaf, 0, 1}, {}, few);
}

}  // namespace
}  // namespace sb
