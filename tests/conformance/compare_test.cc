#include "switchboard/tests/conformance/compare.h"

#include <cstring>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"

namespace sb::conformance {
namespace {

TensorSpec spec_of(const char* text) { return read_tensor_spec(Json::parse(text)); }

// The tensor that a spec describes, on the CPU.
Tensor tensor_of(const TensorSpec& spec) {
  const Tensor base = make_place("cpu")->make_storage(*spec.storage);
  return alias_with(base, spec.shape, spec.stride, spec.offset);
}

TensorState state_on_cpu(const Tensor& tensor) { return state_of(tensor, *make_place("cpu")); }

TensorState state_of_spec(const char* text) { return state_on_cpu(tensor_of(spec_of(text))); }

bool reals_agree(double expected, double actual, Tolerance tolerance) {
  return elements_agree(DType::Float64, reinterpret_cast<const std::byte*>(&expected),
                        reinterpret_cast<const std::byte*>(&actual), tolerance);
}

constexpr const char* kMatrix =
    R"({"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0,
        "storage": [1, 2, 3, 4, 5, 6]})";

TEST_CASE("a tensor agrees with itself") {
  const TensorSpec spec = spec_of(kMatrix);
  const TensorState state = state_of_spec(kMatrix);
  CHECK(!compare_metadata(spec, state, true));
  CHECK(!compare_elements(spec, state, {}));
  CHECK(!compare_storage(spec, state, {}));
}

TEST_CASE("a wrong dtype, shape, stride or offset is noticed") {
  const TensorState state = state_of_spec(kMatrix);
  TensorSpec spec = spec_of(kMatrix);
  spec.dtype = DType::Int32;
  CHECK(compare_metadata(spec, state, true) == "dtype: expected int32, got float32");
  spec = spec_of(kMatrix);
  spec.shape = {3, 2};
  CHECK(compare_metadata(spec, state, true) == "shape: expected [3, 2], got [2, 3]");
  spec = spec_of(kMatrix);
  spec.stride = {1, 2};
  CHECK(compare_metadata(spec, state, true) == "stride: expected [1, 2], got [3, 1]");
  spec = spec_of(kMatrix);
  spec.offset = 1;
  CHECK(compare_metadata(spec, state, true) == "offset: expected 1, got 0");
  CHECK(!compare_metadata(spec, state, false));
}

TEST_CASE("the element that differs is named by its index") {
  const char* const other = R"({"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0,
                               "storage": [1, 2, 3, 4, 7, 6]})";
  CHECK(compare_elements(spec_of(kMatrix), state_of_spec(other), {}) ==
        "element [1, 1]: expected 5.0, got 7.0");
  CHECK(compare_storage(spec_of(kMatrix), state_of_spec(other), {}) ==
        "storage element 4: expected 5.0, got 7.0");
}

TEST_CASE("only the elements that a tensor shows count as its elements") {
  const char* const a = R"({"dtype": "int64", "shape": [2], "stride": [2], "offset": 1,
                           "storage": [0, 1, 0, 2]})";
  const char* const b = R"({"dtype": "int64", "shape": [2], "stride": [2], "offset": 1,
                           "storage": [9, 1, 9, 2]})";
  CHECK(!compare_elements(spec_of(a), state_of_spec(b), {}));
  CHECK(compare_storage(spec_of(a), state_of_spec(b), {}) ==
        "storage element 0: expected 0, got 9");
}

TEST_CASE("an undetermined element may be anything, and so may those past the end") {
  const char* const open = R"({"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0,
                              "storage": [1, null, 3, 4]})";
  const char* const other = R"({"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0,
                               "storage": [1, 50, 3, 4, 7, 8]})";
  CHECK(!compare_elements(spec_of(open), state_of_spec(other), {}));
  CHECK(!compare_storage(spec_of(open), state_of_spec(other), {}));
}

TEST_CASE("a storage that is too short is noticed") {
  TensorSpec spec = spec_of(kMatrix);
  spec.storage = read_elements(DType::Float32, Json::parse("[1, 2, 3, 4, 5, 6, 7]"));
  CHECK(compare_storage(spec, state_of_spec(kMatrix), {}) ==
        "storage: expected at least 7 elements, got 6");
}

TEST_CASE("an element is within the tolerance, or it is not") {
  const Tolerance tolerance{1e-3, 1e-5};
  CHECK(reals_agree(100, 100.09, tolerance));
  CHECK(!reals_agree(100, 100.2, tolerance));
  CHECK(reals_agree(0, 9e-6, tolerance));
  CHECK(!reals_agree(0, 2e-5, tolerance));
  CHECK(!reals_agree(1, 1.0000001, {}));
}

TEST_CASE("NaN is equal to NaN only, and infinity to itself only") {
  const Tolerance wide{1, 1e9};
  CHECK(reals_agree(NAN, NAN, {}));
  CHECK(!reals_agree(NAN, 1, wide));
  CHECK(!reals_agree(1, NAN, wide));
  CHECK(reals_agree(INFINITY, INFINITY, {}));
  CHECK(!reals_agree(INFINITY, -INFINITY, wide));
  CHECK(!reals_agree(INFINITY, 1e300, wide));
  CHECK(!reals_agree(1e300, INFINITY, wide));
}

TEST_CASE("integers are exact whatever the tolerance") {
  const int64_t a = 1000, b = 1001;
  CHECK(!elements_agree(DType::Int64, reinterpret_cast<const std::byte*>(&a),
                        reinterpret_cast<const std::byte*>(&b), {1, 1}));
}

TEST_CASE("lazy bits are resolved before elements are compared") {
  const char* const plain = R"({"dtype": "complex64", "shape": [1], "stride": [1], "offset": 0,
                               "storage": [[1, 2]]})";
  const char* const lazy = R"({"dtype": "complex64", "shape": [1], "stride": [1], "offset": 0,
                              "storage": [[1, -2]], "conj": true})";
  const Tensor tensor = tensor_of(spec_of(plain));
  CHECK(!compare_elements(spec_of(lazy), state_on_cpu(tensor), {}));
  tensor.impl()->set_key_set(tensor.key_set() | DispatchKey::Negative);
  CHECK(compare_elements(spec_of(lazy), state_on_cpu(tensor), {}).has_value());
}

TEST_CASE("any change of an argument is noticed") {
  const Tensor tensor = tensor_of(spec_of(kMatrix));
  const TensorState before = state_on_cpu(tensor);
  CHECK(!compare_unchanged(before, state_on_cpu(tensor), true));
  SECTION("an element") {
    tensor.data<float>()[2] = -1;
    CHECK(compare_unchanged(before, state_on_cpu(tensor), true) ==
          "storage element 2: expected 3.0, got -1.0");
    CHECK(!compare_unchanged(before, state_on_cpu(tensor), false));
  }
  SECTION("zero's sign") {
    tensor.data<float>()[2] = 0;
    const TensorState zero = state_on_cpu(tensor);
    tensor.data<float>()[2] = -0.0f;
    CHECK(compare_unchanged(zero, state_on_cpu(tensor), true).has_value());
  }
  SECTION("strides") {
    tensor.impl()->set_sizes_and_strides({2, 3}, {1, 2});
    CHECK(compare_unchanged(before, state_on_cpu(tensor), true) ==
          "stride: expected [3, 1], got [1, 2]");
  }
  SECTION("the offset") {
    tensor.impl()->set_storage_offset(1);
    CHECK(compare_unchanged(before, state_on_cpu(tensor), true).has_value());
  }
  SECTION("the storage's size") {
    tensor.storage()->resize(64);
    CHECK(compare_unchanged(before, state_on_cpu(tensor), true) ==
          "storage bytes: expected 24, got 64");
  }
  SECTION("the storage") {
    tensor.impl()->set_storage(tensor_of(spec_of(kMatrix)).storage());
    CHECK(compare_unchanged(before, state_on_cpu(tensor), true) == "has another storage");
  }
}

TEST_CASE("meta tensors have metadata only") {
  const std::unique_ptr<Place> meta = make_place("meta");
  const TensorSpec spec = spec_of(kMatrix);
  const TensorState state =
      state_of(alias_with(meta->make_storage(*spec.storage), {2, 3}, {3, 1}, 0), *meta);
  CHECK(!compare_metadata(spec, state, true));
  CHECK(!compare_elements(spec, state, {}));
  CHECK(!compare_storage(spec, state, {}));
}

TEST_CASE("values that are not tensors are of one kind, and equal") {
  CHECK(!compare_value(3, 3, {}));
  CHECK(compare_value(3, 4, {}).has_value());
  CHECK(compare_value(3, 3.0, {}) == "expected 3 (Int), got 3.0 (Double)");
  CHECK(compare_value(true, 1, {}).has_value());
  CHECK(!compare_value(1.0, 1.01, {0.1, 0}));
  CHECK(compare_value(std::vector<int64_t>{1, 2}, std::vector<int64_t>{1, 3}, {}).has_value());
  CHECK(compare_value(DType::Float32, DType::Float64, {}).has_value());
  CHECK(!compare_value(std::vector<double>{NAN}, std::vector<double>{NAN}, {}));
}

}  // namespace
}  // namespace sb::conformance
