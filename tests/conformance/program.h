// Running the programs of conformance files: steps that call operators, and higher-order operators
// on sub-programs, on what came before.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_PROGRAM_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/arguments.h"

namespace sb::conformance {

// The tensors of results, those in lists included. None, and an undefined tensor, are not.
std::vector<Tensor> tensors_in(const std::vector<IValue>& results);

// Runs a program as often as wanted. It must outlive what it ran: a derivative may run a function
// of a higher-order operator again.
class ProgramRunner {
 public:
  // `program` has `steps` and `outputs`. All must outlive the runner.
  ProgramRunner(const Json& program, Place& place, const Dispatcher& dispatcher)
      : program_(program), place_(place), dispatcher_(dispatcher) {}
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // The outputs. Throws what operators throw, MalformedCase and Unsupported.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  // The step that is running, for what is said of an error: "steps.3, aten::add.Tensor", or, in a
  // function, "steps.3, cond, steps.0, aten::add.Tensor".
  const std::string& step() const { return step_; }

 private:
  using Scope = std::shared_ptr<KnownTensors>;

  // `where` is the step whose function the program is, or empty.
  std::vector<Tensor> run(const Json& program, const std::vector<Tensor>& inputs,
                          const Scope& scope, const std::string& where);
  std::vector<IValue> call(const Json& step, const Scope& scope);
  std::vector<IValue> higher_order_call(const Json& step, const Scope& scope);
  // A field of a higher-order step: a path, a list of paths, or a sub-program.
  IValue argument(const Json& field, const Scope& scope);

  const Json& program_;
  Place& place_;
  const Dispatcher& dispatcher_;
  std::string step_ = "nothing";
};

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_PROGRAM_H_
