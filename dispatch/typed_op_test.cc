#include "switchboard/dispatch/typed_op.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(add, "typed::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(sum,
      "typed::sum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
      "Tensor");
SB_OP(conv,
      "typed::conv(Tensor input, Tensor? bias=None, int[2] stride=1, int[3] padding=[0, 7, 9], "
      "float eps=1e-05, str mode=\"mean\", MemoryFormat f=contiguous_format) -> (Tensor, int)");
SB_OP(view, "typed::view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
SB_OP(nothing, "typed::nothing(Tensor self) -> ()");
SB_OP(unregistered, "typed::unregistered(Tensor self) -> Tensor");
SB_OP(declared_otherwise, "typed::other(Tensor self, int n) -> Tensor");

static_assert(std::is_same_v<decltype(add)::Return, Tensor>);
static_assert(std::is_same_v<decltype(conv)::Return, std::tuple<Tensor, int64_t>>);
static_assert(std::is_same_v<decltype(nothing)::Return, void>);
static_assert(std::is_invocable_v<decltype(add), Tensor, Tensor>);
static_assert(std::is_invocable_v<decltype(add), Tensor, Tensor, Scalar>);
static_assert(!std::is_invocable_v<decltype(add), Tensor>);
static_assert(!std::is_invocable_v<decltype(add), Tensor, Tensor, Tensor>);

// What the compiler says of a kernel: parameters as the schema's, a leading key set if wanted,
// plain integers for symbolic ones, and nothing else.
using Add = decltype(add);
static_assert(Add::fits<Tensor (*)(const Tensor&, const Tensor&, const Scalar&)>);
static_assert(Add::fits<Tensor (*)(DispatchKeySet, const Tensor&, const Tensor&, const Scalar&)>);
static_assert(!Add::fits<Tensor (*)(const Tensor&, const Tensor&)>);
static_assert(!Add::fits<Tensor (*)(const Tensor&, const Tensor&, double)>);
static_assert(!Add::fits<int64_t (*)(const Tensor&, const Tensor&, const Scalar&)>);
static_assert(!Add::fits<Tensor (*)(Tensor&, const Tensor&, const Scalar&)>);
static_assert(decltype(view)::fits<Tensor (*)(const Tensor&, SymIntArrayRef)>);
static_assert(decltype(view)::fits<Tensor (*)(const Tensor&, IntArrayRef)>);
static_assert(!decltype(view)::fits<Tensor (*)(const Tensor&, int64_t)>);

// A TypedOverload passes arguments and takes returns as the schema's C++ types are, or does not
// compile: another reference would be another call.
static_assert(ExactSignature<Tensor, const Tensor&, const Scalar&, int64_t, TensorList>);
static_assert(ExactSignature<std::tuple<Tensor, int64_t>, const std::optional<Tensor>&>);
static_assert(ExactSignature<void, const IValue&>);
static_assert(!ExactSignature<Tensor, Tensor>);
static_assert(!ExactSignature<Tensor, const Tensor&, Scalar>);
static_assert(!ExactSignature<Tensor, const int64_t&>);
static_assert(!ExactSignature<Tensor, const TensorList&>);
static_assert(!ExactSignature<const Tensor&, const Tensor&>);

// No C++ type passes visit_tensors by unseen.
template <class T>
concept Visited = requires(const T& value) {
  internal::visit_tensor_places(value, [](const Tensor*) {});
};
static_assert(Visited<OptionalSpan<TensorList>> && Visited<std::vector<std::optional<Tensor>>>);
static_assert(!Visited<std::vector<TensorList>> && !Visited<int> && !Visited<TensorImpl*>);
static_assert(Visited<SymIntArrayRef> && Visited<std::tuple<Tensor, int64_t>> && Visited<IValue>);

TEST_CASE("trailing arguments that are not given take the schema's defaults") {
  Library m(Library::Kind::Def, "typed");
  m.define(conv);
  static std::vector<int64_t> stride, padding;
  static double eps;
  static std::string mode;
  static bool bias_given;
  m.impl(conv, DispatchKey::CPU,
         [](const Tensor& x, const std::optional<Tensor>& bias, IntArrayRef s, IntArrayRef p,
            double e, std::string_view text, MemoryFormat) {
           bias_given = bias.has_value();
           stride.assign(s.begin(), s.end());
           padding.assign(p.begin(), p.end());
           eps = e;
           mode = text;
           return std::tuple<Tensor, int64_t>(x, 5);
         });
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK(std::get<1>(conv(x)) == 5);
  CHECK_FALSE(bias_given);
  CHECK(stride == std::vector<int64_t>{1, 1});
  CHECK(padding == std::vector<int64_t>{0, 7, 9});
  CHECK(eps == 1e-05);
  CHECK(mode == "mean");
  conv(x, x, {3, 4});
  CHECK(bias_given);
  CHECK(stride == std::vector<int64_t>{3, 4});
}

TEST_CASE("an optional list argument takes braces, a list, or nothing") {
  Library m(Library::Kind::Def, "typed");
  m.define(sum);
  static std::optional<std::vector<int64_t>> dims;
  m.impl(sum, DispatchKey::CPU,
         [](const Tensor& x, OptionalIntArrayRef d, bool, std::optional<DType>) {
           dims = d ? std::optional(std::vector<int64_t>(d->begin(), d->end())) : std::nullopt;
           return x;
         });
  const Tensor x = tensor_on(DeviceType::CPU);
  sum(x);
  CHECK_FALSE(dims);
  sum(x, {0});
  CHECK(dims == std::vector<int64_t>{0});
  const std::vector<int64_t> two = {1, -1};
  sum(x, two);
  CHECK(dims == two);
  sum(x, std::nullopt);
  CHECK_FALSE(dims);
}

TEST_CASE("a kernel may take plain integers where the schema has symbolic ones") {
  Library m(Library::Kind::Def, "typed");
  m.define(view);
  static int64_t product;
  m.impl(view, DispatchKey::CPU, [](const Tensor& x, IntArrayRef sizes) {
    product = 1;
    for (int64_t s : sizes) product *= s;
    return x;
  });
  view(tensor_on(DeviceType::CPU), {2, 3});
  CHECK(product == 6);
  SECTION("registered by name too, though it is then called through the stack") {
    m.impl("view", DispatchKey::Meta, [](const Tensor& x, IntArrayRef sizes) {
      product = -static_cast<int64_t>(sizes.size());
      return x;
    });
    view(tensor_on(DeviceType::Meta), {2, 3});
    CHECK(product == -2);
  }
}

TEST_CASE("a boxed kernel serves a typed call, and the other way round") {
  Library m(Library::Kind::Def, "typed");
  m.define(add);
  m.impl(add, DispatchKey::CPU, [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
    const Tensor second = (*stack)[stack->size() - 2].to_tensor();
    CHECK(stack->back().to_scalar() == Scalar(1));
    stack->resize(stack->size() - 3);
    stack->emplace_back(second);
  });
  m.impl(add, DispatchKey::Meta, [](const Tensor& a, const Tensor&, const Scalar&) { return a; });
  const Tensor x = tensor_on(DeviceType::CPU), y = tensor_on(DeviceType::CPU);
  CHECK(add(x, y).is_same(y));
  const Tensor u = tensor_on(DeviceType::Meta), v = tensor_on(DeviceType::Meta);
  Stack stack = {u, v, 1};
  add.handle().call_boxed(&stack);
  REQUIRE(stack.size() == 1);
  CHECK(stack[0].to_tensor().is_same(u));
}

TEST_CASE("a boxed kernel that leaves the wrong number of results is found out") {
  Library m(Library::Kind::Def, "typed");
  m.define(nothing);
  m.impl(nothing, DispatchKey::CPU, [](const OperatorHandle&, DispatchKeySet, Stack*) {});
  CHECK_THROWS_WITH(nothing(tensor_on(DeviceType::CPU)),
                    Catch::Contains("typed::nothing") && Catch::Contains("left 1 values"));
}

TEST_CASE("a kernel that asks for the key set gets it and can redispatch below itself") {
  Library m(Library::Kind::Def, "typed");
  m.define(add);
  static DispatchKeySet seen;
  m.impl(add, DispatchKey::AutogradCPU,
         [](DispatchKeySet keys, const Tensor& a, const Tensor& b, const Scalar& alpha) {
           seen = keys;
           return add.redispatch(keys & DispatchKeySet::below(DispatchKey::AutogradCPU), a, b,
                                 alpha);
         });
  m.impl(add, DispatchKey::CPU, [](const Tensor&, const Tensor& b, const Scalar&) { return b; });
  const Tensor x = tensor_on(DeviceType::CPU), y = tensor_on(DeviceType::CPU);
  CHECK(add(x, y).is_same(y));
  CHECK(seen.highest_key() == DispatchKey::AutogradCPU);
}

TEST_CASE("a handle of an operator that is not registered throws, and works once it is") {
  const Tensor x = tensor_on(DeviceType::CPU);
  CHECK_THROWS_AS(unregistered(x), RuntimeError);
  {
    Library m(Library::Kind::Def, "typed");
    m.define(unregistered);
    m.impl(unregistered, DispatchKey::CPU, [](const Tensor& t) { return t; });
    CHECK(unregistered(x).is_same(x));
  }
  CHECK_THROWS_AS(unregistered(x), RuntimeError);
  Library again(Library::Kind::Def, "typed");
  again.define(unregistered);
  again.impl(unregistered, DispatchKey::CPU, [](const Tensor&) { return Tensor(); });
  CHECK_FALSE(unregistered(x).defined());
}

TEST_CASE("a declaration that disagrees with the registered schema is refused") {
  Library m(Library::Kind::Def, "typed");
  m.define("other(Tensor self, float n) -> Tensor");
  CHECK_THROWS_AS(declared_otherwise(tensor_on(DeviceType::CPU), 3), TypeError);
}

}  // namespace
}  // namespace sb
