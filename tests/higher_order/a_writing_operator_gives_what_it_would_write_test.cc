// auto_functionalized and auto_functionalized_v2: calls of operators that write, without a write.

#include "switchboard/autograd/backward.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/auto_functionalized.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Operators that write, as somebody's library defines them.
class Writers {
 public:
  Writers() : m_(Library::Kind::Def, "writers") {
    m_.define("add_times(Tensor(a!) x, Tensor y, int n) -> ()", Tag::derived_through);
    m_.impl("add_times", DispatchKey::CompositeExplicitAutograd,
            [](const Tensor& x, const Tensor& y, int64_t n) { x += y * n; });
    m_.define("add_all(Tensor(a!)[] xs, Tensor(b!)? z, Tensor y) -> Tensor");
    m_.impl("add_all", DispatchKey::CompositeExplicitAutograd,
            [](TensorList xs, const std::optional<Tensor>& z, const Tensor& y) {
              for (const Tensor& x : xs) x += y;
              if (z) *z *= 2;
              return y + 1;
            });
    m_.define("double_(Tensor(a!) x) -> Tensor(a!)", Tag::inplace);
    m_.impl("double_", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
      x *= 2;
      return x;
    });
    m_.define("sum.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)", Tag::out);
    m_.impl("sum.out", DispatchKey::CompositeExplicitAutograd,
            [](const Tensor& x, const Tensor& y, const Tensor& out) {
              copy_(out, x + y);
              return out;
            });
    m_.define("first(Tensor(a!) x) -> Tensor(a!)");
  }

 private:
  Library m_;
};

const std::vector<int64_t> kFour{4}, kOne{1};

TEST_CASE("auto_functionalized gives results, and then what would be written") {
  const Writers writers;
  const Tensor x = tensor_of({2}, {1, 2}), y = tensor_of({2}, {10, 20});
  const Program program = [](const Tensors& in) {
    Tensors results =
        auto_functionalized("writers::add_times", {{"x", in[0]}, {"y", in[1]}, {"n", 3}});
    const Tensors more = auto_functionalized(
        "writers::add_all", {{"xs", Tensors{in[0], in[1]}}, {"z", IValue()}, {"y", in[1]}});
    results.insert(results.end(), more.begin(), more.end());
    return results;
  };
  CHECK(run_all_ways(program, {x, y}) ==
        "float32[2] on cpu {31, 62}; float32[2] on cpu {11, 21}; float32[2] on cpu {11, 22}; "
        "float32[2] on cpu {20, 40}");
  CHECK(text_of(x) == "float32[2] on cpu {1, 2}");
}

// A row of a matrix, columns of it, and two views of one base, of which the second sees what the
// first one wrote.
Tensors views(const Tensors& in) {
  const Tensor &x = in[0], &y = in[1];
  const Tensor row = auto_functionalized_v2("writers::add_times",
                                            {{"y", y},
                                             {"n", 3},
                                             {"_x_base_index", 0},
                                             {"_x_size", kFour},
                                             {"_x_stride", kOne},
                                             {"_x_storage_offset", 4}},
                                            {x})
                         .at(0);
  const Tensors all = auto_functionalized_v2("writers::add_all",
                                             {{"y", y},
                                              {"_xs_length", 2},
                                              {"_xs_0_base_index", 0},
                                              {"_xs_0_slice_dim", 0},
                                              {"_xs_0_slice_start", 0},
                                              {"_xs_0_slice_end", 1},
                                              {"_xs_1_base_index", 0},
                                              {"_xs_1_alias", true},
                                              {"_z_base_index", 1}},
                                             {row, y});
  return {row, all.at(0), all.at(1), all.at(2)};
}

TEST_CASE("auto_functionalized_v2 writes to views of clones of the bases") {
  const Writers writers;
  const Tensor x = tensor_of({2, 4}, {0, 0, 0, 0, 1, 1, 1, 1}), y = tensor_of({4}, {1, 2, 3, 4});
  const std::string expected =
      "float32[2, 4] on cpu {0, 0, 0, 0, 4, 7, 10, 13}; float32[4] on cpu {2, 3, 4, 5}; "
      "float32[2, 4] on cpu {2, 4, 6, 8, 5, 9, 13, 17}; float32[4] on cpu {2, 4, 6, 8}";
  CHECK(run_all_ways(views, {x, y}) == expected);
  CHECK(text_of(x) == "float32[2, 4] on cpu {0, 0, 0, 0, 1, 1, 1, 1}");
  CHECK_THAT(
      trace(views, {x, y}).to_string(),
      Contains(
          "auto_functionalized_v2 = auto_functionalized_v2('writers::add_times', [['y', arg1], "
          "['n', 3], ['_x_base_index', 0], ['_x_size', [4]], ['_x_stride', [1]], "
          "['_x_storage_offset', 4]], [arg0])"));
  for (const Program& functional : {functionalize(views), FunctionalMode().functionalize(views)}) {
    CHECK(text_of(functional({x, y})) == expected);
    CHECK_THAT(trace(functional, {x, y}).to_string(), Contains("auto_functionalized_v2("));
  }
  FakeTensorMode fake;
  CHECK(text_of(views({fake.from_tensor(x), fake.from_tensor(y)})) ==
        "float32[2, 4] on cpu; float32[4] on cpu; float32[2, 4] on cpu; float32[4] on cpu");
}

TEST_CASE("a base may be a view itself: places count from the start of its memory") {
  const Writers writers;
  const Tensor memory = tensor_of({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor base = as_strided(memory, {2, 2}, {3, 1}, 1), y = tensor_of({2}, {10, 20});
  const Tensor written = auto_functionalized_v2("writers::add_times",
                                                {{"y", y},
                                                 {"n", 1},
                                                 {"_x_base_index", 0},
                                                 {"_x_size", std::vector<int64_t>{2}},
                                                 {"_x_stride", kOne},
                                                 {"_x_storage_offset", 4}},
                                                {base})
                             .at(0);
  CHECK(text_of(written) == "float32[2, 2] on cpu {1, 2, 14, 25}");
  CHECK(written.strides() == base.strides());
  CHECK(written.storage_offset() == 1);
}

TEST_CASE("what is tagged inplace gives its argument, what is tagged out is given a new one") {
  const Writers writers;
  const Tensor x = tensor_of({2}, {1, 2});
  const Program program = [](const Tensors& in) {
    Tensors results = auto_functionalized_v2("writers::double_", {{"_x_base_index", 0}}, in);
    results.push_back(auto_functionalized_v2("writers::sum.out",
                                             {{"x", in[0]},
                                              {"y", in[0]},
                                              {"_out_size", std::vector<int64_t>{2}},
                                              {"_out_stride", kOne},
                                              {"_out_dtype", DType::Float64},
                                              {"_out_device", Device("cpu")}},
                                             {})
                          .at(0));
    return results;
  };
  CHECK(run_all_ways(program, {x}) ==
        "float32[2] on cpu {2, 4}; float32[2] on cpu {2, 4}; float64[2] on cpu {2, 4}");
  CHECK(text_of(x) == "float32[2] on cpu {1, 2}");
}

TEST_CASE("gradients pass an operator that writes and is made of operators") {
  const Writers writers;
  const Program program = [](const Tensors& in) {
    const Tensor x = exp(in[0]);
    return auto_functionalized_v2("writers::add_times",
                                  {{"y", in[1] * in[1]}, {"n", 3}, {"_x_base_index", 0}}, {x});
  };
  const Program plain = [](const Tensors& in) { return Tensors{exp(in[0]) + in[1] * in[1] * 3}; };
  const Tensors inputs = different_inputs()[0], leaves = as_leaves(inputs);
  for (const int order : {1, 2}) {
    const Tensors expected = gradients_of(plain, order)(leaves);
    check_close(gradients_of(program, order)(leaves), expected);
    check_close(gradients_of(functionalize(program), order)(leaves), expected);
    check_close(trace(gradients_of(program, order), leaves).run(inputs), expected);
  }
}

TEST_CASE("what cannot be called so is refused by name") {
  const Writers writers;
  const Tensor x = tensor_of({2}, {1, 2});
  const auto v2 = [&](const char* op, std::vector<higher_order::NamedValue> kwargs) {
    return message([&] { auto_functionalized_v2(op, kwargs, {x}); });
  };
  CHECK_THAT(
      v2("aten::mul.Tensor", {}),
      Contains("RuntimeError: higher_order::auto_functionalized_v2: op: expected an operator "
               "that writes to tensors") &&
          Contains("got aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"));
  CHECK_THAT(v2("aten::t_", {}), Contains("not to their shapes"));
  CHECK_THAT(v2("writers::first", {}), Contains("gives new ones or is tagged inplace or out"));
  CHECK_THAT(v2("writers::double_", {}), Contains("kwargs: '_x_base_index' is missing"));
  CHECK_THAT(v2("writers::double_", {{"_x_base_index", 1}}),
             Contains("IndexError") && Contains("expected the place of one of 1 bases, got 1"));
  CHECK_THAT(v2("writers::double_", {{"_x_base_index", 0}, {"more", 1}}),
             Contains("writers::double_") && Contains("more"));
  CHECK_THAT(message([&] {
               auto_functionalized("writers::add_times", {{"x", x}, {"x", x}});
             }),
             Contains("ValueError") && Contains("'x' is given twice"));
  CHECK_THAT(
      message([&] {
        auto_functionalized("writers::add_all",
                            {{"xs", Tensors{x, slice(x, 0, 0, 1)}}, {"z", IValue()}, {"y", x}});
      }),
      Contains("RuntimeError: higher_order::auto_functionalized: 'xs' and 'xs' share memory"));
  CHECK_THAT(message([&] {
               auto_functionalized_v2("writers::double_", {{"_x_base_index", 0}}, {x, alias(x)});
             }),
             Contains("RuntimeError") && Contains("base 0 and base 1 share memory"));
}

}  // namespace
}  // namespace sb::test
