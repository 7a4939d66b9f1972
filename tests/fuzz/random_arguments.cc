#include "switchboard/tests/fuzz/random_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"

namespace sb::fuzz {
namespace {

constexpr DType kDTypes[] = {DType::Bool,    DType::UInt8,   DType::Int8,      DType::Int16,
                             DType::Int32,   DType::Int64,   DType::Float16,   DType::BFloat16,
                             DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
// What an argument may ask for besides.
constexpr DType kQuantized[] = {DType::QInt8, DType::QUInt8, DType::QInt32};
// The most elements that a tensor has, in about.
constexpr int64_t kMaxElements = 1 << 16;
constexpr const char* kStrings[] = {"mean",      "none",     "sum",     "floor",    "trunc", "add",
                                    "multiply",  "amax",     "reflect", "constant", "tanh",  "same",
                                    "replicate", "bilinear", "ij->ji",  ""};

// Small integers and, for floating point, fractions and special values. Any byte may stand in a
// bool tensor.
void fill(const StoragePlan& plan, void* data) {
  std::mt19937_64 random(plan.seed);
  visit_dtype(plan.dtype, [&]<class T>() {
    T* const elements = static_cast<T*>(data);
    for (int64_t i = 0; i < plan.numel; ++i) {
      const uint64_t bits = random();
      const int small = static_cast<int>(bits % 9) - 3;
      if constexpr (std::is_same_v<T, bool>) {
        reinterpret_cast<uint8_t*>(data)[i] = bits % 64 == 0 ? bits >> 56 : bits % 2;
      } else if constexpr (std::is_integral_v<T>) {
        elements[i] = bits % 64 == 0 ? std::numeric_limits<T>::min() : static_cast<T>(small);
      } else {
        float value = static_cast<float>(small) + static_cast<float>(bits >> 40) * 0x1p-25f;
        if (bits % 64 == 0) value = std::numeric_limits<float>::quiet_NaN();
        if (bits % 64 == 1) value = -std::numeric_limits<float>::infinity();
        if (bits % 64 == 2) value = 1e30f;
        elements[i] = T(value);
      }
    }
  });
}

}  // namespace

ArgumentPlan::ArgumentPlan(const FunctionSchema& schema, uint64_t seed) : random_(seed) {
  dtype_ = chance(60) ? DType::Float32 : kDTypes[pick(std::size(kDTypes))];
  sizes_ = pick_sizes(chance(70) ? 1 + pick(4) : pick(6));
  huge_ints_ = chance(10) ? 35 : 3;
  for (const Argument& argument : schema.arguments) values_.push_back(pick_value(argument));
}

// Mostly small; some reach the vector loops, and threads.
std::vector<int64_t> ArgumentPlan::pick_sizes(uint64_t rank) {
  std::vector<int64_t> sizes;
  int64_t elements = 1;
  for (; rank > 0; --rank) {
    int64_t size = chance(8) ? 0
                             : static_cast<int64_t>(1 + pick(chance(4)   ? 40
                                                             : chance(1) ? 3000
                                                                         : 5));
    if (elements * size > kMaxElements) size = 2;
    elements *= std::max<int64_t>(size, 1);
    sizes.push_back(size);
  }
  return sizes;
}

int64_t ArgumentPlan::pick_int() {
  if (!chance(huge_ints_)) return static_cast<int64_t>(pick(7)) - 2;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kOdd[] = {kMost,
                              std::numeric_limits<int64_t>::min(),
                              kMost - 1,
                              -kMost,
                              int64_t{1} << 62,
                              -(int64_t{1} << 40),
                              int64_t{1} << 32,
                              1000};
  return kOdd[pick(std::size(kOdd))];
}

double ArgumentPlan::pick_odd_float() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kOdd[] = {1e-300, -1e300, 1e-40, 3e38, -0.0, 0.1, -1, 255.5, 1e10, kInf, kNan};
  return kOdd[pick(std::size(kOdd))];
}

IValue ArgumentPlan::pick_scalar() {
  switch (pick(10)) {
    case 0:
      return chance(50);
    case 1:
      return std::complex<double>(1.5, -2);
    case 2:
      return std::numeric_limits<double>::infinity();
    case 3:
      return std::numeric_limits<double>::quiet_NaN();
    case 4:
    case 5:
      return static_cast<double>(pick(9)) / 2 - 2;
    case 6:
      return pick_odd_float();
    default:
      return pick_int();
  }
}

TensorPlan ArgumentPlan::pick_tensor() {
  TensorPlan plan;
  if (chance(1)) {
    plan.defined = false;
    return plan;
  }
  plan.sizes = sizes_;
  if (chance(15) && !plan.sizes.empty()) plan.sizes.erase(plan.sizes.begin());
  if (chance(15) && !plan.sizes.empty()) plan.sizes[pick(plan.sizes.size())] = 1;
  if (chance(15) && plan.sizes.size() > 1)
    std::swap(plan.sizes[0], plan.sizes[plan.sizes.size() - 1]);
  if (chance(10)) {
    plan.sizes = pick_sizes(pick(5));
  }
  // Dimensions in a random order, some with gaps, some repeated (stride 0).
  std::vector<size_t> order(plan.sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (chance(30)) std::shuffle(order.begin(), order.end(), random_);
  plan.strides.assign(order.size(), 1);
  int64_t stride = 1, last = 0;
  for (size_t d : order) {
    if (chance(5)) {
      plan.strides[d] = 0;
      continue;
    }
    if (chance(10)) stride *= 2;
    plan.strides[d] = stride;
    last += stride * std::max<int64_t>(plan.sizes[d] - 1, 0);
    stride *= std::max<int64_t>(plan.sizes[d], 1);
  }
  // Where there is one element, any stride will do that checked_storage_bytes() lets pass.
  for (size_t d : order)
    if (plan.sizes[d] == 1 && chance(5)) plan.strides[d] = int64_t{1} << (30 + pick(26));
  if (chance(15)) plan.offset = static_cast<int64_t>(pick(4));
  const int64_t needed = plan.offset + last + 1;
  // An earlier storage, where it is large enough, else a new one.
  if (chance(8) && !storages_.empty()) {
    plan.storage = pick(storages_.size());
    if (storages_[plan.storage].numel >= needed) return plan;
  }
  plan.storage = storages_.size();
  const DType dtype = chance(75) ? dtype_ : kDTypes[pick(std::size(kDTypes))];
  storages_.push_back({dtype, needed + static_cast<int64_t>(pick(3)), random_()});
  return plan;
}

IValue ArgumentPlan::pick_plain(TypeCode code, std::optional<int64_t> length) {
  if (outer_modifier(code) == TypeModifier::Optional) {
    return chance(50) ? IValue() : pick_plain(without_outer(code), length);
  }
  if (outer_modifier(code) == TypeModifier::List) {
    const uint64_t n = length && chance(80) ? static_cast<uint64_t>(*length) : pick(4);
    const BaseType base = base_of(code);
    if (base == BaseType::Int || base == BaseType::SymInt) {
      if (chance(20)) return std::vector<int64_t>(sizes_);
      std::vector<int64_t> list(n);
      for (int64_t& i : list) i = pick_int();
      return list;
    }
    if (base == BaseType::Float) return std::vector<double>(n, 0.5);
    if (base == BaseType::Bool) {
      std::vector<bool> list(n);
      for (size_t i = 0; i < n; ++i) list[i] = chance(50);
      return list;
    }
    std::vector<IValue> list;
    for (uint64_t i = 0; i < n; ++i) list.push_back(pick_plain(without_outer(code), length));
    return list;
  }
  switch (base_of(code)) {
    case BaseType::Int:
    case BaseType::SymInt:
      return pick_int();
    case BaseType::Float:
      return chance(80) ? static_cast<double>(pick(5)) / 4 : pick_odd_float();
    case BaseType::Bool:
      return chance(50);
    case BaseType::Complex:
      return std::complex<double>(1, 2);
    case BaseType::Scalar:
      return pick_scalar();
    case BaseType::Str:
      return kStrings[pick(std::size(kStrings))];
    case BaseType::DType:
      if (chance(3)) return kQuantized[pick(std::size(kQuantized))];
      return kDTypes[pick(std::size(kDTypes))];
    case BaseType::Layout:
      return Layout::Strided;
    case BaseType::MemoryFormat: {
      constexpr MemoryFormat kFormats[] = {MemoryFormat::Contiguous, MemoryFormat::Preserve,
                                           MemoryFormat::ChannelsLast};
      return kFormats[pick(std::size(kFormats))];
    }
    default:
      return {};
  }
}

ArgumentPlan::Value ArgumentPlan::pick_value(const Argument& argument) {
  const TypeCode code = argument.type.code();
  const bool optional = argument.type.is_optional();
  if (base_of(code) != BaseType::Tensor) {
    if (argument.default_value && chance(50))
      return {Value::Kind::Plain, *argument.default_value, {}};
    std::optional<int64_t> length;
    for (const Type::Modifier& m : argument.type.modifiers)
      if (m.length) length = m.length;
    return {Value::Kind::Plain, pick_plain(code, length), {}};
  }
  const TypeCode inner = optional ? without_outer(code) : code;
  if (optional && chance(40)) return {Value::Kind::Plain, IValue(), {}};
  if (outer_modifier(inner) != TypeModifier::List)
    return {Value::Kind::Tensor, IValue(), {pick_tensor()}};
  const bool holes = outer_modifier(without_outer(inner)) == TypeModifier::Optional;
  Value value{holes ? Value::Kind::OptionalTensors : Value::Kind::Tensors, IValue(), {}};
  for (uint64_t n = pick(4); n > 0; --n) {
    if (holes && chance(40))
      value.tensors.push_back(std::nullopt);
    else
      value.tensors.push_back(pick_tensor());
  }
  return value;
}

Tensor ArgumentPlan::build_tensor(const TensorPlan& plan,
                                  const std::vector<Tensor>& storages) const {
  if (!plan.defined) return {};
  return alias_with(storages[plan.storage], plan.sizes, plan.strides, plan.offset);
}

Stack ArgumentPlan::build(Device device) const {
  std::vector<Tensor> storages;
  for (const StoragePlan& plan : storages_) {
    storages.push_back(empty_on(device, {plan.numel}, plan.dtype));
    if (device.is_cpu()) fill(plan, storages.back().data_ptr());
  }
  Stack stack;
  for (const Value& value : values_) {
    switch (value.kind) {
      case Value::Kind::Plain:
        stack.push_back(value.plain);
        break;
      case Value::Kind::Tensor:
        stack.push_back(build_tensor(*value.tensors[0], storages));
        break;
      case Value::Kind::Tensors: {
        std::vector<Tensor> list;
        for (const auto& plan : value.tensors) list.push_back(build_tensor(*plan, storages));
        stack.push_back(std::move(list));
        break;
      }
      case Value::Kind::OptionalTensors: {
        std::vector<std::optional<Tensor>> list;
        for (const auto& plan : value.tensors) {
          list.push_back(plan ? std::optional(build_tensor(*plan, storages)) : std::nullopt);
        }
        stack.push_back(std::move(list));
      }
    }
  }
  return stack;
}

}  // namespace sb::fuzz
