#include "switchboard/io/exported/json_tensor_meta.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

int64_t parse_size(const JsonValue& json, std::string_view what) {
  const auto [tag, value] = json.only_member();
  if (tag == "as_expr")
    json.fail<NotImplementedError>("dynamic shapes are not supported: ", what, " is an expression");
  if (tag != "as_int") json.fail("unknown tag ", quote(tag));
  const int64_t size = value.to_int();
  if (size < 0) json.fail(what, " is negative: ", size);
  return size;
}

}  // namespace

DType parse_scalar_type(const JsonValue& json) {
  // The schema's own numbers, not c10's.
  const int64_t number = json.to_int();
  switch (number) {
    case 1:
      return DType::UInt8;
    case 2:
      return DType::Int8;
    case 3:
      return DType::Int16;
    case 4:
      return DType::Int32;
    case 5:
      return DType::Int64;
    case 6:
      return DType::Float16;
    case 7:
      return DType::Float32;
    case 8:
      return DType::Float64;
    case 10:
      return DType::Complex64;
    case 11:
      return DType::Complex128;
    case 12:
      return DType::Bool;
    case 13:
      return DType::BFloat16;
  }
  const char* name = nullptr;
  switch (number) {
    case 9:
      name = "complex32";
      break;
    case 28:
      name = "uint16";
      break;
    case 29:
      name = "float8_e4m3fn";
      break;
    case 30:
      name = "float8_e5m2";
      break;
    case 31:
      name = "float8_e4m3fnuz";
      break;
    case 32:
      name = "float8_e5m2fnuz";
      break;
    case 33:
      name = "float8_e8m0fnu";
      break;
    case 34:
      name = "uint32";
      break;
    case 35:
      name = "uint64";
      break;
  }
  if (name) json.fail<NotImplementedError>("dtype ", name, " is not supported");
  json.fail("unknown scalar type ", number);
}

Layout parse_layout(const JsonValue& json) {
  const int64_t number = json.to_int();
  if (number == 7) return Layout::Strided;
  constexpr const char* kOthers[] = {"unknown",    "sparse_coo", "sparse_csr", "sparse_csc",
                                     "sparse_bsr", "sparse_bsc", "mkldnn"};
  if (number >= 1 && number < 7)
    json.fail<NotImplementedError>("layout ", kOthers[number], " is not supported");
  json.fail("unknown layout ", number);
}

MemoryFormat parse_memory_format(const JsonValue& json) {
  const int64_t number = json.to_int();
  switch (number) {
    case 1:
      return MemoryFormat::Contiguous;
    case 2:
      return MemoryFormat::ChannelsLast;
    case 3:
      return MemoryFormat::ChannelsLast3d;
    case 4:
      return MemoryFormat::Preserve;
  }
  json.fail("unknown memory format ", number);
}

Device parse_device(const JsonValue& json) {
  const std::string& type = json.at("type").to_string();
  if (type != "cpu")
    json.fail<NotImplementedError>("device ", quote(type), " is not supported; expected cpu");
  Device device(DeviceType::CPU);
  if (const auto index = json.find("index")) {
    const int64_t number = index->to_int();
    if (number < -1 || number > 127) index->fail("no device index: ", number);
    device.index = static_cast<int8_t>(number);
  }
  return device;
}

TensorMeta parse_tensor_meta(const JsonValue& json) {
  TensorMeta meta;
  meta.dtype = parse_scalar_type(json.at("dtype"));
  for (const JsonValue& size : json.at("sizes").elements())
    meta.sizes.push_back(parse_size(size, "a size"));
  for (const JsonValue& stride : json.at("strides").elements())
    meta.strides.push_back(parse_size(stride, "a stride"));
  if (meta.strides.size() != meta.sizes.size())
    json.fail(meta.sizes.size(), " sizes but ", meta.strides.size(), " strides");
  if (const auto offset = json.find("storage_offset"))
    meta.storage_offset = parse_size(*offset, "the storage offset");
  if (const auto requires_grad = json.find("requires_grad"))
    meta.requires_grad = requires_grad->to_bool();
  parse_layout(json.at("layout"));
  parse_device(json.at("device"));
  try {
    checked_mul(checked_numel(meta.sizes), static_cast<int64_t>(itemsize(meta.dtype)));
  } catch (const Error& error) {
    json.fail(error.what());
  }
  return meta;
}

}  // namespace sb::io
