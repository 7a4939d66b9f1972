// One program, under all the stacks that are its lot.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_TRIAL_H_
#define SWITCHBOARD_TESTS_COMPOSITION_TRIAL_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "switchboard/tests/composition/generate.h"
#include "switchboard/tests/composition/judge.h"

namespace sb::composition {

struct TrialOptions {
  uint64_t seed = 1;
  LayerStack layers;  // that stacks are made of
  LayerStack stack;   // the only one, unless it is empty
};

// What happens in a trial.
struct TrialEvents {
  // Before a stack is run: it may crash.
  std::function<void(const std::string& stack)> begin;
  // Before a step runs, while the program is generated.
  Trying trying;
  std::function<void(const LayerStack&, const Verdict&, const Program&)> verdict;
  std::function<void()> undetermined;  // there is nothing to compare with
};

Program program_of(const Operators& operators, const TrialOptions& options, uint64_t number,
                   const Trying& trying = nullptr);
// The step alone, with the tensors that it takes in the frame as inputs.
Program alone(Step step, const Frame& frame);
// Single layers, and some pairs and triples.
std::vector<LayerStack> stacks_of(const TrialOptions& options, uint64_t number);
void run_trial(const Operators& operators, const TrialOptions& options, uint64_t number,
               const TrialEvents& events);

// Of failures that are likely to have one cause: the stack, and the message without its numbers.
std::string kind_of(const LayerStack& stack, const std::string& message);

// A failure made small: fewer layers, and then a smaller program.
struct Smallest {
  Program program;
  LayerStack stack;
  std::string message;
  std::string kind;  // with the operators
};
Smallest smallest(const Program& program, const LayerStack& stack, const Verdict& verdict);
// The same of a program that crashes; `found` hears of each smaller one. Each is tried in a process
// of its own.
void make_crash_small(const Program& program, const LayerStack& stack,
                      const std::function<void(const Program&)>& found);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_TRIAL_H_
