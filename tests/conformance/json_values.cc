#include "switchboard/tests/conformance/json_values.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/scalar.h"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

template <class T>
T read_element(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) throw MalformedCase(str_cat("not a bool: ", json.dump()));
    return json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) throw MalformedCase(str_cat("not an integer: ", json.dump()));
    const int64_t value = json.get<int64_t>();
    if (static_cast<int64_t>(static_cast<T>(value)) != value)
      throw MalformedCase(str_cat("an integer out of range: ", value));
    return static_cast<T>(value);
  } else if constexpr (internal::is_std_complex<T>) {
    return static_cast<T>(read_complex(json));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(read_double(json));
  } else {  // 16-bit floating point: the file has the very value
    return static_cast<T>(static_cast<float>(read_double(json)));
  }
}

// The name in `json`, found by `find`.
template <class Find>
auto read_name(const Json& json, const char* kind, Find find) {
  const std::string name = json.get<std::string>();
  const auto found = find(name);
  if (!found) throw Unsupported(str_cat("no ", kind, " ", name));
  return *found;
}

DType read_dtype(const Json& json) { return read_name(json, "dtype", find_dtype); }

template <class T, class Read>
std::vector<T> read_list(const Json& list, Read read) {
  std::vector<T> result;
  result.reserve(list.size());
  for (const Json& item : list) result.push_back(read(item));
  return result;
}

Device read_device(const Json& json) {
  try {
    return Device(json.get<std::string>());
  } catch (const Error&) {
    throw Unsupported(str_cat("no device ", json.get<std::string>()));
  }
}

}  // namespace

double read_double(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  throw MalformedCase(str_cat("not a number: ", json.dump()));
}

std::complex<double> read_complex(const Json& json) {
  if (!json.is_array() || json.size() != 2)
    throw MalformedCase(str_cat("not a complex number: ", json.dump()));
  return {read_double(json[0]), read_double(json[1])};
}

Elements read_elements(DType dtype, const Json& list) {
  if (!list.is_array()) throw MalformedCase("a storage is not a list");
  Elements elements;
  elements.dtype = dtype;
  elements.determined.reserve(list.size());
  elements.bytes.resize(list.size() * itemsize(dtype));
  visit_dtype(dtype, [&]<class T>() {
    std::byte* out = elements.bytes.data();
    for (const Json& json : list) {
      elements.determined.push_back(!json.is_null());
      if (!json.is_null()) {
        const T value = read_element<T>(json);
        std::memcpy(out, &value, sizeof(T));
      }
      out += sizeof(T);
    }
  });
  return elements;
}

TensorSpec read_tensor_spec(const Json& json) {
  TensorSpec spec;
  if (json.contains("is")) spec.is = json["is"].get<std::string>();
  if (json.contains("alias")) spec.alias = json["alias"].get<std::string>();
  if (!json.contains("dtype")) {
    if (spec.is.empty()) throw MalformedCase("a tensor without a dtype");
    return spec;
  }
  spec.dtype = read_dtype(json["dtype"]);
  spec.shape = json.at("shape").get<std::vector<int64_t>>();
  spec.stride = json.at("stride").get<std::vector<int64_t>>();
  spec.offset = json.at("offset").get<int64_t>();
  if (json.contains("storage")) spec.storage = read_elements(spec.dtype, json["storage"]);
  if (json.contains("storage_id")) spec.storage_id = json["storage_id"].get<int64_t>();
  spec.conj = json.value("conj", false);
  spec.neg = json.value("neg", false);
  spec.resizable = json.value("resizable", true);
  return spec;
}

bool is_tensor_value(const Json& value) {
  if (!value.is_object()) return false;
  for (const char* kind : {"tensor", "tensors", "storage_of", "ref", "refs"})
    if (value.contains(kind)) return true;
  return false;
}

IValue read_value(const Json& value) {
  if (value.is_null()) return IValue();
  if (!value.is_object() || value.size() != 1)
    throw MalformedCase(str_cat("not a value: ", value.dump()));
  const std::string& kind = value.begin().key();
  const Json& json = value.begin().value();
  if (kind == "int") return read_element<int64_t>(json);
  if (kind == "float") return read_double(json);
  if (kind == "bool") return read_element<bool>(json);
  if (kind == "complex") return read_complex(json);
  if (kind == "str") return json.get<std::string>();
  if (kind == "ints") return read_list<int64_t>(json, read_element<int64_t>);
  if (kind == "floats") return read_list<double>(json, read_double);
  if (kind == "bools") return read_list<bool>(json, read_element<bool>);
  if (kind == "scalars") return read_list<IValue>(json, read_value);
  if (kind == "dtype") return read_dtype(json);
  if (kind == "device") return read_device(json);
  if (kind == "layout") return read_name(json, "layout", find_layout);
  if (kind == "memory_format") return read_name(json, "memory format", find_memory_format);
  throw MalformedCase(str_cat("a value of unknown kind '", kind, "'"));
}

std::string element_text(DType dtype, const std::byte* element) {
  return visit_dtype(dtype, [&]<class T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    if constexpr (std::is_arithmetic_v<T> || internal::is_std_complex<T>)
      return Scalar(value).to_string();
    else
      return Scalar(static_cast<float>(value)).to_string();
  });
}

}  // namespace sb::conformance
