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
  std::function<void(const Step&)> trying;
  std::function<void(const LayerStack&, const Verdict&, const Program&)> verdict;
  std::function<void()> undetermined;  // there is nothing to compare with
};

Program program_of(const Operators& operators, const TrialOptions& options, uint64_t number,
                   const std::function<void(const Step&)>& trying = nullptr);
// Single layers, and some pairs and triples.
std::vector<LayerStack> stacks_of(const TrialOptions& options, uint64_t number);
void run_trial(const Operators& operators, const TrialOptions& options, uint64_t number,
               const TrialEvents& events);

// A failure made small: fewer layers, and then a smaller program.
struct Smallest {
  Program program;
  LayerStack stack;
  std::string message;
  // Of failures that are likely to have one cause: layers, operators, and the message without its
  // numbers.
  std::string kind;
};
Smallest smallest(const Program& program, const LayerStack& stack, const Verdict& verdict);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_TRIAL_H_
