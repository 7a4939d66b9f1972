#include "switchboard/custom_ops/opcheck/argument_plan.h"

#include <algorithm>
#include <map>

#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"

namespace sb::internal {
namespace {

constexpr double kInGaps = 99;

std::vector<int64_t> contiguous_strides_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  return strides;
}

// Calls f(place) with the place in memory of each element, in the order of the indices.
template <class F>
void for_each_place(const TensorPlan& t, F&& f) {
  const int64_t n = t.numel();
  std::vector<int64_t> index(t.sizes.size());
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = t.offset;
    for (size_t d = 0; d < index.size(); ++d) place += index[d] * t.strides[d];
    f(static_cast<size_t>(place));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < t.sizes[d]) break;
      index[d] = 0;
    }
  }
}

class Capture {
 public:
  explicit Capture(ArgumentPlan* plan) : plan_(plan) {}

  size_t add(const Tensor& t) {
    const auto [found, is_new] = tensors_.try_emplace(t.impl(), plan_->tensors.size());
    if (is_new) plan_->tensors.push_back(capture(t));
    return found->second;
  }

 private:
  TensorPlan capture(const Tensor& t) {
    TensorPlan made;
    made.sizes.assign(t.sizes().begin(), t.sizes().end());
    made.requires_grad = requires_grad(t);
    made.wrapped_number = t.impl()->is_wrapped_number();
    if (t.impl()->is_conj() || t.impl()->is_neg()) {
      made.strides = contiguous_strides_of(made.sizes);
      made.memory = plan_->memories.size();
      plan_->memories.push_back({t.dtype(), t.device(), numbers_of(t)});
      return made;
    }
    made.strides.assign(t.strides().begin(), t.strides().end());
    made.offset = t.storage_offset();
    const auto [found, is_new] =
        memories_.try_emplace({t.storage().get(), t.dtype()}, plan_->memories.size());
    if (is_new) {
      const int64_t n = static_cast<int64_t>(t.storage()->nbytes() / t.itemsize());
      plan_->memories.push_back({t.dtype(), t.device(), numbers_of(alias_with(t, {n}, {1}, 0))});
    }
    made.memory = found->second;
    return made;
  }

  ArgumentPlan* plan_;
  std::map<const TensorImpl*, size_t> tensors_;
  std::map<std::pair<const StorageImpl*, DType>, size_t> memories_;
};

}  // namespace

int64_t TensorPlan::numel() const {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

bool TensorPlan::is_contiguous() const {
  const std::vector<int64_t> dense = contiguous_strides_of(sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && strides[d] != dense[d] && numel() != 0) return false;
  return true;
}

bool TensorPlan::lies_as_new() const { return strides == contiguous_strides_of(sizes); }

ArgumentPlan ArgumentPlan::of(const Stack& arguments) {
  ArgumentPlan plan;
  Capture capture(&plan);
  const auto add = [&](const Tensor& t) {
    return t.defined() ? std::optional(capture.add(t)) : std::nullopt;
  };
  for (const IValue& value : arguments) {
    ValuePlan made;
    if (value.is_Tensor()) {
      made.kind = ValuePlan::Kind::Tensor;
      made.tensors.push_back(add(value.unchecked_tensor()));
    } else if (value.is_TensorList()) {
      made.kind = ValuePlan::Kind::Tensors;
      for (const Tensor& t : value.to_tensor_list()) made.tensors.push_back(add(t));
    } else if (value.is_OptionalTensorList()) {
      made.kind = ValuePlan::Kind::OptionalTensors;
      for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
        made.tensors.push_back(t ? add(*t) : std::nullopt);
    } else {
      made.plain = value;
    }
    plan.values.push_back(std::move(made));
  }
  return plan;
}

Stack ArgumentPlan::build() const {
  std::vector<Tensor> memory, made;
  for (const MemoryPlan& m : memories)
    memory.push_back(
        tensor_with({static_cast<int64_t>(m.elements.size())}, m.dtype, m.elements, m.device));
  for (const TensorPlan& t : tensors) {
    made.push_back(view_of(memory[t.memory], t.sizes, t.strides, t.offset));
    made.back().impl()->set_wrapped_number(t.wrapped_number);
    if (t.requires_grad) set_requires_grad(made.back());
  }
  const auto tensor = [&](std::optional<size_t> i) { return i ? made[*i] : Tensor(); };
  Stack stack;
  for (const ValuePlan& value : values) {
    switch (value.kind) {
      case ValuePlan::Kind::Plain:
        stack.push_back(value.plain);
        break;
      case ValuePlan::Kind::Tensor:
        stack.push_back(tensor(value.tensors[0]));
        break;
      case ValuePlan::Kind::Tensors: {
        std::vector<Tensor> list;
        for (const auto& i : value.tensors) list.push_back(tensor(i));
        stack.push_back(std::move(list));
        break;
      }
      case ValuePlan::Kind::OptionalTensors: {
        std::vector<std::optional<Tensor>> list;
        for (const auto& i : value.tensors)
          list.push_back(i ? std::optional(made[*i]) : std::nullopt);
        stack.push_back(std::move(list));
        break;
      }
    }
  }
  return stack;
}

std::vector<std::complex<double>> ArgumentPlan::elements_of(const TensorPlan& t) const {
  std::vector<std::complex<double>> elements;
  for_each_place(t, [&](size_t place) { elements.push_back(memory_of(t).elements[place]); });
  return elements;
}

void ArgumentPlan::lay_out(size_t tensor, std::vector<int64_t> sizes) {
  TensorPlan& t = tensors[tensor];
  MemoryPlan made{memory_of(t).dtype, memory_of(t).device, {}};
  const std::vector<std::complex<double>> old = elements_of(t);
  t.sizes = std::move(sizes);
  t.strides = contiguous_strides_of(t.sizes);
  t.offset = 0;
  for (size_t i = 0; i < static_cast<size_t>(t.numel()); ++i)
    made.elements.push_back(old.empty() ? 1 : old[i % old.size()]);
  t.memory = memories.size();
  memories.push_back(std::move(made));
  drop_unused();
}

void ArgumentPlan::lay_out_strided(size_t tensor, const std::vector<int64_t>& strides,
                                   int64_t offset) {
  TensorPlan& t = tensors[tensor];
  MemoryPlan made{memory_of(t).dtype, memory_of(t).device, {}};
  const std::vector<std::complex<double>> old = elements_of(t);
  t.strides = strides;
  t.offset = offset;
  size_t end = static_cast<size_t>(offset);
  for_each_place(t, [&](size_t place) { end = std::max(end, place + 1); });
  made.elements.assign(end, kInGaps);
  size_t i = 0;
  for_each_place(t, [&](size_t place) { made.elements[place] = old[i++]; });
  t.memory = memories.size();
  memories.push_back(std::move(made));
  drop_unused();
}

bool ArgumentPlan::shares_memory(size_t tensor) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (i != tensor && tensors[i].memory == tensors[tensor].memory) return true;
  return false;
}

void ArgumentPlan::drop_unused() {
  std::vector<std::optional<size_t>> new_tensors(tensors.size()), new_memories(memories.size());
  std::vector<TensorPlan> kept;
  std::vector<MemoryPlan> kept_memories;
  for (ValuePlan& value : values) {
    for (std::optional<size_t>& i : value.tensors) {
      if (!i) continue;
      if (!new_tensors[*i]) {
        new_tensors[*i] = kept.size();
        kept.push_back(tensors[*i]);
      }
      i = new_tensors[*i];
    }
  }
  for (TensorPlan& t : kept) {
    if (!new_memories[t.memory]) {
      new_memories[t.memory] = kept_memories.size();
      kept_memories.push_back(memories[t.memory]);
    }
    t.memory = *new_memories[t.memory];
  }
  tensors = std::move(kept);
  memories = std::move(kept_memories);
}

}  // namespace sb::internal
