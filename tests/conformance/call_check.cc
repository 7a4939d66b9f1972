#include "switchboard/tests/conformance/call_check.h"

#include <algorithm>
#include <map>

#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

// A factory function makes its result where the program runs, which is the CPU unless told.
void name_device(const OperatorHandle& op, Place& place, Arguments* arguments) {
  if (place.device().is_cpu() || !arguments->tensors.empty()) return;
  const std::optional<size_t> index = op.schema().find_argument("device");
  if (!index || *index < arguments->positional.size()) return;
  for (auto& [name, value] : arguments->keyword) {
    if (name != "device") continue;
    if (value.is_None()) value = place.device();
    return;
  }
  arguments->keyword.emplace_back("device", place.device());
}

}  // namespace

CaseCall prepare_call(const Json& json, Place& place, const Dispatcher& dispatcher,
                      const KnownTensors& known) {
  const std::string name = json.at("op").get<std::string>();
  const std::optional<OperatorHandle> op = dispatcher.find_op(name);
  if (!op) throw Unsupported("the operator is not registered", name);
  CaseCall call{*op, build_arguments(json, place, known)};
  for (const auto& [path, tensor] : call.arguments.tensors) {
    for (DispatchKey lazy : {DispatchKey::Conjugate, DispatchKey::Negative})
      if (tensor.key_set().has(lazy) && !dispatcher.resolve(op->entry(), lazy).kernel)
        throw Unsupported(str_cat("no kernel for ", to_string(lazy)), name);
  }
  name_device(*op, place, &call.arguments);
  return call;
}

bool depends_on_data(const Error& error) {
  return dynamic_cast<const DataDependentOutputError*>(&error) != nullptr ||
         dynamic_cast<const DynamicOutputShapeError*>(&error) != nullptr;
}

Outcome outcome_of(absl::FunctionRef<Outcome()> run) {
  try {
    return run();
  } catch (const Unsupported& e) {
    return Outcome::skipped(e.what(), e.detail());
  } catch (const MalformedCase& e) {
    return Outcome::failed(str_cat("malformed case: ", e.what()));
  } catch (const Json::exception& e) {
    return Outcome::failed(str_cat("malformed case: ", e.what()));
  } catch (const std::exception& e) {
    return Outcome::failed(str_cat("threw what is not an sb::Error: ", e.what()));
  }
}

Tolerance read_tolerance(const Json& json) {
  if (!json.contains("tol")) return {};
  return {json["tol"][0], json["tol"][1]};
}

CallCheck::CallCheck(const Json& json, Place& place, const Arguments& arguments)
    : json_(json), place_(place), arguments_(arguments), tolerance_(read_tolerance(json)) {
  for (const Arguments::Named& named : arguments.tensors)
    before_.push_back(state_of(named.tensor, place));
  values_ = json.value("compare", "values") == "values";
}

Difference CallCheck::results(const std::vector<IValue>& actual) {
  const Json& expected = json_.at("returns");
  if (expected.size() != actual.size())
    return str_cat("expected ", expected.size(), " results, got ", actual.size());
  for (size_t i = 0; i < actual.size(); ++i)
    if (auto d = result(str_cat("returns.", i), expected[i], actual[i])) return d;
  return std::nullopt;
}

Difference CallCheck::arguments() {
  std::map<std::string, TensorSpec> mutated;
  std::vector<Storage> written;
  if (json_.contains("mutated")) {
    for (const auto& [path, spec] : json_["mutated"].items()) {
      mutated[path] = read_tensor_spec(spec);
      written.push_back(before_[index_of(path)].storage);
      written.push_back(arguments_.at(path).storage());
    }
  }
  for (size_t i = 0; i < before_.size(); ++i) {
    const auto& [path, tensor] = arguments_.tensors[i];
    const auto named = std::find_if(mutated.begin(), mutated.end(), [&](const auto& m) {
      return arguments_.at(m.first).is_same(tensor);
    });
    Difference d;
    if (named == mutated.end()) {
      const bool shared =
          std::find(written.begin(), written.end(), before_[i].storage) != written.end();
      d = compare_unchanged(before_[i], state_of(tensor, place_), !shared);
      if (d) return str_cat("argument ", path, " changed: ", *d);
    } else if ((d = argument(named->second, tensor))) {
      return str_cat("argument ", path, ", written to: ", *d);
    }
  }
  return std::nullopt;
}

size_t CallCheck::index_of(const std::string& path) const {
  for (size_t i = 0; i < arguments_.tensors.size(); ++i)
    if (arguments_.tensors[i].path == path) return i;
  throw MalformedCase(str_cat("no tensor argument ", path));
}

Difference CallCheck::argument(const TensorSpec& spec, const Tensor& tensor) {
  const TensorState state = state_of(tensor, place_);
  if (auto d = compare_metadata(spec, state, true)) return d;
  if (!spec.alias.empty() && !tensor.is_alias_of(arguments_.at(spec.alias)))
    return str_cat("expected the storage of ", spec.alias);
  return values_ ? compare_storage(spec, state, tolerance_) : std::nullopt;
}

Difference CallCheck::result(const std::string& where, const Json& expected, const IValue& actual) {
  Difference d;
  if (expected.is_null()) {
    if (actual.is_None() || (actual.is_Tensor() && !actual.to_tensor().defined())) return d;
    d = str_cat("expected None, got ", actual.to_string());
  } else if (expected.contains("tensors")) {
    d = tensors(where, expected["tensors"], actual);
    return d;
  } else if (expected.contains("tensor")) {
    d = actual.is_Tensor() ? tensor(expected["tensor"], actual.to_tensor())
                           : str_cat("expected a tensor, got ", actual.to_string());
  } else {
    d = compare_value(read_value(expected), actual, tolerance_);
  }
  if (d) return str_cat(where, ": ", *d);
  return d;
}

Difference CallCheck::tensors(const std::string& where, const Json& expected,
                              const IValue& actual) {
  std::vector<Tensor> list;
  if (actual.is_TensorList()) {
    list.assign(actual.to_tensor_list().begin(), actual.to_tensor_list().end());
  } else if (actual.is_OptionalTensorList()) {
    for (const std::optional<Tensor>& t : actual.to_optional_tensor_list())
      list.push_back(t.value_or(Tensor()));
  } else {
    return str_cat(where, ": expected a list of tensors, got ", actual.to_string());
  }
  if (list.size() != expected.size())
    return str_cat(where, ": expected ", expected.size(), " tensors, got ", list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (auto d = tensor(expected[i], list[i])) return str_cat(where, ".", i, ": ", *d);
  return std::nullopt;
}

Difference CallCheck::tensor(const Json& json, const Tensor& tensor) {
  if (json.is_null()) {
    if (!tensor.defined()) return std::nullopt;
    return str_cat("expected no tensor, got ", tensor.describe());
  }
  if (!tensor.defined()) return std::string("expected a tensor, got an undefined one");
  const TensorSpec spec = read_tensor_spec(json);
  const bool is_new = spec.is.empty() && spec.alias.empty();
  const TensorState state = state_of(tensor, place_);
  if (auto d = compare_metadata(spec, state, !is_new)) return d;
  if (!place_.owns(tensor))
    return str_cat("expected a tensor of ", place_.name(), ", got ", tensor.describe());
  if (auto d = relations(spec, tensor)) return d;
  return values_ ? compare_elements(spec, state, tolerance_) : std::nullopt;
}

Difference CallCheck::relations(const TensorSpec& spec, const Tensor& tensor) {
  for (const auto& [path, argument] : arguments_.tensors) {
    if (path == spec.is && !tensor.is_same(argument)) return str_cat("is not ", path, " itself");
    if (path == spec.alias && !tensor.is_alias_of(argument))
      return str_cat("does not share the storage of ", path);
    if (spec.is.empty() && tensor.is_same(argument)) return str_cat("is ", path, " itself");
    if (spec.is.empty() && spec.alias.empty() && tensor.is_alias_of(argument))
      return str_cat("shares the storage of ", path);
  }
  if (!spec.is.empty() || !spec.alias.empty()) return std::nullopt;
  for (const auto& [id, other] : new_results_) {
    const bool expected = id && id == spec.storage_id;
    if (tensor.is_alias_of(other) != expected)
      return str_cat(expected ? "does not share" : "shares", " the storage of another result");
  }
  new_results_.emplace_back(spec.storage_id, tensor);
  return std::nullopt;
}

}  // namespace sb::conformance
