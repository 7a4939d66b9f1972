#include "switchboard/transforms/functionalization/functional_write.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/outputs/meta_rehearsal.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functional_form.h"
#include "switchboard/transforms/functionalization/functional_place.h"
#include "switchboard/transforms/functionalization/history.h"
#include "switchboard/transforms/functionalization/memory_shape.h"

namespace sb::internal {
namespace {

// Whether autograd records the operator and not its form, for these values: what a comparison
// writes hangs on what is compared, with a gradient of zeros, and the result of one is a bool,
// which has none. Or records it otherwise, as elu_.
bool loses_history(const OperatorHandle& op, const FunctionalForm& form,
                   absl::FunctionRef<IValue(size_t)> value_of) {
  // A view that autograd does not see is of a lineage of its own: see view_of().
  if (form.op.schema().is_view()) return false;
  if (!records_values() || !grad_hooks->is_grad_enabled()) return false;
  bool any = false;
  for (size_t i = 0; i < op.schema().arguments.size(); ++i) {
    value_of(i).for_each_tensor(
        [&](const Tensor& t) { any = any || (t.defined() && grad_hooks->requires_grad(t)); });
  }
  if (!any) return false;
  const bool unlike = passes_by_autograd(form.op) && !passes_by_autograd(op);
  return unlike || grad_hooks->has_own_derivative(op.name().to_string());
}

class WritingCall {
 public:
  WritingCall(const FunctionalizeContext& context, const OperatorHandle& op,
              std::vector<IValue> arguments)
      : context_(context), op_(op), schema_(op.schema()), arguments_(std::move(arguments)) {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!schema_.arguments[i].is_write()) continue;
      arguments_[i] = map_tensors(arguments_[i], [&](const Tensor& t) {
        const Tensor functional = context_.functional_for_write(op_, i, t);
        written_.push_back(functional);
        return functional;
      });
    }
  }

  std::vector<IValue> run() {
    check_hidden_views();
    for (const Tensor& t : written_) layouts_.emplace_back(t);
    if (op_.entry().has_tag(Tag::inplace_view))
      impl_of(0).functional_storage()->check_alone(op_.name().to_string());
    // An effect is the operator's own, and comes about once: no other form, and no rehearsal.
    // Nor does one see what an operator writes in the end while it goes on to read or write it.
    const bool has_effect = has_ordered_effect(op_);
    std::optional<FunctionalForm> form =
        has_effect || writes_meet() ? std::nullopt : find_functional_form(op_);
    const auto value_of = [&](size_t i) { return context_.unwrap(arguments_[i]); };
    if (form && loses_history(op_, *form, value_of)) form = std::nullopt;
    const bool is_view = form && form->op.schema().is_view();
    std::vector<IValue> others;
    if (!form && (has_effect || !op_.entry().has_tag(Tag::inplace_view))) {
      std::vector<Tensor> values;
      try {
        values = compute_on_clones(&others);
      } catch (...) {
        // As eagerly: what it wrote before it threw is written.
        if (!clones_.empty()) write(std::move(clones_));
        throw;
      }
      write(std::move(values));
      return returns(std::move(others));
    }
    rehearse();
    try {
      if (is_view)
        view_in_place(*form);
      else if (moved_)
        move_to_storage(context_, op_, impl_of(0), layouts_[0], moved_to());
      else if (op_ == resize_.handle() || op_ == resize_as_.handle())
        resize_in_place(context_, op_, written_[0], layouts_[0]);
      else
        write(form ? compute_or_write(*form, &others) : compute_on_clones(&others));
    } catch (const Error& error) {
      const bool is_own = rehearsed_ && error.kind() == std::string_view("RuntimeError") &&
                          std::string_view(error.what()).find("::") == std::string_view::npos;
      if (!is_own) throw;
      rethrow_with_context(error, str_cat("functionalize: ", op_.name().to_string(), ": "));
    }
    return returns(std::move(others));
  }

 private:
  FunctionalTensorImpl& impl_of(size_t i) const { return *functional_impl(written_[i]); }

  // NotImplementedError where a gradient would be one of what the operator has read before it wrote
  // there: autograd may save a tensor that shares memory with what is written to, as the result of
  // unsafe_split does, without counting that write, and then its gradient is one of what is there
  // afterwards.
  void check_hidden_views() const {
    std::vector<const FunctionalTensorImpl*> hidden;
    for (size_t i = 0; i < written_.size(); ++i)
      if (impl_of(i).functional_storage()->num_lineages() > 1) hidden.push_back(&impl_of(i));
    if (hidden.empty() || !records_gradients()) return;
    for (const IValue& argument : arguments_) {
      argument.for_each_tensor([&](const Tensor& t) {
        const FunctionalTensorImpl* const read = functional_impl(t);
        for (const FunctionalTensorImpl* const written : hidden) {
          if (!read || read->functional_storage() != written->functional_storage()) continue;
          const FunctionalStorage& storage = *read->functional_storage();
          SB_CHECK_NOT_IMPLEMENTED(
              read->lineage() == written->lineage() ||
                  !(storage.is_hidden(read->lineage()) || storage.is_hidden(written->lineage())),
              "functionalize: ", op_.name().to_string(), ": it writes to the memory of ",
              t.describe(), ", which it is also given, by a tensor that autograd does not know as ",
              "a view of it: its gradient would be one of what is written there; give it a clone");
        }
      });
    }
  }
  // Whether the operator writes to several tensors, and one of them is met again.
  bool writes_meet() const { return written_.size() > 1 && meets_what_it_writes(); }
  // Whether a tensor that is written to shares memory with another argument, or comes twice.
  bool meets_what_it_writes() const {
    size_t uses = 0;
    absl::flat_hash_set<const StorageImpl*> memories;
    for (const Tensor& t : written_) memories.insert(t.storage().get());
    for (const IValue& argument : arguments_) {
      argument.for_each_tensor([&](const Tensor& t) {
        uses += t.defined() && memories.contains(functional_storage_of(t));
      });
    }
    return uses > memories.size();
  }
  const StorageImpl* functional_storage_of(const Tensor& t) const {
    return context_.functional(t).storage().get();
  }

  // Learns from a run on meta tensors what the operator refuses and what shapes it leaves.
  void rehearse() {
    const std::optional<MetaRehearsal> rehearsal = MetaRehearsal::run(op_, arguments_);
    if (!rehearsal) return;
    rehearsed_ = true;
    for (size_t i = 0; i < written_.size(); ++i) {
      layouts_[i].become(rehearsal->after(written_[i]));
      SB_CHECK_NOT_IMPLEMENTED(!is_out(i) || !only_data_tell_change(i), op_.name().to_string(),
                               ": under functionalization: only data tell whether a result of "
                               "shape ",
                               shape_text(SymIntArrayRef(layouts_[i].sizes)), " fits in ",
                               written_[i].describe());
      if (!rehearsal->changed_storage(written_[i])) continue;
      SB_CHECK_NOT_IMPLEMENTED(written_.size() == 1, "functionalize: ", op_.name().to_string(),
                               ": other storages in the place of several tensors' cannot be ",
                               "functionalised");
      moved_ = true;
      other_storage_ = rehearsal->storage_of(written_[i]);
    }
  }

  // What set_ gives the memory of: an argument, or nothing for a fresh storage.
  std::optional<PlaceInStorage> moved_to() const {
    if (!other_storage_) return std::nullopt;
    const BelowFunctionalization below(context_.owner());
    PlaceInStorage place;
    for (const IValue& argument : arguments_) {
      if (argument.is_Storage()) {
        const Storage given = argument.to_storage();
        if (auto* const functional = dynamic_cast<FunctionalStorage*>(given.get()))
          place.storage = IntrusivePtr<FunctionalStorage>::share(functional);
      }
      argument.for_each_tensor([&](const Tensor& t) {
        if (!t.defined() || t.is_same(written_[0]) || t.storage().get() != other_storage_) return;
        const Tensor source = context_.functional(t);
        SB_CHECK_NOT_IMPLEMENTED(source.dtype() == written_[0].dtype() || !records_gradients(),
                                 "functionalize: ", op_.name().to_string(), ": it gives ",
                                 written_[0].describe(), " the memory of ", source.describe(),
                                 ", whose gradient does not know of writes by another dtype");
        place = {functional_impl(source)->functional_storage(), functional_impl(source)->lineage()};
      });
    }
    SB_CHECK_NOT_IMPLEMENTED(
        place.storage, "functionalize: ", op_.name().to_string(),
        ": expected the storage of a tensor of the program, got one of its own");
    return place;
  }

  std::vector<IValue> values_for(const FunctionalForm& form) const {
    std::vector<IValue> values;
    for (size_t i = 0; i < form.arguments.size(); ++i) {
      const std::optional<size_t> from = form.arguments[i];
      values.push_back(from ? value_to_read(*from)
                            : option_of_out(form.op.schema().arguments[i].name));
    }
    return values;
  }

  // The value of an argument. Where it is written to, and autograd may save it, a copy of the
  // caller's memory, which is written to in the end: as PyTorch's in-place operators save copies.
  IValue value_to_read(size_t i) const {
    const IValue value = context_.unwrap(arguments_[i]);
    if (!schema_.arguments[i].is_write() || !records_gradients()) return value;
    if (op_.entry().has_tag(Tag::inplace_view)) return value;  // it changes no element
    return map_tensors(arguments_[i], [&](const Tensor& t) {
      const Tensor now = context_.unwrap(t);
      const FunctionalTensorImpl* const impl = functional_impl(t);
      if (!impl || !impl->functional_storage()->shows_input()) return now;
      const BelowFunctionalization below(context_.owner());
      return clone(now);
    });
  }
  bool records_gradients() const {
    if (!records_values() || !grad_hooks->is_grad_enabled()) return false;
    bool any = false;
    for (const IValue& argument : arguments_) {
      context_.unwrap(argument).for_each_tensor(
          [&](const Tensor& t) { any = any || (t.defined() && grad_hooks->requires_grad(t)); });
    }
    return any;
  }

  // What the functional form is told of the result, and the operator reads off its `out`.
  IValue option_of_out(const std::string& name) const {
    if (name == "dtype") return written_[0].dtype();
    if (name == "device") return written_[0].device();
    return IValue();
  }

  // transpose_ and its like: the first argument becomes another view of its memory.
  void view_in_place(const FunctionalForm& form) {
    if (form.op == detach.handle())
      return detach_in_place(context_, op_, impl_of(0), records_gradients());
    FunctionalTensorImpl& self = impl_of(0);
    Stack stack = values_for(form);
    ViewStep step{form.op, stack};
    step.arguments[0] = IValue();
    context_.redispatch(form.op, &stack);
    const Tensor value = stack.back().to_tensor();
    auto [chain, lineage] = view_of(self, std::move(step), value);
    self.set_view(std::move(chain), value, lineage);
  }

  std::vector<Tensor> compute(const FunctionalForm& form) {
    Stack stack = values_for(form);
    const std::vector<Tensor> read = flatten_tensors(stack);
    context_.redispatch(form.op, &stack);
    std::vector<Tensor> results = flatten_tensors(stack);
    SB_CHECK(results.size() == written_.size(), op_.name().to_string(), ": its functional form ",
             form.op.name().to_string(), " gave ", results.size(), " tensors, expected ",
             written_.size());
    // What is shared with another value would be shared in the end.
    BelowFunctionalization below(context_.owner());
    for (Tensor& result : results)
      for (const Tensor& t : read)
        if (result.is_alias_of(t)) {
          result = clone(result);
          break;
        }
    return results;
  }

  // A form may refuse what a rehearsal has shown that the operator takes: it has no out= whose
  // dtype would do for its result.
  std::vector<Tensor> compute_or_write(const FunctionalForm& form, std::vector<IValue>* others) {
    try {
      std::vector<Tensor> results = compute(form);
      if (!reads_dtype_off_out(results)) return results;
    } catch (const Error&) {
      if (!rehearsed_ || !is_out(0)) throw;
    }
    return compute_on_clones(others);
  }
  // Whether the operator may compute in the dtype of its out: one that is not told a dtype, one
  // that drops imaginary parts on the way (logsumexp), and one whose functional form rounds what it
  // has computed to a dtype that its arguments do not fit in (smooth_l1_loss_backward gives that of
  // self).
  bool reads_dtype_off_out(const std::vector<Tensor>& results) const {
    const DType given = results[0].dtype();
    if (!is_out(0) || given == written_[0].dtype()) return false;
    bool rounds = is_complex(given) && !is_complex(written_[0].dtype());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& declared = schema_.arguments[i];
      if (declared.name == "dtype" && arguments_[i].is_None()) return true;
      if (declared.is_write() || given == DType::Bool) continue;
      arguments_[i].for_each_tensor([&](const Tensor& t) {
        if (!t.defined() || is_quantized(t.dtype()) || is_quantized(given)) return;
        rounds = rounds || promote_types(given, t.dtype()) != given;
      });
    }
    return rounds;
  }

  // For arguments that share memory with what is written to, views of one clone of it.
  void share_clones(absl::flat_hash_map<const TensorImpl*, Tensor>* clones) const {
    struct Memory {
      size_t lineage;
      Tensor clone;
    };
    absl::flat_hash_map<const StorageImpl*, Memory> memories;
    for (const Tensor& t : written_) {
      const FunctionalTensorImpl& impl = *functional_impl(t);
      const auto [found, is_new] =
          memories.try_emplace(t.storage().get(), Memory{impl.lineage(), Tensor()});
      if (!is_new) continue;
      impl.functional_storage()->apply_updates();
      found->second.clone = clone(impl.functional_storage()->base(impl.lineage()));
    }
    for (const IValue& argument : arguments_) {
      argument.for_each_tensor([&](const Tensor& t) {
        if (!t.defined()) return;
        const Tensor functional = context_.functional(t);
        const auto found = memories.find(functional.storage().get());
        if (found == memories.end()) return;
        const FunctionalTensorImpl& impl = *functional_impl(functional);
        SB_CHECK_NOT_IMPLEMENTED(
            impl.lineage() == found->second.lineage || !records_gradients(),
            "functionalize: ", op_.name().to_string(), ": it writes to ", t.describe(),
            " and to the same memory by a tensor that autograd does not know as a view of it");
        (*clones)[t.impl()] = apply_chain(impl.chain(), found->second.clone);
      });
    }
  }

  // Where there is no functional form. The clones are the operator's to write to.
  std::vector<Tensor> compute_on_clones(std::vector<IValue>* others) {
    BelowFunctionalization below(context_.owner());
    absl::flat_hash_map<const TensorImpl*, Tensor> clones;
    for (const Tensor& t : written_)
      if (!clones.contains(t.impl())) clones.emplace(t.impl(), clone(context_.unwrap(t)));
    if (meets_what_it_writes()) share_clones(&clones);
    std::vector<MemoryShape> before;
    std::vector<Storage> storages;
    for (const Tensor& t : written_) {
      before.emplace_back(clones.at(t.impl()));
      storages.push_back(clones.at(t.impl()).storage());
    }
    Stack stack;
    for (const IValue& argument : arguments_) {
      stack.push_back(map_tensors(argument, [&](const Tensor& t) {
        const auto found = clones.find(t.impl());
        return found == clones.end() ? context_.unwrap(t) : found->second;
      }));
    }
    for (const Tensor& t : written_) clones_.push_back(clones.at(t.impl()));
    op_.call_boxed(&stack);
    const std::vector<Tensor> results = std::exchange(clones_, {});
    for (size_t i = 0; i < written_.size(); ++i) {
      const Tensor& result = results[i];
      SB_CHECK_NOT_IMPLEMENTED(
          result.storage() == storages[i], "functionalize: ", op_.name().to_string(),
          ": it changed the storage of an argument in place, and has no functional form");
      if (MemoryShape(result) != before[i]) {
        SB_CHECK_NOT_IMPLEMENTED(
            before[i] == MemoryShape(written_[i]), "functionalize: ", op_.name().to_string(),
            ": it changed the shape of an argument in place that is a view of a part of its "
            "memory, and has no functional form");
        layouts_[i] = MemoryShape(result);
        rehearsed_ = true;
      }
    }
    for (size_t i = 0; i < schema_.returns.size(); ++i) {
      others->push_back(map_tensors(stack[i], [&](const Tensor& t) {
        for (const Tensor& result : results)
          if (t.is_alias_of(result)) return t;  // replaced by the argument, or refused below
        return context_.wrap(t);
      }));
      if (written_argument(schema_.returns[i])) continue;
      others->back().for_each_tensor([&](const Tensor& t) {
        SB_CHECK_NOT_IMPLEMENTED(!t.defined() || context_.owns(t), op_.name().to_string(),
                                 ": a result that is a view of what the operator writes to ",
                                 "cannot be functionalised");
      });
    }
    return results;
  }

  // Makes each value one that its tensor can take, and then gives it to the tensor.
  void write(std::vector<Tensor> values) {
    const GradScope grad(grad_hooks->is_grad_enabled() && !passes_by_autograd(op_));
    std::vector<Tensor> reshaped(values.size());  // the tensors' values before, in their new shapes
    {
      BelowFunctionalization below(context_.owner());
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = with_gradient(fitted(values[i], i), i);
        if (grows(i)) {
          check_can_grow(op_, impl_of(i), layouts_[i]);
          values[i] = with_strides(values[i], layouts_[i].strides);
        } else if (layouts_[i] != MemoryShape(written_[i])) {
          reshaped[i] = viewed_as(impl_of(i), layouts_[i]);
          context_.check_reach(op_, impl_of(i), reshaped[i]);
        }
      }
    }
    for (size_t i = 0; i < values.size(); ++i) {
      FunctionalTensorImpl& impl = impl_of(i);
      if (grows(i)) {
        impl.grow(values[i]);
        continue;
      }
      if (reshaped[i].defined()) {
        const MemoryShape& l = layouts_[i];
        impl.set_view(impl.chain_of(l.sizes, l.strides, l.offset), reshaped[i], impl.lineage());
      }
      impl.write(values[i]);
    }
  }

  // A tensor that requires a gradient goes on to do so after a write of what has none.
  Tensor with_gradient(const Tensor& value, size_t i) const {
    const auto requires_grad = [](const Tensor& t) { return grad_hooks->requires_grad(t); };
    if (!grad_hooks->is_grad_enabled() || requires_grad(value) || grows(i) ||
        passes_by_autograd(op_))
      return value;
    const Tensor& old = impl_of(i).value();
    return requires_grad(old) && are_same(old.sym_sizes(), value.sym_sizes())
               ? copy(old, value, false)
               : value;
  }

  // Whether a tensor that has elements may keep its shape, or not, as only data tell.
  bool only_data_tell_change(size_t i) const {
    const SymIntArrayRef own = written_[i].sym_sizes();
    const auto may_be = [](const SymInt& a, const SymInt& b) {
      return same_size(a, b) || (!has_hint(a == b) && !known(a != b));
    };
    return !known(written_[i].sym_numel() == 0) && !have_same_sizes(own, layouts_[i].sizes) &&
           std::ranges::equal(own, layouts_[i].sizes, may_be);
  }

  // Sizes that only data tell are those of another shape where nothing says that they are not.
  static bool have_same_sizes(SymIntArrayRef a, SymIntArrayRef b) {
    return std::ranges::equal(a, b,
                              [](const SymInt& m, const SymInt& n) { return same_size(m, n); });
  }

  // The value in the dtype and shape that the tensor will have.
  Tensor fitted(Tensor value, size_t i) {
    const Tensor& tensor = written_[i];
    SB_CHECK(value.device() == tensor.device(), op_.name().to_string(), ": the result is on ",
             to_string(value.device()), ", and is written to ", tensor.describe());
    if (value.dtype() != tensor.dtype()) {
      SB_CHECK(rehearsed_ || is_out(i) || can_cast(value.dtype(), tensor.dtype()),
               op_.name().to_string(), ": a result of ", to_string(value.dtype()),
               " cannot be written to ", tensor.describe());
      value = _to_copy(value, tensor.dtype());
    }
    MemoryShape& layout = layouts_[i];
    if (have_same_sizes(value.sym_sizes(), layout.sizes)) return value;
    if (!rehearsed_ && is_out(i)) {
      // What shape it has, data said.
      SB_CHECK_NOT_IMPLEMENTED(
          std::ranges::all_of(value.sym_sizes(), [](const SymInt& s) { return has_hint(s); }),
          op_.name().to_string(), ": under functionalization: only data tell ",
          "whether a result of shape ", shape_text(value.sym_sizes()), " fits in ",
          tensor.describe());
      layout.resize(value.sym_sizes(), value.itemsize());
      return value;
    }
    SB_CHECK(rehearsed_, op_.name().to_string(), ": a result of shape ",
             shape_text(value.sym_sizes()), " cannot be written to ", tensor.describe());
    // An out= of as many elements may keep its shape (arange.out).
    if (same_size(value.sym_numel(), layout.numel())) return reshape(value, layout.sizes);
    return expand(value, layout.sizes);
  }

  // Whether the operator takes what it writes to as an out=, which gets the shape of the result.
  bool is_out(size_t i) const {
    size_t k = 0;
    for (size_t a = 0; a < arguments_.size(); ++a) {
      if (!schema_.arguments[a].is_write()) continue;
      const size_t first = k;
      arguments_[a].for_each_tensor([&](const Tensor&) { ++k; });
      if (first <= i && i < k) return schema_.arguments[a].is_out();
    }
    return false;
  }

  bool grows(size_t i) const { return internal::grows(impl_of(i), layouts_[i]); }

  // The argument that a result is.
  std::optional<size_t> written_argument(const Return& result) const {
    if (!result.alias) return std::nullopt;
    for (size_t i = 0; i < schema_.arguments.size(); ++i) {
      const Argument& argument = schema_.arguments[i];
      if (argument.is_write() && argument.alias->before == result.alias->before) return i;
    }
    return std::nullopt;
  }

  std::vector<IValue> returns(std::vector<IValue> others) const {
    std::vector<IValue> results;
    for (size_t i = 0; i < schema_.returns.size(); ++i) {
      const std::optional<size_t> argument = written_argument(schema_.returns[i]);
      results.push_back(argument ? arguments_[*argument] : std::move(others[i]));
    }
    return results;
  }

  const FunctionalizeContext& context_;
  const OperatorHandle op_;
  const FunctionSchema& schema_;
  std::vector<IValue> arguments_;
  std::vector<Tensor> written_;       // every tensor that is written to; functional
  std::vector<MemoryShape> layouts_;  // of each, afterwards
  std::vector<Tensor> clones_;        // while the operator runs: what it writes to in their places
  bool rehearsed_ = false;
  bool moved_ = false;  // the one tensor that is written to gets another storage
  const StorageImpl* other_storage_ = nullptr;  // an argument's; null for a fresh one
};

}  // namespace

void explain_writing(CallPath& path, const OperatorHandle& op,
                     absl::FunctionRef<IValue(size_t)> value_of) {
  const bool has_effect = has_ordered_effect(op);
  std::optional<FunctionalForm> form = has_effect ? std::nullopt : find_functional_form(op);
  if (form && loses_history(op, *form, value_of)) form = std::nullopt;
  // Where another storage takes the place of an argument's, no operator need be called.
  const auto is_storage = [](const Argument& a) { return a.type.base == BaseType::Storage; };
  const bool may_move = !has_effect && op.entry().has_tag(Tag::inplace_view) &&
                        !(form && form->op.schema().is_view());
  if (may_move || op == resize_.handle() || op == resize_as_.handle() ||
      std::ranges::any_of(op.schema().arguments, is_storage))
    return path.decides();
  Stack values;
  if (!form) {
    for (size_t i = 0; i < op.schema().arguments.size(); ++i) values.push_back(value_of(i));
    return path.call(op, values);
  }
  for (const std::optional<size_t> from : form->arguments)
    values.push_back(from ? value_of(*from) : IValue());
  path.call(form->op, values);
}

std::vector<IValue> call_writing(const FunctionalizeContext& context, const OperatorHandle& op,
                                 std::vector<IValue> arguments) {
  return WritingCall(context, op, std::move(arguments)).run();
}

}  // namespace sb::internal
