// Storage of the values that a node's formulas read: each C++ type of an argument has an owning
// form.

#ifndef SWITCHBOARD_AUTOGRAD_STORED_H_
#define SWITCHBOARD_AUTOGRAD_STORED_H_

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/autograd/node.h"
#include "switchboard/autograd/saved_tensor.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/dispatch/schema/cpp_types.h"

namespace sb::internal {

// A copy of a tensor that is about to be written to.
Tensor copy_for_backward(const Tensor& tensor);

// Values keep themselves: numbers, devices, Scalars.
template <class T>
struct Stored {
  static_assert(
      !requires(T t) { t.data(); }, "what points to elsewhere needs a form of its own");
  void save(const T& v, bool) { value = v; }
  const T& load(GradNode&) const { return value; }
  void release() {}
  T value{};
};

template <>
struct Stored<Tensor> {
  void save(const Tensor& t, bool overwritten) {
    tensor.save_input(overwritten ? copy_for_backward(t) : t);
  }
  Tensor load(GradNode& owner) const { return tensor.unpack(owner); }
  void release() { tensor.release(); }
  SavedTensor tensor;
};
template <>
struct Stored<std::optional<Tensor>> {
  void save(const std::optional<Tensor>& t, bool) {
    if ((given = t && t->defined())) tensor.save_input(*t);
  }
  std::optional<Tensor> load(GradNode& owner) const {
    return given ? std::optional<Tensor>(tensor.unpack(owner)) : std::nullopt;
  }
  void release() { tensor.release(); }
  SavedTensor tensor;
  bool given = false;
};
template <>
struct Stored<TensorList> {
  void save(TensorList list, bool) {
    for (const Tensor& t : list) tensors.emplace_back(t);
  }
  std::vector<Tensor> load(GradNode& owner) const {
    std::vector<Tensor> list;
    for (const SavedTensor& t : tensors) list.push_back(t.unpack(owner));
    return list;
  }
  void release() {
    for (SavedTensor& t : tensors) t.release();
  }
  std::vector<SavedTensor> tensors;
};
template <>
struct Stored<OptionalTensorList> {
  void save(OptionalTensorList list, bool) {
    tensors.resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) tensors[i].save(list[i], false);
  }
  std::vector<std::optional<Tensor>> load(GradNode& owner) const {
    std::vector<std::optional<Tensor>> list;
    for (const auto& t : tensors) list.push_back(t.load(owner));
    return list;
  }
  void release() {
    for (auto& t : tensors) t.release();
  }
  std::vector<Stored<std::optional<Tensor>>> tensors;
};

// Lists of numbers. What load() gives points into the node.
template <class T>
struct Stored<absl::Span<const T>> {
  void save(absl::Span<const T> list, bool) { values.assign(list.begin(), list.end()); }
  absl::Span<const T> load(GradNode&) const { return values; }
  void release() {}
  absl::InlinedVector<T, 4> values;
};
template <>
struct Stored<SymIntArrayRef> {
  void save(SymIntArrayRef list, bool) { values.assign(list.begin(), list.end()); }
  SymIntArrayRef load(GradNode&) const { return {values.data(), values.size()}; }
  void release() {}
  SymDimVector values;
};
template <class Span>
struct Stored<OptionalSpan<Span>> {
  void save(const OptionalSpan<Span>& list, bool) {
    if (list) values.emplace(list->begin(), list->end());
  }
  OptionalSpan<Span> load(GradNode&) const {
    return values ? OptionalSpan<Span>(Span(*values)) : OptionalSpan<Span>();
  }
  void release() {}
  std::optional<std::vector<typename Span::value_type>> values;
};
template <>
struct Stored<std::string_view> {
  void save(std::string_view text, bool) { value = text; }
  std::string_view load(GradNode&) const { return value; }
  void release() {}
  std::string value;
};
template <>
struct Stored<std::optional<std::string_view>> {
  void save(std::optional<std::string_view> text, bool) {
    if (text) value.emplace(*text);
  }
  std::optional<std::string_view> load(GradNode&) const {
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
  }
  void release() {}
  std::optional<std::string> value;
};

// The metadata of an argument, without the argument.
template <class T>
struct StoredMeta;
template <>
struct StoredMeta<Tensor> {
  void save(const Tensor& t) { meta = InputMetadata(t); }
  const InputMetadata& load() const { return meta; }
  InputMetadata meta;
};
template <>
struct StoredMeta<std::optional<Tensor>> {
  void save(const std::optional<Tensor>& t) {
    if (t && t->defined()) meta = InputMetadata(*t);
  }
  const std::optional<InputMetadata>& load() const { return meta; }
  std::optional<InputMetadata> meta;
};
template <>
struct StoredMeta<TensorList> {
  void save(TensorList list) {
    for (const Tensor& t : list) metas.emplace_back(t);
  }
  absl::Span<const InputMetadata> load() const { return metas; }
  std::vector<InputMetadata> metas;
};

template <class T>
struct StoredResult {
  void save(const T& v, GradNode&) { value = v; }
  const T& load(GradNode&) const { return value; }
  void release() {}
  T value{};
};
template <>
struct StoredResult<Tensor> {
  void save(const Tensor& t, GradNode& owner) { tensor.save_output(t, owner); }
  Tensor load(GradNode& owner) const { return tensor.unpack(owner); }
  void release() { tensor.release(); }
  SavedTensor tensor;
};
template <>
struct StoredResult<std::vector<Tensor>> {
  void save(const std::vector<Tensor>& list, GradNode& owner) {
    tensors.resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) tensors[i].save_output(list[i], owner);
  }
  std::vector<Tensor> load(GradNode& owner) const {
    std::vector<Tensor> list;
    for (const SavedTensor& t : tensors) list.push_back(t.unpack(owner));
    return list;
  }
  void release() {
    for (SavedTensor& t : tensors) t.release();
  }
  std::vector<SavedTensor> tensors;
};

// Stands for an argument that no formula reads. Numbered, so that each is a type of its own and
// takes no room.
template <size_t>
struct NothingStored {
  void release() {}
};
template <bool used, size_t I, class T>
using StoredIf = std::conditional_t<used, T, NothingStored<I>>;

// The parameter of a formula's function: lists become spans.
template <class T>
const T& as_argument(const T& v) {
  return v;
}
inline TensorList as_argument(const std::vector<Tensor>& v) { return v; }
inline OptionalTensorList as_argument(const std::vector<std::optional<Tensor>>& v) { return v; }

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_STORED_H_
