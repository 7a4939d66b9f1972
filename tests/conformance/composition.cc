#include "switchboard/tests/conformance/composition.h"

#include <algorithm>
#include <map>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/call_check.h"

namespace sb::conformance {
namespace {

bool has_while_loop(const Json& json) {
  if (!json.is_structured()) return false;
  if (json.is_object() && json.contains("hop") && json["hop"] == "while_loop") return true;
  return std::any_of(json.begin(), json.end(), has_while_loop);
}

}  // namespace

Composition::Composition(const Json& json, std::string way, Place& place,
                         const Dispatcher& dispatcher)
    : json_(json),
      way_(std::move(way)),
      place_(place),
      dispatcher_(dispatcher),
      tolerance_(read_tolerance(json)),
      runner_(json, place, dispatcher) {}

const Json& Composition::expected(const std::string& way) const {
  const Json& entry = json_.at("expect").at(way);
  return entry.contains("same_as") ? expected(entry["same_as"].get<std::string>()) : entry;
}

bool Composition::may_refuse(const std::string& way) const {
  const Json& entry = json_.at("expect").at(way);
  if (!entry.contains("pytorch")) return false;
  const Json& pytorch = entry["pytorch"];
  // Of control flow: what PyTorch's own operator did, where it was run.
  if (pytorch.contains("op")) return pytorch["op"] != "same" && pytorch["op"] != "not run";
  return pytorch.contains("refuses") || pytorch.contains("differs");
}

TensorFunction Composition::program() {
  return [this](const std::vector<Tensor>& inputs) { return runner_.run(inputs); };
}

ProgramCheck::ProgramCheck(const Composition& composition, std::vector<Tensor> inputs,
                           Compared compared)
    : place_(composition.place()),
      tolerance_(composition.tolerance()),
      inputs_(std::move(inputs)),
      compared_(compared),
      some_strides_free_(compared == Compared::Metadata && has_while_loop(composition.json())) {
  for (const Tensor& t : inputs_) before_.push_back(state_of(t, place_));
}

Difference ProgramCheck::outcome(const Json& expected, const std::vector<Tensor>& outputs) const {
  const Json& returns = expected.at("returns");
  if (returns.size() != outputs.size())
    return str_cat("expected ", returns.size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto d = output(i, read_tensor_spec(returns[i]), outputs))
      return str_cat("outputs.", i, ": ", *d);
  return compared_ == Compared::Metadata ? std::nullopt : inputs(expected.at("inputs"));
}

Difference ProgramCheck::output(size_t i, const TensorSpec& spec,
                                const std::vector<Tensor>& outputs) const {
  const Tensor& tensor = outputs[i];
  TensorState state = state_of(tensor, place_);
  if (some_strides_free_ && spec.shape == state.sizes)
    for (size_t d = 0; d < spec.shape.size(); ++d)
      if (spec.shape[d] < 2) state.strides[d] = spec.stride[d];
  const bool is_view = !spec.is.empty() || !spec.alias.empty();
  if (auto d = compared_ == Compared::Elements
                   ? compare_dtype_and_shape(spec, state)
                   : compare_metadata(spec, state, is_view && compared_ == Compared::Everything))
    return d;
  if (!place_.owns(tensor))
    return str_cat("expected a tensor of ", place_.name(), ", got ", tensor.describe());
  if (compared_ == Compared::Everything)
    if (auto d = relations(i, spec, outputs)) return d;
  return compare_elements(spec, state, tolerance_);
}

Difference ProgramCheck::relations(size_t i, const TensorSpec& spec,
                                   const std::vector<Tensor>& outputs) const {
  const Tensor& tensor = outputs[i];
  const auto check = [&](std::string_view list, size_t number, const Tensor& other) -> Difference {
    const std::string path = str_cat(list, ".", number);
    if (path == spec.is && !tensor.is_same(other)) return str_cat("is not ", path, " itself");
    if (path == spec.alias && !tensor.is_alias_of(other))
      return str_cat("does not share the storage of ", path);
    if (!spec.is.empty()) return std::nullopt;
    if (tensor.is_same(other)) return str_cat("is ", path, " itself");
    if (spec.alias.empty() && tensor.is_alias_of(other))
      return str_cat("shares the storage of ", path);
    return std::nullopt;
  };
  for (size_t n = 0; n < inputs_.size(); ++n)
    if (auto d = check("inputs", n, inputs_[n])) return d;
  for (size_t n = 0; n < i; ++n)
    if (auto d = check("outputs", n, outputs[n])) return d;
  return std::nullopt;
}

Difference ProgramCheck::inputs(const Json& changed) const {
  std::vector<Storage> written;
  std::map<size_t, TensorSpec> specs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto found = changed.find(str_cat("inputs.", i));
    if (found == changed.end()) continue;
    specs[i] = read_tensor_spec(*found);
    written.push_back(before_[i].storage);
  }
  if (specs.size() != changed.size()) throw MalformedCase("inputs that are not there have changed");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorState state = state_of(inputs_[i], place_);
    const auto spec = specs.find(i);
    Difference d;
    if (spec == specs.end()) {
      const bool shared = std::ranges::find(written, before_[i].storage) != written.end();
      d = compare_unchanged(before_[i], state, !shared);
      if (d) return str_cat("inputs.", i, " changed: ", *d);
    } else if (compared_ == Compared::Elements) {
      d = compare_dtype_and_shape(spec->second, state);
      if (!d) d = compare_elements(spec->second, state, tolerance_);
    } else {
      d = compare_metadata(spec->second, state, true);
      if (!d) d = compare_storage(spec->second, state, tolerance_);
    }
    if (d) return str_cat("inputs.", i, ", written to: ", *d);
  }
  return std::nullopt;
}

}  // namespace sb::conformance
