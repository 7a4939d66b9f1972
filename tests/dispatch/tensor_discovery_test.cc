// Tensors are found in arguments of type Tensor, Tensor?, Tensor[] and Tensor?[], by the schema.
// What is absent adds nothing; numbers and other values have no keys.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a lone tensor and an optional one") {
  Recorder f("f(Tensor? x, Tensor? y=None, *, Tensor? z=None) -> ()");
  f.ends_at({K::CPU, K::CUDA, K::Undefined});
  CHECK(f.call({IValue()}) == Log{"Undefined"});
  CHECK(f.call({IValue(), tensor_with(K::CPU)}) == Log{"CPU"});
  CHECK(f.call({tensor_with(K::CPU), tensor_with(K::CUDA)}) == Log{"CUDA"});
}

TEST_CASE("lists, empty ones too") {
  Recorder f("f(Tensor[] x) -> ()");
  f.ends_at({K::CPU, K::CUDA, K::Undefined});
  CHECK(f.call({std::vector<Tensor>{}}) == Log{"Undefined"});
  CHECK(f.call({std::vector<Tensor>{tensor_with(K::CPU), tensor_with(K::CUDA),
                                    tensor_with(K::CPU)}}) == Log{"CUDA"});
}

TEST_CASE("lists of optional tensors, with holes") {
  Recorder f("f(Tensor?[] x) -> ()");
  f.ends_at({K::CPU, K::Undefined});
  using Optionals = std::vector<std::optional<Tensor>>;
  CHECK(f.call({Optionals{std::nullopt, tensor_with(K::CPU)}}) == Log{"CPU"});
  CHECK(f.call({Optionals{std::nullopt, std::nullopt}}) == Log{"Undefined"});
}

TEST_CASE("an optional list") {
  Recorder f("f(Tensor[]? x) -> ()");
  f.ends_at({K::CPU, K::Undefined});
  CHECK(f.call({IValue()}) == Log{"Undefined"});
  CHECK(f.call({std::vector<Tensor>{tensor_with(K::CPU)}}) == Log{"CPU"});
}

TEST_CASE("keyword-only and out arguments count as well") {
  Recorder f("f(Tensor x, *, Tensor(a!) out) -> ()");
  f.ends_at({K::CPU, K::Meta});
  Stack stack = {tensor_with(K::CPU), tensor_with(K::Meta)};
  f.op().call_boxed(&stack);
  CHECK(f.log() == Log{"Meta"});
}

TEST_CASE("what is no tensor has no keys") {
  Recorder f("f(int n, str s, float[] w, Tensor x) -> ()");
  f.ends_at({K::CPU});
  CHECK(f.call({1, "cuda", std::vector<double>{1.5}, tensor_with(K::CPU)}) == Log{"CPU"});
}

}  // namespace
}  // namespace sb
