// Calls, each explained before it is made and traced while it runs: do the two agree?

#ifndef SWITCHBOARD_TESTS_EXPLAIN_EXPLAINED_CALLS_H_
#define SWITCHBOARD_TESTS_EXPLAIN_EXPLAINED_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/inspect/trace.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::test {

// What became of a call: the kernels of the explained way are those of the trace, each called by
// the one before, and the last one called the operator no further.
enum class Explained : uint8_t {
  AsTraced,
  Decided,  // the same, up to a kernel, mode or rule that the explanation says decides
  Otherwise,
};

// The trace has the events as their kernels started. A call that ends in an error may end before
// the way does.
Explained compare(const std::vector<PathStep>& path, const std::vector<TraceEvent>& trace);

// One thread at a time.
class ExplainedCalls {
 public:
  // Makes the call. What it throws passes.
  void call(const OperatorHandle& op, Stack* stack);

  int64_t as_traced() const { return as_traced_; }
  int64_t decided() const { return decided_; }
  int64_t otherwise() const { return otherwise_; }
  // The first of the others: explanation and trace.
  const std::vector<std::string>& texts() const { return texts_; }
  // Who decided, "aten::zeros: fake rule", with the number of calls.
  const std::map<std::string, int64_t>& deciders() const { return deciders_; }
  // "12 calls explained as traced, 3 as far as their kernels do not decide, 0 otherwise".
  std::string to_string() const;

 private:
  int64_t as_traced_ = 0, decided_ = 0, otherwise_ = 0;
  std::vector<std::string> texts_;
  std::map<std::string, int64_t> deciders_;
};

// While one is there, the programs of tests make their calls by it.
class ExplainCallsGuard {
 public:
  explicit ExplainCallsGuard(ExplainedCalls* calls);
  ~ExplainCallsGuard();
  ExplainCallsGuard(const ExplainCallsGuard&) = delete;
  ExplainCallsGuard& operator=(const ExplainCallsGuard&) = delete;

 private:
  ExplainedCalls* previous_;
};

// How programs of tests call an operator on the end of the stack: explained, where that is wanted
// on this thread.
void call_explained(const OperatorHandle& op, Stack* stack);

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_EXPLAIN_EXPLAINED_CALLS_H_
