#include "switchboard/custom_ops/inferred_schema.h"

#include <tuple>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/tensor.h"

namespace sb {
namespace {

using Catch::Contains;

template <class R, class... A>
std::string schema(const std::vector<std::string>& names = {},
                   const std::vector<std::string>& mutates_args = {}) {
  return infer_schema("t::f", cpp_signature<R, A...>, names, mutates_args);
}

TEST_CASE("a schema is made of C++ types") {
  CHECK(schema<Tensor, const Tensor&, double>() == "(Tensor _0, float _1) -> Tensor");
  CHECK(schema<Tensor, const Tensor&, double>({"x", "factor"}) ==
        "(Tensor x, float factor) -> Tensor");
  CHECK(schema<void>() == "() -> ()");
  CHECK(schema<std::tuple<Tensor, int64_t>, TensorList, const std::optional<Tensor>&>() ==
        "(Tensor[] _0, Tensor? _1) -> (Tensor, int)");
  CHECK(schema<std::vector<Tensor>, IntArrayRef, bool, std::string_view, const SymInt&, DType>() ==
        "(int[] _0, bool _1, str _2, SymInt _3, ScalarType _4) -> Tensor[]");
}

TEST_CASE("what a function writes to is marked") {
  CHECK(schema<void, const Tensor&, TensorList, const std::optional<Tensor>&, int64_t>(
            {"x", "list", "maybe", "n"}, {"maybe", "x", "list"}) ==
        "(Tensor(a0!) x, Tensor(a1!)[] list, Tensor(a2!)? maybe, int n) -> ()");
  CHECK(schema<void, const Tensor&, const Tensor&>({}, {"_1"}) ==
        "(Tensor _0, Tensor(a0!) _1) -> ()");
}

TEST_CASE("a function that may write to anything has every tensor marked") {
  const CppSignature& signature = cpp_signature<Tensor, const Tensor&, int64_t, TensorList>;
  CHECK(infer_schema("t::f", signature, {"x", "n", "list"}, {}, Mutation::Unknown) ==
        "(Tensor(a0!) x, int n, Tensor(a1!)[] list) -> Tensor");
}

TEST_CASE("names and marks that do not fit are refused") {
  CHECK_THROWS_WITH((schema<Tensor, const Tensor&>({"x", "y"})),
                    "t::f: expected names of 1 arguments, got 2");
  CHECK_THROWS_WITH((schema<Tensor, const Tensor&, int64_t>({"x", "x"})),
                    "t::f: expected a name for each argument, got 'x' twice");
  CHECK_THROWS_WITH((schema<Tensor, const Tensor&>({"2x"})),
                    "t::f: expected an identifier as the name of argument 0, got '2x'");
  CHECK_THROWS_WITH((schema<Tensor, const Tensor&, int64_t>({"x", "n"}, {"n"})),
                    "t::f: mutates_args: expected tensors, got 'n', a int");
  CHECK_THROWS_WITH((schema<Tensor, const Tensor&, int64_t>({"x", "n"}, {"y"})),
                    "t::f: mutates_args: no argument 'y'; there are: x, n");
  CHECK_THROWS_WITH((schema<Tensor, const IValue&>()),
                    "t::f: argument '_0' is an IValue, which may be of any type; write the schema, "
                    "or an argument's type before its name");
  CHECK_THROWS_AS((schema<IValue, const Tensor&>()), ValueError);
}

TEST_CASE("an object has its class before its name, and so has any other IValue") {
  CHECK(schema<Tensor, const Tensor&, const IValue&>(
            {"x", "__torch__.torch.classes.t.Padding padding"}) ==
        "(Tensor x, __torch__.torch.classes.t.Padding padding) -> Tensor");
  CHECK(schema<void, const IValue&>({"(int, int)[] pairs"}) == "((int, int)[] pairs) -> ()");
  CHECK_THROWS_WITH((schema<void, const Tensor&>({"Tensor x"})),
                    "t::f: argument 'x': expected its name alone, as it is a Tensor in C++, got "
                    "the type 'Tensor'");
}

}  // namespace
}  // namespace sb
