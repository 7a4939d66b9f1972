#include "switchboard/tools/comparison.h"

#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/tools/random_weights.h"
#include "switchboard/tools/strided_elements.h"

namespace sb::tools {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Tensor tensor(const std::vector<T>& values, std::vector<int64_t> sizes,
              std::vector<int64_t> strides) {
  const Tensor t = empty_strided_on(DeviceType::CPU, sizes, strides, dtype_of<T>);
  auto next = values.begin();
  for_each_element<T>(t, [&](T& element) { element = *next++; });
  return t;
}

template <class T>
Tensor vector(const std::vector<T>& values) {
  return tensor(values, {std::ssize(values)}, {1});
}

template <class T>
Comparison compare_values(T got, T expected) {
  return compare(vector<T>({got}), vector<T>({expected}), {});
}

TEST_CASE("floats may differ by the tolerance", "[tools][comparison]") {
  CHECK(compare_values(1.0, 1.0).outside == 0);
  CHECK(compare_values(1.00001, 1.0).outside == 0);
  CHECK(compare_values(1.00001, 1.0).max_difference == Approx(1e-5));
  CHECK(compare_values(1.0001, 1.0).outside == 1);
  CHECK(compare_values(1000.01, 1000.0).outside == 0);
  CHECK(compare_values(std::complex<float>(0, 1), std::complex<float>(0, 2)).outside == 1);
}

TEST_CASE("NaN equals NaN, infinity itself, and neither anything else", "[tools][comparison]") {
  CHECK(compare_values(kNan, kNan).outside == 0);
  CHECK(compare_values(kInf, kInf).outside == 0);
  CHECK(compare_values(kInf, kInf).max_difference == 0);
  for (const auto& [got, expected] : std::vector<std::pair<double, double>>{
           {kInf, -kInf}, {kInf, 1}, {1, kInf}, {kNan, 1}, {1, kNan}, {kNan, kInf}}) {
    CHECK(compare_values(got, expected).outside == 1);
    CHECK(compare_values(got, expected).max_difference == kInf);
  }
}

TEST_CASE("integers and bools are exact", "[tools][comparison]") {
  CHECK(compare_values<int64_t>(1'000'000, 1'000'000).outside == 0);
  CHECK(compare_values<int64_t>(1'000'000, 1'000'001).outside == 1);
  CHECK(compare_values<int64_t>(INT64_MAX, INT64_MAX - 1).max_difference == 1);
  CHECK(compare_values<int64_t>(INT64_MAX, INT64_MIN).outside == 1);
  CHECK(compare_values<uint8_t>(3, 5).max_difference == 2);
  CHECK(compare_values(true, false).outside == 1);
}

TEST_CASE("the worst element is named by its index, whatever the strides", "[tools][comparison]") {
  const Tensor got = tensor<float>({0, 1, 2, 3, 4, 9}, {2, 3}, {1, 2});
  const Tensor expected = tensor<float>({0, 1, 2, 3, 5, 5}, {2, 3}, {3, 1});
  const Comparison result = compare(got, expected, {});
  CHECK(result.elements == 6);
  CHECK(result.outside == 2);
  CHECK(result.max_difference == 4);
  CHECK(result.worst == "[1, 2]: 9, expected 5");
}

TEST_CASE("empty tensors compare", "[tools][comparison]") {
  CHECK(compare(vector<float>({}), vector<float>({}), {}).outside == 0);
}

TEST_CASE("metadata is compared with what was recorded", "[tools][comparison]") {
  const Tensor t = tensor<float>({0, 1, 2, 3, 4, 5}, {2, 3}, {3, 1});
  io::TensorMeta meta{DType::Float32, {2, 3}, {3, 1}, 0, false};
  const auto fault = [&] { return metadata_fault(t, meta, DeviceType::CPU).value_or("none"); };
  CHECK(fault() == "none");
  meta.strides = {1, 2};
  CHECK(fault() == "strides [3, 1], recorded [1, 2]");
  meta.dtype = DType::Float64;
  CHECK(fault() == "float32[2, 3] on cpu, recorded float64[2, 3]");
  CHECK(metadata_fault(vector<float>({1}), {DType::Float32, {1}, {7}, 0, false}, DeviceType::CPU) ==
        std::nullopt);
  CHECK(metadata_fault(t, {DType::Float32, {2, 3}, {3, 1}, 0, false}, Device("cuda:0")) ==
        "float32[2, 3] on cpu, should be on cuda:0");
  CHECK(metadata_fault(Tensor(), meta, DeviceType::CPU) == "undefined, recorded float64[2, 3]");
}

TEST_CASE("labels give an accuracy or R2", "[tools][comparison]") {
  const Tensor classes = tensor<float>({1, 2, 3, 2, 3, 1}, {2, 3}, {3, 1});
  CHECK(score(classes, {2, 1}) == "2/2 100.00%");
  CHECK(score(classes, {2, 0}) == "1/2 50.00%");
  CHECK(score(classes, {2, 0, 1}) == std::nullopt);
  CHECK(score(classes, {}) == std::nullopt);
  CHECK(score(vector<float>({1, 2, 3}), {1, 2, 3}) == "R2 1.0000");
  CHECK(score(vector<float>({2, 2, 2}), {1, 2, 3}) == "R2 0.0000");
}

TEST_CASE("random weights depend on seed, name and sizes alone", "[tools][random_weights]") {
  const io::TensorMeta rows{DType::Float32, {8, 4}, {4, 1}, 0, false};
  io::TensorMeta columns = rows;
  columns.strides = {1, 8};
  const Tensor weight = random_weight(0, "fc.weight", rows);
  const Tolerance exact{0, 0};
  CHECK(compare(weight, random_weight(0, "fc.weight", columns), exact).outside == 0);
  CHECK(random_weight(0, "fc.weight", columns).strides() == IntArrayRef({1, 8}));
  CHECK(compare(weight, random_weight(1, "fc.weight", rows), exact).outside > 28);
  CHECK(compare(weight, random_weight(0, "fc2.weight", rows), exact).outside > 28);
  for_each_element<float>(weight, [](float v) { CHECK(std::abs(v) <= std::sqrt(0.75f)); });
  for_each_element<float>(random_weight(0, "bn.running_var", {DType::Float32, {9}, {1}, 0, false}),
                          [](float v) { CHECK((v >= 0.5f && v < 1.5f)); });
  for_each_element<int64_t>(random_weight(0, "n", {DType::Int64, {}, {}, 0, false}),
                            [](int64_t v) { CHECK(v == 0); });
}

}  // namespace
}  // namespace sb::tools
