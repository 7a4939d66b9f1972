#include "switchboard/tests/conformance/arguments.h"

#include <map>
#include <optional>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

// A view of a whole-storage tensor, of any dtype.
Tensor make_view(const Tensor& base, const TensorSpec& spec) {
  const int64_t needed = checked_storage_bytes(spec.shape, spec.stride, spec.offset,
                                               static_cast<int64_t>(itemsize(spec.dtype)));
  if (static_cast<size_t>(needed) > base.storage()->nbytes())
    throw MalformedCase("a tensor reaches past the end of its storage");
  Tensor view = alias_with_unchecked(base, {0}, {1}, 0);
  TensorImpl* const impl = view.impl();
  impl->set_dtype(spec.dtype);
  impl->set_sizes_and_strides(spec.shape, spec.stride);
  impl->set_storage_offset(spec.offset);
  if (spec.conj) impl->set_key_set(impl->key_set() | DispatchKey::Conjugate);
  if (spec.neg) impl->set_key_set(impl->key_set() | DispatchKey::Negative);
  if (!spec.resizable) base.storage()->set_resizable(nullptr);
  return view;
}

class Builder {
 public:
  Builder(Place& place, const KnownTensors& known) : place_(place), known_(known) {}

  IValue value(const Json& json, const std::string& path) {
    if (json.is_object() && json.contains("sym")) return integer(json["sym"]);
    if (json.is_object() && json.contains("syms")) {
      std::vector<SymInt> integers;
      for (const Json& item : json["syms"]) integers.push_back(integer(item));
      return integers;
    }
    if (!is_tensor_value(json)) {
      IValue v = read_value(json);
      // Programs name the device that they run on.
      if (v.is_Device() && v.to_device().is_cpu()) return place_.device();
      return v;
    }
    if (json.contains("tensor")) {
      if (json["tensor"].is_null()) return IValue();
      return tensor(json["tensor"], path);
    }
    if (json.contains("storage_of")) return tensor(json["storage_of"], path).storage();
    if (json.contains("ref")) return named(path, known(json["ref"]));
    if (json.contains("refs")) return known_list(json["refs"], path);
    return list(json["tensors"], path);
  }

  Tensor tensor(const Json& json, const std::string& path) {
    const TensorSpec spec = read_tensor_spec(json);
    return named(path, spec.is.empty() ? make_view(storage(spec), spec) : arguments.at(spec.is));
  }

  Arguments arguments;

 private:
  IValue list(const Json& items, const std::string& path) {
    std::vector<std::optional<Tensor>> tensors;
    bool all = true;
    for (const Json& item : items) {
      const std::string item_path = str_cat(path, ".", tensors.size());
      tensors.push_back(item.is_null() ? std::nullopt
                                       : std::optional<Tensor>(tensor(item, item_path)));
      all &= !item.is_null();
    }
    if (!all) return tensors;
    std::vector<Tensor> plain;
    for (std::optional<Tensor>& t : tensors) plain.push_back(*std::move(t));
    return plain;
  }

  IValue known_list(const Json& refs, const std::string& path) {
    std::vector<Tensor> tensors;
    for (const Json& ref : refs)
      tensors.push_back(named(str_cat(path, ".", tensors.size()), known(ref)));
    return tensors;
  }

  const Tensor& known(const Json& ref) const { return known_.at(ref.get<std::string>()); }

  // An integer that depends on sizes: 3, ["size", "inputs.0", 1], ["+", X, X].
  SymInt integer(const Json& json) const {
    if (json.is_number_integer()) return SymInt(json.get<int64_t>());
    const std::string what = json.at(0).get<std::string>();
    if (what == "size") return known(json.at(1)).sym_size(json.at(2).get<int64_t>());
    const SymInt a = integer(json.at(1)), b = integer(json.at(2));
    if (what == "+") return a + b;
    if (what == "-") return a - b;
    if (what == "*") return a * b;
    if (what == "//") return sym_floor_div(a, b);
    throw MalformedCase(str_cat("an integer that is made by '", what, "'"));
  }

  Tensor named(const std::string& path, Tensor tensor) {
    arguments.tensors.push_back({path, tensor});
    return tensor;
  }

  Tensor storage(const TensorSpec& spec) {
    if (!spec.storage) throw MalformedCase("an argument without a storage");
    if (!spec.storage_id) return place_.make_storage(*spec.storage);
    const auto [it, is_new] = shared_.try_emplace(*spec.storage_id);
    if (is_new) it->second = place_.make_storage(*spec.storage);
    return it->second;
  }

  Place& place_;
  const KnownTensors& known_;
  std::map<int64_t, Tensor> shared_;
};

}  // namespace

const Tensor& Arguments::at(std::string_view path) const {
  for (const Named& named : tensors)
    if (named.path == path) return named.tensor;
  throw MalformedCase(str_cat("no tensor argument ", path));
}

const Tensor& KnownTensors::at(std::string_view path) const {
  constexpr std::string_view kOuter = "outer.";
  if (outer_ && path.starts_with(kOuter)) return outer_->at(path.substr(kOuter.size()));
  const auto it = tensors_.find(path);
  if (it == tensors_.end()) throw MalformedCase(str_cat("no tensor ", path));
  return it->second;
}

Tensor build_tensor(const Json& json, Place& place) {
  const KnownTensors none;
  return Builder(place, none).tensor(json, "");
}

std::vector<Tensor> build_tensors(const Json& list, Place& place) {
  const KnownTensors none;
  Builder builder(place, none);
  std::vector<Tensor> tensors;
  for (const Json& json : list) tensors.push_back(builder.tensor(json, ""));
  return tensors;
}

Arguments build_arguments(const Json& json, Place& place, const KnownTensors& known) {
  Builder builder(place, known);
  std::vector<IValue> positional;
  for (const Json& value : json.at("args"))
    positional.push_back(builder.value(value, str_cat("args.", positional.size())));
  if (json.contains("kwargs")) {
    for (const auto& [name, value] : json["kwargs"].items())
      builder.arguments.keyword.emplace_back(name, builder.value(value, str_cat("kwargs.", name)));
  }
  builder.arguments.positional = std::move(positional);
  return std::move(builder.arguments);
}

}  // namespace sb::conformance
