#include "switchboard/tests/conformance/json_values.h"

#include <cmath>
#include <cstring>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

template <class T>
T element(const Elements& elements, size_t i) {
  T value;
  std::memcpy(&value, elements.at(i), sizeof(T));
  return value;
}

TEST_CASE("integers are read exactly") {
  const Elements e =
      read_elements(DType::Int64, Json::parse("[9007199254740993, -9223372036854775808]"));
  CHECK(element<int64_t>(e, 0) == 9007199254740993);
  CHECK(element<int64_t>(e, 1) == INT64_MIN);
  CHECK(read_value(Json::parse(R"({"int": 9223372036854775807})")).to_int() == INT64_MAX);
}

TEST_CASE("every dtype's elements are read") {
  CHECK(element<uint8_t>(read_elements(DType::UInt8, Json::parse("[3, 255]")), 1) == 255);
  CHECK(element<int8_t>(read_elements(DType::Int8, Json::parse("[3, -128]")), 1) == -128);
  CHECK(element<int16_t>(read_elements(DType::Int16, Json::parse("[-300]")), 0) == -300);
  CHECK(element<int32_t>(read_elements(DType::Int32, Json::parse("[70000]")), 0) == 70000);
  CHECK(element<Half>(read_elements(DType::Float16, Json::parse("[2, 0.5]")), 1) == Half(0.5f));
  CHECK(element<BFloat16>(read_elements(DType::BFloat16, Json::parse("[2.515625]")), 0) ==
        BFloat16(2.515625f));
  CHECK(element<float>(read_elements(DType::Float32, Json::parse("[3]")), 0) == 3.0f);
  CHECK(element<double>(read_elements(DType::Float64, Json::parse("[0.1]")), 0) == 0.1);
  CHECK(element<bool>(read_elements(DType::Bool, Json::parse("[true, false]")), 0));
  CHECK(element<std::complex<float>>(read_elements(DType::Complex64, Json::parse("[[1, -2.5]]")),
                                     0) == std::complex<float>(1, -2.5));
}

TEST_CASE("nan and the infinities are strings") {
  CHECK(std::isnan(read_double("nan")));
  CHECK(read_double("inf") == INFINITY);
  CHECK(read_double("-inf") == -INFINITY);
  CHECK_THROWS_AS(read_double("none"), MalformedCase);
}

TEST_CASE("a null element is undetermined") {
  const Elements e = read_elements(DType::Float32, Json::parse("[1, null]"));
  CHECK(e.determined == std::vector<bool>{true, false});
  CHECK(e.bytes.size() == 8);
}

TEST_CASE("an element of another type is refused") {
  CHECK_THROWS_AS(read_elements(DType::Bool, Json::parse("[1]")), MalformedCase);
  CHECK_THROWS_AS(read_elements(DType::Int64, Json::parse("[1.5]")), MalformedCase);
  CHECK_THROWS_AS(read_elements(DType::UInt8, Json::parse("[256]")), MalformedCase);
  CHECK_THROWS_AS(read_elements(DType::Complex64, Json::parse("[1]")), MalformedCase);
}

TEST_CASE("a tensor is read with all that a file may say of it") {
  const TensorSpec spec = read_tensor_spec(Json::parse(
      R"({"dtype": "complex64", "shape": [2], "stride": [3], "offset": 1, "storage_id": 7,
          "storage": [[0, 0], [1, 1], [0, 0], [0, 0], [2, 2]], "alias": "args.0", "conj": true,
          "neg": true, "resizable": false})"));
  CHECK(spec.dtype == DType::Complex64);
  CHECK(spec.shape == std::vector<int64_t>{2});
  CHECK(spec.stride == std::vector<int64_t>{3});
  CHECK(spec.offset == 1);
  CHECK(spec.storage->size() == 5);
  CHECK(spec.storage_id == 7);
  CHECK(spec.alias == "args.0");
  CHECK(spec.is.empty());
  CHECK((spec.conj && spec.neg && !spec.resizable));
  CHECK(read_tensor_spec(Json::parse(R"({"is": "args.1"})")).is == "args.1");
}

TEST_CASE("what does not exist here is unsupported, and what is not a value is malformed") {
  CHECK_THROWS_AS(read_value(Json::parse(R"({"dtype": "quint4x2"})")), Unsupported);
  CHECK_THROWS_AS(read_value(Json::parse(R"({"layout": "sparse_bsc_x"})")), Unsupported);
  CHECK_THROWS_AS(read_value(Json::parse(R"({"device": "toaster"})")), Unsupported);
  CHECK_THROWS_AS(read_value(Json::parse(R"({"banana": 1})")), MalformedCase);
  CHECK_THROWS_AS(read_value(Json::parse("3")), MalformedCase);
}

TEST_CASE("values keep their kind") {
  CHECK(read_value(Json::parse("null")).is_None());
  CHECK(read_value(Json::parse(R"({"float": 2})")).is_Double());
  CHECK(read_value(Json::parse(R"({"bool": true})")).is_Bool());
  CHECK(read_value(Json::parse(R"({"complex": [1, 2]})")).is_Complex());
  CHECK(read_value(Json::parse(R"({"ints": [1, 2]})")).is_IntList());
  CHECK(read_value(Json::parse(R"({"floats": [1, "inf"]})")).is_DoubleList());
  CHECK(read_value(Json::parse(R"({"bools": [true]})")).is_BoolList());
  CHECK(read_value(Json::parse(R"({"scalars": [{"int": 1}, {"float": 1}]})"))
            .to_list()[1]
            .is_Double());
  CHECK(read_value(Json::parse(R"({"memory_format": "channels_last"})")).to_memory_format() ==
        MemoryFormat::ChannelsLast);
}

}  // namespace
}  // namespace sb::conformance
