#include "switchboard/transforms/functionalization/functional_inputs.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/history.h"
#include "switchboard/transforms/functionalization/view_inverse.h"

namespace sb {
namespace {

using internal::grad_hooks;
using internal::GradScope;

// What autograd knows the tensor's memory by.
Tensor root_of(const Tensor& plain) {
  const Tensor base = grad_hooks->base_of(plain);
  return base.defined() ? base : plain;
}

// All of the tensor's storage, as a view of it.
Tensor whole_of(const Tensor& plain) {
  return is_whole_storage(plain) ? without_bits(plain) : flat_storage(plain);
}

}  // namespace

size_t FunctionalInputs::Memory::lineage_of(const Tensor& plain) {
  const Tensor root = root_of(plain);
  for (size_t i = 0; i < lineages.size(); ++i)
    if (lineages[i].root.defined() && lineages[i].root.is_same(root)) return i;
  const size_t lineage = lineages.empty() ? 0 : functional->add_lineage();
  lineages.resize(lineage + 1);
  lineages[lineage] = {root, plain, Tensor()};
  return lineage;
}

const Tensor& FunctionalInputs::Memory::base(size_t lineage) {
  if (lineages.size() <= lineage) lineages.resize(lineage + 1);
  Lineage& l = lineages[lineage];
  if (l.base.defined()) return l.base;
  const GradScope grad(true);
  // By the input, not by the root, which a trace does not know.
  l.base = l.first.defined() ? whole_of(l.first) : detach(whole_of(lineages[0].first));
  // All lineages have the shape of the first.
  const ViewForm form(functional->base(lineage));
  if (l.base.dtype() != form.dtype || !are_same(l.base.sym_sizes(), form.sizes) ||
      !are_same(l.base.sym_strides(), form.strides)) {
    l.base = apply_chain(chain_to(l.base, form), l.base);
  }
  return l.base;
}

Tensor FunctionalInputs::wrap(const Tensor& plain) {
  const auto known = index_.find(plain.impl());
  if (known != index_.end()) return inputs_[known->second].functional;
  const auto found = plain.storage() ? storages_.find(plain.storage().get()) : storages_.end();
  const Tensor functional =
      found == storages_.end() ? wrap_first(plain) : wrap_another(plain, &memories_[found->second]);
  index_.emplace(plain.impl(), inputs_.size());
  inputs_.push_back({plain, functional, functional_impl(functional)->lineage(), Tensor()});
  const Tensor grad = grad_hooks->requires_grad(plain) ? grad_hooks->grad_of(plain) : Tensor();
  if (grad.defined()) {
    const Tensor functional_grad = wrap(grad);
    grad_hooks->set_grad(functional, functional_grad);
    inputs_[index_.at(plain.impl())].grad = functional_grad;
  }
  return functional;
}

Tensor FunctionalInputs::wrap_first(const Tensor& plain) {
  const Tensor functional = to_functional_tensor(plain, owner_);
  storages_.emplace(plain.storage().get(), memories_.size());
  Memory& memory = memories_.emplace_back();
  memory.functional = functional_impl(functional)->functional_storage();
  memory.functional->mark_input();
  memory.lineage_of(plain);
  return functional;
}

namespace {

// RuntimeError where a result requires a gradient and the value that it stands for, which leaves
// the program, does not.
void check_gradient(const Tensor& result, size_t i) {
  // A view requires one of what was detached, until it is made again.
  if (!internal::records_values() || !grad_hooks->requires_grad(root_of(result)) ||
      grad_hooks->requires_grad(functional_impl(result)->value()))
    return;
  const std::string made_by = grad_hooks->made_by(root_of(result));
  SB_THROW(RuntimeError, "functionalize: result ", i, ", ", result.describe(),
           ", requires a gradient", made_by.empty() ? "" : " by ", made_by,
           ", and the value that it stands for does not: the program has marked a tensor with "
           "set_requires_grad, which does not leave it, or written to memory that cannot have a "
           "gradient, of another dtype or size");
}

}  // namespace

Tensor FunctionalInputs::wrap_another(const Tensor& plain, Memory* memory) {
  BelowFunctionalization below(owner_);
  const GradScope grad(true);
  const IntrusivePtr<FunctionalStorage>& storage = memory->functional;
  storage->apply_updates();
  const size_t lineage = memory->lineage_of(plain);
  ViewChain chain = chain_to(storage->base(lineage), ViewForm(plain));
  Tensor value = plain;
  if (storage->mutated()) {
    SB_CHECK(!grad_hooks->requires_grad(plain), "functionalize: ", plain.describe(),
             " requires a gradient, and its memory was written to before it was used: pass it to "
             "the program as an input");
    value = apply_chain(chain, storage->base(lineage));
  } else if (grad_hooks->requires_grad(plain)) {
    storage->set_history(lineage, chain, plain);
  }
  const Tensor functional(make_intrusive<FunctionalTensorImpl>(storage, lineage, std::move(chain),
                                                               std::move(value), owner_));
  internal::mirror_history(plain, functional);
  const Tensor& first = memory->lineages[lineage].first;
  if (!first.is_same(plain))
    functional.impl()->share_version_counter(*inputs_[index_.at(first.impl())].functional.impl());
  return functional;
}

std::vector<Tensor> FunctionalInputs::finish(const std::vector<Tensor>& results) {
  // Everything is computed before anything is written.
  for (const Memory& memory : memories_) {
    BelowFunctionalization below(owner_);
    memory.functional->apply_updates();
  }
  for (const Input& input : inputs_) sync(input.functional);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_ours(results[i]) || known(results[i].sym_numel() == 0)) continue;
    check_gradient(results[i], i);
  }
  check_known_apart(results);
  write_data(results);
  std::vector<Tensor> plain;  // views, so before the shapes of what they view change
  for (const Tensor& result : results) plain.push_back(plain_result(result));
  std::vector<Input> grown;
  for (const Input& input : inputs_)
    if (has_grown(input)) grown.push_back(input);
  write_shapes();
  for (size_t i = 0; i < results.size(); ++i)
    if (const Tensor view = view_of(grown, results[i]); view.defined()) plain[i] = view;
  write_grads();
  forget();
  return plain;
}

// NotImplementedError where only the data tell whether a result has the memory of an input, or of
// another result.
void FunctionalInputs::check_known_apart(const std::vector<Tensor>& results) const {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_ours(results[i])) continue;
    const FunctionalStorage& storage = *functional_impl(results[i])->functional_storage();
    const auto check = [&](const FunctionalStorage& other, std::string_view what, size_t number) {
      const std::string_view text = storage.may_be_text(other);
      SB_CHECK_NOT_IMPLEMENTED(text.empty(), text, ", and the program gives it as its result ", i,
                               ", which may be ", what, number, "; return a clone");
    };
    for (size_t k = 0; k < inputs_.size(); ++k)
      check(*functional_impl(inputs_[k].functional)->functional_storage(), "its input ", k);
    for (size_t k = 0; k < i; ++k)
      if (is_ours(results[k]))
        check(*functional_impl(results[k])->functional_storage(), "its result ", k);
  }
}

void FunctionalInputs::check_reach(std::string_view op, const FunctionalTensorImpl& viewed,
                                   const Tensor& value) const {
  for (const Memory& memory : memories_) {
    if (memory.functional != viewed.functional_storage()) continue;
    const size_t lineage = viewed.lineage();
    const Tensor& input =
        lineage < memory.lineages.size() ? memory.lineages[lineage].first : Tensor();
    if (!input.defined() || !grad_hooks->requires_grad(input) || is_whole_storage(input)) return;
    SB_CHECK_NOT_IMPLEMENTED(internal::is_part(value, input), "functionalize: ", op, ": ",
                             value.describe(), " has elements of the memory of an input, ",
                             input.describe(), ", that the input itself has not, and that requires",
                             " a gradient; pass the program a tensor of the whole memory");
  }
}

bool FunctionalInputs::mutated(const std::vector<Tensor>& besides) const {
  for (const Memory& memory : memories_) {
    if (!memory.functional->mutated()) continue;
    const bool is_besides = std::ranges::any_of(besides, [&](const Tensor& t) {
      return functional_impl(t)->functional_storage() == memory.functional;
    });
    if (!is_besides) return true;
  }
  for (const Input& input : inputs_) {
    if (has_moved(input) || !lie_alike(input.plain, input.functional)) return true;
  }
  return false;
}

bool FunctionalInputs::has_moved(const Input& input) const {
  return memory_of(input.plain).functional !=
         functional_impl(input.functional)->functional_storage();
}

bool FunctionalInputs::has_grown(const Input& input) const {
  const FunctionalStorage* const before = memory_of(input.plain).functional.get();
  const FunctionalStorage* now = functional_impl(input.functional)->functional_storage()->smaller();
  while (now && now != before) now = now->smaller();
  return now != nullptr;
}

const FunctionalInputs::Memory& FunctionalInputs::memory_of(const Tensor& plain) const {
  const auto found = storages_.find(plain.storage().get());
  SB_CHECK(found != storages_.end(), "functionalize: ", plain.describe(),
           ": an operator gave the tensor other memory, which its schema does not tell");
  return memories_[found->second];
}

FunctionalInputs::Memory* FunctionalInputs::find_memory(const FunctionalTensorImpl& functional) {
  for (Memory& memory : memories_)
    if (memory.functional == functional.functional_storage()) return &memory;
  return nullptr;
}

void FunctionalInputs::forget() {
  index_.clear();
  inputs_.clear();
  storages_.clear();
  memories_.clear();
}

bool FunctionalInputs::is_ours(const Tensor& tensor) const {
  const FunctionalTensorImpl* const impl = functional_impl(tensor);
  return impl && impl->owner() == owner_;
}

// Whether a result has a gradient that none of the plain tensors of its lineage knows of: it is
// what autograd takes for a tensor of its own, as _unsafe_view gives it.
bool FunctionalInputs::has_history_of_its_own(const std::vector<Tensor>& results, Memory* memory,
                                              size_t lineage) {
  const auto is_given = [&](const Tensor& result) {
    if (!is_ours(result)) return false;
    const FunctionalTensorImpl& impl = *functional_impl(result);
    return impl.functional_storage() == memory->functional && impl.lineage() == lineage;
  };
  return grad_hooks->requires_grad(memory->functional->base(lineage)) &&
         std::ranges::any_of(results, is_given) &&
         !grad_hooks->requires_grad(memory->base(lineage));
}

void FunctionalInputs::write_data(const std::vector<Tensor>& results) {
  for (Memory& memory : memories_) {
    if (!memory.functional->mutated()) continue;
    bool written = false;
    for (size_t lineage = 0; lineage < memory.functional->num_lineages(); ++lineage) {
      if (!memory.functional->recorded(lineage) &&
          !has_history_of_its_own(results, &memory, lineage))
        continue;
      const GradScope grad(true);
      const Tensor first =
          lineage < memory.lineages.size() ? memory.lineages[lineage].first : Tensor();
      if (first.defined() && grad_hooks->requires_grad(first) && !is_whole_storage(first))
        write_to_inputs(&memory, lineage);
      else
        copy_(memory.base(lineage), memory.functional->base(lineage));
      written = true;
    }
    if (written) continue;
    // Autograd did not see the writes. The graph of a trace knows no other way to say so.
    const GradScope no_grad(false);
    copy_(detach(memory.base(0)), memory.functional->base(0));
  }
}

// Autograd knows the memory by these tensors: a write to all of it would take away the gradient of
// what they have not, which no program has written to (see check_reach).
void FunctionalInputs::write_to_inputs(Memory* memory, size_t lineage) {
  const Tensor& base = memory->functional->base(lineage);
  for (const Input& input : inputs_) {
    if (&memory_of(input.plain) != memory || memory->lineage_of(input.plain) != lineage) continue;
    Tensor once = input.plain;  // each of its elements, where it has some several times
    for (int64_t d = 0; d < once.dim(); ++d)
      if (known(once.sym_stride(d) == 0) && !known(once.sym_size(d) <= 1))
        once = narrow(once, d, 0, 1);
    if (may_overlap(once)) return void(copy_(memory->base(lineage), base));
    copy_(once, apply_chain(chain_to(base, ViewForm(once)), base));
  }
}

void FunctionalInputs::write_shapes() {
  // Memories are found by inputs as they were, before one of these gets another memory.
  struct Move {
    bool grown, moved;
    Tensor source;
  };
  std::vector<Move> moves;
  for (const Input& input : inputs_) {
    Move& move = moves.emplace_back(Move{has_grown(input), has_moved(input), Tensor()});
    if (move.grown || !move.moved) continue;
    FunctionalTensorImpl& now = *functional_impl(input.functional);
    Memory* const memory = find_memory(now);
    move.source = memory ? memory->base(now.lineage()) : now.value();
    // Its offset counts from the source's first element. An input may be given other memory itself.
    if (!move.source.is_contiguous() || !known(move.source.sym_storage_offset() == 0))
      move.source = flat_storage(move.source);
    else if (index_.contains(move.source.impl()))
      move.source = alias(move.source);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    FunctionalTensorImpl& now = *functional_impl(input.functional);
    const Tensor &plain = input.plain, &shape = input.functional;
    if (moves[i].grown) {
      const GradScope grad(now.functional_storage()->recorded(now.lineage()));
      resize_(plain, shape.sym_sizes());
      copy_(plain, now.value());
      continue;
    }
    if (moves[i].moved) {
      set__source_Tensor_storage_offset(plain, moves[i].source, shape.sym_storage_offset(),
                                        shape.sym_sizes(), shape.sym_strides());
      continue;
    }
    if (!lie_alike(plain, shape))
      as_strided_(plain, shape.sym_sizes(), shape.sym_strides(), shape.sym_storage_offset());
    if (grad_hooks->requires_grad(plain) && !grad_hooks->requires_grad(shape)) detach_(plain);
  }
}

void FunctionalInputs::write_grads() {
  for (const Input& input : inputs_) {
    const Tensor grad = grad_hooks->grad_of(input.functional);
    const bool is_what_it_was =
        grad.defined() == input.grad.defined() && (!grad.defined() || grad.is_same(input.grad));
    if (!is_what_it_was)
      grad_hooks->set_grad(input.plain, grad.defined() ? plain_result(grad) : grad);
    if (grad_hooks->requires_grad(input.functional) && !grad_hooks->requires_grad(input.plain) &&
        grad_hooks->is_leaf(input.functional)) {
      grad_hooks->set_requires_grad(input.plain);
    }
  }
}

// A result that is a view of an input whose memory has grown, of that memory; else undefined.
Tensor FunctionalInputs::view_of(const std::vector<Input>& grown, const Tensor& result) {
  if (!is_ours(result)) return {};
  const FunctionalTensorImpl& impl = *functional_impl(result);
  for (const Input& input : grown) {
    if (input.functional.is_same(result)) return {};
    if (functional_impl(input.functional)->functional_storage() != impl.functional_storage())
      continue;
    const GradScope grad(true);
    const Tensor memory = flat_storage(input.plain);
    const Tensor base = apply_chain(
        chain_to(memory, ViewForm(impl.functional_storage()->base(impl.lineage()))), memory);
    return apply_chain(impl.chain(), base);
  }
  return {};
}

Tensor FunctionalInputs::plain_result(const Tensor& result) {
  if (!is_ours(result)) return result;
  for (const Input& input : inputs_)
    if (input.functional.is_same(result)) return input.plain;
  FunctionalTensorImpl& impl = *functional_impl(result);
  Memory* const memory = find_memory(impl);
  if (!memory || !memory->functional->mutated()) return impl.value();
  const GradScope grad(true);
  // By an input that has its elements, if there is one: autograd knows no others.
  for (const Input& input : inputs_) {
    if (input.plain.storage() != memory->lineages[0].first.storage() ||
        memory->lineage_of(input.plain) != impl.lineage() ||
        !internal::is_part(impl.value(), input.plain))
      continue;
    const Tensor flat = flat_storage(input.plain);
    return apply_chain(chain_to(flat, ViewForm(impl.value())), flat);
  }
  return apply_chain(impl.chain(), memory->base(impl.lineage()));
}

}  // namespace sb
