#include "switchboard/custom_ops/opcheck/checked_call.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/node.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb::internal {
namespace {

// The memory of a storage as one tensor of bytes.
Tensor bytes_of(const Storage& storage) {
  const Device device = storage->device();
  auto impl =
      make_intrusive<TensorImpl>(storage, tensor_key_set(device.type), DType::UInt8, device);
  impl->set_sizes_contiguous({static_cast<int64_t>(storage->nbytes())});
  return Tensor(std::move(impl));
}

// Gives back what it gets: makes a tensor one that was computed from a leaf.
class FromLeafNode final : public GradNode {
 public:
  explicit FromLeafNode(const Tensor& leaf) { add_edge(gradient_edge(leaf)); }
  std::string name() const override { return "an argument of opcheck"; }
  TensorVector apply(TensorVector grads) override { return grads; }
};

class Copier {
 public:
  // `written`: of the tensors that are copied.
  explicit Copier(bool keep_grad, absl::flat_hash_set<const TensorImpl*> written = {})
      : keep_grad_(keep_grad), written_(std::move(written)) {}

  Tensor copy(const Tensor& t) {
    Tensor& made = tensors_[t.impl()];
    if (made.defined()) return made;
    const Tensor& bytes = memory(t.storage());
    auto impl = make_intrusive<TensorImpl>(bytes.storage(), t.key_set(), t.dtype(), t.device());
    impl->set_sizes_and_strides(t.sizes(), t.strides());
    impl->set_storage_offset(t.storage_offset());
    impl->set_wrapped_number(t.impl()->is_wrapped_number());
    impl->set_quantizer(t.impl()->quantizer());
    impl->share_version_counter(*bytes.impl());
    made = Tensor(std::move(impl));
    if (keep_grad_ && requires_grad(t)) require_grad(made, written_.contains(t.impl()));
    return made;
  }

 private:
  static void require_grad(const Tensor& made, bool is_written) {
    if (!is_written) return set_requires_grad(made);
    const Tensor leaf = empty_on(made.device(), made.sizes(), made.dtype());
    set_requires_grad(leaf);
    set_history(made, make_intrusive<FromLeafNode>(leaf));
  }

  const Tensor& memory(const Storage& storage) {
    Tensor& made = storages_[storage.get()];
    if (made.defined()) return made;
    const NoGradGuard off;
    const Tensor bytes = bytes_of(storage);
    made = empty_on(bytes.device(), bytes.sizes(), DType::UInt8);
    copy_(made, bytes);
    return made;
  }

  bool keep_grad_;
  absl::flat_hash_set<const TensorImpl*> written_;
  absl::flat_hash_map<const TensorImpl*, Tensor> tensors_;
  absl::flat_hash_map<const StorageImpl*, Tensor> storages_;
};

// Calls f(tensor, suffix) for each defined tensor, with ", element 2" for one in a list.
template <class F>
void for_each_named(const IValue& value, F&& f) {
  if (value.is_Tensor()) {
    if (value.unchecked_tensor().defined()) f(value.unchecked_tensor(), "");
    return;
  }
  if (!value.is_TensorList() && !value.is_OptionalTensorList() && !value.is_List()) return;
  // for_each_tensor leaves out what is not there, and so its count is not the element's place.
  const auto element = [&](size_t i, const Tensor& t) {
    if (t.defined()) f(t, str_cat(", element ", i));
  };
  if (value.is_TensorList()) {
    for (size_t i = 0; i < value.to_tensor_list().size(); ++i)
      element(i, value.to_tensor_list()[i]);
  } else if (value.is_OptionalTensorList()) {
    const OptionalTensorList list = value.to_optional_tensor_list();
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i]) element(i, *list[i]);
  } else {
    for (size_t i = 0; i < value.to_list().size(); ++i)
      value.to_list()[i].for_each_tensor([&](const Tensor& t) { element(i, t); });
  }
}

std::vector<NamedTensor> name_arguments(const FunctionSchema& schema, const Stack& arguments) {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    for_each_named(arguments[i], [&](const Tensor& t, std::string suffix) {
      tensors.push_back(
          {str_cat("argument ", i, " '", argument.name, "'", suffix), t, argument.is_write()});
    });
  }
  return tensors;
}

// Whether two elements have one place.
bool has_overlap(const Tensor& t) {
  if (t.impl()->is_non_overlapping_and_dense() || t.numel() < 2) return false;
  if (has_internal_overlap(t)) return true;
  if (t.numel() > 100000) return false;
  std::vector<int64_t> places = {0};
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    const size_t before = places.size();
    for (int64_t i = 1; i < t.sizes()[d]; ++i)
      for (size_t k = 0; k < before; ++k) places.push_back(places[k] + i * t.strides()[d]);
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

}  // namespace

std::vector<NamedTensor> Run::argument_tensors() const {
  return name_arguments(*schema, arguments);
}

std::vector<NamedTensor> Run::result_tensors() const {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < results.size(); ++i)
    for_each_named(results[i], [&](const Tensor& t, std::string suffix) {
      tensors.push_back({str_cat("result ", i, suffix), t, false});
    });
  return tensors;
}

namespace {

Stack copy_with(Copier copier, const Stack& arguments) {
  Stack copies;
  for (const IValue& value : arguments)
    copies.push_back(map_tensors(value, [&](const Tensor& t) { return copier.copy(t); }));
  return copies;
}

}  // namespace

Stack copy_arguments(const Stack& arguments, bool keep_grad) {
  return copy_with(Copier(keep_grad), arguments);
}

Stack copy_arguments(const Stack& arguments, const FunctionSchema& schema) {
  absl::flat_hash_set<const TensorImpl*> written;
  for (const NamedTensor& t : name_arguments(schema, arguments))
    if (t.is_written) written.insert(t.tensor.impl());
  return copy_with(Copier(true, std::move(written)), arguments);
}

Run CheckedCall::run(bool keep_grad) const {
  return run_on(keep_grad ? copy_arguments(arguments, schema()) : copy_arguments(arguments, false));
}

Run CheckedCall::run_on(Stack given) const {
  Run run{&schema(), given, std::move(given)};
  op.call_boxed(&run.results);
  return run;
}

std::vector<NamedTensor> CheckedCall::tensors() const {
  return name_arguments(schema(), arguments);
}

bool CheckedCall::any_requires_grad() const {
  const std::vector<NamedTensor> all = tensors();
  return std::any_of(all.begin(), all.end(),
                     [](const NamedTensor& t) { return requires_grad(t.tensor); });
}

bool CheckedCall::writes() const {
  const std::vector<NamedTensor> all = tensors();
  return std::any_of(all.begin(), all.end(), [](const NamedTensor& t) { return t.is_written; });
}

std::string CheckedCall::unordered_writes() const {
  std::vector<NamedTensor> written = tensors();
  std::erase_if(written, [](const NamedTensor& t) { return !t.is_written; });
  for (size_t i = 0; i < written.size(); ++i) {
    if (has_overlap(written[i].tensor))
      return str_cat(written[i].name, " is written to, and its elements overlap");
    for (size_t k = 0; k < i; ++k)
      if (written[i].tensor.is_alias_of(written[k].tensor))
        return str_cat(written[k].name, " and ", written[i].name,
                       " are written to, and share memory");
  }
  return "";
}

bool CheckedCall::is_random(bool bitwise) const {
  const TagSet tags = op.entry().tags();
  return tags.has(Tag::nondeterministic_seeded) ||
         (bitwise && tags.has(Tag::nondeterministic_bitwise));
}

}  // namespace sb::internal
