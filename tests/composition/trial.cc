#include "switchboard/tests/composition/trial.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/tests/composition/arguments.h"
#include "switchboard/tests/composition/shrink.h"
#include "switchboard/tests/composition/workers.h"

namespace sb::composition {
namespace {

uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
uint64_t seed_of(const TrialOptions& options, uint64_t number) {
  return mixed(mixed(options.seed) + number);
}

bool has_callee(const Block& block, const std::set<Callee>& callees) {
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const Step& step) {
    return callees.contains(step.callee) ||
           std::any_of(step.blocks.begin(), step.blocks.end(),
                       [&](const Block& inner) { return has_callee(inner, callees); });
  });
}

// Which outputs may come of a branch: results of branches, and of what was given such a result.
std::vector<bool> outputs_of_branches(const Block& block) {
  std::vector<bool> found(block.steps.size());
  bool inputs = false;
  for (size_t i = 0; i < block.steps.size(); ++i) {
    Step step = block.steps[i];
    const std::set<Callee> branching{Callee::Cond, Callee::WhileLoop};
    bool any = branching.contains(step.callee);
    for (const Block& inner : step.blocks) any = any || has_callee(inner, branching);
    const auto of_this_block = [&](const auto& f) {
      for_each_ref(step, [&](const Ref& ref, size_t depth) {
        if (ref.depth == depth) f(ref);
      });
    };
    of_this_block([&](const Ref& ref) {
      any = any || (ref.step == Ref::kInputs ? inputs : found[static_cast<size_t>(ref.step)]);
    });
    found[i] = any;
    // It may have given its memory to another argument.
    if (!any || !step.op || !step.op->schema().is_mutable()) continue;
    of_this_block([&](const Ref& ref) {
      if (ref.step == Ref::kInputs)
        inputs = true;
      else
        found[static_cast<size_t>(ref.step)] = true;
    });
  }
  std::vector<bool> outputs;
  for (const Ref& ref : block.outputs)
    outputs.push_back(ref.step == Ref::kInputs ? inputs : found[static_cast<size_t>(ref.step)]);
  return outputs;
}

Judge judge_of(const Program& program) {
  return Judge([&program](const Tensors& inputs) { return run_block(program.block, inputs); },
               program.inputs,
               {.recorded = program.recorded,
                .loops = has_callee(program.block, {Callee::WhileLoop, Callee::Scan}),
                .of_branches = outputs_of_branches(program.block)});
}

// The message without its numbers, by which a failure is known when the program changes.
std::string without_numbers(const std::string& message) {
  std::string kind;
  for (char c : message)
    if (std::string_view("0123456789.-, []").find(c) == std::string_view::npos) kind += c;
  return kind;
}

std::optional<Verdict> failure(const Program& program, const LayerStack& stack) {
  Judge judge = judge_of(program);
  if (!judge.is_determined()) return std::nullopt;
  Verdict verdict = judge.judge(stack);
  if (verdict.kind != Verdict::Kind::Failed) return std::nullopt;
  return verdict;
}

void add_names(const Block& block, std::string* names) {
  for (const Step& step : block.steps) {
    *names += str_cat(" ", step.name());
    for (const Block& inner : step.blocks) add_names(inner, names);
  }
}

}  // namespace

Program program_of(const Operators& operators, const TrialOptions& options, uint64_t number,
                   const Trying& trying) {
  return generate(operators, seed_of(options, number), trying);
}

Program alone(Step step, const Frame& frame) {
  Stack inputs;
  for_each_ref(step, [&](Ref& ref, size_t depth) {
    if (ref.depth < depth) return;  // of a block of the step
    ref.depth -= depth;
    inputs.emplace_back(frame.at(ref));
    ref = {depth, Ref::kInputs, inputs.size() - 1};
  });
  Program program;
  program.inputs = internal::ArgumentPlan::of(inputs);
  program.block.inputs = inputs.size();
  program.block.steps.push_back(std::move(step));
  return program;
}

std::vector<LayerStack> stacks_of(const TrialOptions& options, uint64_t number) {
  if (!options.stack.empty()) return {options.stack};
  std::vector<LayerStack> stacks;
  for (const Layer* layer : options.layers) stacks.push_back({layer});
  Random random(seed_of(options, number) + 1);
  for (size_t size = 2; size <= std::min<size_t>(3, options.layers.size()); ++size)
    for (int n = 0, tries = 0; n < 3 && tries < 50; ++tries) {
      LayerStack stack;
      for (size_t i = 0; i < size; ++i) stack.push_back(random.one_of(options.layers));
      if (!has_meaning(stack)) continue;
      stacks.push_back(std::move(stack));
      ++n;
    }
  return stacks;
}

void run_trial(const Operators& operators, const TrialOptions& options, uint64_t number,
               const TrialEvents& events) {
  const Program program = program_of(operators, options, number, events.trying);
  Judge judge = judge_of(program);
  if (program.block.steps.empty() || !judge.is_determined()) {
    events.undetermined();
    return;
  }
  for (const LayerStack& stack : stacks_of(options, number)) {
    events.begin(to_string(stack));
    events.verdict(stack, judge.judge(stack), program);
  }
}

std::string kind_of(const LayerStack& stack, const std::string& message) {
  return str_cat(to_string(stack), ": ", without_numbers(message));
}

Smallest smallest(const Program& program, const LayerStack& stack, const Verdict& verdict) {
  const bool throws = verdict.message.starts_with("throws ");
  const auto is_alike = [&](const std::optional<Verdict>& v) {
    if (!v || v->message.starts_with("throws ") != throws) return false;
    // A smaller program must not be a wrong one that throws something else.
    return !throws || without_numbers(v->message) == without_numbers(verdict.message);
  };
  LayerStack layers = stack;
  for (size_t i = layers.size(); i-- > 0 && layers.size() > 1;) {
    LayerStack fewer = layers;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (has_meaning(fewer) && is_alike(failure(program, fewer))) {
      layers = std::move(fewer);
      i = layers.size();
    }
  }
  Smallest found;
  found.program = shrink(program, [&](const Program& p) { return is_alike(failure(p, layers)); });
  found.stack = layers;
  found.message = failure(found.program, layers).value_or(verdict).message;
  std::string names;
  add_names(found.program.block, &names);
  found.kind = str_cat(to_string(layers), ":", names, ": ", without_numbers(found.message));
  return found;
}

void make_crash_small(const Program& program, const LayerStack& stack,
                      const std::function<void(const Program&)>& found) {
  constexpr int kTries = 300;
  shrink(
      program,
      [&](const Program& p) {
        const bool shows = crashes([&] { failure(p, stack); });
        if (shows) found(p);
        return shows;
      },
      kTries);
}

}  // namespace sb::composition
