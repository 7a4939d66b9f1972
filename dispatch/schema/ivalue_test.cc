#include "switchboard/dispatch/schema/ivalue.h"

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/allocator.h"

namespace sb {
namespace {

using Catch::Matchers::Equals;

class FiveNode : public SymNode {
 public:
  int64_t guard_int(SourceLocation) const override { return 5; }
  std::string to_string() const override { return "s0"; }
};

class Queue : public OpaqueObject {
 public:
  std::string_view class_name() const override { return "__torch__.torch.classes.demo.Queue"; }
};

SymInt symbol() { return SymInt(make_intrusive<FiveNode>()); }

// What a value shows lives as long as it does: of a temporary one gets a copy, or nothing at all.
template <class T>
concept GivesAway = requires(T value) {
  { std::move(value).to_tensor_list() } -> std::same_as<std::vector<Tensor>>;
  {
    std::move(value).to_optional_tensor_list()
    } -> std::same_as<std::vector<std::optional<Tensor>>>;
  { std::move(value).to_int_list() } -> std::same_as<std::vector<int64_t>>;
  { std::move(value).to_sym_int_list() } -> std::same_as<std::vector<SymInt>>;
  { std::move(value).to_double_list() } -> std::same_as<std::vector<double>>;
  { std::move(value).to_bool_list() } -> std::same_as<std::vector<bool>>;
  { std::move(value).to_list() } -> std::same_as<std::vector<IValue>>;
  { std::move(value).to_string_view() } -> std::same_as<std::string>;
};
template <class T>
concept ShowsATensorThatGoes = requires(T value) {
  std::move(value).unchecked_tensor();
};
static_assert(GivesAway<IValue>);
static_assert(!ShowsATensorThatGoes<IValue>);
static_assert(std::same_as<decltype(std::declval<IValue&>().to_tensor_list()), TensorList>);
// So do the results of a call: an element that is taken from them leaves them.
static_assert(std::same_as<decltype(std::declval<Arguments>()[0]), IValue>);
static_assert(std::same_as<decltype(std::declval<Arguments>().at(0)), IValue>);
static_assert(std::same_as<decltype(std::declval<Arguments>().front()), IValue>);
static_assert(std::same_as<decltype(std::declval<Arguments>().back()), IValue>);
static_assert(std::same_as<decltype(std::declval<const Arguments&>()[0]), const IValue&>);

TEST_CASE("what is taken from a temporary value or from temporary results outlives them") {
  const auto results = [] {
    return Arguments{IValue(std::vector<int64_t>{1, 2}), IValue("linear")};
  };
  const auto list = results()[0].to_int_list();
  const auto text = results().back().to_string_view();
  CHECK(list == std::vector<int64_t>{1, 2});
  CHECK(text == "linear");
}

TEST_CASE("a value remembers its kind and gives itself back", "[dispatch][ivalue]") {
  CHECK(IValue().is_None());
  CHECK(IValue(3).to_int() == 3);
  CHECK(IValue(2.5).to_double() == 2.5);
  CHECK(IValue(true).to_bool());
  CHECK(IValue(Device(DeviceType::CUDA, 1)).to_device() == Device(DeviceType::CUDA, 1));
  CHECK(IValue(DType::BFloat16).to_dtype() == DType::BFloat16);
  CHECK(IValue(Layout::Sparse).to_layout() == Layout::Sparse);
  CHECK(IValue(MemoryFormat::ChannelsLast).to_memory_format() == MemoryFormat::ChannelsLast);
  CHECK(IValue(std::complex<double>(1, 2)).to_complex() == std::complex<double>(1, 2));
  CHECK(IValue("linear").to_string_view() == "linear");
  CHECK(IValue(std::vector<int64_t>{1, 2}).to_int_list() == IntArrayRef({1, 2}));
  CHECK(IValue(std::vector<double>{1, 2}).to_double_list()[1] == 2);
  CHECK(IValue(std::vector<bool>{true, false}).to_bool_list() == std::vector<bool>{true, false});
  CHECK(IValue(std::vector<IValue>{1, "a"}).to_list()[1].is_String());
  CHECK(IValue(Tensor()).is_Tensor());
  CHECK(IValue(std::vector<Tensor>(2)).to_tensor_list().size() == 2);
  CHECK_FALSE(IValue(std::vector<std::optional<Tensor>>(1)).to_optional_tensor_list()[0]);
}

TEST_CASE("an absent optional is None and a present one is its value", "[dispatch][ivalue]") {
  CHECK(IValue(std::optional<int64_t>()).is_None());
  CHECK(IValue(std::optional<int64_t>(4)).to_int() == 4);
  CHECK(IValue(Generator()).is_None());
  CHECK(IValue(Storage()).is_None());
  CHECK(IValue(IntrusivePtr<OpaqueObject>()).is_None());
}

TEST_CASE("a scalar becomes the number that it holds", "[dispatch][ivalue]") {
  CHECK(IValue(Scalar(3)).is_Int());
  CHECK(IValue(Scalar(true)).is_Bool());
  CHECK(IValue(Scalar(1.5)).is_Double());
  CHECK(IValue(Scalar(std::complex<double>(0, 1))).is_Complex());
  for (const Scalar& s : {Scalar(3), Scalar(true), Scalar(1.5), Scalar(std::complex<double>(0, 1))})
    CHECK(IValue(s).to_scalar() == s);
}

TEST_CASE("an int is a double where a double is asked for, and not the reverse",
          "[dispatch][ivalue]") {
  CHECK(IValue(3).to_double() == 3.0);
  CHECK(IValue(3).to_complex() == std::complex<double>(3, 0));
  CHECK_THROWS_AS(IValue(3.0).to_int(), TypeError);
  CHECK_THROWS_AS(IValue(true).to_int(), TypeError);
  CHECK_THROWS_AS(IValue(1).to_bool(), TypeError);
}

TEST_CASE("a plain symbolic int is an int; a symbol is kept until someone asks for its value",
          "[dispatch][ivalue]") {
  CHECK(IValue(SymInt(3)).is_Int());
  const IValue s = symbol();
  CHECK(s.is_SymInt());
  CHECK(s.to_sym_int().is_symbolic());
  CHECK(s.to_int() == 5);  // by a guard
  CHECK(IValue(3).to_sym_int().expect_int() == 3);
  CHECK(s.to_scalar().is_symbolic());
  CHECK(s.to_scalar().to<int64_t>() == 5);
  CHECK(IValue(s.to_scalar()).is_SymInt());
}

TEST_CASE("a list of plain symbolic ints is an int list", "[dispatch][ivalue]") {
  CHECK(IValue(std::vector<SymInt>{1, 2}).is_IntList());
  const IValue mixed(std::vector<SymInt>{1, symbol()});
  CHECK(mixed.is_SymIntList());
  CHECK(mixed.to_sym_int_list().size() == 2);
  CHECK_THROWS_AS(mixed.to_int_list(), TypeError);
  CHECK(IValue(std::vector<int64_t>{7}).to_sym_int_list()[0].expect_int() == 7);
}

TEST_CASE("an int that no symbolic int can hold throws where one is asked for",
          "[dispatch][ivalue]") {
  const int64_t min = std::numeric_limits<int64_t>::min();
  CHECK_THROWS_AS(IValue(min).to_sym_int(), RuntimeError);
  CHECK_THROWS_AS(IValue(std::vector<int64_t>{0, min}).to_sym_int_list(), RuntimeError);
}

TEST_CASE("asking for the wrong kind says what was expected and what came", "[dispatch][ivalue]") {
  CHECK_THROWS_WITH(IValue("a").to_tensor(), Equals("expected Tensor, got String"));
  CHECK_THROWS_WITH(IValue().to_int(), Equals("expected Int, got None"));
  CHECK_THROWS_WITH(IValue(3).to_int_list(), Equals("expected IntList, got Int"));
  CHECK_THROWS_WITH(IValue("a").to_scalar(),
                    Equals("expected Bool, Int, Double or Complex, got String"));
  CHECK_THROWS_WITH(IValue(1.5).to_sym_int_list(),
                    Equals("expected IntList or SymIntList, got Double"));
}

TEST_CASE("copies of a value share its tensor or list; a moved-from value is None",
          "[dispatch][ivalue]") {
  Tensor t = empty_on(DeviceType::CPU, {2, 3}, DType::Float32);
  IValue a = t;
  IValue b = a;
  CHECK(t.use_count() == 3);
  IValue c = std::move(b);
  CHECK(b.is_None());
  CHECK(t.use_count() == 3);
  Tensor out = std::move(c).to_tensor();
  CHECK(c.is_None());
  CHECK(out.is_same(t));
  CHECK(t.use_count() == 3);
  a = IValue();
  CHECK(t.use_count() == 2);

  const IValue list(std::vector<int64_t>{1, 2});
  const IValue copy = list;
  CHECK(copy.to_int_list().data() == list.to_int_list().data());
}

TEST_CASE("assigning a value to itself keeps it", "[dispatch][ivalue]") {
  IValue v("text");
  IValue& same = v;
  v = same;
  CHECK(v.to_string_view() == "text");
  v = std::move(same);
  CHECK(v.to_string_view() == "text");
}

TEST_CASE("generators, storages and objects are shared, not copied", "[dispatch][ivalue]") {
  Generator g = make_cpu_generator(1);
  {
    IValue v = g;
    CHECK(v.to_generator() == g);
    CHECK(g->use_count() == 2);
  }
  CHECK(g->use_count() == 1);
  auto q = make_intrusive<Queue>();
  IValue v = IntrusivePtr<OpaqueObject>(q);
  CHECK(v.to_object().get() == q.get());
  const Tensor t = empty_on(DeviceType::CPU, {2}, DType::Float32);
  CHECK(IValue(t.storage()).to_storage() == t.storage());
}

TEST_CASE("every tensor in a value is visited, in order", "[dispatch][ivalue]") {
  const Tensor a = empty_on(DeviceType::CPU, {1}, DType::Float32),
               b = empty_on(DeviceType::CPU, {2}, DType::Float32),
               c = empty_on(DeviceType::CPU, {3}, DType::Float32);
  const IValue v(std::vector<IValue>{a, 3, std::vector<Tensor>{b},
                                     std::vector<std::optional<Tensor>>{std::nullopt, c},
                                     std::vector<IValue>{a}});
  std::vector<int64_t> sizes;
  v.for_each_tensor([&](const Tensor& t) { sizes.push_back(t.size(0)); });
  CHECK(sizes == std::vector<int64_t>{1, 2, 3, 1});
}

TEST_CASE("a value has a text for messages", "[dispatch][ivalue]") {
  CHECK(IValue().to_string() == "None");
  CHECK(IValue(3).to_string() == "3");
  CHECK(IValue(2.0).to_string() == "2.0");
  CHECK(IValue(true).to_string() == "True");
  CHECK(IValue(std::complex<double>(1, 2)).to_string() == "(1+2j)");
  CHECK(IValue("a").to_string() == "'a'");
  CHECK(IValue(DType::Int64).to_string() == "int64");
  CHECK(IValue(Layout::Strided).to_string() == "strided");
  CHECK(IValue(MemoryFormat::Contiguous).to_string() == "contiguous_format");
  CHECK(IValue(Device("cuda:1")).to_string() == "cuda:1");
  CHECK(IValue(symbol()).to_string() == "s0");
  CHECK(IValue(std::vector<int64_t>{1, 2}).to_string() == "[1, 2]");
  CHECK(IValue(std::vector<SymInt>{1, symbol()}).to_string() == "[1, s0]");
  CHECK(IValue(std::vector<double>{0.5}).to_string() == "[0.5]");
  CHECK(IValue(std::vector<bool>{true, false}).to_string() == "[True, False]");
  CHECK(IValue(std::vector<IValue>{1, "a", IValue()}).to_string() == "[1, 'a', None]");
  CHECK(IValue(std::vector<Tensor>()).to_string() == "[]");
  const Tensor t = empty_on(DeviceType::CPU, {2, 3}, DType::Float32);
  CHECK(IValue(t).to_string() == "float32[2, 3] on cpu");
  CHECK(IValue(std::vector<std::optional<Tensor>>{std::nullopt, t}).to_string() ==
        "[None, float32[2, 3] on cpu]");
  CHECK(IValue(make_cpu_generator(0)).to_string() == "generator on cpu");
  CHECK(IValue(t.storage()).to_string() == "storage of 24 bytes on cpu");
  CHECK(IValue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>())).to_string() ==
        "object of __torch__.torch.classes.demo.Queue");
}

}  // namespace
}  // namespace sb
