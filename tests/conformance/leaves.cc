#include "switchboard/tests/conformance/leaves.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"

namespace sb::conformance {
namespace {

int64_t numel_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

// Whether strides are contiguous, those of single elements aside.
bool is_contiguous(const TensorSpec& spec) {
  const std::vector<int64_t> strides = contiguous_strides(spec.shape);
  if (numel_of(spec.shape) == 0) return true;
  for (size_t d = 0; d < strides.size(); ++d)
    if (spec.shape[d] != 1 && spec.stride[d] != strides[d]) return false;
  return true;
}

class CloneMaker {
 public:
  CloneMaker(const Json& inputs, Place& place, const Dispatcher& dispatcher)
      : inputs_(inputs),
        place_(place),
        clone_(dispatcher.find_op_or_throw("aten::clone")),
        as_strided_(dispatcher.find_op_or_throw("aten::as_strided")) {}

  Leaves make() {
    for (const Json& json : inputs_) specs_.push_back(read_tensor_spec(json));
    std::map<int64_t, Tensor> clones;  // by storage
    for (size_t i = 0; i < specs_.size(); ++i) {
      const TensorSpec& spec = specs_[i];
      if (!is_differentiable(spec.dtype)) {
        result_.inputs.push_back(build_tensor(inputs_[i], place_));
      } else if (alone(spec) && spec.offset == 0 && is_contiguous(spec) &&
                 numel_of(spec.shape) == static_cast<int64_t>(spec.storage->size())) {
        result_.inputs.push_back(clone_of_leaf(spec, spec.shape));
      } else {
        Tensor clone = spec.storage_id ? clones[*spec.storage_id] : Tensor();
        if (!clone.defined())
          clone = clone_of_leaf(spec, {static_cast<int64_t>(spec.storage->size())});
        if (spec.storage_id) clones[*spec.storage_id] = clone;
        result_.inputs.push_back(
            place_.call(as_strided_, {clone, spec.shape, spec.stride, spec.offset}, {})
                .at(0)
                .to_tensor());
      }
    }
    return std::move(result_);
  }

 private:
  bool alone(const TensorSpec& spec) const {
    return !spec.storage_id ||
           std::ranges::count(specs_, spec.storage_id, &TensorSpec::storage_id) == 1;
  }

  Tensor clone_of_leaf(const TensorSpec& spec, const std::vector<int64_t>& shape) {
    const Tensor storage = place_.make_storage(*spec.storage);
    storage.impl()->set_sizes_and_strides(shape, contiguous_strides(shape));
    set_requires_grad(storage);
    result_.leaves.push_back({str_cat("leaves.", result_.leaves.size()), storage});
    return place_.call(clone_, {storage}, {}).at(0).to_tensor();
  }

  const Json& inputs_;
  Place& place_;
  const OperatorHandle clone_, as_strided_;
  std::vector<TensorSpec> specs_;
  Leaves result_;
};

bool is_zero(const Tensor& tensor, Place& place) {
  const TensorState state = state_of(tensor, place);
  TensorSpec zeros;
  zeros.dtype = state.dtype;
  zeros.shape = state.sizes;
  zeros.stride.assign(zeros.shape.size(), 0);
  zeros.storage = Elements{zeros.dtype, std::vector<std::byte>(itemsize(zeros.dtype)), {true}};
  return !compare_elements(zeros, state, {});
}

}  // namespace

Leaves make_leaves(const Json& inputs, const std::string& kind, Place& place,
                   const Dispatcher& dispatcher) {
  if (kind == "clones") return CloneMaker(inputs, place, dispatcher).make();
  if (kind != "inputs") throw MalformedCase(str_cat("leaves of unknown kind '", kind, "'"));
  // They are built without operators, so that autograd takes them for no views: they may become
  // leaves, whatever their strides are.
  Leaves result{{}, build_tensors(inputs, place)};
  for (size_t i = 0; i < result.inputs.size(); ++i) {
    if (!is_differentiable(result.inputs[i].dtype())) continue;
    set_requires_grad(result.inputs[i]);
    result.leaves.push_back({str_cat("inputs.", i), result.inputs[i]});
  }
  return result;
}

Difference find_roots(const std::vector<Tensor>& outputs, const Json& grad_outputs, Place& place,
                      Roots* roots) {
  if (grad_outputs.size() != outputs.size())
    return str_cat("expected ", grad_outputs.size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (grad_outputs[i].is_null()) {
      if (!requires_grad(outputs[i])) continue;
      return str_cat("output ", i, ": expected one without a gradient, got one that requires it");
    }
    roots->tensors.push_back(outputs[i]);
    roots->grads.push_back(build_tensor(grad_outputs[i], place));
  }
  return std::nullopt;
}

Difference compare_tensor(const Json& expected, const Tensor& tensor, Place& place,
                          Tolerance tolerance) {
  if (!tensor.defined()) return std::string("expected a tensor, got none");
  const TensorSpec spec = read_tensor_spec(expected);
  const TensorState state = state_of(tensor, place);
  if (auto d = compare_dtype_and_shape(spec, state)) return d;
  if (!place.owns(tensor))
    return str_cat("expected a tensor of ", place.name(), ", got ", tensor.describe());
  return compare_elements(spec, state, tolerance);
}

Difference compare_gradients(const Json& expected, const std::vector<Arguments::Named>& leaves,
                             const std::function<Tensor(size_t leaf)>& gradient, Unnamed unnamed,
                             Place& place, Tolerance tolerance) {
  std::set<const TensorImpl*> named;  // a tensor may go by several paths
  for (const auto& [path, spec] : expected.items()) {
    const auto leaf = std::ranges::find(leaves, path, &Arguments::Named::path);
    if (leaf == leaves.end()) throw MalformedCase(str_cat("no tensor ", path));
    named.insert(leaf->tensor.impl());
    const Tensor grad = gradient(static_cast<size_t>(leaf - leaves.begin()));
    if (auto d = compare_tensor(spec, grad, place, tolerance))
      return str_cat("grads.", path, ": ", *d);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (named.contains(leaves[i].tensor.impl())) continue;
    const Tensor grad = gradient(i);
    if (!grad.defined() || (unnamed == Unnamed::NoneOrZeros && is_zero(grad, place))) continue;
    return str_cat("grads.", leaves[i].path, ": expected none, got ", grad.describe());
  }
  return std::nullopt;
}

}  // namespace sb::conformance
