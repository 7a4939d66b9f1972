// Explains where a call would go, and why: as data, and as one stable text.
//
//   std::cout << to_string(explain(add, x, y));
//
//   demo::f
//     keys
//       argument 0 'x'      {AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}
//       argument 1 'ys[0]'  {AutocastCPU, AutogradCPU, ADInplaceOrView, CPU}
//       thread includes     {ADInplaceOrView, BackendSelect}
//       thread excludes     {AutocastCPU}
//       op falls through    {AutocastCPU, ADInplaceOrView, BackendSelect} on CPU
//       left for the call   {AutogradCPU, CPU}
//     looked at
//       AutocastCPU  excluded by the thread  fallthrough a.cc:9  [backend fallback]
//       AutogradCPU  runs, and goes on       demo/f.cc:9         [autograd kernel, from Autograd]
//     below it
//       CPU          runs                    demo/f.cc:12        [kernel]
//
// "below it" is the rest of the way (call_path.h), to the kernel that computes: through modes and
// their rules, functionalisation, autograd and fallbacks. It is what a trace of the call shows.
// Where a kernel, a mode or a rule "decides" by code of its own, what "may run" below is the usual
// way, or nothing is said.
//
// Where the arguments are given as keys only, one line "arguments" stands for theirs, and the end
// is "a redispatch below it enters": what a kernel enters that redispatches with the keys below its
// own.
//
// Explaining calls no kernel and changes nothing. It takes the dispatcher's lock.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_EXPLAIN_H_
#define SWITCHBOARD_DISPATCH_INSPECT_EXPLAIN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/inspect/computed_table.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// One key that a call looked at.
struct ExplainStep {
  enum class Verdict {
    Excluded,           // the thread excludes it
    Fallthrough,        // calls pass over its kernel
    Taken,              // its kernel runs
    Missing,            // there is no kernel, or an ambiguous one: the call fails
    EntersFallthrough,  // a fallthrough at Undefined, which no mask takes away: the call fails
  };
  DispatchKey key;
  Verdict verdict;
  TableRow row;
};

// A tensor among the arguments.
struct ExplainedTensor {
  size_t argument;   // index in the schema
  std::string name;  // "self"; "tensors[2]" in a list
  DispatchKeySet keys;
};

// The resolution of a call on this thread, at this moment.
struct Explanation {
  std::string op;
  std::vector<ExplainedTensor> tensors;  // empty where only keys are given
  bool from_keys = false;                // the arguments were given as keys
  DispatchKeySet arguments;              // the union of their keys
  DispatchKeySet included;               // what the thread adds
  DispatchKeySet excluded;               // what it takes away
  // The keys that the operator's mask removes: the functionalities that calls pass over on
  // the highest backend of the arguments and the thread.
  DispatchKeySet fallthroughs;
  DispatchKeySet call_keys;        // what is left: what the kernel gets
  std::vector<ExplainStep> steps;  // highest key first; the last one decided
  // The end of a redispatch with the keys below the taken one. nullopt if no kernel runs, and where
  // the taken key is Undefined, below which there is nothing.
  std::optional<ExplainStep> next;
  // The whole way from the taken key on; empty where only keys are given.
  std::vector<PathStep> path;

  // The step that decided: the kernel that runs, or why there is none.
  const ExplainStep& decision() const { return steps.back(); }
  bool runs() const { return decision().verdict == ExplainStep::Verdict::Taken; }
  // Whether the text tells `next`: the arguments are keys, and one is left below the taken one.
  bool has_next() const { return from_keys && next && next->key != DispatchKey::Undefined; }
};

// A call whose tensor arguments have these keys together.
Explanation explain(const OperatorHandle& op, DispatchKeySet arguments);
// A call with these arguments: one value for each of the schema's on the end of the stack, as
// call_boxed takes them. Throws RuntimeError if there are fewer.
Explanation explain(const OperatorHandle& op, const Stack& arguments);
// Both throw NotImplementedError if the operator was removed.

// A typed call; trailing arguments with defaults may be left out: explain(add, x, y).
template <class Tag, class... A>
requires(sizeof...(A) >= internal::OpTraits<Tag>::schema.num_required() &&
         sizeof...(A) <= internal::OpTraits<Tag>::schema.num_arguments) Explanation
    explain(const Op<Tag>& op, const A&... arguments) {
  using Traits = internal::OpTraits<Tag>;
  const OperatorHandle handle = op.handle();
  return [&]<size_t... I>(std::index_sequence<I...>) {
    // In the schema's order, keyword-only ones too, as a typed call takes them.
    Stack stack = {internal::box(static_cast<typename Traits::template Argument<I>>(arguments))...};
    const FunctionSchema& schema = handle.schema();
    for (size_t i = stack.size(); i < schema.arguments.size(); ++i)
      stack.push_back(schema.arguments[i].default_value.value());
    return explain(handle, stack);
  }
  (std::index_sequence_for<A...>());
}

// "excluded by the thread", "falls through", "runs", "fails: no kernel", as the text form says it.
std::string_view verdict_text(const ExplainStep& step);

// The text form, documented above. It ends with a line feed.
std::string to_string(const Explanation& explanation);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_EXPLAIN_H_
