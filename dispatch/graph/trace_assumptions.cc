#include "switchboard/dispatch/graph/trace_assumptions.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/graph/memory_operators.h"
#include "switchboard/dispatch/graph/run_symbols.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb {
namespace {

// The operator that the node calls; or what it is called itself.
std::string called(const Node& node) {
  if (node.kind() == Node::Kind::Call) return node.op().name().to_string();
  const bool is_higher_order = node.kind() == Node::Kind::HigherOrder;
  return is_higher_order ? str_cat("higher_order::", node.higher_order().name()) : node.name();
}

// Throws the error with something behind its message; returns where it holds more than that.
void rethrow_with(const Error& error, const std::string& more) {
  const std::string message = error.what() + more;
  if (typeid(error) == typeid(RuntimeError)) throw RuntimeError(message);
  if (typeid(error) == typeid(IndexError)) throw IndexError(message);
  if (typeid(error) == typeid(TypeError)) throw TypeError(message);
  if (typeid(error) == typeid(ValueError)) throw ValueError(message);
  if (typeid(error) == typeid(NotImplementedError)) throw NotImplementedError(message);
}

// What only data tell of how a tensor lies: that neighbouring dimensions do not lie one behind the
// other.
std::vector<SymBool> told_gaps(const Tensor& t) {
  std::vector<SymBool> gaps;
  const SymIntArrayRef sizes = t.sym_sizes(), strides = t.sym_strides();
  for (size_t d = 0; d < sizes.size(); ++d) {
    const SymInt dense = d + 1 < sizes.size() ? strides[d + 1] * sizes[d + 1] : SymInt(1);
    SymBool gap = strides[d] != dense;
    if (!has_hint(gap) && !known(gap) && !known(strides[d] == dense))
      gaps.push_back(std::move(gap));
  }
  return gaps;
}

}  // namespace

const TraceAssumptions::OtherLayout* TraceAssumptions::find_other_layout(const Node* node) const {
  for (const OtherLayout& layout : layouts_)
    if (internal::comes_of(node, layout.node)) return &layout;
  return nullptr;
}

// Only the whole graph tells which results of an operator are used.
void TraceAssumptions::check_graph(const Graph& graph) const {
  for (const OtherLayout& layout : layouts_) {
    const std::string op = internal::find_factorization(
        graph, [&](const Node* node) { return internal::comes_of(node, layout.node); });
    SB_CHECK_NOT_IMPLEMENTED(op.empty(), op, ": under TracingMode: ", layout.who,
                             " carries tensors that a graph has contiguous, and this factorizes "
                             "what is computed of them by rows or by columns, as they lie; carry "
                             "contiguous ones");
  }
}

void TraceAssumptions::note_handed_on(const Tensor& result, std::string who) {
  handed_on_.push_back({result.storage(), std::move(who)});
}

void TraceAssumptions::check_call(const OperatorHandle& op,
                                  const std::vector<IValue>& arguments) const {
  if (handed_on_.empty() || !op.entry().has_tag(Tag::inplace_view)) return;
  const auto check = [&](const Tensor& changed) {
    for (const HandedOn& one : handed_on_) {
      SB_CHECK_NOT_IMPLEMENTED(!one.memory || one.memory != changed.storage(),
                               op.name().to_string(), ": under TracingMode: ", changed.describe(),
                               " may be one tensor with what ", one.who,
                               " gave, and two in a graph; change a view of it");
    }
  };
  const std::vector<Argument>& declared = op.schema().arguments;
  for (size_t i = 0; i < declared.size(); ++i)
    if (declared[i].is_write()) arguments[i].for_each_tensor(check);
}

void TraceAssumptions::ViewOrCopy::state() const {
  SB_CHECK_NOT_IMPLEMENTED(layout_of.empty(), op, ": under TracingMode: ", layout_of,
                           " gives tensors that lie as only data tell, and by that this gives its "
                           "argument or a copy, which the program tells apart; carry contiguous "
                           "tensors, or use clone");
  // Before anything is stated of the sizes: a part of at least 2 of 2 is the whole.
  std::vector<SymBool> open;
  for (const SymBool& gap : gaps)
    if (!known(gap) && !known(!gap)) open.push_back(gap);
  // What has been stated meanwhile may say that there is none at all.
  if (std::ranges::all_of(gaps, [](const SymBool& gap) { return known(!gap); })) open = gaps;
  for (const SymInt& size : sizes)
    check(size >= 2, str_cat(op,
                             " was traced as a copy of its argument, which the program tells "
                             "from it, and gives its argument for a size of 0 or 1; use clone"));
  for (const SymBool& gap : open)
    check(gap, str_cat(op,
                       " was traced as a copy of its argument, which the program tells from it, "
                       "and gives its argument where that is contiguous; use clone"));
}

void TraceAssumptions::note_view_or_copy(const Tensor& self, const Tensor& result,
                                         std::string_view op, internal::ViewOrCopyBy by,
                                         const OtherLayout* layout, bool is_seen) {
  ViewOrCopy one{self, result, {}, {}, std::string(op), ""};
  if (layout && layout->is_open) one.layout_of = layout->who;
  if (!result.is_alias_of(self)) {
    for (const SymInt& size : self.sym_sizes())
      if (size.is_symbolic() && !has_hint(size) && !known(size >= 2)) one.sizes.push_back(size);
    // Where there are none, the operator may give its argument, or a view.
    if (by == internal::ViewOrCopyBy::Layout) one.gaps = told_gaps(self);
  }
  if (one.layout_of.empty() && one.sizes.empty() && one.gaps.empty()) return;
  if (!is_seen) return one.state();
  views_or_copies_.push_back(std::move(one));
}

void TraceAssumptions::check_write(const Tensor& written) {
  std::erase_if(views_or_copies_, [&](const ViewOrCopy& one) {
    const bool seen =
        written.defined() && (written.is_alias_of(one.self) || written.is_alias_of(one.result));
    if (seen) one.state();
    return seen;
  });
}

void TraceAssumptions::check_results(const std::vector<IValue>& results,
                                     const std::vector<Tensor>& from_outside) const {
  const auto count = [&](const Tensor& one) {
    size_t n = 0;
    for (const IValue& result : results)
      result.for_each_tensor([&](const Tensor& t) { n += t.defined() && t.is_alias_of(one); });
    return n;
  };
  const auto is_from_outside = [&](const Tensor& one) {
    return std::ranges::any_of(from_outside,
                               [&](const Tensor& outside) { return outside.is_alias_of(one); });
  };
  for (const ViewOrCopy& one : views_or_copies_) {
    const size_t given = count(one.result);
    const bool self_too = one.result.is_alias_of(one.self) ? given > 1 : count(one.self) != 0;
    if (given != 0 && (self_too || is_from_outside(one.self))) one.state();
  }
}

void TraceAssumptions::note_told(const Node& node) {
  if (!told_by_.empty() || node.kind() == Node::Kind::Placeholder) return;
  if (!internal::tells_symbol(node)) return;
  told_by_ = called(node.kind() == Node::Kind::GetItem ? *node.arguments()[0].node() : node);
}

// What a program does with sizes that only data tell rests on what has been assumed of them, and
// what it does with what lies otherwise in a graph, on that. So may an error, which the program
// itself may never throw.
void TraceAssumptions::rethrow(const Error& error) const {
  constexpr std::string_view kWhere = "; under TracingMode, where ";
  const std::string_view text = error.what();
  const bool is_said = text.find(kWhere) != std::string_view::npos ||
                       text.find("only data tell") != std::string_view::npos;
  if (!is_said && !told_by_.empty())
    rethrow_with(error, str_cat(kWhere, "only data tell what ", told_by_, " gives"));
  else if (!is_said && !layouts_.empty())
    rethrow_with(error,
                 str_cat(kWhere, "a graph has contiguous what ", layouts_.front().who, " carries"));
  throw;
}

}  // namespace sb
