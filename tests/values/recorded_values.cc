#include "switchboard/tests/values/recorded_values.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/tests/conformance/json_values.h"

namespace sb::test {
namespace {

// A symbol whose value is known, as that of a size of a real tensor.
class KnownNode final : public SymNode {
 public:
  KnownNode(SymKind kind, double value) : kind_(kind), value_(value) {}
  SymKind kind() const override { return kind_; }
  int64_t guard_int(SourceLocation) const override { return static_cast<int64_t>(value_); }
  double guard_float(SourceLocation) const override { return value_; }
  bool guard_bool(SourceLocation) const override { return value_ != 0; }
  std::string to_string() const override { return "s"; }

 private:
  const SymKind kind_;
  const double value_;
};
IntrusivePtr<KnownNode> known(SymKind kind, const Json& value) {
  const double number = value.is_boolean() ? value.get<bool>() : value.get<double>();
  return make_intrusive<KnownNode>(kind, number);
}

Tensor tensor_of(const Json& json) {
  const DType dtype = find_dtype(json.at("dtype").get<std::string>()).value();
  const auto shape = json.at("shape").get<std::vector<int64_t>>();
  if (!json.contains("data")) return empty_on(DeviceType::Meta, shape, dtype);
  const Tensor t = empty_on(DeviceType::CPU, shape, dtype);
  const conformance::Elements elements = conformance::read_elements(dtype, json["data"]);
  if (!elements.bytes.empty())
    std::memcpy(t.data_ptr(), elements.bytes.data(), elements.bytes.size());
  if (json.contains("requires_grad")) set_requires_grad(t, true);
  return t;
}

Json json_of_scalar(const Scalar& v) {
  switch (v.kind()) {
    case DType::Bool:
      return v.to<bool>();
    case DType::Int64:
      return v.to<int64_t>();
    case DType::Float64:
      return v.to<double>();
    default: {
      const auto z = v.to<std::complex<double>>();
      return {z.real(), z.imag()};
    }
  }
}

Json json_of_tensor(const Tensor& t) {
  if (!t.defined()) return nullptr;
  Json json = {{"dtype", to_string(t.dtype())}, {"shape", Json::array()}};
  for (const int64_t size : t.sizes()) json["shape"].push_back(size);
  if (!t.is_cpu()) return {{"tensor", json}};
  json["data"] = Json::array();
  const Tensor elements = cast_copy(t, t.dtype());
  const char* p = static_cast<const char*>(elements.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i, p += t.itemsize())
    json["data"].push_back(json_of_scalar(load_scalar(t.dtype(), p)));
  return {{"tensor", json}};
}

bool near(double recorded, double value, double tolerance) {
  return recorded == value || std::abs(recorded - value) <= tolerance * (1 + std::abs(recorded));
}

bool elements_match(const Json& recorded, const Json& value, double tolerance) {
  if (recorded.is_array()) {
    if (!value.is_array() || recorded.size() != value.size()) return false;
    for (size_t i = 0; i < recorded.size(); ++i)
      if (!elements_match(recorded[i], value[i], tolerance)) return false;
    return true;
  }
  if (recorded.is_number() && value.is_number())
    return near(recorded.get<double>(), value.get<double>(), tolerance);
  return recorded == value;
}

}  // namespace

IValue value_of(const Json& json) {
  if (json.is_array()) {
    std::vector<IValue> list;
    for (const Json& element : json) list.push_back(value_of(element));
    return list;
  }
  if (json.is_null()) return IValue();
  const std::string& kind = json.begin().key();
  if (kind == "tensor") return tensor_of(json.begin().value());
  if (kind == "generator") return default_cpu_generator();
  if (kind == "symint") return SymInt(known(SymKind::Int, json.begin().value()));
  if (kind == "symfloat") return SymFloat(known(SymKind::Float, json.begin().value()));
  if (kind == "symbool") return SymBool(known(SymKind::Bool, json.begin().value()));
  return conformance::read_value(json);
}

Json json_of(const IValue& v) {
  const auto list_of = [](const auto& list) {
    Json json = Json::array();
    for (const auto& element : list) json.push_back(json_of(IValue(element)));
    return json;
  };
  switch (v.tag()) {
    case IValue::Tag::None:
      return nullptr;
    case IValue::Tag::Tensor:
      return json_of_tensor(v.to_tensor());
    case IValue::Tag::Int:
      return {{"int", v.to_int()}};
    case IValue::Tag::Double:
      return {{"float", v.to_double()}};
    case IValue::Tag::Bool:
      return {{"bool", v.to_bool()}};
    case IValue::Tag::Complex:
      return {{"complex", json_of_scalar(v.to_scalar())}};
    case IValue::Tag::SymInt:
      return {{"symint", v.to_int()}};
    case IValue::Tag::SymFloat:
      return {{"symfloat", v.to_double()}};
    case IValue::Tag::SymBool:
      return {{"symbool", v.to_sym_bool().guard_bool()}};
    case IValue::Tag::String:
      return {{"str", std::string(v.to_string_view())}};
    case IValue::Tag::Device:
      return {{"device", to_string(v.to_device())}};
    case IValue::Tag::DType:
      return {{"dtype", to_string(v.to_dtype())}};
    case IValue::Tag::Layout:
      return {{"layout", to_string(v.to_layout())}};
    case IValue::Tag::MemoryFormat:
      return {{"memory_format", to_string(v.to_memory_format())}};
    case IValue::Tag::Generator:
      return {{"generator", "cpu"}};
    case IValue::Tag::IntList:
      return list_of(v.to_int_list());
    case IValue::Tag::SymIntList:
      return list_of(v.to_sym_int_list());
    case IValue::Tag::DoubleList:
      return list_of(v.to_double_list());
    case IValue::Tag::BoolList: {
      Json json = Json::array();
      for (const bool element : v.to_bool_list()) json.push_back({{"bool", element}});
      return json;
    }
    case IValue::Tag::TensorList:
      return list_of(v.to_tensor_list());
    case IValue::Tag::OptionalTensorList:
      return list_of(v.to_optional_tensor_list());
    case IValue::Tag::List:
      return list_of(v.to_list());
    default:
      return v.to_string();
  }
}

bool matches(const Json& recorded, const Json& value) {
  if (recorded.is_array()) {
    if (!value.is_array() || recorded.size() != value.size()) return false;
    for (size_t i = 0; i < recorded.size(); ++i)
      if (!matches(recorded[i], value[i])) return false;
    return true;
  }
  if (!recorded.is_object() || !recorded.contains("tensor")) return recorded == value;
  if (!value.is_object() || !value.contains("tensor")) return false;
  const Json& expected = recorded["tensor"];
  const Json& got = value["tensor"];
  if (expected["dtype"] != got["dtype"] || expected["shape"] != got["shape"]) return false;
  if (!expected.contains("data")) return true;
  const std::string dtype = expected["dtype"].get<std::string>();
  const double tolerance = dtype == "float16" || dtype == "bfloat16" ? 1e-2
                           : dtype == "float64"                      ? 1e-12
                                                                     : 1e-5;
  return got.contains("data") && elements_match(expected["data"], got["data"], tolerance);
}

std::vector<Json> lines_of(const std::string& file) {
  std::ifstream in("tests/values/data/" + file);
  SB_CHECK(in, "tests/values/data/", file, ": cannot be read");
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

const Json& numbered_value(size_t n) {
  static const auto* const values = new std::vector<Json>(lines_of("values.jsonl"));
  return values->at(n);
}

Json numbered_values(const std::string& numbers) {
  Json values = Json::array();
  for (const size_t n : numbers_in(numbers)) values.push_back(numbered_value(n));
  return values;
}

std::vector<size_t> numbers_in(const std::string& text) {
  std::vector<size_t> numbers;
  const std::vector<std::string> parts = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (const std::string& part : parts) {
    const size_t dash = part.find('-');
    const size_t first = std::stoul(part);
    const size_t last = dash == std::string::npos ? first : std::stoul(part.substr(dash + 1));
    for (size_t n = first; n <= last; ++n) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace sb::test
