// What a graph takes to be so, and the program may see otherwise.

#ifndef SWITCHBOARD_DISPATCH_GRAPH_TRACE_ASSUMPTIONS_H_
#define SWITCHBOARD_DISPATCH_GRAPH_TRACE_ASSUMPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/modes/trace_hooks.h"

namespace sb {

// A graph does the same for all data, and has strides burnt in. Where the program would do
// otherwise, it could tell only by some calls: these are refused, with NotImplementedError, or
// stated, so that a run for which they do not hold throws. A trace asks before it records a call,
// and at its end.
class TraceAssumptions {
 public:
  // What a node gives does not lie in memory as what the program has there. What is computed of it
  // must be given to no operator that looks at memory, and to none that factorizes a matrix by rows
  // or by columns where the factors are used.
  struct OtherLayout {
    const Node* node;
    std::string who;  // says so
    bool has_memory;  // false: of values, whose memory functionalisation knows
    bool is_open;     // only data tell how it lies, by which views and copies part
  };
  void note_other_layout(OtherLayout layout) { layouts_.push_back(std::move(layout)); }
  bool has_layouts() const { return !layouts_.empty(); }
  // What was said of what the node was computed of; or null.
  const OtherLayout* find_other_layout(const Node* node) const;

  // A result of `who` has memory that it did not make: for the program it may be a tensor that was
  // there before, and for a graph it is another. A change of where either of them lies, or of its
  // history, is refused.
  void note_handed_on(const Tensor& result, std::string who);

  // As TraceHooks::gave_view_or_copy. A program can tell where it writes to one of both, or gives
  // them both. `layout` is self's; null where it lies as in the program. Unless writes to it are
  // seen, it counts as if there were one.
  void note_view_or_copy(const Tensor& self, const Tensor& result, std::string_view op,
                         internal::ViewOrCopyBy by, const OtherLayout* layout, bool is_seen);

  // Remembers the operator of the node, where it is the first that gives what only data tell: what
  // is stated of that later hides who told it.
  void note_told(const Node& node);

  void check_call(const OperatorHandle& op, const std::vector<IValue>& arguments) const;
  void check_write(const Tensor& written);
  // `from_outside` are the tensors that the trace has not made.
  void check_results(const std::vector<IValue>& results,
                     const std::vector<Tensor>& from_outside) const;
  void check_graph(const Graph& graph) const;
  // Throws the error again, and says what it may rest on: the program itself may never throw it.
  // Use it in a catch block.
  [[noreturn]] void rethrow(const Error& error) const;

 private:
  struct HandedOn {
    Storage memory;
    std::string who;
  };
  struct ViewOrCopy {
    Tensor self, result;
    // Of a copy: the sizes which data tell, and which are at least 2 for the graph; and what only
    // data tell of why it is one.
    std::vector<SymInt> sizes;
    std::vector<SymBool> gaps;
    std::string op, layout_of;  // of whose results data tell the layout; or empty

    void state() const;
  };

  std::vector<OtherLayout> layouts_;
  std::vector<HandedOn> handed_on_;
  std::vector<ViewOrCopy> views_or_copies_;
  std::string told_by_;  // empty: by none
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_GRAPH_TRACE_ASSUMPTIONS_H_
