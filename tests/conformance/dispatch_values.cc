#include "switchboard/tests/conformance/dispatch_values.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/alias_keys.h"

namespace sb::conformance {
namespace {

Tensor tensor_of_keys(DispatchKeySet keys, Device device = DeviceType::CPU) {
  return Tensor(make_intrusive<TensorImpl>(nullptr, keys, DType::Float32, device));
}

// A tensor of an argument list; nullopt for null.
std::optional<Tensor> read_dispatch_tensor(const Json& json) {
  if (json.is_null()) return std::nullopt;
  if (json.contains("keys")) return tensor_of_keys(read_keys(json["keys"]));
  if (json.contains("undefined")) return Tensor();
  if (json.contains("device")) {
    const Device device(json["device"].get<std::string>());
    return tensor_of_keys(tensor_key_set(device.type, json.value("inference", false)), device);
  }
  throw MalformedCase(str_cat("not a tensor argument: ", json.dump()));
}

IValue read_list_argument(const Json& items, bool optional) {
  std::vector<std::optional<Tensor>> tensors;
  for (const Json& item : items) tensors.push_back(read_dispatch_tensor(item));
  if (optional) return tensors;
  std::vector<Tensor> plain;
  for (const std::optional<Tensor>& t : tensors) plain.push_back(t.value());
  return plain;
}

// "Tensor?[]" as a code.
TypeCode read_type(std::string_view text) {
  const size_t end = std::min(text.find_first_of("?["), text.size());
  const std::optional<BaseType> base = find_base_type(text.substr(0, end));
  if (!base) throw MalformedCase(str_cat("not a type: ", text));
  TypeCode code = type_code(*base);
  for (std::string_view rest = text.substr(end); !rest.empty();) {
    const bool is_list = rest.substr(0, 2) == "[]";
    code = with_modifier(code, is_list ? TypeModifier::List : TypeModifier::Optional);
    rest.remove_prefix(is_list ? 2 : 1);
  }
  return code;
}

std::vector<TypeCode> read_types(std::string_view text) {
  std::vector<TypeCode> codes;
  if (text == "()") return codes;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    codes.push_back(read_type(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return codes;
}

class TypedState : public KernelState {
 public:
  TypedState(std::vector<TypeCode> arguments, std::vector<TypeCode> returns)
      : arguments_(std::move(arguments)), returns_(std::move(returns)) {
    signature.arguments = arguments_;
    signature.returns = returns_;
  }
  CppSignature signature;

 private:
  std::vector<TypeCode> arguments_;
  std::vector<TypeCode> returns_;
};

[[noreturn]] void refuse_call(const Kernel&, const OperatorHandle&, DispatchKeySet, Stack*) {
  SB_THROW(RuntimeError, "a typed kernel of a conformance case is never called");
}

DispatchKeySet keys_of_backend(const Json& json, DispatchKeySet (*of)(Backend),
                               DispatchKeySet without_backend) {
  const std::optional<Backend> backend = backend_of(read_key(json));
  return backend ? of(*backend) : without_backend;
}

// The keys that only key sets list.
constexpr std::string_view kOnlyInKeySets[] = {
    "Python",
    "FuncTorchDynamicLayerBackMode",
    "Conjugate",
    "Negative",
    "ZeroTensor",
    "Tracer",
    "Batched",
    "FuncTorchGradWrapper",
    "DeferredInit",
    "PythonTLSSnapshot",
    "FuncTorchDynamicLayerFrontMode",
    "PreDispatch",
};

bool is_listed(DispatchKey key) {
  const auto has = [&](absl::Span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), canonical_name(key)) != names.end();
  };
  return key != DispatchKey::Undefined && (has(table_keys()) || has(kOnlyInKeySets));
}

}  // namespace

DispatchKey read_key(const Json& json) {
  const std::string name = json.get<std::string>();
  const std::optional<DispatchKey> key = find_dispatch_key(name);
  SB_CHECK(key.has_value(), "could not parse dispatch key: ", name);
  return *key;
}

DispatchKeySet read_keys(const Json& list) {
  DispatchKeySet keys;
  for (const Json& key : list) keys |= read_key(key);
  return keys;
}

IValue read_dispatch_argument(const Json& json) {
  if (json.is_null()) return IValue();
  if (json.contains("list")) return read_list_argument(json["list"], json.value("optional", false));
  if (json.contains("int") || json.contains("str") || json.contains("bool"))
    return read_value(json);
  return read_dispatch_tensor(json).value();
}

DispatchKeySet evaluate_key_set(const Json& expression) {
  const std::string what = expression.at(0).get<std::string>();
  auto operand = [&](size_t i) { return evaluate_key_set(expression.at(i)); };
  if (what == "of") {
    DispatchKeySet keys;
    for (size_t i = 1; i < expression.size(); ++i) keys |= read_key(expression[i]);
    return keys;
  }
  if (what == "union") return operand(1) | operand(2);
  if (what == "intersect") return operand(1) & operand(2);
  if (what == "minus") return operand(1) - operand(2);
  if (what == "remove") return operand(1) - read_key(expression.at(2));
  if (what == "after") return DispatchKeySet::below(read_key(expression.at(1)));
  if (what == "backends_of") return backend_keys_behind(read_key(expression.at(1)));
  if (what == "autograd_of")
    return keys_of_backend(
        expression.at(1), autograd_keys_of,
        DispatchKeySet{DispatchKey::ADInplaceOrView, DispatchKey::AutogradOther});
  if (what == "autocast_of") return keys_of_backend(expression.at(1), autocast_keys_of, {});
  if (what == "key_set") {
    DispatchKeySet keys;
    read_dispatch_argument(expression.at(1)).for_each_tensor([&](const Tensor& t) {
      keys |= t.key_set();
    });
    return keys;
  }
  throw MalformedCase(str_cat("a key set expression of unknown kind '", what, "'"));
}

absl::Span<const std::string_view> table_keys() {
  static constexpr std::string_view kKeys[] = {
      // clang-format off
      "Undefined", "CPU", "CUDA", "XLA", "MPS", "IPU", "XPU", "HPU", "Lazy", "MTIA", "MAIA", "Meta",
      "PrivateUse1", "PrivateUse2", "PrivateUse3", "FPGA", "Vulkan", "Metal", "QuantizedCPU",
      "QuantizedCUDA", "QuantizedPrivateUse1", "QuantizedMeta", "CustomRNGKeyId", "MkldnnCPU",
      "SparseCPU", "SparseCUDA", "SparseXLA", "SparsePrivateUse1", "SparseMeta", "SparseCsrCPU",
      "SparseCsrCUDA", "SparseCsrXLA", "SparseCsrPrivateUse1", "SparseCsrMeta", "NestedTensorCPU",
      "NestedTensorCUDA", "NestedTensorPrivateUse1", "NestedTensorMeta", "BackendSelect", "Fake",
      "Functionalize", "ADInplaceOrView", "AutogradOther", "AutogradCPU", "AutogradCUDA",
      "AutogradXLA", "AutogradMPS", "AutogradIPU", "AutogradXPU", "AutogradHPU", "AutogradLazy",
      "AutogradMTIA", "AutogradMAIA", "AutogradMeta", "AutogradPrivateUse1", "AutogradPrivateUse2",
      "AutogradPrivateUse3", "AutogradNestedTensor", "AutocastCPU", "AutocastMTIA", "AutocastMAIA",
      "AutocastXPU", "AutocastIPU", "AutocastHPU", "AutocastXLA", "AutocastMPS", "AutocastCUDA",
      "AutocastPrivateUse1", "FuncTorchBatched", "BatchedNestedTensor", "FuncTorchVmapMode",
      "VmapMode", "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode",
      // clang-format on
  };
  return kKeys;
}

Json listed_members(DispatchKeySet set) {
  std::vector<std::string> members;
  for (DispatchKey key : set.keys())
    if (is_listed(key)) members.emplace_back(canonical_name(key));
  std::sort(members.begin(), members.end());
  return members;
}

KernelFunction make_typed_kernel(std::string_view type) {
  const size_t arrow = type.find("->");
  if (arrow == std::string_view::npos) throw MalformedCase(str_cat("not a type: ", type));
  auto state = make_intrusive<TypedState>(read_types(type.substr(0, arrow)),
                                          read_types(type.substr(arrow + 2)));
  KernelFunction kernel;
  kernel.entries.boxed = refuse_call;
  kernel.entries.state = state.get();
  kernel.signature = &state->signature;
  kernel.state = std::move(state);
  return kernel;
}

IValue empty_return(const Type& type) {
  if (type.is_list()) return type.has_tensor() ? IValue(std::vector<Tensor>()) : IValue();
  switch (type.base) {
    case BaseType::Tensor:
      return Tensor();
    case BaseType::Int:
    case BaseType::SymInt:
    case BaseType::Scalar:
      return 0;
    case BaseType::Float:
      return 0.0;
    case BaseType::Bool:
      return false;
    default:
      return IValue();
  }
}

}  // namespace sb::conformance
