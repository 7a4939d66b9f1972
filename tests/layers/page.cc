#include "switchboard/tests/layers/page.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/tests/composition/judge.h"
#include "switchboard/tests/layers/classes.h"

namespace sb::layers {
namespace {

using composition::Judge;
using composition::Layer;
using composition::LayerStack;
using composition::Verdict;

// Beside the single layers: from the inside out, as in composition::parse_stack.
constexpr std::string_view kStacks[] = {
    "functionalize, grad",
    "grad, functionalize",
    "grad, trace",
    "functionalize, trace",
    "grad, functionalize, trace",
    "body, grad",
    "body, functionalize",
    "body, trace",
    "custom, functionalize",
    "custom, trace",
    "watch, trace",
    "functionalize, fake",
    "trace, fake",
    "functionalize, trace, fake",
};

constexpr std::string_view kHead =
    R"(# What an operator of each class does under each layer

The law: under every stack of layers a program does what it does alone, or throws an error that names the operator and
the layer. This page is made by running a program of each class, and `//tests/layers:page_test` fails where it is not
up to date. To make it again:

    ./bazelw run //tests/layers:write_page

"same" means the same results, final inputs, shared memory, gradients, second gradients and effects on the host as
without the layers, or the same error. Anything else is the text of the error. `tests/composition` says what each layer
is, and tries random programs under all of them; `tests/layers/classes.cc` has the classes, which are told from the
registry, and their programs.

)";

bool has(const LayerStack& stack, std::string_view name) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](const Layer* layer) { return layer->name == name; });
}

// f for layers whose functions write to nothing that they are given, and give none of it.
TensorFunction on_clones(const TensorFunction& f) {
  return [f](const Tensors& inputs) {
    Tensors clones;
    for (const Tensor& t : inputs) clones.push_back(clone(t));
    Tensors results = f(clones);
    results.insert(results.end(), clones.begin(), clones.end());
    for (Tensor& t : results) t = clone(t);
    return results;
  };
}

// How often a program under these layers has its effects; nullopt where the layers themselves run
// it again, to derive it.
std::optional<int> runs_of(const LayerStack& stack) {
  if (has(stack, "fake")) return 0;
  if (has(stack, "custom") && has(stack, "grad")) return std::nullopt;
  return has(stack, "trace") ? 2 : 1;  // while it is traced, and again
}

std::string one_line(const std::string& text) {
  return absl::StrReplaceAll(text.substr(0, text.find('\n')), {{"|", "\\|"}});
}

class Row {
 public:
  explicit Row(const OperatorClass& c)
      : class_(c), direct_(c.program), cloning_(on_clones(c.program)) {}

  // The cell; adds to `broken` what breaks the law.
  std::string under(const LayerStack& stack, std::vector<std::string>* broken) {
    const bool pure = std::any_of(stack.begin(), stack.end(),
                                  [](const Layer* layer) { return layer->pure_only; });
    Judge& judge = pure ? cloning_.judge : direct_.judge;
    // So that what the judge compares with is there, and leaves nothing from now on.
    judge.judge({});
    if (has(stack, "grad")) judge.judge(composition::parse_stack("grad, functionalize"));
    if (pure) judge.judge(composition::parse_stack("custom"));
    take_left();
    const Verdict verdict = judge.judge(stack);
    const std::string left = take_left();
    std::string message = one_line(verdict.message);
    switch (verdict.kind) {
      case Verdict::Kind::Passed:
        message = compare_left(left, stack);
        if (message.empty()) return "same";
        break;
      case Verdict::Kind::Refused:
        return message;
      case Verdict::Kind::DoesNotApply:
        // What autograd refuses alone has no gradients to compare.
        if (const Verdict alone = judge.judge(composition::parse_stack("grad"));
            has(stack, "grad") && alone.kind == Verdict::Kind::Refused)
          return one_line(alone.message);
        message = "the layers do not apply";
        break;
      case Verdict::Kind::Failed:
        break;
    }
    broken->push_back(str_cat(class_.name, " under ", to_string(stack), ": ", message));
    return str_cat("BROKEN: ", message);
  }

 private:
  struct Judged {
    explicit Judged(TensorFunction f)
        : judge(std::move(f),
                internal::ArgumentPlan::of({test::tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}),
                                            test::tensor_of({3}, {3, 1, 2})})) {}
    Judge judge;
  };

  std::string compare_left(const std::string& left, const LayerStack& stack) {
    if (!left_by_one_run_) {
      take_left();
      class_.program(
          {test::tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}), test::tensor_of({3}, {3, 1, 2})});
      left_by_one_run_ = take_left();
    }
    const std::optional<int> runs = runs_of(stack);
    if (!runs || left_by_one_run_->empty()) return "";
    const std::vector<std::string> parts(static_cast<size_t>(*runs), *left_by_one_run_);
    const std::string expected = absl::StrJoin(parts, ", ");
    return left == expected ? "" : str_cat("has the effects '", left, "', not '", expected, "'");
  }

  const OperatorClass& class_;
  Judged direct_, cloning_;
  std::optional<std::string> left_by_one_run_;
};

void add_table(const std::vector<LayerStack>& stacks, std::vector<Row>* rows, Page* page) {
  std::string head = "| class | operator |", line = "|---|---|";
  for (const LayerStack& stack : stacks) {
    head += str_cat(" ", to_string(stack), " |");
    line += "---|";
  }
  page->text += str_cat(head, "\n", line, "\n");
  for (size_t i = 0; i < rows->size(); ++i) {
    const OperatorClass& c = operator_classes()[i];
    page->text += str_cat("| ", c.name, " | `", c.op, "` |");
    for (const LayerStack& stack : stacks)
      page->text += str_cat(" ", (*rows)[i].under(stack, &page->broken), " |");
    page->text += "\n";
  }
}

// Higher-order operators that no class is about.
std::string others() {
  std::vector<std::string> names;
  for (const std::string& name : higher_order_op_names())
    if (std::none_of(operator_classes().begin(), operator_classes().end(),
                     [&](const OperatorClass& c) { return !c.has && c.op == name; }))
      names.push_back(str_cat("- `", name, "`\n"));
  return absl::StrJoin(names, "");
}

}  // namespace

Page make_page() {
  std::vector<Row> rows;
  for (const OperatorClass& c : operator_classes()) rows.emplace_back(c);
  Page page{std::string(kHead), {}};
  std::vector<LayerStack> singles, stacks;
  for (const Layer& layer : composition::all_layers()) singles.push_back({&layer});
  for (std::string_view text : kStacks) stacks.push_back(composition::parse_stack(text));
  page.text += "## Under one layer\n\n";
  add_table(singles, &rows, &page);
  page.text +=
      "\n## Under several\n\nFrom the inside out: `grad, functionalize` is the gradient, "
      "taken inside of what is functionalised.\n\n";
  add_table(stacks, &rows, &page);
  if (const std::string names = others(); !names.empty())
    page.text += str_cat("\nHigher-order operators without a row:\n\n", names);
  return page;
}

}  // namespace sb::layers
