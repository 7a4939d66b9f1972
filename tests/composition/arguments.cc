#include "switchboard/tests/composition/arguments.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "switchboard/core/dtype.h"

namespace sb::composition {
namespace {

constexpr DType kDTypes[] = {DType::Float32, DType::Float64,    DType::Int64,     DType::Int32,
                             DType::Bool,    DType::Float16,    DType::Complex64, DType::Float32,
                             DType::UInt8,   DType::Complex128, DType::Float64};
constexpr const char* kStrings[] = {"mean",    "none",      "sum",  "floor",  "trunc",   "constant",
                                    "reflect", "replicate", "tanh", "amax",   "amin",    "prod",
                                    "same",    "valid",     "add",  "linear", "nearest", "ij"};

class Picker {
 public:
  Picker(const std::vector<Live>& live, Random& random) : live_(live), random_(random) {}

  bool pick(const Argument& argument) {
    if (argument.type.has_tensor()) return pick_tensors(argument);
    Value value;
    if (argument.default_value && random_.chance(60)) {
      value.plain = *argument.default_value;
    } else {
      std::optional<IValue> plain = pick_plain(argument.type, argument.name);
      if (!plain) return false;
      value.plain = std::move(*plain);
    }
    picked_.stack.push_back(value.plain);
    picked_.values.push_back(std::move(value));
    return true;
  }
  PickedArguments take() { return std::move(picked_); }

 private:
  // The tensor that the other arguments are to fit.
  const Tensor* main() const { return main_ ? &*main_ : nullptr; }
  int64_t rank() const { return main_ ? main_->dim() : 1; }

  const Live& any_live() {
    // Late ones are more often used than early ones.
    const size_t a = random_.pick(live_.size()), b = random_.pick(live_.size());
    return live_[std::max(a, b)];
  }

  const Live* find(const std::string& name) {
    if (live_.empty()) return nullptr;
    if (!main_) {
      const Live& chosen = any_live();
      main_ = chosen.tensor;
      return &chosen;
    }
    const bool index = absl::StartsWith(name, "ind") || name == "target";
    const bool mask = absl::StrContains(name, "mask") || name == "condition";
    const bool same_shape = random_.chance(60), same_dtype = random_.chance(80);
    const Live* found = nullptr;
    for (int i = 0; i < 8; ++i) {
      const Live& candidate = any_live();
      found = &candidate;
      const DType dtype = candidate.tensor.dtype();
      if (index && dtype != DType::Int64) continue;
      if (mask && dtype != DType::Bool) continue;
      if (index || mask) break;
      if (same_shape && candidate.tensor.sizes() != main_->sizes()) continue;
      if (same_dtype && dtype != main_->dtype()) continue;
      break;
    }
    return found;
  }

  bool pick_tensors(const Argument& argument) {
    Value value;
    const auto is = [&](TypeModifier kind) {
      return std::any_of(argument.type.modifiers.begin(), argument.type.modifiers.end(),
                         [&](const Type::Modifier& m) { return m.kind == kind; });
    };
    if (!is(TypeModifier::List)) {
      if (argument.type.is_optional() && random_.chance(50)) {
        picked_.stack.emplace_back();
        picked_.values.push_back(std::move(value));
        return true;
      }
      const Live* const found = find(argument.name);
      if (!found) return false;
      value.kind = Value::Kind::Tensor;
      value.refs.push_back(found->ref);
      picked_.stack.emplace_back(found->tensor);
      picked_.values.push_back(std::move(value));
      return true;
    }
    if (!list_length_) list_length_ = 1 + random_.pick(3);
    const bool optional = argument.type.modifiers.front().kind == TypeModifier::Optional;
    Tensors list;
    std::vector<std::optional<Tensor>> optional_list;
    for (size_t i = 0; i < *list_length_; ++i) {
      if (optional && random_.chance(30)) {
        value.refs.emplace_back();
        optional_list.emplace_back();
        continue;
      }
      const Live* const found = find(argument.name);
      if (!found) return false;
      value.refs.push_back(found->ref);
      list.push_back(found->tensor);
      optional_list.emplace_back(found->tensor);
    }
    value.kind = optional ? Value::Kind::OptionalTensors : Value::Kind::Tensors;
    if (optional)
      picked_.stack.emplace_back(std::move(optional_list));
    else
      picked_.stack.emplace_back(std::move(list));
    picked_.values.push_back(std::move(value));
    return true;
  }

  static bool names_dim(const std::string& name) {
    return absl::StrContains(name, "dim") || absl::StrContains(name, "axis") || name == "source" ||
           name == "destination";
  }
  int64_t pick_dim() {
    const int64_t r = std::max<int64_t>(rank(), 1);
    return random_.between(-r, r - 1);
  }
  int64_t pick_size() {
    if (main() && !main_->sizes().empty() && random_.chance(50))
      return random_.one_of(main_->sizes());
    return random_.between(0, 3);
  }
  int64_t pick_int(const std::string& name) {
    if (names_dim(name)) return pick_dim();
    if (random_.chance(20)) return pick_size();
    return random_.between(-1, 2);
  }

  // Sizes that hold as many elements as the main tensor has.
  std::vector<int64_t> refactored() {
    int64_t n = main() ? main_->numel() : 1;
    std::vector<int64_t> sizes;
    while (n > 1 && sizes.size() < 3) {
      int64_t d = random_.between(1, 3);
      if (n % d != 0) d = 1;
      sizes.push_back(d);
      n /= d;
    }
    sizes.push_back(n);
    if (random_.chance(20)) sizes.push_back(1);
    if (random_.chance(15)) sizes[random_.pick(sizes.size())] = -1;
    return sizes;
  }
  std::vector<int64_t> pick_ints(const std::string& name, std::optional<int64_t> length) {
    std::vector<int64_t> list;
    if (names_dim(name)) {
      std::vector<int64_t> dims(static_cast<size_t>(rank()));
      std::iota(dims.begin(), dims.end(), 0);
      for (size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[random_.pick(i)]);
      if (random_.chance(50)) dims.resize(random_.pick(dims.size() + 1));
      return dims;
    }
    if (length) {
      for (int64_t i = 0; i < *length; ++i) list.push_back(random_.between(0, 2));
      return list;
    }
    switch (random_.pick(4)) {
      case 0:
        return refactored();
      case 1: {
        const Live* const other = live_.empty() ? nullptr : &any_live();
        if (other) list.assign(other->tensor.sizes().begin(), other->tensor.sizes().end());
        return list;
      }
      case 2:
        if (main()) list.assign(main_->sizes().begin(), main_->sizes().end());
        if (random_.chance(50)) list.insert(list.begin(), random_.between(1, 2));
        return list;
      default:
        for (size_t n = main() && random_.chance(80) ? static_cast<size_t>(rank())
                                                     : random_.pick(3);
             n > 0; --n)
          list.push_back(random_.between(0, 3));
        return list;
    }
  }

  std::optional<IValue> pick_plain(const Type& type, const std::string& name) {
    if (type.is_optional() && random_.chance(40)) return IValue();
    const bool list = std::any_of(type.modifiers.begin(), type.modifiers.end(),
                                  [](const auto& m) { return m.kind == TypeModifier::List; });
    std::optional<int64_t> length;
    for (const Type::Modifier& m : type.modifiers)
      if (m.length) length = m.length;
    if (list) {
      switch (type.base) {
        case BaseType::Int:
        case BaseType::SymInt:
          return pick_ints(name, length);
        case BaseType::Float:
          return std::vector<double>(static_cast<size_t>(length.value_or(2)), 1.5);
        case BaseType::Bool:
          return std::vector<bool>(static_cast<size_t>(length.value_or(2)), random_.chance(50));
        case BaseType::Scalar: {
          std::vector<IValue> scalars;
          if (!list_length_) list_length_ = 1 + random_.pick(3);
          for (size_t i = 0; i < *list_length_; ++i) scalars.push_back(pick_scalar());
          return IValue(std::move(scalars));
        }
        default:
          return std::nullopt;
      }
    }
    switch (type.base) {
      case BaseType::Int:
      case BaseType::SymInt:
        return pick_int(name);
      case BaseType::Float:
        return static_cast<double>(random_.between(-2, 4)) / 2;
      case BaseType::Bool:
        return random_.chance(50);
      case BaseType::Complex:
        return std::complex<double>(1, 2);
      case BaseType::Scalar:
        return pick_scalar();
      case BaseType::Str:
        return kStrings[random_.pick(std::size(kStrings))];
      case BaseType::DType:
        return random_.one_of(kDTypes);
      case BaseType::Layout:
        return Layout::Strided;
      case BaseType::MemoryFormat:
        return random_.chance(50) ? MemoryFormat::Contiguous : MemoryFormat::Preserve;
      case BaseType::Device:
        return Device(DeviceType::CPU);
      default:
        return type.is_optional() ? std::optional(IValue()) : std::nullopt;
    }
  }
  IValue pick_scalar() {
    if (random_.chance(10)) return random_.chance(50);
    if (random_.chance(50)) return random_.between(-2, 3);
    return static_cast<double>(random_.between(-3, 5)) / 2;
  }

  const std::vector<Live>& live_;
  Random& random_;
  std::optional<Tensor> main_;
  std::optional<size_t> list_length_;
  PickedArguments picked_;
};

}  // namespace

std::optional<PickedArguments> pick_arguments(const FunctionSchema& schema,
                                              const std::vector<Live>& live, Random& random) {
  Picker picker(live, random);
  for (const Argument& argument : schema.arguments)
    if (!picker.pick(argument)) return std::nullopt;
  return picker.take();
}

bool can_pick_arguments(const FunctionSchema& schema) {
  return std::all_of(schema.arguments.begin(), schema.arguments.end(), [](const Argument& a) {
    const bool odd = a.type.base == BaseType::Class || a.type.base == BaseType::Storage ||
                     a.type.base == BaseType::Generator;
    return !odd || a.type.is_optional();
  });
}

}  // namespace sb::composition
