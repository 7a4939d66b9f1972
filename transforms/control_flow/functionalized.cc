#include "switchboard/transforms/control_flow/functionalized.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::control_flow {
namespace {

using internal::FunctionEffects;

// Another argument is written to than was known of: the call begins anew.
struct MoreIsWritten {};

// One call under functionalisation, and what its functions do.
class FunctionalCall {
 public:
  FunctionalCall(const HigherOrderOperator& op, FunctionCalls calls, size_t first_copied,
                 const FunctionalizeContext& context, const Stack& arguments)
      : op_(op), calls_(calls), first_copied_(first_copied), context_(context) {
    for (const IValue& argument : arguments)
      if (argument.is_TensorList() || argument.is_List())
        argument.for_each_tensor([&](const Tensor& t) { operands_.push_back(t); });
    written_.resize(operands_.size());
  }

  // A function, as one of values.
  IValue function(const IntrusivePtr<Callable>& f, std::string who) {
    return Callable::make([this, who = std::move(who), f = context_.functionalize(f->function())](
                              std::vector<IValue> arguments) {
      FunctionEffects effects(who);
      const std::vector<uint64_t> reads = captured_reads();
      std::vector<IValue> results = f(arguments);
      check_captured(effects, who, reads);
      note(effects, who, arguments, &results);
      return results;
    });
  }

  // Runs the operator on the values until it is known what is written to. The results, as
  // functional tensors.
  std::vector<IValue> run(const std::vector<IValue>& values) {
    const internal::RunningProgram running;
    std::vector<IValue> results;
    for (bool done = false; !done;) {
      results = values;
      shared_.clear();
      twins_.clear();
      captured_.clear();
      try {
        context_.redispatch([&] { op_.call_boxed(&results); });
        done = true;
      } catch (const MoreIsWritten&) {
      }
    }
    write(&results);
    for (size_t r = 0; r < results.size(); ++r) results[r] = result(r, results[r]);
    for (const auto& [r, s] : twins_) {
      const FunctionalTensorImpl& first = *functional_impl(results[r].to_tensor());
      first.functional_storage()->may_be(
          functional_impl(results[s].to_tensor())->functional_storage(),
          str_cat(op_.name(), ": under functionalization: results ", r, " and ", s,
                  " share memory as a function gives them, which is lost"));
    }
    return results;
  }

 private:
  // How often the memory of each operand was read by functions that had captured it.
  std::vector<uint64_t> captured_reads() const {
    std::vector<uint64_t> reads;
    for (const Tensor& t : operands_) {
      const FunctionalTensorImpl* const impl = functional_impl(t);
      reads.push_back(impl ? impl->functional_storage()->captured_reads() : 0);
    }
    return reads;
  }

  // NotImplementedError where a function has captured what it is also given and writes to: it would
  // read what was there before.
  void check_captured(const FunctionEffects& effects, const std::string& who,
                      const std::vector<uint64_t>& before) const {
    const std::vector<uint64_t> now = captured_reads();
    for (size_t i = 0; i < std::min(now.size(), effects.written.size()); ++i) {
      SB_CHECK_NOT_IMPLEMENTED(!effects.written[i].defined() || now[i] == before[i], who,
                               ": under functionalization: it writes to argument ", i, ", ",
                               operands_[i].describe(),
                               ", and reads the same memory by a tensor that it has captured; give "
                               "it that tensor as an operand");
    }
  }

  // NotImplementedError where an operand that is written to shares memory with another one that is
  // not the same view of it: how views lie in their memory may differ when a graph runs. And that
  // two carried tensors are one may hold in the first trip alone, which a graph does not tell.
  void check_apart(const std::string& who, size_t written) const {
    const Tensor& a = operands_[written];
    for (const Tensor& b : operands_) {
      const bool is_once = calls_ == FunctionCalls::OneOfThem || !get_mode(ModeKey::Proxy);
      const bool is_other = &a != &b && (!a.is_same(b) || !is_once);
      const bool apart =
          !is_other || !b.is_alias_of(a) || (is_once && a.dtype() == b.dtype() && lie_alike(a, b));
      SB_CHECK_NOT_IMPLEMENTED(apart, who, ": under functionalization: it writes to argument ",
                               written, ", ", a.describe(), ", which shares memory with ",
                               b.describe(), "; give it clones");
    }
  }

  void note(const FunctionEffects& effects, const std::string& who,
            const std::vector<IValue>& arguments, std::vector<IValue>* results) {
    std::vector<Tensor> given;
    for (const IValue& argument : arguments)
      argument.for_each_tensor([&](const Tensor& t) { given.push_back(t); });
    shared_.push_back(effects.shared);
    // One that is given twice is one, whichever of both a function gives.
    for (FunctionEffects::Shared& shared : shared_.back()) {
      const auto is_it = [&](const Tensor& t) { return t.is_same(operands_[shared.argument]); };
      shared.argument =
          static_cast<size_t>(std::ranges::find_if(operands_, is_it) - operands_.begin());
    }
    captured_.push_back(effects.captured);
    if (calls_ == FunctionCalls::OneOfThem)
      twins_.insert(twins_.end(), effects.twins.begin(), effects.twins.end());
    // The copies of one function must not be views of what another one, or the program, has.
    for (size_t r = 0; r < std::min(results->size(), first_copied_); ++r) {
      IValue& value = (*results)[r];
      for (const Tensor& t : given) {
        if (!value.unchecked_tensor().is_alias_of(t)) continue;
        value = clone(value.unchecked_tensor());
        break;
      }
    }
    bool more = false;
    for (size_t i = 0; i < effects.written.size(); ++i) {
      if (!effects.written[i].defined()) continue;
      check_apart(who, i);
      SB_CHECK_NOT_IMPLEMENTED(calls_ == FunctionCalls::OneOfThem, who,
                               ": under functionalization: it writes to argument ", i, ", ",
                               given[i].describe(), "; it must write to a clone");
      more = more || !written_[i];
      written_[i] = true;
    }
    if (more) throw MoreIsWritten();
    // Dense, so that functions that write agree with those that do not.
    for (size_t i = 0; i < written_.size(); ++i)
      if (written_[i])
        results->push_back(clone(effects.written[i].defined() ? effects.written[i] : given[i],
                                 MemoryFormat::Contiguous));
  }

  // Takes what operands now hold off the results.
  void write(std::vector<IValue>* results) {
    size_t num_written = 0;
    for (const bool written : written_) num_written += written;
    size_t next = results->size() - num_written;
    for (size_t i = 0; i < written_.size(); ++i) {
      if (!written_[i]) continue;
      const Tensor value = context_.wrap((*results)[next++].to_tensor());
      const Tensor operand = context_.functional(operands_[i]);
      Stack copying{operand, value, false};
      internal::functionalize_call(context_, sb::copy_.handle(), &copying);
      operand.impl()->bump_version();
    }
    results->resize(results->size() - num_written);
  }

  IValue result(size_t r, const IValue& value) {
    if (r >= first_copied_) return wrap(value);
    if (const std::optional<Origin> origin = origin_in_all(r))
      return origin->same ? origin->tensor : view_of(*origin);
    const IValue wrapped = wrap(value);
    const std::string text =
        str_cat(op_.name(), ": under functionalization: only the data tell whether result ", r,
                " shares memory with what the functions are given");
    const auto may_be = [&](const Tensor& other) {
      if (FunctionalTensorImpl* const impl = functional_impl(context_.functional(other)))
        functional_impl(wrapped.to_tensor())
            ->functional_storage()
            ->may_be(impl->functional_storage(), text);
    };
    // Loops make what they give apart from their operands.
    for (const auto& call : shared_)
      for (const FunctionEffects::Shared& shared : call)
        if (calls_ == FunctionCalls::OneOfThem && shared.result == r)
          may_be(operands_[shared.argument]);
    for (const auto& call : captured_)
      for (const FunctionEffects::Captured& captured : call) may_be(captured.tensor);
    return wrapped;
  }

  // Where a result of one call of a function comes from.
  struct Origin {
    Tensor tensor;  // functional: an operand, or what the function has captured
    bool same;      // the result is that very tensor, else another view of its memory
    FunctionEffects::Layout layout;  // of the result
  };

  std::optional<Origin> origin_of(size_t call, size_t r) const {
    const auto& shared = shared_[call];
    if (const auto found = std::ranges::find(shared, r, &FunctionEffects::Shared::result);
        found != shared.end()) {
      const Tensor operand = context_.functional(operands_[found->argument]);
      if (context_.owns(operand)) return Origin{operand, found->same, found->layout};
    }
    const auto& captured = captured_[call];
    if (const auto found = std::ranges::find(captured, r, &FunctionEffects::Captured::result);
        found != captured.end()) {
      return Origin{found->tensor, true, FunctionEffects::Layout(found->tensor)};
    }
    return std::nullopt;
  }

  // Where the result comes from, if all functions that were called say the same.
  std::optional<Origin> origin_in_all(size_t r) const {
    if (calls_ != FunctionCalls::OneOfThem || shared_.empty()) return std::nullopt;
    std::optional<Origin> all = origin_of(0, r);
    for (size_t call = 1; all && call < shared_.size(); ++call) {
      const std::optional<Origin> origin = origin_of(call, r);
      if (!origin || origin->same != all->same) return std::nullopt;
      if (origin->same) {
        // However it lay in memory when the function ran: a trace runs it on copies.
        if (!origin->tensor.is_same(all->tensor)) return std::nullopt;
        continue;
      }
      if (!(origin->layout == all->layout)) return std::nullopt;
      const FunctionalTensorImpl& a = *functional_impl(all->tensor);
      const FunctionalTensorImpl& b = *functional_impl(origin->tensor);
      if (a.functional_storage() != b.functional_storage() || a.lineage() != b.lineage())
        return std::nullopt;
    }
    // What one function has captured may be a view that it has made itself.
    if (all && shared_.size() < 2) {
      all->same = all->same && std::ranges::any_of(operands_, [&](const Tensor& t) {
                    return all->tensor.is_same(context_.functional(t));
                  });
    }
    return all;
  }

  static Tensor view_of(const Origin& origin) {
    FunctionalTensorImpl& viewed = *functional_impl(origin.tensor);
    const FunctionEffects::Layout& layout = origin.layout;
    const IntrusivePtr<FunctionalStorage>& storage = viewed.functional_storage();
    const BelowFunctionalization below(viewed.owner());
    storage->apply_updates();
    const Tensor& base = storage->base(viewed.lineage());
    ViewChain chain = chain_to(
        base, ViewForm(layout.dtype, layout.sizes, layout.strides, layout.offset, layout.keys));
    Tensor value = apply_chain(chain, base);
    auto view = make_intrusive<FunctionalTensorImpl>(storage, viewed.lineage(), std::move(chain),
                                                     std::move(value), viewed.owner());
    view->share_version_counter(viewed);
    return Tensor(std::move(view));
  }

  IValue wrap(const IValue& value) const {
    IValue wrapped = context_.wrap(value);
    wrapped.for_each_tensor([&](const Tensor& t) {
      if (!internal::grad_hooks->requires_grad(t)) return;
      internal::grad_hooks->stop_gradient(
          t, str_cat(op_.name(),
                     ": under functionalization: backward, run inside of the program, "
                     "does not pass it; run backward outside"));
    });
    return wrapped;
  }

  const HigherOrderOperator& op_;
  const FunctionCalls calls_;
  const size_t first_copied_;
  const FunctionalizeContext& context_;
  std::vector<Tensor> operands_;
  std::vector<bool> written_;                                     // operands
  std::vector<std::vector<FunctionEffects::Shared>> shared_;      // of each call of a function
  std::vector<std::vector<FunctionEffects::Captured>> captured_;  // of each call
  std::vector<std::pair<size_t, size_t>> twins_;  // results that share memory with each other
};

// A function, or a list of them.
bool is_function(const IValue& value) {
  if (Callable::find(value)) return true;
  return value.is_List() && !value.to_list().empty() && Callable::find(value.to_list()[0]);
}

// NotImplementedError where a tensor requires a gradient of a leaf that the functionalised program
// has made, which its value knows nothing of.
void check_gradients_pass(const HigherOrderOperator& op, const IValue& argument,
                          const IValue& value) {
  if (!internal::grad_hooks->is_grad_enabled()) return;
  std::vector<bool> passes;
  value.for_each_tensor(
      [&](const Tensor& t) { passes.push_back(internal::grad_hooks->requires_grad(t)); });
  size_t i = 0;
  argument.for_each_tensor([&](const Tensor& t) {
    SB_CHECK_NOT_IMPLEMENTED(passes[i++] || !internal::grad_hooks->requires_grad(t), op.name(),
                             ": under functionalization, with a mode below: ", t.describe(),
                             " requires a gradient of a leaf that the program has made, which is "
                             "not computed there; run backward outside of the program");
  });
}

}  // namespace

FunctionalizeApiRule functionalized(const HigherOrderOperator& op,
                                    std::vector<std::string> function_names, FunctionCalls calls,
                                    std::function<size_t(const std::vector<IValue>&)> copied) {
  return [&op, names = std::move(function_names), calls, copied = std::move(copied)](
             const FunctionalizeApi& api, DispatchKeySet, Stack* stack) {
    const auto& context = dynamic_cast<const FunctionalizeContext&>(api);
    Stack values;
    for (const IValue& argument : *stack)
      values.push_back(is_function(argument) ? argument : api.unwrap(argument));
    bool plain = false;
    api.redispatch([&] { plain = runs_plainly(op.call_keys(values), values); });
    if (plain) {
      context.run_in_place([&] { op.redispatch_boxed(DispatchKeySet(DispatchKey::CPU), stack); });
      return;
    }
    FunctionalCall call(op, calls, copied ? copied(*stack) : std::numeric_limits<size_t>::max(),
                        context, *stack);
    size_t num_functions = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!is_function(values[i])) {
        check_gradients_pass(op, (*stack)[i], values[i]);
        continue;
      }
      const std::string who = str_cat(op.name(), ": ", names.at(num_functions++));
      if (const IntrusivePtr<Callable> function = Callable::find(values[i])) {
        values[i] = call.function(function, who);
        continue;
      }
      std::vector<IValue> functions;
      for (const IValue& item : values[i].to_list())
        functions.push_back(
            call.function(Callable::from(item), str_cat(who, " ", functions.size())));
      values[i] = std::move(functions);
    }
    *stack = call.run(values);
  };
}

}  // namespace sb::control_flow
