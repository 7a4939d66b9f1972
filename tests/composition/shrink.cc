#include "switchboard/tests/composition/shrink.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/vary.h"

namespace sb::composition {
namespace {

// Replaces, in a block and those in it, what stands for results of the block's step `step`: each
// ref r by f(r), where depth says how far inside of the block it is used. False if f gives nothing.
template <class F>
bool map_refs(Block& block, F&& f) {
  bool all = true;
  for_each_ref(block, [&](Ref& ref, size_t depth) {
    if (ref.depth != depth) return;  // of another block
    Ref own = ref;
    own.depth = 0;
    const std::optional<Ref> mapped = f(own);
    if (!mapped) {
      all = false;
      return;
    }
    ref = *mapped;
    ref.depth += depth;
  });
  return all;
}

// Takes a step away. What used its results uses `instead`, if that is given.
bool remove_step(Block& block, size_t step, std::optional<Ref> instead) {
  const int gone = static_cast<int>(step);
  block.steps.erase(block.steps.begin() + gone);
  return map_refs(block, [&](Ref ref) -> std::optional<Ref> {
    if (ref.step == gone) return instead;
    if (ref.step > gone) --ref.step;
    return ref;
  });
}

bool remove_input(Program& program, size_t input) {
  program.inputs.values.erase(program.inputs.values.begin() + static_cast<std::ptrdiff_t>(input));
  program.inputs.drop_unused();
  --program.block.inputs;
  return map_refs(program.block, [&](Ref ref) -> std::optional<Ref> {
    if (ref.step != Ref::kInputs) return ref;
    if (ref.index == input) return std::nullopt;
    if (ref.index > input) --ref.index;
    return ref;
  });
}

// The steps of a function in the place of the call of it, with `inputs` as its inputs.
bool inline_block(Block& block, size_t step, size_t function, const std::vector<Ref>& inputs) {
  Block inner = block.steps[step].blocks[function];
  if (inputs.size() < inner.inputs) return false;
  const int at = static_cast<int>(step), added = static_cast<int>(inner.steps.size());
  // What is inside moves one block out.
  const auto outwards = [&](Ref& ref, size_t depth) {
    if (ref.depth < depth) return;
    if (ref.depth > depth) {
      --ref.depth;
    } else if (ref.step == Ref::kInputs) {
      const Ref& input = inputs[ref.index];
      ref = {depth + input.depth, input.step, input.index};
    } else {
      ref.step += at;
    }
  };
  for_each_ref(inner, outwards);
  const std::vector<Ref> outputs = inner.outputs;
  bool all = true;
  for (size_t s = step + 1; s < block.steps.size(); ++s)
    for_each_ref(block.steps[s], [&](Ref& ref, size_t depth) {
      if (ref.depth != depth || ref.step < at) return;
      if (ref.step > at) {
        ref.step += added - 1;
      } else if (ref.index < outputs.size()) {
        const Ref& output = outputs[ref.index];
        ref = {depth + output.depth, output.step, output.index};
      } else {
        all = false;
      }
    });
  for (Ref& ref : block.outputs) {
    if (ref.depth != 0 || ref.step < at) continue;
    if (ref.step > at)
      ref.step += added - 1;
    else if (ref.index < outputs.size())
      ref = outputs[ref.index];
    else
      all = false;
  }
  block.steps.erase(block.steps.begin() + at);
  block.steps.insert(block.steps.begin() + at, inner.steps.begin(), inner.steps.end());
  return all;
}

// A way from the program's block to one inside of it.
using Path = std::vector<std::pair<size_t, size_t>>;  // step, block
Block& block_at(Program& program, const Path& path) {
  Block* block = &program.block;
  for (const auto& [step, inner] : path) block = &block->steps[step].blocks[inner];
  return *block;
}
void paths_in(const Block& block, const Path& here, std::vector<Path>* all) {
  all->push_back(here);
  for (size_t s = 0; s < block.steps.size(); ++s)
    for (size_t b = 0; b < block.steps[s].blocks.size(); ++b) {
      Path inner = here;
      inner.emplace_back(s, b);
      paths_in(block.steps[s].blocks[b], inner, all);
    }
}

class Shrink {
 public:
  Shrink(Program program, const std::function<bool(const Program&)>& shows, int tries)
      : program_(std::move(program)), shows_(shows), tries_(tries) {}

  Program run() {
    for (bool smaller = true; smaller && tries_ > 0;)
      smaller = fewer_steps() || fewer_outputs() || fewer_inputs() || simpler_arguments() ||
                simpler_inputs();
    return std::move(program_);
  }

 private:
  // f changes a copy, and says whether it is a program.
  template <class F>
  bool attempt(F&& f) {
    if (tries_ <= 0) return false;
    Program candidate = program_;
    if (!f(candidate)) return false;
    --tries_;
    if (!shows_(candidate)) return false;
    program_ = std::move(candidate);
    return true;
  }
  std::vector<Path> paths() const {
    std::vector<Path> all;
    paths_in(program_.block, {}, &all);
    return all;
  }

  bool fewer_steps() {
    for (const Path& path : paths()) {
      const size_t n = block_at(program_, path).steps.size();
      for (size_t s = n; s-- > 0;) {
        if (attempt([&](Program& p) { return remove_step(block_at(p, path), s, std::nullopt); }))
          return true;
        const Step step = block_at(program_, path).steps[s];
        std::vector<Ref> used;
        for (const Value& value : step.arguments)
          for (const std::optional<Ref>& ref : value.refs)
            if (ref) used.push_back(*ref);
        for (const Ref& ref : used)
          if (attempt([&](Program& p) { return remove_step(block_at(p, path), s, ref); }))
            return true;
        // Without pred.
        std::vector<Ref> inputs = used;
        if (step.callee == Callee::Cond && !inputs.empty()) inputs.erase(inputs.begin());
        for (size_t b = 0; b < step.blocks.size(); ++b)
          if (attempt([&](Program& p) { return inline_block(block_at(p, path), s, b, inputs); }))
            return true;
      }
    }
    return false;
  }

  bool fewer_outputs() {
    for (const Path& path : paths()) {
      const Block& block = block_at(program_, path);
      for (size_t i = block.outputs.size(); i-- > 0;) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        if (path.empty()) {
          if (attempt([&](Program& p) {
                p.block.outputs.erase(p.block.outputs.begin() + at);
                return true;
              }))
            return true;
          continue;
        }
        // The last output of all functions of a step at once, and a simpler one.
        Path outer = path;
        const size_t step = outer.back().first;
        outer.pop_back();
        if (path.back().second == 0 && i + 1 == block.outputs.size() && i > 0 &&
            attempt([&](Program& p) {
              Step& s = block_at(p, outer).steps[step];
              for (Block& b : s.blocks)
                if (b.outputs.size() > 1) b.outputs.pop_back();
              if (s.callee == Callee::WhileLoop) {
                s.arguments[0].refs.pop_back();
                for (Block& b : s.blocks) --b.inputs;
              }
              return true;
            }))
          return true;
        for (size_t k = 0; k < block.inputs; ++k) {
          const Ref input{0, Ref::kInputs, k};
          if (block.outputs[i] == input) break;
          if (attempt([&](Program& p) {
                block_at(p, path).outputs[i] = input;
                return true;
              }))
            return true;
        }
      }
    }
    return false;
  }

  bool fewer_inputs() {
    for (size_t i = program_.block.inputs; i-- > 0;)
      if (attempt([&](Program& p) { return remove_input(p, i); })) return true;
    // One input in the place of another.
    for (size_t i = program_.block.inputs; i-- > 0;)
      for (size_t k = 0; k < i; ++k)
        if (attempt([&](Program& p) {
              map_refs(p.block, [&](Ref ref) -> std::optional<Ref> {
                if (ref.step == Ref::kInputs && ref.index == i) ref.index = k;
                return ref;
              });
              return remove_input(p, i);
            }))
          return true;
    return false;
  }

  static bool is_same(const IValue& a, const IValue& b) {
    return a.tag() == b.tag() && a.to_string() == b.to_string();
  }
  static double size_of(const IValue& value) {
    if (value.is_None()) return 0;
    if (value.is_Bool()) return value.to_bool() ? 2 : 1;
    if (value.is_Int())
      return 1 + 2 * std::abs(static_cast<double>(value.to_int())) + (value.to_int() < 0);
    if (value.is_Double()) return 1.5 + 2 * std::abs(value.to_double()) + (value.to_double() < 0);
    if (value.is_IntList()) {
      double sum = 1;
      for (int64_t n : value.to_int_list()) sum += 3 + std::abs(static_cast<double>(n));
      return sum;
    }
    return 5;
  }

  bool simpler_arguments() {
    for (const Path& path : paths()) {
      const Block& block = block_at(program_, path);
      for (size_t s = 0; s < block.steps.size(); ++s) {
        const Step step = block.steps[s];
        for (size_t a = 0; a < step.arguments.size(); ++a) {
          const auto set = [&](const Value& value) {
            return attempt([&](Program& p) {
              block_at(p, path).steps[s].arguments[a] = value;
              return true;
            });
          };
          const Value& now = step.arguments[a];
          if (now.kind != Value::Kind::Plain) {
            if (simpler_tensors(step, a, set)) return true;
            continue;
          }
          for (const IValue& plain : simpler_values(step, a)) {
            Value value;
            value.plain = plain;
            if (set(value)) return true;
          }
        }
      }
    }
    return false;
  }
  template <class Set>
  bool simpler_tensors(const Step& step, size_t a, const Set& set) {
    const Value& now = step.arguments[a];
    if (step.op && step.op->schema().arguments[a].type.is_optional() && set(Value())) return true;
    const bool is_pred = step.callee == Callee::Cond && a == 0;
    if (now.kind != Value::Kind::Tensor && !is_pred)
      for (size_t k = 0; k < now.refs.size(); ++k) {
        Value value = now;
        value.refs.erase(value.refs.begin() + static_cast<std::ptrdiff_t>(k));
        if (set(value)) return true;
      }
    for (size_t k = 0; k < now.refs.size(); ++k) {
      if (!now.refs[k] || (now.refs[k]->step == Ref::kInputs && now.refs[k]->depth == 0)) continue;
      // An earlier tensor.
      for (size_t i = 0; i < program_.block.inputs && now.refs[k]->depth == 0; ++i) {
        Value value = now;
        value.refs[k] = Ref{0, Ref::kInputs, i};
        if (set(value)) return true;
      }
    }
    return false;
  }
  std::vector<IValue> simpler_values(const Step& step, size_t a) const {
    const IValue& now = step.arguments[a].plain;
    std::vector<IValue> values;
    const Argument* const argument = step.op ? &step.op->schema().arguments[a] : nullptr;
    const IValue* const by_default =
        argument && argument->default_value ? &*argument->default_value : nullptr;
    if (by_default && is_same(now, *by_default)) return {};
    if (by_default) values.push_back(*by_default);
    std::vector<IValue> others;
    if (argument && argument->type.is_optional()) others.emplace_back();
    if (now.is_Int()) others.insert(others.end(), {IValue(0), IValue(1), IValue(2)});
    if (now.is_Int() && now.to_int() < 0) others.emplace_back(-now.to_int());
    if (now.is_Double()) others.insert(others.end(), {IValue(0.0), IValue(1.0), IValue(2.0)});
    if (now.is_Bool()) others.emplace_back(false);
    if (now.is_IntList()) {
      const IntArrayRef list = now.to_int_list();
      for (size_t k = 0; k < list.size(); ++k) {
        std::vector<int64_t> shorter(list.begin(), list.end()), lower = shorter, one = shorter;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(k));
        lower[k] = 0;
        one[k] = 1;
        others.emplace_back(std::move(shorter));
        others.emplace_back(std::move(one));
        others.emplace_back(std::move(lower));
      }
    }
    for (const IValue& value : others)
      if (size_of(value) < size_of(now)) values.push_back(value);
    return values;
  }

  bool simpler_inputs() {
    const FunctionSchema schema = schema_of(program_.inputs.values.size());
    for (internal::ArgumentPlan& plan : internal::simplifications(schema, program_.inputs))
      if (plan.values.size() == program_.inputs.values.size() && attempt([&](Program& p) {
            p.inputs = std::move(plan);
            return true;
          }))
        return true;
    return false;
  }
  // Of a function of so many tensors.
  static FunctionSchema schema_of(size_t inputs) {
    FunctionSchema schema;
    schema.name.name = "composition::program";
    for (size_t i = 0; i < inputs; ++i) {
      Argument argument;
      argument.name = str_cat("x", i);
      schema.arguments.push_back(std::move(argument));
    }
    return schema;
  }

  Program program_;
  const std::function<bool(const Program&)>& shows_;
  int tries_;
};

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& shows, int tries) {
  return Shrink(std::move(program), shows, tries).run();
}

}  // namespace sb::composition
