// Reading the values of conformance files: numbers, lists, names, and what a file says of a tensor.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_JSON_VALUES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_JSON_VALUES_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/tests/conformance/outcome.h"

namespace sb::conformance {

using Json = nlohmann::json;

// Elements as bytes, those of a whole storage as a rule. An element that a file leaves open (null)
// is not determined.
struct Elements {
  DType dtype = DType::Float32;
  std::vector<std::byte> bytes;
  std::vector<bool> determined;  // one for each element

  size_t size() const { return determined.size(); }
  const std::byte* at(size_t i) const { return bytes.data() + i * itemsize(dtype); }
};

// A tensor T as a file describes it; `is` alone stands for another tensor in arguments.
struct TensorSpec {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;
  int64_t offset = 0;
  std::optional<Elements> storage;
  std::optional<int64_t> storage_id;
  std::string is;     // a path, or empty
  std::string alias;  // a path, or empty
  bool conj = false;
  bool neg = false;
  bool resizable = true;
};

// A JSON number, or "nan", "inf", "-inf". Throws MalformedCase.
double read_double(const Json& json);
std::complex<double> read_complex(const Json& json);

// Elements of that type. Throws MalformedCase for an element that is not of it.
Elements read_elements(DType dtype, const Json& list);

// Throws Unsupported for a dtype that Switchboard does not have, and MalformedCase.
TensorSpec read_tensor_spec(const Json& json);

// Whether the value has tensors in it, which belong to a place and are built elsewhere.
bool is_tensor_value(const Json& value);

// Any other value: null, a number, a string, a list of numbers, a dtype, a device, a layout, a
// memory format. Throws Unsupported for names that Switchboard does not know, and MalformedCase.
IValue read_value(const Json& value);

// The line that an element of a tensor takes in a message: "3.5", "True", "(1-2j)".
std::string element_text(DType dtype, const std::byte* element);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_JSON_VALUES_H_
