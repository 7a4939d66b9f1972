#include "switchboard/autograd/function_node.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/grad_hooks.h"

namespace sb {

namespace engine = internal::engine;

void BackwardFunction::check(std::string_view who,
                             absl::Span<const internal::TensorPlace> results) const {
  using Kind = internal::TensorPlace::Kind;
  if (lists_.size() == 1 && lists_[0]) return;  // takes all of them
  SB_CHECK(lists_.size() == results.size(), who,
           ": expected a parameter for the gradient of each of ", results.size(), " results, got ",
           lists_.size());
  for (size_t i = 0; i < lists_.size(); ++i) {
    SB_CHECK(lists_[i] == (results[i].kind == Kind::List), who, ": parameter ", i + 1,
             ", the gradient of result ", i, ": expected a ",
             results[i].kind == Kind::List ? "TensorList" : "Tensor", ", got a ",
             lists_[i] ? "TensorList" : "Tensor");
  }
}

namespace internal {
namespace {

bool holds(const std::vector<Tensor>& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return t.is_same(tensor); });
}

bool is_nothing(const IValue& value) {
  return value.is_None() || (value.is_Tensor() && !value.to_tensor().defined());
}

}  // namespace

FunctionNode::FunctionNode(std::shared_ptr<const FunctionKind> kind)
    : kind_(std::move(kind)), context_(this), grad_enabled_(is_grad_enabled()) {}

void FunctionNode::add_place(TensorPlace::Kind kind, size_t count) {
  context_.inputs_.push_back(
      {kind, static_cast<uint32_t>(given_.size()), static_cast<uint32_t>(count)});
}

void FunctionNode::add_tensor(const Tensor& tensor) {
  // Of batched values that are recorded, nobody would record what forward() does.
  SB_CHECK_NOT_IMPLEMENTED(
      !grad_enabled_ || !tensor.key_set().has(DispatchKey::FuncTorchBatched), kind_->name,
      ": inside of vmap there is no rule for a Function, which got ", tensor.describe(),
      "; an operator with register_autograd() has one, or turn gradients off");
  const bool needs = tensor.defined() && needs_grad(tensor);
  context_.needs_grad_.push_back(needs);
  recorded_ = recorded_ || (needs && grad_enabled_);
  given_.push_back({tensor, edges().size()});
  add_edge(needs && grad_enabled_ ? gradient_edge(tensor) : Edge());
}

void FunctionNode::take_input(const Tensor& input) {
  add_place(TensorPlace::Kind::Tensor, 1);
  add_tensor(input);
}

void FunctionNode::take_input(TensorList inputs) {
  add_place(TensorPlace::Kind::List, inputs.size());
  for (const Tensor& input : inputs) add_tensor(input);
}

void FunctionNode::take_input(OptionalTensorList inputs) {
  add_place(TensorPlace::Kind::List, inputs.size());
  for (const std::optional<Tensor>& input : inputs) add_tensor(input ? *input : Tensor());
}

void FunctionNode::take_other_input() {
  add_place(TensorPlace::Kind::Other, 1);
  context_.needs_grad_.push_back(false);
  given_.push_back({});
}

void FunctionNode::take_input(const IValue& input) {
  if (input.is_Tensor())
    take_input(input.to_tensor());
  else if (input.is_TensorList())
    take_input(input.to_tensor_list());
  else if (input.is_OptionalTensorList())
    take_input(input.to_optional_tensor_list());
  else
    take_other_input();
}

const FunctionNode::Input* FunctionNode::find_input(const Tensor& tensor) const {
  for (const Input& input : given_)
    if (input.edge && input.tensor.is_same(tensor)) return &input;
  return nullptr;
}

bool FunctionNode::is_dirty(const Tensor& tensor) const {
  return holds(context_.dirty_, tensor) && find_input(tensor);
}

bool FunctionNode::has_gradient(const Tensor& result) const {
  return recorded_ && is_differentiable(result.dtype()) &&
         !holds(context_.non_differentiable_, result);
}

// Before any result is touched.
void FunctionNode::check_dirty(absl::Span<Tensor* const> results) const {
  const auto is_returned = [&](const Tensor& t) {
    return std::any_of(results.begin(), results.end(),
                       [&](const Tensor* result) { return result && result->is_same(t); });
  };
  for (const Tensor& t : context_.dirty_) {
    SB_CHECK(is_returned(t), kind_->name, ": mark_dirty: ", t.describe(),
             " was marked and is not among the results; forward returns what it writes to");
    if (!is_dirty(t) || !has_gradient(t)) continue;
    check_may_write(kind_->name, t);
    SB_CHECK(!base_of(t).defined() || results.size() == 1, kind_->name,
             ": mark_dirty: ", t.describe(),
             " is a view, and there are several results; expected it to be the only one: clone it, "
             "or write to it in a Function of its own");
  }
}

void FunctionNode::place_result(Tensor* result) {
  is_tensor_.push_back(result && result->defined());
  if (!is_tensor_.back()) {
    add_undefined_input();
    return;
  }
  const Input* const input = find_input(*result);
  const bool dirty = input && is_dirty(*result);
  if (!has_gradient(*result)) {
    // What is a view of something that requires a gradient stays so, as a view made under no_grad.
    if (needs_grad(*result) && (input || !base_of(*result).defined()))
      *result = engine::detach(*result);
    else if (input && !dirty)
      *result = engine::alias(*result);
    add_input(*result);
    return;
  }
  if (dirty) return rebase_history(*result, NodePtr::share(this), *input->edge);
  // A leaf from elsewhere stays one, too.
  if (input || (needs_grad(*result) && is_leaf(*result))) *result = engine::alias(*result);
  GradMeta& meta = grad_meta(*result);
  meta.grad_fn = NodePtr::share(this);
  meta.output = add_input(*result);
  if (meta.view) meta.view->version = result->version();
}

void FunctionNode::note_origin_of_views(absl::Span<Tensor* const> results) {
  const auto differentiable = std::count_if(results.begin(), results.end(), [&](const Tensor* t) {
    return t && t->defined() && has_gradient(*t);
  });
  for (Tensor* const result : results) {
    if (!result || !result->defined() || find_input(*result)) continue;
    GradMeta* const meta = find_grad_meta(*result);
    if (!meta || !meta->view) continue;
    meta->view->origin = differentiable > 1 ? ViewOrigin::OneOfSeveral : ViewOrigin::CustomFunction;
  }
}

void FunctionNode::save(absl::Span<Tensor* const> results) {
  for (const Tensor& tensor : context_.to_save_) {
    const bool is_result =
        tensor.defined() && std::any_of(results.begin(), results.end(), [&](const Tensor* result) {
          return result && result->is_same(tensor);
        });
    if (is_result)
      context_.saved_.emplace_back().save_output(tensor, *this);
    else
      context_.saved_.emplace_back(tensor);
  }
}

// A functionalised call is one on values, too. Those are in no graph yet, as forward() runs while
// nothing is recorded: they get a node of the same Function.
void FunctionNode::record_values(absl::Span<const ResultSlot> slots) {
  absl::flat_hash_map<const TensorImpl*, Tensor> values;
  const auto value_of = [&](const Tensor& t) -> const Tensor& {
    if (!t.defined()) return t;
    const auto [found, is_new] = values.try_emplace(t.impl());
    if (is_new) found->second = value_hooks->recorded_value(t);
    return found->second.defined() ? found->second : t;
  };
  const auto has_value = [&](const Tensor& t) { return t.defined() && !value_of(t).is_same(t); };
  const auto all = [&](std::vector<Tensor> tensors) {
    for (Tensor& t : tensors) t = value_of(t);
    return tensors;
  };
  const bool comes = std::any_of(given_.begin(), given_.end(), [&](const Input& input) {
    return has_value(input.tensor) && needs_grad(value_of(input.tensor));
  });
  if (!comes) return;
  std::vector<Tensor*> made;  // results that stand for values
  for (const ResultSlot& slot : slots)
    for (Tensor& t : slot.tensors)
      if (has_value(t)) made.push_back(&t);
  // A registered gradient has recorded them.
  for (const Tensor* const result : made)
    if (needs_grad(value_of(*result))) return;
  for (const Tensor* const result : made) {
    for (const Input& input : given_) {
      SB_CHECK_NOT_IMPLEMENTED(
          !input.tensor.defined() || !result->is_alias_of(input.tensor), kind_->name,
          ": under functionalization: its forward gives ", result->describe(),
          ", which shares memory with what it was given; it must give a clone");
    }
  }

  const auto node = make_intrusive<FunctionNode>(kind_);
  FunctionContext& context = node->context_;
  context.inputs_ = context_.inputs_;
  for (const Input& input : given_) {
    if (input.edge) {
      node->add_tensor(value_of(input.tensor));
    } else {
      context.needs_grad_.push_back(false);
      node->given_.push_back({});
    }
  }
  context.materialize_grads_ = context_.materialize_grads_;
  context.to_save_ = all(context_.to_save_);
  context.non_differentiable_ = all(context_.non_differentiable_);
  for (const auto& [name, value, version] : context_.attributes_) {
    if (value.is_Tensor()) {
      context.set(name, value_of(value.to_tensor()));
      continue;
    }
    value.for_each_tensor([&](const Tensor& t) {
      SB_CHECK_NOT_IMPLEMENTED(!has_value(t), kind_->name, ": under functionalization: it keeps ",
                               t.describe(), " in a list, '", name,
                               "'; it must keep it by save_for_backward");
    });
    context.attributes_.push_back({name, value, version});
  }
  std::vector<std::vector<Tensor>> tensors;
  std::vector<ResultSlot> value_slots;
  for (const ResultSlot& slot : slots)
    tensors.push_back(all({slot.tensors.begin(), slot.tensors.end()}));
  for (size_t i = 0; i < slots.size(); ++i)
    value_slots.push_back({slots[i].kind, absl::MakeSpan(tensors[i])});
  node->finish(value_slots);
  for (size_t i = 0; i < slots.size(); ++i) {
    for (size_t k = 0; k < slots[i].tensors.size(); ++k) {
      Tensor& result = slots[i].tensors[k];
      if (!has_value(result)) continue;
      const Tensor replaced = value_hooks->with_value(result, tensors[i][k]);
      for (std::vector<Tensor>* const list : {&context_.to_save_, &context_.non_differentiable_})
        for (Tensor& t : *list)
          if (t.is_same(result)) t = replaced;
      result = replaced;
    }
  }
}

void FunctionNode::finish(absl::Span<const ResultSlot> slots) {
  std::vector<Tensor*> results;  // by place; null for what is no tensor
  for (const ResultSlot& slot : slots) {
    const bool other = slot.kind == TensorPlace::Kind::Other;
    results_.push_back({slot.kind, static_cast<uint32_t>(results.size()),
                        static_cast<uint32_t>(other ? 1 : slot.tensors.size())});
    if (other) results.push_back(nullptr);
    for (Tensor& t : slot.tensors) results.push_back(&t);
  }
  kind_->backward.check(kind_->name, results_);
  check_dirty(results);
  if (recorded_) record_values(slots);
  for (const Tensor& t : context_.dirty_) t.impl()->bump_version();
  for (Tensor* const result : results) place_result(result);
  note_origin_of_views(results);
  if (recorded_) save(results);
  context_.to_save_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  given_.clear();
  context_.open_ = false;
}

void FunctionNode::materialize(TensorVector* grads) const {
  const auto is_defined = [](const Tensor& t) { return t.defined(); };
  const auto known = std::find_if(grads->begin(), grads->end(), is_defined);
  const Tensor like = known == grads->end() ? Tensor() : *known;
  for (size_t i = 0; i < grads->size(); ++i) {
    if ((*grads)[i].defined() || !is_tensor_[i]) continue;
    const auto& meta = input(i);
    // Of the kind of those that came: fake where they are.
    (*grads)[i] = like.defined()
                      ? engine::new_zeros(like, meta.sizes, meta.dtype, std::nullopt, meta.device)
                      : engine::zeros(meta.sizes, TensorOptions(meta.dtype, meta.device));
  }
}

TensorVector FunctionNode::apply(TensorVector grads) {
  grads.resize(num_inputs());
  if (context_.materialize_grads_) materialize(&grads);
  return gradients_of_edges(kind_->backward(context_, {grads, results_}));
}

// One gradient for each tensor among the inputs.
TensorVector FunctionNode::gradients_of_edges(InputGradients given) const {
  const std::vector<TensorPlace>& inputs = context_.inputs_;
  const size_t expected = given.by_input ? inputs.size() : context_.needs_grad_.size();
  size_t fewest = expected;
  if (num_passed_ && *num_passed_ < inputs.size())
    fewest = given.by_input ? *num_passed_ : inputs[*num_passed_].first;
  while (given.values.size() > expected && is_nothing(given.values.back())) given.values.pop_back();
  SB_CHECK(given.values.size() == expected || given.values.size() == fewest, kind_->name,
           ": expected ", fewest == expected ? "" : str_cat(fewest, " or "), expected,
           " gradients, one for each input, got ", given.values.size());
  given.values.resize(expected);
  TensorVector grads;
  const auto take = [&](const IValue& value, size_t i) {
    SB_CHECK_TYPE(value.is_None() || value.is_Tensor(), kind_->name, ": gradient ", i,
                  ": expected a tensor or None, got ", value.to_string());
    grads.push_back(value.is_None() ? Tensor() : value.to_tensor());
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorPlace& place = inputs[i];
    const size_t at = given.by_input ? i : place.first;
    if (place.kind == TensorPlace::Kind::Other) {
      SB_CHECK(is_nothing(given.values[at]), kind_->name, ": gradient ", at,
               ": expected None, as input ", i, " is no tensor, got ",
               given.values[at].to_string());
    } else if (place.kind == TensorPlace::Kind::Tensor) {
      take(given.values[at], at);
    } else if (!given.by_input) {
      for (size_t k = 0; k < place.count; ++k) take(given.values[at + k], at + k);
    } else if (is_nothing(given.values[at])) {
      grads.resize(grads.size() + place.count);
    } else {
      const size_t before = grads.size();
      const IValue& list = given.values[at];
      if (list.is_TensorList())
        for (const Tensor& t : list.to_tensor_list()) grads.push_back(t);
      else if (list.is_OptionalTensorList())
        for (const auto& t : list.to_optional_tensor_list()) grads.push_back(t ? *t : Tensor());
      else if (list.is_List())
        for (const IValue& v : list.to_list()) take(v, at);
      else
        SB_THROW(TypeError, kind_->name, ": gradient ", at, ": expected a list, as input ", i,
                 " is one, got ", list.to_string());
      SB_CHECK(grads.size() - before == place.count, kind_->name, ": gradient ", at, ": expected ",
               place.count, " tensors, as many as input ", i, " has, got ", grads.size() - before);
    }
  }
  return grads;
}

void FunctionNode::release_saved() {
  const std::lock_guard<std::mutex> lock(mutex());
  for (SavedTensor& saved : context_.saved_) saved.release();
}

}  // namespace internal
}  // namespace sb
