#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/testing/order_case.h"

namespace sb {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  return absl::StrSplit(text, separator, absl::SkipEmpty());
}

// "CPU,AutogradCPU"; a device's name stands for the keys of its tensors.
DispatchKeySet parse_keys(const std::string& text) {
  DispatchKeySet keys;
  for (const std::string& name : split(text, ',')) {
    if (const std::optional<DeviceType> device = find_device_type(name)) {
      keys |= tensor_key_set(*device);
      continue;
    }
    const std::optional<DispatchKey> key = find_dispatch_key(name);
    SB_CHECK_VALUE(key && is_runtime_key(*key) && *key != DispatchKey::Observed, "'", name,
                   "' is neither a dispatch key that a tensor can carry nor a device");
    keys |= *key;
  }
  return keys;
}

OrderCase::TensorKeys parse_tensor(const std::string& text) {
  if (text == "undefined") return {{}, true};
  return {parse_keys(text), false};
}

// "2x3"; "" has no dimension.
std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  for (const std::string& size : split(text, 'x')) {
    int64_t n = 0;
    SB_CHECK_VALUE(absl::SimpleAtoi(size, &n) && n >= 0, "'", text, "' is not a shape, as 2x3");
    shape.push_back(n);
  }
  return shape;
}

// "name=value" in two.
std::pair<std::string, std::string> parse_named(const std::string& text) {
  const size_t equals = text.find('=');
  SB_CHECK_VALUE(equals != text.npos && equals > 0, "'", text, "' is not NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

OrderCase parse_order_case(const std::vector<std::string>& arguments) {
  OrderCase order;
  for (const std::string& argument : arguments) {
    SB_CHECK_VALUE(argument.starts_with("--"), "'", argument, "' is not --FLAG=VALUE");
    const auto [flag, value] = parse_named(argument);
    if (flag == "--op") {
      order.op = value;
    } else if (flag == "--tensor") {
      const auto [name, keys] = parse_named(value);
      order.tensors[name].push_back(parse_tensor(keys));
    } else if (flag == "--shape") {
      const auto [name, shape] = parse_named(value);
      order.shapes[name] = parse_shape(shape);
    } else if (flag == "--arg") {
      const auto [name, text] = parse_named(value);
      order.args[name] = text;
    } else if (flag == "--include") {
      order.include |= parse_keys(value);
    } else if (flag == "--exclude") {
      order.exclude |= parse_keys(value);
    } else if (flag == "--expect") {
      order.expect.push_back(parse_order_step(value));
    } else {
      SB_THROW(ValueError, "unknown flag '", flag, "'");
    }
  }
  SB_CHECK_VALUE(!order.op.empty(), "--op is missing");
  SB_CHECK_VALUE(!order.expect.empty(), "--expect is missing");
  return order;
}

}  // namespace sb
