#include "switchboard/io/exported/missing.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/node_step.h"

namespace sb::io {
namespace {

class Finder {
 public:
  explicit Finder(const Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  void visit(const Program& program) {
    decomposed_ = program.dialect == Dialect::Aten;
    for (const InputSpec& input : program.inputs)
      if (input.kind == InputKind::CustomObject)
        add("input", str_cat("custom object ", input.target), program.origin,
            "objects of classes are stored as pickles, which are not read");
    visit(program.graph);
  }
  std::vector<Missing> found() { return std::move(found_); }

 private:
  void visit(const Graph& graph) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      check_target(node, graph.place_of(i));
      for (const NamedArgument& input : node.inputs) {
        if (const auto* unknown = std::get_if<UnknownArgument>(&input.value))
          add("argument", unknown->tag, graph.place_of(i),
              "the file was written by a later version of PyTorch");
        if (const auto* nested = std::get_if<GraphRef>(&input.value)) visit(*nested->graph);
        if (const auto* op = std::get_if<OperatorRef>(&input.value))
          if (const auto name = operator_name(op->target))
            check_operator(OperatorName::parse(*name), graph.place_of(i));
      }
    }
  }

  void check_target(const Node& node, const std::string& place) {
    switch (node.kind) {
      case TargetKind::Operator:
        check_operator({node.op, node.overload}, place);
        return;
      case TargetKind::HigherOrder:
        if (!is_known_higher_order(node.op))
          add("higher-order operator", node.op, place,
              "export the model without it, or decompose it first");
        return;
      case TargetKind::SymFunction:
        return;
      case TargetKind::Other:
        // What transforms call, which an export leaves in programs that are not decomposed.
        add("function", node.op, place,
            node.op.starts_with("torch._functorch.") && !decomposed_
                ? "export with run_decompositions()"
                : "export the model without it");
    }
  }

  void check_operator(const OperatorName& op, const std::string& place) {
    if (dispatcher_.find_op(op)) return;
    const bool is_aten = op.ns() == "aten";
    const bool other_overload = !dispatcher_.overloads(op.name).empty();
    add(other_overload ? "overload" : "operator", op.to_string(), place,
        is_aten && !decomposed_ ? "export with run_decompositions(), or define it in a library and "
                                  "load that (sb --load, load_library())"
        : is_aten               ? "define it in a library and load that (sb --load, load_library())"
                                : "load the library that defines it (sb --load, load_library())");
  }

  void add(const char* kind, std::string name, std::string place, const char* advice) {
    const auto same = [&](const Missing& m) { return m.kind == kind && m.name == name; };
    auto known = std::ranges::find_if(found_, same);
    if (known == found_.end()) {
      found_.push_back({kind, std::move(name), 0, std::move(place), advice});
      known = found_.end() - 1;
    }
    ++known->count;
  }

  const Dispatcher& dispatcher_;
  bool decomposed_ = false;  // whether run_decompositions() was called
  std::vector<Missing> found_;
};

}  // namespace

std::vector<Missing> find_missing(const Program& program, const Dispatcher& dispatcher) {
  Finder finder(dispatcher);
  finder.visit(program);
  return finder.found();
}

void check_nothing_missing(const Program& program, const Dispatcher& dispatcher) {
  const std::vector<Missing> missing = find_missing(program, dispatcher);
  if (missing.empty()) return;
  std::string text;
  for (const Missing& one : missing)
    text +=
        str_cat("\n  ", one.kind, " ", one.name, ", ", one.count,
                one.count == 1 ? " time" : " times", ", first at ", one.place, ": ", one.advice);
  SB_THROW(NotImplementedError, program.origin, ": what this program needs is not all here:", text);
}

}  // namespace sb::io
