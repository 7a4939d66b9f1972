#include "switchboard/dispatch/modes/schema_check_mode.h"

#include <cmath>
#include <cstring>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;

Tensor floats(std::vector<int64_t> sizes, float v = 0) {
  const Tensor t = empty_on(DeviceType::CPU, sizes, DType::Float32);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = v;
  return t;
}
Tensor view_of(const Tensor& t) {
  return alias_with(t, t.sizes(), t.strides(), t.storage_offset());
}
void write(const Tensor& t, int64_t i = 0) { t.data<float>()[i] += 1; }

// A dispatcher of the test's own, to define operators that lie.
struct World {
  World() : library(dispatcher, Library::Kind::Def, "s") {}
  template <class F>
  OperatorHandle define(std::string_view schema, F kernel) {
    const OperatorHandle op = library.define(schema);
    library.impl(op.name().to_string(), DispatchKey::CompositeExplicitAutograd, kernel);
    return op;
  }
  // Calls under the mode.
  std::vector<IValue> call(const OperatorHandle& op, std::vector<IValue> arguments) {
    ModeGuard guard(&check);
    return op.call(std::move(arguments));
  }
  Dispatcher dispatcher;
  Library library;
  SchemaCheckMode check;
};

TEST_CASE("an operator that does what it says passes, and its effects are noted") {
  World w;
  const auto add =
      w.define("add_(Tensor(a!) x, Tensor y) -> Tensor(a!)", [](const Tensor& x, const Tensor&) {
        write(x);
        return x;
      });
  const auto view = w.define("view(Tensor(a) x) -> Tensor(a)", view_of);
  const auto fresh =
      w.define("fresh(Tensor x, Tensor? y=None) -> Tensor",
               [](const Tensor&, const std::optional<Tensor>&) { return floats({2}); });
  const Tensor x = floats({2});
  CHECK(w.call(add, {x, floats({2})})[0].to_tensor().is_same(x));
  w.call(view, {x});
  w.call(fresh, {x});
  CHECK(w.check.checked() == std::vector<std::string>{"s::add_", "s::view", "s::fresh"});
  CHECK(w.check.notes() ==
        std::vector<std::string>{"s::add_: argument 0 'x' was written to",
                                 "s::add_: result 0 shares the storage of argument 0 'x'",
                                 "s::view: result 0 shares the storage of argument 0 'x'"});
}

TEST_CASE("an undeclared write to the elements is an error that names the argument") {
  World w;
  const auto op = w.define("sneaky(Tensor(a!) x, Tensor y) -> ()",
                           [](const Tensor&, const Tensor& y) { write(y); });
  CHECK_THROWS_AS(w.call(op, {floats({2}), floats({2})}), RuntimeError);
  CHECK_THROWS_WITH(
      w.call(op, {floats({2}), floats({2})}),
      "s::sneaky: argument 1 'y' is not declared as written to, and changed: elements "
      "differ; schema: s::sneaky(Tensor(a!) x, Tensor y) -> ()");
  CHECK(w.check.checked().empty());
}

TEST_CASE("a write to a tensor in a list, or to an optional one, is seen") {
  World w;
  const auto list =
      w.define("list(Tensor[] xs, Tensor?[] ys, Tensor? z=None) -> ()",
               [](TensorList xs, OptionalTensorList ys, const std::optional<Tensor>& z) {
                 if (xs.size() == 2) write(xs[1]);
                 if (ys.size() == 2) write(*ys[1]);
                 if (z) write(*z);
               });
  using List = std::vector<Tensor>;
  using Optionals = std::vector<std::optional<Tensor>>;
  const Tensor t = floats({2});
  w.call(list, {List{t}, Optionals{std::nullopt}});
  CHECK_THROWS_WITH(w.call(list, {List{t, floats({1})}, Optionals{}}), Contains("0 'xs'"));
  CHECK_THROWS_WITH(w.call(list, {List{}, Optionals{std::nullopt, t}}), Contains("1 'ys'"));
  CHECK_THROWS_WITH(w.call(list, {List{}, Optionals{}, t}), Contains("2 'z'"));
  const auto declared = w.define("declared(Tensor(a!)[] xs) -> ()", [](TensorList xs) {
    for (const Tensor& x : xs) write(x);
  });
  w.call(declared, {List{t, floats({1})}});
}

TEST_CASE("undeclared changes of metadata are errors that say what changed") {
  World w;
  Tensor other = floats({6});
  const auto op = w.define("meta(Tensor x, int what) -> ()", [&](const Tensor& x, int64_t what) {
    TensorImpl* const impl = x.impl();
    if (what == 0) impl->set_sizes_contiguous({3, 2});
    if (what == 1) impl->set_sizes_and_strides({2, 3}, {1, 2});
    if (what == 2) impl->set_dtype(DType::Int32);
    if (what == 3) impl->set_storage_offset(1);
    if (what == 4) impl->set_storage(other.storage());
    if (what == 5) impl->storage()->resize(64);
  });
  const std::vector<std::string> changes = {
      "sizes were [2, 3], are [3, 2]", "strides were [3, 1], are [1, 2]",
      "dtype was float32, is int32",   "storage offset was 0, is 1",
      "storage is another one",        "storage had 24 bytes, has 64"};
  for (int i = 0; i < 6; ++i)
    CHECK_THROWS_WITH(w.call(op, {floats({2, 3}), i}), Contains("changed: " + changes[i]));
  w.call(op, {floats({2, 3}), 6});
}

TEST_CASE("memory may change through another argument that is declared as written to") {
  World w;
  const auto op =
      w.define("inc_(Tensor(a!) x, Tensor y) -> Tensor(a!)", [](const Tensor& x, const Tensor&) {
        write(x);
        return x;
      });
  const Tensor x = floats({2});
  w.call(op, {x, view_of(x)});
  w.call(op, {x, x});
  // But metadata belongs to one tensor.
  const auto resize =
      w.define("resize_(Tensor(a!) x, Tensor y) -> ()", [](const Tensor& x, const Tensor& y) {
        x.impl()->set_sizes_contiguous({1});
        y.impl()->set_sizes_contiguous({1});
      });
  CHECK_THROWS_WITH(w.call(resize, {x, view_of(x)}), Contains("argument 1 'y' is not declared"));
  const Tensor z = floats({2});
  w.call(resize, {z, z});
}

TEST_CASE("elements are compared as bytes: NaN is itself, and -0 is not 0") {
  World w;
  const auto keep = w.define("keep(Tensor x) -> ()", [](const Tensor&) {});
  w.call(keep, {floats({3}, std::nanf(""))});
  const auto negate = w.define("negate(Tensor x) -> ()", [](const Tensor& x) {
    for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = -x.data<float>()[i];
  });
  CHECK_THROWS_WITH(w.call(negate, {floats({3}, 0.f)}), Contains("elements differ"));
}

TEST_CASE("only a tensor's own elements count, whatever its strides") {
  World w;
  const Tensor base = floats({4, 4});
  int64_t position = 0;
  const auto op = w.define("poke(Tensor x) -> ()", [&](const Tensor&) { write(base, position); });
  const auto pokes = [&](const Tensor& x, int64_t where) {
    position = where;
    try {
      w.call(op, {x});
      return false;
    } catch (const RuntimeError&) {
      return true;
    }
  };
  const Tensor column = alias_with(base, {4}, {4}, 1);
  CHECK(pokes(column, 5));
  CHECK(pokes(column, 13));
  CHECK_FALSE(pokes(column, 0));
  CHECK_FALSE(pokes(column, 6));
  const Tensor block = alias_with(base, {2, 2}, {4, 1}, 5);
  CHECK(pokes(block, 10));
  CHECK_FALSE(pokes(block, 7));
  // Repeated and overlapping elements do not multiply the memory that a check takes.
  const Tensor wide = alias_with(base, {1 << 20, 1 << 20}, {0, 0}, 3);
  CHECK(pokes(wide, 3));
  CHECK_FALSE(pokes(wide, 4));
  const Tensor windows = alias_with(base, {15, 2}, {1, 1}, 0);
  CHECK(pokes(windows, 15));
}

TEST_CASE("undeclared aliasing of a result is an error that names both") {
  World w;
  const auto op = w.define(
      "view(Tensor x, Tensor y) -> (Tensor, Tensor)",
      [](const Tensor&, const Tensor& y) { return std::make_tuple(floats({1}), view_of(y)); });
  CHECK_THROWS_WITH(w.call(op, {floats({2}), floats({2})}),
                    "s::view: result 1 is not declared to alias argument 1 'y', and shares its "
                    "storage; schema: s::view(Tensor x, Tensor y) -> (Tensor, Tensor)");
  const auto crossed = w.define(
      "crossed(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))",
      [](const Tensor& x, const Tensor& y) { return std::make_tuple(view_of(y), view_of(x)); });
  CHECK_THROWS_WITH(w.call(crossed, {floats({2}), floats({2})}),
                    Contains("result 0 is not declared to alias argument 1 'y'"));
  const Tensor x = floats({2});
  const auto one = w.define("one(Tensor(a) x, Tensor y) -> Tensor(a)",
                            [](const Tensor& x, const Tensor&) { return view_of(x); });
  w.call(one, {x, view_of(x)});  // y shares it anyway
}

TEST_CASE("a wildcard aliases anything, and a list result shares its set") {
  World w;
  const auto halves = [](const Tensor& x) { return std::vector<Tensor>{view_of(x), view_of(x)}; };
  w.call(w.define("split(Tensor(a -> *) x) -> Tensor(a)[]", halves), {floats({2})});
  w.call(w.define("any(Tensor x) -> Tensor(*)", view_of), {floats({2})});
  CHECK_THROWS_WITH(w.call(w.define("bad(Tensor x) -> Tensor[]", halves), {floats({2})}),
                    Contains("result 0 is not declared to alias argument 0 'x'"));
}

TEST_CASE("an operator returns views of its inputs, not the inputs, unless it writes to them") {
  World w;
  const auto self = [](const Tensor& x) { return x; };
  const auto op = w.define("self(Tensor(a) x) -> Tensor(a)", self);
  CHECK_THROWS_WITH(
      w.call(op, {floats({2})}),
      Contains("result 0 is argument 0 'x' itself, which is not declared as written"));
  // A composite operator belongs above autograd, where it may.
  const auto composite = w.library.define("composite(Tensor(a) x) -> Tensor(a)");
  w.library.impl("composite", DispatchKey::CompositeImplicitAutograd, self);
  InferenceModeGuard inference;  // or its parts would arrive instead
  w.call(composite, {tensor_with({DispatchKey::CPU})});
  CHECK(w.check.checked() == std::vector<std::string>{"s::composite"});
}

TEST_CASE("results that share memory must be declared to") {
  World w;
  const auto twins = [](const Tensor&) {
    const Tensor t = floats({2});
    return std::make_tuple(t, view_of(t));
  };
  CHECK_THROWS_WITH(w.call(w.define("bad(Tensor x) -> (Tensor, Tensor)", twins), {floats({1})}),
                    Contains("s::bad: results 0 and 1 are not declared to alias"));
  w.call(w.define("good(Tensor x) -> (Tensor(a), Tensor(a))", twins), {floats({1})});
}

TEST_CASE(
    "a tag, or to be composite, exempts from the rules of aliasing, not from those of writing") {
  World w;
  const auto writes = [](const Tensor& x) {
    write(x);
    return view_of(x);
  };
  const Tag tag = Tag::maybe_aliasing_or_mutating;
  const auto tagged = w.library.define("tagged(Tensor x) -> Tensor", tag);
  const auto composite = w.library.define("composite(Tensor x) -> Tensor");
  const auto writing = w.library.define("writes(Tensor x) -> Tensor", tag);
  w.library.impl("tagged", DispatchKey::CPU, view_of);
  w.library.impl("composite", DispatchKey::CompositeImplicitAutograd, view_of);
  w.library.impl("writes", DispatchKey::CPU, writes);
  InferenceModeGuard inference;  // or the composite's parts would arrive instead
  CHECK_NOTHROW(w.call(tagged, {floats({2})}));
  CHECK_NOTHROW(w.call(composite, {floats({2})}));
  CHECK_THROWS_WITH(w.call(writing, {floats({2})}), Contains("elements differ"));
}

TEST_CASE("undefined tensors, empty ones and tensors without data are no trouble") {
  World w;
  const auto op = w.define("many(Tensor[] xs) -> Tensor", [](TensorList xs) {
    xs[1].impl()->bump_version();
    return Tensor();
  });
  const Tensor null_storage(make_intrusive<TensorImpl>(Storage(), tensor_key_set(DeviceType::CPU),
                                                       DType::Float32, Device(DeviceType::CPU)));
  const Tensor short_one = floats({1});
  short_one.impl()->set_sizes_contiguous({100});  // beyond its storage
  w.call(op, {std::vector<Tensor>{Tensor(), floats({0}), null_storage, tensor_on(DeviceType::Meta),
                                  floats({2, 0, 3}), floats({}), short_one}});
  CHECK(w.check.checked().size() == 1);
  const auto resize = w.define("meta(Tensor x) -> ()",
                               [](const Tensor& x) { x.impl()->set_sizes_contiguous({7}); });
  CHECK_THROWS_WITH(w.call(resize, {tensor_on(DeviceType::Meta)}), Contains("are [7]"));
}

TEST_CASE("memory that cannot be read is compared by a function, or else by its version") {
  World w;
  bool counts = false;
  const auto op = w.define("poke(Tensor x) -> ()", [&](const Tensor& x) {
    static_cast<float*>(x.storage()->data())[0] += 1;
    if (counts) x.impl()->bump_version();
  });
  // A device whose memory is readable after all, for the test.
  const auto far = [&] {
    float* const data = new float[2]();
    DataPtr memory(
        data, data, [](void* p) { delete[] static_cast<float*>(p); },
        Device(DeviceType::PrivateUse1, 0));
    const Tensor t(make_intrusive<TensorImpl>(
        make_intrusive<StorageImpl>(std::move(memory), 8, nullptr),
        DispatchKeySet{DispatchKey::PrivateUse1, DispatchKey::ADInplaceOrView}, DType::Float32,
        Device(DeviceType::PrivateUse1, 0)));
    t.impl()->set_sizes_contiguous({2});
    return t;
  };
  w.call(op, {far()});
  counts = true;
  CHECK_THROWS_WITH(w.call(op, {far()}), Contains("version was 0, is 1"));
  counts = false;
  SchemaCheckMode reads({.to_cpu = [](const Tensor& t) {
    const Tensor copy = floats({2});
    std::memcpy(copy.data_ptr(), t.storage()->data(), 8);
    return copy;
  }});
  ModeGuard guard(&reads);
  CHECK_THROWS_WITH(op.call({far()}), Contains("elements differ"));
}

TEST_CASE("an operator's own error passes, and the mode is ready for the next call") {
  World w;
  const auto op = w.define("fail(Tensor x) -> ()", [](const Tensor& x) {
    write(x);
    throw ValueError("no");
  });
  CHECK_THROWS_AS(w.call(op, {floats({1})}), ValueError);
  CHECK(mode_stack_size() == 0);
  CHECK(w.check.checked().empty());
}

}  // namespace
}  // namespace sb
