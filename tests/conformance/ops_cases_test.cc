#include "switchboard/tests/conformance/ops_cases.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/library.h"

namespace sb::conformance {
namespace {

Tensor twice(const Tensor& x) {
  Tensor out = empty_on(x.device(), x.sizes(), DType::Float32);
  for (int64_t i = 0; i < x.numel() && x.is_cpu(); ++i)
    out.data<float>()[i] = 2 * x.data<float>()[i];
  return out;
}

// A dispatcher with one operator, whose kernel the test gives: test::f(Tensor x) -> Tensor.
struct World {
  Dispatcher dispatcher;
  Library library{dispatcher, Library::Kind::Def, "test"};
  std::unique_ptr<Place> place = make_place("cpu");

  template <class F>
  void register_f(F kernel, DispatchKey key = DispatchKey::CPU) {
    library.define("f(Tensor x) -> Tensor");
    library.impl("f", key, kernel);
  }
  Outcome run(const std::string& text) {
    return run_ops_case(Json::parse(text), *place, dispatcher);
  }
  std::string failure(const std::string& text) {
    const Outcome outcome = run(text);
    CHECK(outcome.kind == Outcome::Kind::Failed);
    return outcome.why;
  }
  std::string reason(const std::string& text) {
    const Outcome outcome = run(text);
    CHECK(outcome.kind == Outcome::Kind::Skipped);
    return outcome.why;
  }
};

constexpr const char* kX =
    R"({"dtype": "float32", "shape": [2], "stride": [1], "offset": 0, "storage": [1, 2]})";

std::string f_case(const std::string& result, const std::string& mutated = "{}") {
  return str_cat(R"({"id": "f/0", "op": "test::f", "args": [{"tensor": )", kX,
                 R"(}], "kwargs": {}, "tol": [0, 0], "compare": "values", "mutated": )", mutated,
                 R"(, "returns": [{"tensor": )", result, "}]}");
}

std::string tensor_text(const std::string& storage, const std::string& more = "") {
  return str_cat(R"({"dtype": "float32", "shape": [2], "stride": [1], "offset": 0, "storage": )",
                 storage, more, "}");
}

constexpr const char* kErrorCase =
    R"({"id": "f/1", "op": "test::f", "kwargs": {}, "raises": "IndexError", "message": "no",
        "args": [{"tensor": {"dtype": "float32", "shape": [2], "stride": [1], "offset": 0,
                             "storage": [1, 2]}}]})";

TEST_CASE("a call that does as recorded passes") {
  World world;
  world.register_f(twice);
  CHECK(world.run(f_case(tensor_text("[2, 4]"))).kind == Outcome::Kind::Passed);
}

TEST_CASE("a wrong result fails") {
  World world;
  world.register_f(twice);
  CHECK(world.failure(f_case(tensor_text("[2, 5]"))) ==
        "returns.0: element [1]: expected 5.0, got 4.0");
}

TEST_CASE("a result that shares an argument's storage is not a new one, nor the other way") {
  World world;
  SECTION("the argument itself") {
    world.register_f([](const Tensor& x) { return x; });
    CHECK(world.failure(f_case(tensor_text("[1, 2]"))) == "returns.0: is args.0 itself");
    CHECK(world.failure(f_case(tensor_text("[1, 2]", R"(, "alias": "args.0")"))) ==
          "returns.0: is args.0 itself");
    CHECK(world.run(f_case(tensor_text("[1, 2]", R"(, "is": "args.0")"))).kind ==
          Outcome::Kind::Passed);
  }
  SECTION("a view of it") {
    world.register_f([](const Tensor& x) { return alias_with(x, {2}, {1}, 0); });
    CHECK(world.failure(f_case(tensor_text("[1, 2]"))) ==
          "returns.0: shares the storage of args.0");
    CHECK(world.failure(f_case(tensor_text("[1, 2]", R"(, "is": "args.0")"))) ==
          "returns.0: is not args.0 itself");
    CHECK(world.run(f_case(tensor_text("[1, 2]", R"(, "alias": "args.0")"))).kind ==
          Outcome::Kind::Passed);
  }
  SECTION("neither") {
    world.register_f(twice);
    CHECK(world.failure(f_case(tensor_text("[2, 4]", R"(, "alias": "args.0")"))) ==
          "returns.0: does not share the storage of args.0");
  }
}

TEST_CASE("an argument that was written to must be named, and hold what was recorded") {
  World world;
  world.register_f([](const Tensor& x) {
    x.data<float>()[0] = 7;
    return x;
  });
  const std::string result = tensor_text("[7, 2]", R"(, "is": "args.0")");
  CHECK(world.failure(f_case(result)) ==
        "argument args.0 changed: storage element 0: expected 1.0, got 7.0");
  CHECK(world.failure(f_case(result, str_cat(R"({"args.0": )", tensor_text("[8, 2]"), "}"))) ==
        "argument args.0, written to: storage element 0: expected 8.0, got 7.0");
  CHECK(world.run(f_case(result, str_cat(R"({"args.0": )", tensor_text("[7, 2]"), "}"))).kind ==
        Outcome::Kind::Passed);
}

TEST_CASE("an error must be of its kind and leave the arguments alone") {
  World world;
  SECTION("of its kind") {
    world.register_f([](const Tensor&) -> Tensor { SB_THROW(IndexError, "no"); });
    CHECK(world.run(kErrorCase).kind == Outcome::Kind::Passed);
    CHECK(world.failure(f_case(tensor_text("[2, 4]"))) == "raised IndexError: no");
  }
  SECTION("of another kind") {
    world.register_f([](const Tensor&) -> Tensor { SB_THROW(ValueError, "what"); });
    CHECK(world.failure(kErrorCase) ==
          "wrong kind of error: expected IndexError (no), got ValueError: what");
  }
  SECTION("no error") {
    world.register_f(twice);
    CHECK(world.failure(kErrorCase) == "did not raise: expected IndexError (no)");
  }
  SECTION("after a write") {
    world.register_f([](const Tensor& x) -> Tensor {
      x.data<float>()[0] = 7;
      SB_THROW(IndexError, "no");
    });
    CHECK(world.failure(kErrorCase) ==
          "argument args.0 changed: storage element 0: expected 1.0, got 7.0");
  }
  SECTION("not an sb::Error") {
    world.register_f([](const Tensor&) -> Tensor { throw std::runtime_error("oops"); });
    CHECK(world.failure(kErrorCase) == "threw what is not an sb::Error: oops");
  }
}

TEST_CASE("an operator that nobody registered is skipped") {
  World world;
  CHECK(world.reason(f_case(kX)) == "the operator is not registered");
}

TEST_CASE("a lazy conjugate is skipped until some kernel resolves it") {
  World world;
  world.register_f(twice);
  CHECK(world.reason(
            R"({"id": "f/0", "op": "test::f", "kwargs": {}, "returns": [],
                "args": [{"tensor": {"dtype": "complex64", "shape": [1], "stride": [1],
                                     "offset": 0, "storage": [[1, 2]], "conj": true}}]})") ==
        "no kernel for Conjugate");
}

TEST_CASE("on meta, metadata and sharing are compared and elements are not") {
  World world;
  world.place = make_place("meta");
  SECTION("a shape") {
    world.register_f(twice, DispatchKey::Meta);
    CHECK(world.run(f_case(tensor_text("[20, 40]"))).kind == Outcome::Kind::Passed);
    CHECK(world.failure(f_case(R"({"dtype": "float32", "shape": [3], "stride": [1], "offset": 0,
                                  "storage": [1, 2, 3]})")) ==
          "returns.0: shape: expected [3], got [2]");
    CHECK(world.failure(f_case(tensor_text("[1, 2]", R"(, "alias": "args.0")"))) ==
          "returns.0: does not share the storage of args.0");
  }
  SECTION("a result elsewhere") {
    world.register_f(
        [](const Tensor& x) { return empty_on(DeviceType::CPU, x.sizes(), DType::Float32); },
        DispatchKey::Meta);
    CHECK(world.failure(f_case(tensor_text("[2, 4]"))) ==
          "returns.0: expected a tensor of meta, got float32[2] on cpu");
  }
  SECTION("a kernel that refuses for want of data, if its error says so") {
    auto refuse = [](const Tensor&) -> Tensor { SB_THROW(DynamicOutputShapeError, "data"); };
    world.register_f(refuse, DispatchKey::Meta);
    CHECK(world.reason(f_case(kX)) == "depends on data");
  }
  SECTION("a kernel that refuses without saying so") {
    auto refuse = [](const Tensor&) -> Tensor { SB_THROW(NotImplementedError, "data"); };
    world.register_f(refuse, DispatchKey::Meta);
    CHECK(world.failure(f_case(kX)) == "raised NotImplementedError: data");
  }
}

TEST_CASE("shared storages, repeated tensors and storages are rebuilt") {
  World world;
  world.library.define("g(Tensor x, Tensor[] ys, Storage s) -> bool");
  world.library.impl("g", DispatchKey::CPU, [](const Tensor& x, TensorList ys, const Storage& s) {
    return ys[0].is_alias_of(x) && ys[0].storage_offset() == 1 && ys[1].is_same(x) &&
           !ys[2].is_alias_of(x) && s != x.storage() && !s->resizable() && x.storage()->resizable();
  });
  CHECK(world
            .run(R"({"id": "g/0", "op": "test::g", "returns": [{"bool": true}], "kwargs": {},
              "args": [
                {"tensor": {"dtype": "int64", "shape": [1], "stride": [1], "offset": 0,
                            "storage": [1, 2], "storage_id": 0}},
                {"tensors": [{"dtype": "int64", "shape": [1], "stride": [1], "offset": 1,
                              "storage": [1, 2], "storage_id": 0},
                             {"is": "args.0"},
                             {"dtype": "int64", "shape": [1], "stride": [1], "offset": 0,
                              "storage": [1, 2], "storage_id": 1}]},
                {"storage_of": {"dtype": "int64", "shape": [1], "stride": [1], "offset": 0,
                                "storage": [1, 2], "resizable": false}}]})")
            .why == "");
}

TEST_CASE("results that share a new storage must be those that were recorded to") {
  World world;
  world.library.define("h(Tensor x) -> Tensor[]");
  world.library.impl("h", DispatchKey::CPU, [](const Tensor& x) {
    const Tensor base = twice(x);
    return std::vector<Tensor>{alias_with(base, {1}, {1}, 0), alias_with(base, {1}, {1}, 1)};
  });
  const std::string a = R"({"dtype": "float32", "shape": [1], "stride": [1], "offset": 0,
                            "storage": [2, 4])";
  const std::string b = R"({"dtype": "float32", "shape": [1], "stride": [1], "offset": 1,
                            "storage": [2, 4])";
  auto with = [&](const std::string& id) {
    return str_cat(R"({"id": "h/0", "op": "test::h", "kwargs": {}, "args": [{"tensor": )", kX,
                   R"(}], "returns": [{"tensors": [)", a, id, "}, ", b, id, "}]}]}");
  };
  CHECK(world.run(with(R"(, "storage_id": 0)")).why == "");
  CHECK(world.failure(with("")) == "returns.0.1: shares the storage of another result");
}

}  // namespace
}  // namespace sb::conformance
