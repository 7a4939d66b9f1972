#include "switchboard/tests/conformance/grads_cases.h"

#include "catch2/catch.hpp"
#include "switchboard/autograd/recording.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"

namespace sb::conformance {
namespace {

Tensor times(const Tensor& x, float factor) {
  const Tensor out = empty_on(x.device(), x.sizes(), DType::Float32);
  for (int64_t i = 0; i < x.numel() && x.is_cpu(); ++i)
    out.data<float>()[i] = factor * x.data<float>()[i * x.stride(0)];
  return out;
}

// Multiplies each gradient by a factor; 0 gives none at all.
class Times final : public GradNode {
 public:
  Times(const Tensor& x, float factor) : factor_(factor) { add_edge(gradient_edge(x)); }
  std::string name() const override { return "test::f backward"; }
  TensorVector apply(TensorVector grads) override {
    if (factor_ == 0) return {Tensor()};
    return {times(grads[0], factor_)};
  }

 private:
  float factor_;
};

// A dispatcher with operators that double a tensor: f gives a new one, f_ writes, and pair gives
// that of f and one that does not require a gradient. Their derivative is `factor`, which is right
// if it is 2.
struct World {
  Dispatcher dispatcher;
  Library library{dispatcher, Library::Kind::Def, "test"};
  std::unique_ptr<Place> place = make_place("cpu");

  explicit World(float factor = 2) {
    library.define("f(Tensor x) -> Tensor");
    library.define("pair(Tensor x) -> (Tensor, Tensor)");
    library.define("f_(Tensor(a!) x) -> Tensor(a!)");
    library.define("plain(Tensor x) -> Tensor");
    for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
      library.impl("f", key, [](const Tensor& x) { return times(x, 2); });
      library.impl("plain", key, [](const Tensor& x) { return times(x, 2); });
    }
    library.impl("pair", DispatchKey::CPU,
                 [](const Tensor& x) { return std::tuple(times(x, 2), times(x, 2)); });
    library.impl("f_", DispatchKey::CPU, [](const Tensor& x) {
      for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i * x.stride(0)] *= 2;
      return x;
    });
    library.impl("f", DispatchKey::Autograd, [this, factor](const Tensor& x) {
      const Tensor out = below("test::f", x)[0].to_tensor();
      if (requires_grad(x)) internal::set_history(out, make_intrusive<Times>(x, factor));
      return out;
    });
    library.impl("pair", DispatchKey::Autograd, [this, factor](const Tensor& x) {
      const std::vector<IValue> out = below("test::pair", x);
      const auto node = make_intrusive<Times>(x, factor);
      internal::set_history(out[0].to_tensor(), node);
      return std::tuple(out[0].to_tensor(), out[1].to_tensor());
    });
    library.impl("f_", DispatchKey::Autograd, [this, factor](const Tensor& x) {
      internal::check_may_write("test::f_", x);
      const auto node = make_intrusive<Times>(x, factor);
      below("test::f_", x);
      internal::rebase_history(x, node, 0);
      return x;
    });
  }

  Outcome run(const std::string& text) {
    return run_grads_case(Json::parse(text), *place, dispatcher);
  }
  std::string failure(const std::string& text) {
    const Outcome outcome = run(text);
    CHECK(outcome.kind == Outcome::Kind::Failed);
    return outcome.why;
  }

 private:
  std::vector<IValue> below(const char* op, const Tensor& x) {
    const internal::BelowRecordingGuard guard;
    return dispatcher.find_op_or_throw(op).call({x});
  }
};

std::string tensor_text(const std::string& storage, const std::string& more = "") {
  return str_cat(R"({"dtype": "float32", "shape": [2], "stride": [1], "offset": 0, "storage": )",
                 storage, more, "}");
}

// [1, 2], every other element of its storage: a leaf may lie so.
constexpr const char* kX =
    R"({"dtype": "float32", "shape": [2], "stride": [2], "offset": 1, "storage": [9, 1, 9, 2]})";

std::string op_case(const std::string& op, const std::string& returns,
                    const std::string& grad_outputs, const std::string& grads) {
  return str_cat(R"({"id": "f/0", "op": "test::)", op, R"(", "kwargs": {}, "mutated": {},
                     "args": [{"tensor": )",
                 kX, R"(}], "tol": [0, 0], "compare": "values",
                     "returns": [)",
                 returns, R"(], "grad_outputs": [)", grad_outputs, R"(], "grads": )", grads, "}");
}
std::string f_case(const std::string& grad, const std::string& op = "f") {
  return op_case(op, str_cat("{\"tensor\": ", tensor_text("[2, 4]"), "}"), tensor_text("[1, 10]"),
                 str_cat("{\"args.0\": ", grad, "}"));
}

TEST_CASE("a call whose gradients are as recorded passes") {
  World world;
  CHECK(world.run(f_case(tensor_text("[2, 20]"))).why == "");
}

TEST_CASE("gradients are compared by dtype, shape and elements, and not by stride") {
  World world;
  CHECK(world
            .run(f_case(R"({"dtype": "float32", "shape": [2], "stride": [3], "offset": 0,
                             "storage": [2, 0, 0, 20]})"))
            .why == "");
  CHECK(world.failure(f_case(tensor_text("[2, 30]"))) ==
        "grads.args.0: element [1]: expected 30.0, got 20.0");
  CHECK(world.failure(f_case(R"({"dtype": "float64", "shape": [2], "stride": [1], "offset": 0,
                                 "storage": [2, 20]})")) ==
        "grads.args.0: dtype: expected float64, got float32");
  CHECK(world.failure(f_case(R"({"dtype": "float32", "shape": [1], "stride": [1], "offset": 0,
                                 "storage": [2]})")) ==
        "grads.args.0: shape: expected [1], got [2]");
}

TEST_CASE("a wrong derivative, and one that gives nothing, fail") {
  World wrong(3), none(0);
  CHECK(wrong.failure(f_case(tensor_text("[2, 20]"))) ==
        "grads.args.0: element [0]: expected 2.0, got 3.0");
  CHECK(none.failure(f_case(tensor_text("[2, 20]"))) ==
        "grads.args.0: expected a tensor, got none");
}

TEST_CASE("an operator that records nothing fails") {
  World world;
  CHECK(world.failure(f_case(tensor_text("[2, 20]"), "plain"))
            .find("backward raised RuntimeError: backward: tensor 0") == 0);
}

TEST_CASE("results are compared too") {
  World world;
  CHECK(world.failure(op_case("f", str_cat("{\"tensor\": ", tensor_text("[2, 5]"), "}"),
                              tensor_text("[1, 10]"), "{}")) ==
        "returns.0: element [1]: expected 5.0, got 4.0");
}

TEST_CASE("an output without a gradient is left out, and must be one") {
  World world;
  const std::string two = str_cat("{\"tensor\": ", tensor_text("[2, 4]"), "}");
  const std::string grads = str_cat("{\"args.0\": ", tensor_text("[2, 20]"), "}");
  const std::string ones = tensor_text("[1, 10]");
  CHECK(world.run(op_case("pair", two + "," + two, ones + ", null", grads)).why == "");
  CHECK(world.failure(op_case("pair", two + "," + two, "null, null", grads)) ==
        "output 0: expected one without a gradient, got one that requires it");
  CHECK(world.failure(op_case("pair", two + "," + two, ones, grads)) ==
        "expected 1 outputs, got 2");
}

TEST_CASE("a leaf that an operator writes to is refused, as by any program") {
  World world;
  CHECK(world.failure(f_case(tensor_text("[2, 20]"), "f_"))
            .find("test::f_ raised RuntimeError: test::f_: a leaf that requires a gradient") == 0);
}

TEST_CASE("gradients of an operator that nobody registered are skipped") {
  World world;
  const Outcome outcome = world.run(f_case(tensor_text("[2, 20]"), "none"));
  CHECK(outcome.kind == Outcome::Kind::Skipped);
  CHECK(outcome.why == "the operator is not registered");
  CHECK(outcome.detail == "test::none");
}

TEST_CASE("on meta, dtypes and shapes of gradients are compared and elements are not") {
  World world;
  world.place = make_place("meta");
  CHECK(world.run(f_case(tensor_text("[7, 7]"))).why == "");
  CHECK(world.failure(f_case(R"({"dtype": "float32", "shape": [1], "stride": [1], "offset": 0,
                                 "storage": [2]})")) ==
        "grads.args.0: shape: expected [1], got [2]");
}

// y = f(x), doubled once more in place; z is not used. Both require a gradient.
std::string program(const std::string& output, const std::string& grads,
                    const std::string& ref = "steps.0.0") {
  return str_cat(R"({"id": "p", "inputs": [)", kX, ", ", kX, R"(], "steps": [
                     {"op": "test::f", "args": [{"ref": "inputs.0"}], "kwargs": {}},
                     {"op": "test::f_", "args": [{"ref": ")",
                 ref, R"("}], "kwargs": {}}],
                     "outputs": ["steps.0.0"], "returns": [{"tensor": )",
                 tensor_text(output), R"(}], "grad_outputs": [)", tensor_text("[1, 10]"),
                 R"(], "tol": [0, 0],
                     "grads": {)",
                 grads, "}}");
}

TEST_CASE("a program passes gradients from call to call, through writes too") {
  World world;
  const std::string grad = str_cat("\"inputs.0\": ", tensor_text("[4, 40]"));
  CHECK(world.run(program("[4, 8]", grad)).why == "");
  CHECK(world.failure(program("[4, 9]", grad)) == "returns.0: element [1]: expected 9.0, got 8.0");
  CHECK(world.failure(program("[4, 8]", str_cat("\"inputs.0\": ", tensor_text("[4, 20]")))) ==
        "grads.inputs.0: element [1]: expected 20.0, got 40.0");
}

TEST_CASE("an input of a program that has no place in `grads` must get no gradient") {
  World world;
  CHECK(world.failure(program("[4, 8]", "")) ==
        "grads.inputs.0: expected none, got float32[2] on cpu");
  CHECK(world.failure(program("[4, 8]", str_cat("\"inputs.1\": ", tensor_text("[4, 40]")))) ==
        "grads.inputs.1: expected a tensor, got none");
}

TEST_CASE("a program that names what is not there is malformed") {
  World world;
  CHECK(world.failure(program("[4, 8]", "", "steps.0.1")) == "malformed case: no tensor steps.0.1");
  CHECK(world.failure(program("[4, 8]", str_cat("\"inputs.2\": ", tensor_text("[0, 0]")))) ==
        "malformed case: no tensor inputs.2");
}

}  // namespace
}  // namespace sb::conformance
