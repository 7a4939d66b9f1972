#include "switchboard/tests/composition/generate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/composition/arguments.h"
#include "switchboard/tests/composition/compare.h"
#include "switchboard/tests/composition/inputs.h"
#include "switchboard/tests/composition/layers.h"
#include "switchboard/tests/composition/writes.h"
#include "switchboard/tests/poison/poison.h"

namespace sb::composition {
namespace {

using Class = Operators::Class;

OperatorHandle op(std::string_view name) { return default_dispatcher().find_op_or_throw(name); }

bool is_plain(const Tensor& t) {
  constexpr int64_t kMostElements = 200;
  return t.defined() && t.is_cpu() && t.layout() == Layout::Strided && !is_quantized(t.dtype()) &&
         t.numel() <= kMostElements && t.dim() <= 5 && t.storage() &&
         t.storage()->nbytes() <= 64 * kMostElements;
}

bool same_metadata(const Tensor& a, const Tensor& b, bool strides) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.device() == b.device() &&
         (!strides || a.strides() == b.strides());
}

Value value_of(IValue plain) {
  Value value;
  value.plain = std::move(plain);
  return value;
}
Value value_of(const Ref& ref) {
  Value value;
  value.kind = Value::Kind::Tensor;
  value.refs = {ref};
  return value;
}
Value list_of(const std::vector<Ref>& refs) {
  Value value;
  value.kind = Value::Kind::Tensors;
  value.refs.assign(refs.begin(), refs.end());
  return value;
}

// A block that is being made, and its run so far.
struct Scope {
  Scope* outer = nullptr;
  Block block;
  std::shared_ptr<Frame> frame = std::make_shared<Frame>();

  Ref last(size_t index = 0) const { return {0, static_cast<int>(block.steps.size()) - 1, index}; }
};

class Generator {
 public:
  Generator(const Operators& operators, uint64_t seed, const Trying& trying)
      : operators_(operators), trying_(trying), random_(seed) {}

  Program make() {
    // Few of those that autograd refuses.
    for (;;) {
      Program program = make_any();
      if (!program.recorded || has_gradients(program) || random_.chance(15)) return program;
    }
  }

 private:
  Program make_any() {
    program_ = Program();
    program_.inputs = random_inputs(random_);
    Scope top;
    top.block.inputs = program_.inputs.values.size();
    program_.recorded = random_.chance(60);
    top.frame->inputs = fresh_inputs();
    for (size_t n = 1 + random_.pick(4) + random_.pick(4); n > 0; --n) add_step(top, 0);
    pick_outputs(top);
    program_.block = std::move(top.block);
    return std::move(program_);
  }

  static bool has_gradients(const Program& program) {
    const auto f = [&](const Tensors& inputs) { return run_block(program.block, inputs); };
    return !run(grad_layer().wrap(f, program.inputs), program.make_inputs()).threw();
  }

  // Views of copies, as layers make them: there are operators that do not take views.
  Tensors fresh_inputs() const {
    const Tensors given = program_.make_inputs();
    if (program_.recorded) return copy_recorded(given, program_.inputs).copies.inputs;
    return copy_by_operators(given, program_.inputs).inputs;
  }

  // --- What there is ---

  static std::vector<Live> live_in(const Scope& scope) {
    std::vector<Live> live;
    size_t depth = 0;
    std::vector<const Scope*> scopes;
    for (const Scope* s = &scope; s; s = s->outer) scopes.push_back(s);
    for (size_t i = scopes.size(); i-- > 0;) {
      depth = i;
      const Frame& frame = *scopes[i]->frame;
      for (size_t k = 0; k < frame.inputs.size(); ++k)
        live.push_back({{depth, Ref::kInputs, k}, frame.inputs[k]});
      for (size_t s = 0; s < frame.results.size(); ++s)
        for (size_t k = 0; k < frame.results[s].size(); ++k)
          if (frame.results[s][k].defined())
            live.push_back({{depth, static_cast<int>(s), k}, frame.results[s][k]});
    }
    return live;
  }
  template <class Is>
  std::optional<Live> find(const Scope& scope, const Is& is) {
    std::vector<Live> live = live_in(scope);
    std::erase_if(live, [&](const Live& l) { return !is(l.tensor); });
    if (live.empty()) return std::nullopt;
    return random_.one_of(live);
  }

  // Whether the tensor's memory is not the block's own.
  static bool is_foreign(const Scope& scope, const Tensor& t) {
    if (!scope.outer) return false;
    const auto shares = [&](const Tensor& other) { return other.is_alias_of(t); };
    if (std::any_of(scope.frame->inputs.begin(), scope.frame->inputs.end(), shares)) return true;
    for (const Live& l : live_in(*scope.outer))
      if (shares(l.tensor)) return true;
    return false;
  }

  // Whether the tensor has memory that an operator has given as if it were new (unsafe_split):
  // autograd counts no write to it, and what it saved of the other is wrong then.
  static bool is_uncounted(const Scope& scope, const Tensor& t) {
    const auto root = [](const Tensor& of) {
      const Tensor base = base_of(of);
      return base.defined() ? base : of;
    };
    const std::vector<Live> live = live_in(scope);
    const auto is_given = [&](const Tensor& result) {
      return result.is_alias_of(t) && std::ranges::any_of(live, [&](const Live& l) {
               return l.tensor.is_alias_of(result) && !root(l.tensor).is_same(root(result));
             });
    };
    for (size_t s = 0; s < scope.block.steps.size(); ++s) {
      const std::optional<OperatorHandle>& op = scope.block.steps[s].op;
      const bool says_so = !op || op->schema().is_view() || op->schema().is_mutable();
      if (!says_so && std::ranges::any_of(scope.frame->results[s], is_given)) return true;
    }
    return false;
  }

  // Whether an operator that does not say so (native_batch_norm, to running statistics) wrote to
  // memory of more than one argument, or of others than the block: whoever has saved what lies
  // there is not told.
  using Memories = std::vector<std::pair<Tensor, std::string>>;
  static bool wrote_in_secret(const Scope& scope, const Memories& before, const Memories& after) {
    for (size_t i = 0; i < before.size(); ++i) {
      const auto& [tensor, bytes] = before[i];
      const auto shares = [&t = tensor](const auto& other) { return other.first.is_alias_of(t); };
      if (bytes != after[i].second &&
          (is_foreign(scope, tensor) || std::ranges::count_if(before, shares) > 1))
        return true;
    }
    return false;
  }

  // --- Steps ---

  // Runs the step and takes it in, if it is one that programs may have.
  bool accept(Scope& scope, Step step, const Stack* arguments) {
    bool writes = false;
    if (step.op) {
      const FunctionSchema& schema = step.op->schema();
      writes = schema.is_mutable();
      if (writes) {
        for (size_t i = 0; i < arguments->size(); ++i) {
          bool foreign = false;
          if (schema.arguments[i].is_write())
            (*arguments)[i].for_each_tensor([&](const Tensor& t) {
              foreign = foreign || is_foreign(scope, t) || is_uncounted(scope, t);
            });
          if (foreign) return false;
        }
        if (depends_on_order(schema, *arguments)) return false;
      }
    }
    if (trying_) trying_(step, *scope.frame);
    Tensors results;
    const auto shapes = writes ? shapes_of_shared(step.op->schema(), *arguments)
                               : std::vector<std::vector<int64_t>>();
    const auto before = writes ? written_states(step.op->schema(), *arguments) : WrittenStates();
    const bool may_write = !writes && step.op && arguments;
    const auto memories = may_write ? memories_of(*arguments) : Memories();
    try {
      results = run_step(step, scope.frame);
    } catch (const Error&) {
      if (writes && written_states(step.op->schema(), *arguments) != before) replay(scope);
      return false;
    }
    bool good = !results.empty() || writes;
    for (const Tensor& t : results)
      good = good && is_plain(t) && !test::holds_fresh_memory(t, false);
    if (good && writes) {
      good = shapes == shapes_of_shared(step.op->schema(), *arguments);
      for (const IValue& value : *arguments)
        value.for_each_tensor([&](const Tensor& t) {
          good = good && (!t.defined() || (is_plain(t) && !test::holds_fresh_memory(t, true)));
        });
    }
    const bool wrote = may_write && wrote_in_secret(scope, memories, memories_of(*arguments));
    if (!good || wrote) {
      if (writes || wrote) replay(scope);
      return false;
    }
    scope.block.steps.push_back(std::move(step));
    scope.frame->results.push_back(std::move(results));
    return true;
  }
  // Takes back what a step did that was not accepted.
  void replay(Scope& scope) {
    scope.frame->results.clear();
    if (!scope.outer) scope.frame->inputs = fresh_inputs();
    for (const Step& step : scope.block.steps)
      scope.frame->results.push_back(run_step(step, scope.frame));
  }

  bool add_call(Scope& scope, std::string_view name, std::vector<Value> values) {
    Step step;
    step.op = op(name);
    const FunctionSchema& schema = step.op->schema();
    step.arguments = std::move(values);
    for (size_t i = step.arguments.size(); i < schema.arguments.size(); ++i)
      step.arguments.push_back(value_of(schema.arguments[i].default_value.value_or(IValue())));
    return accept(scope, std::move(step), nullptr);
  }
  bool add_clone(Scope& scope, const Ref& ref) {
    return add_call(scope, "aten::clone", {value_of(ref)});
  }

  bool try_operator(Scope& scope, Class c) {
    const std::vector<OperatorHandle>& ops = operators_.of(c);
    if (ops.empty()) return false;
    const OperatorHandle& chosen = random_.one_of(ops);
    std::optional<PickedArguments> picked =
        pick_arguments(chosen.schema(), live_in(scope), random_);
    if (!picked) return false;
    if (c == Class::Out && !fit_outs(scope, chosen, &*picked)) return false;
    Step step;
    step.op = chosen;
    step.arguments = std::move(picked->values);
    return accept(scope, std::move(step), &picked->stack);
  }
  // Puts tensors in the place of out= arguments that have the shape of the results, where there are
  // some. False for what gives uninitialised memory, of which anything may become.
  bool fit_outs(Scope& scope, const OperatorHandle& chosen, PickedArguments* picked) {
    const FunctionSchema& schema = chosen.schema();
    Stack stack = picked->stack;
    std::vector<size_t> outs;
    for (size_t i = 0; i < stack.size(); ++i) {
      if (!schema.arguments[i].is_write()) continue;
      // What is written to here is not the program's.
      if (!schema.arguments[i].is_out() || !stack[i].is_Tensor()) return true;
      outs.push_back(i);
      stack[i] = empty({0}, stack[i].to_tensor().dtype());
    }
    const Stack arguments = stack;
    try {
      chosen.call_boxed(&stack);
    } catch (const Error&) {
      return true;
    }
    for (size_t i : outs)
      if (test::holds_fresh_memory(arguments[i].to_tensor(), false)) return false;
    if (random_.chance(20)) return true;
    for (size_t i : outs) {
      const Tensor& made = arguments[i].to_tensor();
      const std::optional<Live> fits =
          find(scope, [&](const Tensor& t) { return same_metadata(t, made, false); });
      if (!fits) continue;
      picked->values[i].refs = {fits->ref};
      picked->stack[i] = fits->tensor;
    }
    return true;
  }

  void add_step(Scope& scope, size_t depth) {
    for (int i = 0; i < 60; ++i) {
      const size_t n = random_.pick(100);
      if (n < 12 && depth < 2) {
        if (i % 4 == 0 && add_higher_order(scope, depth)) return;
        continue;
      }
      const Class c = n < 36   ? Class::View
                      : n < 54 ? Class::InPlace
                      : n < 62 ? Class::Out
                      : n < 90 ? Class::Functional
                               : Class::Custom;
      if (try_operator(scope, c)) return;
    }
  }

  // --- Higher-order operators ---

  bool add_higher_order(Scope& scope, size_t depth) {
    switch (random_.pick(4)) {
      case 0:
        return add_cond(scope, depth);
      case 1:
        return add_while_loop(scope, depth);
      case 2:
        return add_map(scope, depth);
      default:
        return add_scan(scope, depth);
    }
  }

  static Scope block_in(Scope& outer, Tensors inputs) {
    Scope scope;
    scope.outer = &outer;
    scope.block.inputs = inputs.size();
    scope.frame->outer = outer.frame;
    scope.frame->inputs = std::move(inputs);
    return scope;
  }
  // A tensor of its own with these elements.
  static Tensor apart(const Tensor& t) { return clone(detach(t)); }

  // Makes what `ref` stands for a result that is no input of the block, or a view of one, nor of
  // another result.
  Ref own(Scope& scope, const Ref& ref) {
    const Tensor& t = scope.frame->at(ref);
    bool shared = ref.depth > 0 || is_foreign(scope, t);
    for (const Ref& other : scope.block.outputs)
      shared = shared || scope.frame->at(other).is_alias_of(t);
    if (!shared) return ref;
    return add_clone(scope, ref) ? scope.last() : ref;
  }

  Ref late_ref(const Scope& scope) {
    std::vector<Live> live = live_in(scope);
    std::erase_if(live, [](const Live& l) { return l.ref.depth > 0; });
    return live[std::max(random_.pick(live.size()), random_.pick(live.size()))].ref;
  }

  // A step of the block with a result like `like`, or a clone of it.
  Ref result_like(Scope& scope, const Ref& like, bool strides) {
    const Tensor model = scope.frame->at(like);
    for (int i = 0; i < 15; ++i) {
      const size_t before = scope.block.steps.size();
      if (!try_operator(scope, Class::Functional)) continue;
      const Tensors& results = scope.frame->results.back();
      for (size_t k = 0; k < results.size(); ++k)
        if (same_metadata(results[k], model, strides)) return scope.last(k);
      // Leave it out again.
      scope.block.steps.resize(before);
      scope.frame->results.resize(before);
    }
    return add_clone(scope, like) ? scope.last() : like;
  }

  // A step may have given a tensor another shape after it was chosen.
  static Tensors outputs_of(const Scope& scope) {
    Tensors outputs;
    for (const Ref& ref : scope.block.outputs) outputs.push_back(scope.frame->at(ref));
    return outputs;
  }
  static bool are_like(const Tensors& a, const Tensors& b, bool strides) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [&](const Tensor& x, const Tensor& y) { return same_metadata(x, y, strides); });
  }

  bool add_cond(Scope& scope, size_t depth) {
    std::optional<Live> pred =
        find(scope, [](const Tensor& t) { return t.dtype() == DType::Bool && t.numel() == 1; });
    if (!pred) {
      const std::optional<Live> x =
          find(scope, [](const Tensor& t) { return !is_complex(t.dtype()) && t.numel() > 0; });
      if (!x || !add_call(scope, "aten::sum", {value_of(x->ref)})) return false;
      if (!add_call(scope, "aten::gt.Scalar", {value_of(scope.last()), value_of(IValue(1))}))
        return false;
      pred = Live{scope.last(), scope.frame->at(scope.last())};
    }
    std::vector<Ref> operands;
    Tensors tensors;
    for (size_t n = random_.pick(3); n > 0; --n) {
      const std::optional<Live> x = find(scope, [](const Tensor&) { return true; });
      operands.push_back(x->ref);
      tensors.push_back(x->tensor);
    }
    Scope yes = block_in(scope, tensors);
    for (size_t n = 1 + random_.pick(2); n > 0; --n) add_step(yes, depth + 1);
    if (yes.block.steps.empty() || live_own(yes) == 0) return false;
    for (size_t n = 1 + random_.pick(2); n > 0; --n)
      yes.block.outputs.push_back(own(yes, late_ref(yes)));

    Scope no = block_in(scope, tensors);
    no.block = yes.block;
    try {
      replay(no);
    } catch (const Error&) {
      return false;
    }
    for (Ref& output : no.block.outputs)
      if (random_.chance(70)) output = result_like(no, output, true);
    if (!are_like(outputs_of(no), outputs_of(yes), true)) return false;
    Step step;
    step.callee = Callee::Cond;
    step.arguments = {list_of({pred->ref}), list_of(operands)};
    step.blocks = {std::move(yes.block), std::move(no.block)};
    return accept(scope, std::move(step), nullptr);
  }
  // How many tensors the block has of its own.
  static size_t live_own(const Scope& scope) {
    size_t n = scope.frame->inputs.size();
    for (const Tensors& results : scope.frame->results) n += results.size();
    return n;
  }

  bool add_while_loop(Scope& scope, size_t depth) {
    if (!add_call(scope, "aten::full",
                  {value_of(IValue(std::vector<int64_t>{})), value_of(IValue(0)),
                   value_of(IValue(DType::Int64))}))
      return false;
    std::vector<Ref> carried = {scope.last()};
    for (size_t n = 1 + random_.pick(2); n > 0; --n)
      carried.push_back(find(scope, [](const Tensor&) { return true; })->ref);
    Tensors tensors;
    for (const Ref& ref : carried) tensors.push_back(apart(scope.frame->at(ref)));

    Scope condition = block_in(scope, tensors);
    if (!add_call(condition, "aten::lt.Scalar",
                  {value_of(Ref()), value_of(IValue(random_.between(0, 3)))}))
      return false;
    condition.block.outputs = {condition.last()};
    Scope body = block_in(scope, tensors);
    if (!add_call(body, "aten::add.Scalar",
                  {value_of(Ref()), value_of(IValue(1)), value_of(IValue(1))}))
      return false;
    body.block.outputs = {body.last()};
    if (random_.chance(40)) add_step(body, depth + 1);
    for (size_t i = 1; i < carried.size(); ++i) {
      const Ref next = result_like(body, {0, Ref::kInputs, i}, false);
      body.block.outputs.push_back(own(body, next));
    }
    if (!are_like(outputs_of(body), tensors, false)) return false;
    // Whoever writes to the count can make the loop endless, with other inputs.
    if (body.frame->at(body.block.outputs[0]).version() != 0) return false;
    Step step;
    step.callee = Callee::WhileLoop;
    step.arguments = {list_of(carried)};
    step.blocks = {std::move(condition.block), std::move(body.block)};
    return accept(scope, std::move(step), nullptr);
  }

  // Tensors with one first dimension, which is not 0.
  std::vector<Ref> pick_slices(const Scope& scope) {
    const std::optional<Live> first =
        find(scope, [](const Tensor& t) { return t.dim() > 0 && t.size(0) > 0 && t.numel() > 0; });
    if (!first) return {};
    std::vector<Ref> xs = {first->ref};
    if (random_.chance(30))
      xs.push_back(find(scope, [&](const Tensor& t) {
                     return t.dim() > 0 && t.size(0) == first->tensor.size(0);
                   })->ref);
    return xs;
  }

  bool add_map(Scope& scope, size_t depth) {
    const std::vector<Ref> xs = pick_slices(scope);
    if (xs.empty()) return false;
    Tensors inputs;
    for (const Ref& ref : xs) inputs.push_back(select(apart(scope.frame->at(ref)), 0, 0));
    std::vector<Ref> args;
    if (random_.chance(50)) {
      args.push_back(find(scope, [](const Tensor&) { return true; })->ref);
      inputs.push_back(scope.frame->at(args[0]));
    }
    Scope body = block_in(scope, inputs);
    for (size_t n = 1 + random_.pick(2); n > 0; --n) add_step(body, depth + 1);
    body.block.outputs.push_back(own(body, late_ref(body)));
    if (random_.chance(20)) body.block.outputs.push_back(own(body, late_ref(body)));
    Step step;
    step.callee = Callee::Map;
    step.arguments = {list_of(xs), list_of(args)};
    step.blocks = {std::move(body.block)};
    return accept(scope, std::move(step), nullptr);
  }

  bool add_scan(Scope& scope, size_t depth) {
    const std::vector<Ref> xs = pick_slices(scope);
    if (xs.empty()) return false;
    const Ref init = find(scope, [](const Tensor&) { return true; })->ref;
    Tensors inputs = {apart(scope.frame->at(init))};
    for (const Ref& ref : xs) inputs.push_back(select(apart(scope.frame->at(ref)), 0, 0));
    Scope combine = block_in(scope, inputs);
    if (random_.chance(40)) add_step(combine, depth + 1);
    combine.block.outputs.push_back(own(combine, result_like(combine, Ref(), false)));
    combine.block.outputs.push_back(own(combine, late_ref(combine)));
    if (!are_like({outputs_of(combine)[0]}, {inputs[0]}, false)) return false;
    Step step;
    step.callee = Callee::Scan;
    step.arguments = {list_of({init}), list_of(xs)};
    step.blocks = {std::move(combine.block)};
    return accept(scope, std::move(step), nullptr);
  }

  // --- Outputs ---

  void pick_outputs(Scope& top) {
    for (size_t n = 1 + random_.pick(3); n > 0; --n) {
      const Ref ref = late_ref(top);
      if (std::find(top.block.outputs.begin(), top.block.outputs.end(), ref) ==
              top.block.outputs.end() ||
          random_.chance(10))
        top.block.outputs.push_back(ref);
    }
  }

  const Operators& operators_;
  const Trying& trying_;
  Random random_;
  Program program_;
};

}  // namespace

Operators::Operators(const std::string& only) {
  for (const OperatorHandle& op : default_dispatcher().all_ops()) {
    const FunctionSchema& schema = op.schema();
    if (!absl::StrContains(schema.name.to_string(), only)) continue;
    if (schema.name.ns() == "composition_layer") {
      ++of_layers_;
      continue;
    }
    if (op.entry().has_tag(Tag::nondeterministic_seeded)) {
      ++random_;
      continue;
    }
    if (!can_pick_arguments(schema)) {
      ++other_types_;
      continue;
    }
    const auto is_out = [](const Argument& a) { return a.is_out(); };
    Class c = Class::Functional;
    if (schema.name.ns() == "composition")
      c = Class::Custom;
    else if (schema.is_view())
      c = Class::View;
    else if (std::any_of(schema.arguments.begin(), schema.arguments.end(), is_out))
      c = Class::Out;
    else if (schema.is_mutable())
      c = Class::InPlace;
    classes_[static_cast<size_t>(c)].push_back(op);
  }
}

std::string Operators::to_string() const {
  const auto n = [&](Class c) { return of(c).size(); };
  return str_cat("operators: ", n(Class::View), " views, ", n(Class::InPlace), " in-place, ",
                 n(Class::Out), " out=, ", n(Class::Functional), " functional, ", n(Class::Custom),
                 " custom; left out: ", random_, " random ones, ", other_types_,
                 " with arguments of other types, ", of_layers_, " of layers");
}

Program generate(const Operators& operators, uint64_t seed, const Trying& trying) {
  return Generator(operators, seed, trying).make();
}

}  // namespace sb::composition
