#include "switchboard/tests/composition/judge.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/opcheck/compare.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/poison/poison.h"
#include "switchboard/transforms/functionalization/view_chain.h"

namespace sb::composition {
namespace {

bool has(const LayerStack& stack, std::string_view name) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](const Layer* layer) { return layer->name == name; });
}

// The operator that the text names: "ns::name", with its overload, or in the beginning the name of
// one of aten. "" if there is none.
std::string operator_in(const std::string& text) {
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (size_t at = text.find("::"); at != std::string::npos; at = text.find("::", at + 2)) {
    size_t begin = at, end = at + 2;
    while (begin > 0 && is_name(text[begin - 1])) --begin;
    while (end < text.size() && is_name(text[end])) ++end;
    if (begin == at || end == at + 2) continue;
    const std::string ns = text.substr(begin, at - begin);
    if (ns == "std" || ns == "sb") continue;
    if (end + 1 < text.size() && text[end] == '.' && is_name(text[end + 1]))
      for (++end; end < text.size() && is_name(text[end]);) ++end;
    return text.substr(begin, end - begin);
  }
  const std::string first = "aten::" + text.substr(0, text.find(':'));
  for (const OperatorHandle& op : default_dispatcher().all_ops())
    if (op.name().name == first) return first;
  return "";
}

// Whether the first layer is inside of the other.
bool is_inside(const LayerStack& stack, std::string_view inner, std::string_view outer) {
  const auto at = [&](std::string_view name) {
    return std::ranges::find(stack, name, [](const Layer* layer) { return layer->name; });
  };
  return at(inner) < at(outer) && at(outer) != stack.end();
}

// Whether each tensor has all of a memory, alone.
bool have_own_memory(const internal::ArgumentPlan& plan) {
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const internal::TensorPlan& t = plan.tensors[i];
    const size_t elements = plan.memory_of(t).elements.size();
    if (plan.shares_memory(i) || static_cast<size_t>(t.numel()) != elements) return false;
  }
  return true;
}

Verdict verdict_of_error(const Outcome& got, const LayerStack& stack) {
  Verdict verdict;
  verdict.kind = Verdict::Kind::Failed;
  verdict.message = str_cat("throws ", got.kind, ": ", got.error);
  // Those are for a program's own mistakes, but where what it does rests on assumed sizes.
  const bool is_assumed = absl::StrContains(got.error, "only data tell");
  if (got.kind.empty() || (!is_assumed && (got.kind == "IndexError" || got.kind == "TypeError")))
    return verdict;
  const std::string op = operator_in(got.error);
  if (op.empty()) return verdict;
  for (const Layer* layer : stack)
    for (std::string_view word : layer->words)
      if (absl::StrContains(absl::AsciiStrToLower(got.error),
                            absl::AsciiStrToLower(std::string(word)))) {
        verdict.kind = Verdict::Kind::Refused;
        verdict.op = op;
        verdict.layer = std::string(layer->name);
        return verdict;
      }
  return verdict;
}

// Notes the dtype of results that has the fewest digits, and the largest of their numbers.
class NoteNumbers final : public DispatchMode {
 public:
  explicit NoteNumbers(Compared* compared) : compared_(*compared) {}

  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    const size_t base = stack->size() - op.entry().num_arguments();
    op.call_boxed(stack);
    if (absl::StrContains(op.name().name, "empty")) return;  // what nobody has written yet
    const NoModesGuard no_modes;
    const NoGradGuard no_grad;
    for (size_t i = base; i < stack->size(); ++i)
      (*stack)[i].for_each_tensor([&](const Tensor& t) { note(t); });
  }
  std::string name() const override { return "NoteNumbers"; }
  bool only_watches() const override { return true; }
  bool is_finite() const { return is_finite_; }

 private:
  static double digits_lost(DType dtype) { return internal::closeness({}, dtype).rtol; }

  void note(const Tensor& t) {
    if (!t.defined()) return;
    if (digits_lost(t.dtype()) > digits_lost(compared_.coarsest)) compared_.coarsest = t.dtype();
    if (!is_differentiable(t.dtype())) return;
    const Tensor numbers = abs(_to_copy(detach(t), DType::Complex128));
    if (t.numel() == 0) return;
    const Tensor finite = where(isfinite(numbers), numbers, zeros_like(numbers));
    compared_.largest = std::max(compared_.largest, item(amax(finite)).to<double>());
    is_finite_ = is_finite_ && item(all(isfinite(numbers))).to<bool>();
  }

  Compared& compared_;
  bool is_finite_ = true;
};

}  // namespace

std::string to_string(const LayerStack& stack) {
  std::string text;
  for (const Layer* layer : stack) text += str_cat(text.empty() ? "" : ", ", layer->name);
  return text;
}

LayerStack parse_stack(std::string_view text) {
  LayerStack stack;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(
           absl::string_view(text.data(), text.size()), absl::ByAnyChar(", "), absl::SkipEmpty())))
    stack.push_back(&find_layer(name));
  return stack;
}

bool has_meaning(const LayerStack& stack) {
  bool in_function = false;
  for (size_t i = 0; i < stack.size(); ++i) {
    const bool symbols = stack[i]->name == "trace_symbols";
    if (symbols || stack[i]->name == "trace") {
      for (size_t k = i + 1; k < stack.size(); ++k) {
        if (stack[k]->name == "functionalize" || stack[k]->name == "functional_mode") return false;
        if (symbols && stack[k]->name == "fake") return false;  // it runs on tensors with data
      }
    }
    if (std::count(stack.begin(), stack.end(), stack[i]) > 1) return false;
    if (stack[i]->name == "fake" && i + 1 < stack.size()) return false;
    if (i > 0 && stack[i]->pure_only)
      for (size_t k = 0; k < i; ++k)
        if (stack[k]->name == "grad") in_function = true;
  }
  return !in_function;
}

Judge::Judge(TensorFunction f, internal::ArgumentPlan inputs, JudgeOptions options)
    : f_(std::move(f)), inputs_(std::move(inputs)), options_(options) {}

Tensors Judge::make_inputs() const {
  Tensors tensors;
  for (IValue& value : inputs_.build()) tensors.push_back(std::move(value).to_tensor());
  return tensors;
}

const Outcome& Judge::plain() {
  if (!plain_) plain_ = run(f_, make_inputs());
  return *plain_;
}
const Outcome& Judge::graded() {
  if (!graded_) graded_ = run(find_layer("grad").wrap(f_, inputs_), make_inputs());
  return *graded_;
}

bool Judge::note_the_way(Compared* compared) const {
  NoteNumbers mode(compared);
  const ModeGuard guard(&mode);
  run(find_layer("grad").wrap(f_, inputs_), make_inputs());
  return mode.is_finite();
}

bool Judge::calls(std::initializer_list<std::string_view> names) const {
  class Watch final : public DispatchMode {
   public:
    explicit Watch(std::initializer_list<std::string_view> names) : names_(names) {}
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      found = found || std::ranges::find(names_, op.name().to_string()) != names_.end();
      op.call_boxed(stack);
    }
    std::string name() const override { return "Watch"; }
    bool only_watches() const override { return true; }
    bool found = false;

   private:
    std::initializer_list<std::string_view> names_;
  };
  Watch mode(names);
  const ModeGuard guard(&mode);
  run(f_, make_inputs());
  return mode.found;
}

bool Judge::reinterprets() const {
  class Watch final : public DispatchMode {
   public:
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      const size_t base = stack->size() - op.entry().num_arguments();
      std::vector<Tensor> arguments;
      for (size_t i = base; i < stack->size(); ++i)
        (*stack)[i].for_each_tensor([&](const Tensor& t) { arguments.push_back(t); });
      op.call_boxed(stack);
      for (size_t i = base; i < stack->size(); ++i) {
        (*stack)[i].for_each_tensor([&](const Tensor& result) {
          for (const Tensor& t : arguments) found = found || shows_otherwise(result, t);
        });
      }
    }
    std::string name() const override { return "Watch"; }
    bool only_watches() const override { return true; }
    bool found = false;

   private:
    static bool shows_otherwise(const Tensor& a, const Tensor& b) {
      return a.defined() && b.defined() && a.dtype() != b.dtype() && a.is_alias_of(b) &&
             !is_complex(a.dtype()) && !is_complex(b.dtype());
    }
  };
  Watch mode;
  const ModeGuard guard(&mode);
  run(f_, make_inputs());
  return mode.found;
}

bool Judge::is_determined() {
  if (plain().threw()) return false;
  test::poison_fresh_memory(0x3c);
  const Outcome again = run(f_, make_inputs());
  test::poison_fresh_memory(0xa7);
  return !again.threw() && difference(plain(), again, {}).empty();
}

bool Judge::is_pure() {
  const Outcome fresh{"", "", plain().results, make_inputs()};
  const Outcome& run = plain();
  for (size_t i = 0; i < run.results.size(); ++i) {
    for (const Tensor& t : run.inputs)
      if (run.results[i].is_alias_of(t)) return false;
    for (size_t k = 0; k < i; ++k)
      if (run.results[i].is_alias_of(run.results[k])) return false;
  }
  // A write of what is there already is one, too.
  for (size_t i = 0; i < run.inputs.size(); ++i)
    if (run.inputs[i].version() != fresh.inputs[i].version()) return false;
  return difference({"", "", {}, fresh.inputs}, {"", "", {}, run.inputs}, {}).empty();
}

namespace {

// The same elements at the same places of another memory, whose others differ: ones, and zeros
// where ones are. Elsewhere where some elements are at one place.
Tensor alone_in_memory(const Tensor& t) {
  if (may_overlap(t)) return clone(t);
  const auto size = static_cast<int64_t>(t.storage()->nbytes() / t.itemsize());
  const Tensor memory = to_dtype(ne_Scalar(as_strided(t, {size}, {1}, 0), 1), t.dtype());
  return copy_(as_strided(memory, t.sizes(), t.strides(), t.storage_offset()), t);
}

}  // namespace

bool Judge::stays_within_inputs() {
  if (stays_within_inputs_) return *stays_within_inputs_;
  Tensors alone;
  for (const Tensor& t : make_inputs()) alone.push_back(alone_in_memory(t));
  const Outcome got = run(f_, alone);
  Compared values;
  values.keeps.strides = false;
  values.keeps.sharing_of_results = false;
  stays_within_inputs_ =
      !got.threw() &&
      difference({"", "", plain().results, {}}, {"", "", got.results, {}}, values).empty();
  return *stays_within_inputs_;
}

bool Judge::leaves_histories() {
  if (leaves_histories_) return *leaves_histories_;
  const Tensors inputs = copy_recorded(make_inputs(), inputs_).copies.inputs;
  std::vector<Edge> before, after;
  for (const Tensor& t : inputs) before.push_back(gradient_edge(t));
  (void)run(f_, inputs);
  for (const Tensor& t : inputs) after.push_back(gradient_edge(t));
  leaves_histories_ = before == after;
  return *leaves_histories_;
}

bool Judge::has_differentiable_input() const {
  return std::any_of(inputs_.memories.begin(), inputs_.memories.end(),
                     [](const auto& m) { return is_differentiable(m.dtype); });
}

bool Judge::passes_in_double(const LayerStack& stack) const {
  JudgeOptions options = options_;
  options.in_double = true;
  internal::ArgumentPlan inputs = inputs_;
  for (internal::MemoryPlan& memory : inputs.memories) {
    if (is_complex(memory.dtype)) memory.dtype = DType::Complex128;
    if (is_floating_point(memory.dtype)) memory.dtype = DType::Float64;
  }
  return Judge(f_, std::move(inputs), std::move(options)).judge(stack).kind ==
         Verdict::Kind::Passed;
}

Verdict Judge::judge(const LayerStack& stack) {
  const bool graded_stack = has(stack, "grad");
  Verdict verdict;
  const bool pure_only =
      std::any_of(stack.begin(), stack.end(), [](const Layer* layer) { return layer->pure_only; });
  const bool not_graded = !options_.recorded || !has_differentiable_input();
  // Fake tensors of computed ones are leaves, each on its own: autograd does not know there that
  // they share memory.
  const bool loses_views = is_inside(stack, "trace_symbols", "grad") && !have_own_memory(inputs_);
  if ((graded_stack && not_graded) || loses_views ||
      (pure_only && !(is_pure() && stays_within_inputs() && (not_graded || leaves_histories())))) {
    verdict.kind = Verdict::Kind::DoesNotApply;
    return verdict;
  }
  Compared compared;
  TensorFunction f = f_;
  for (const Layer* layer : stack) {
    f = layer->wrap(std::move(f), inputs_);
    compared.keeps.strides = compared.keeps.strides && layer->keeps.strides;
    compared.keeps.sharing_of_results =
        compared.keeps.sharing_of_results && layer->keeps.sharing_of_results;
  }
  if (options_.loops && (has(stack, "trace") || has(stack, "trace_symbols"))) {
    compared.keeps.strides = false;
    // Functionalised, an input is given what it was set to in the end: as the graph has it.
    compared.input_strides = !has(stack, "functionalize") && !has(stack, "functional_mode");
  }
  if (has(stack, "fake")) compared.sharing_unknown = options_.of_branches;
  compared.metadata_only = has(stack, "fake");
  compared.gradients = graded_stack;
  const auto make_run = stack.empty() ? nullptr : stack.back()->inputs;
  Outcome got = run(f, make_run ? make_run(make_inputs()) : make_inputs());
  const bool only_grad = graded_stack && stack.size() == 1;
  const Outcome& expected = graded_stack && !only_grad ? graded() : plain();
  if (expected.threw()) {
    // What is not written to any more may well have a gradient, and so may what a graph's branches
    // and loops gave: these save what they are given, and derive their functions again. Of what is
    // lazily negated or conjugated a graph has a copy, which is what it saves.
    const bool has_functions = options_.loops || std::ranges::find(options_.of_branches, true) !=
                                                     options_.of_branches.end();
    const bool may_do_better =
        has(stack, "functionalize") || has(stack, "functional_mode") || has(stack, "fake") ||
        ((has(stack, "trace") || has(stack, "trace_symbols")) &&
         absl::StrContains(expected.error, "modified by an inplace operation") &&
         (has_functions || calls({"aten::_neg_view", "aten::_conj"})));
    // And of nothing no gradient is lost.
    const auto has_none = [](const Tensor& t) { return !t.defined() || t.numel() == 0; };
    const bool is_empty =
        graded_stack && !got.threw() && std::ranges::all_of(got.results, has_none);
    if (got.threw() || may_do_better || is_empty) {
      verdict.kind = Verdict::Kind::DoesNotApply;
      return verdict;
    }
    verdict.kind = Verdict::Kind::Failed;
    verdict.message = str_cat("does not throw; eager throws ", expected.kind, ": ", expected.error);
    return verdict;
  }
  if (got.threw()) return verdict_of_error(got, stack);
  if (only_grad) {
    // The results come first. Recording changes nothing; the inputs were clones.
    got.results.resize(expected.results.size());
    compared.gradients = false;
    compared.magnified = true;
    compared.keeps.sharing_of_results = false;
    Outcome results_only = expected;
    results_only.inputs.clear();
    got.inputs.clear();
    verdict.message = difference(results_only, got, compared);
    // As numbers of another dtype, last digits are any.
    if (absl::StrContains(verdict.message, "element") && reinterprets()) verdict.message.clear();
  } else {
    verdict.message = difference(expected, got, compared);
    // The solution of a singular system hangs on how its matrix lies, which loops change in graphs.
    const bool may_be_singular = options_.loops && !compared.keeps.strides;
    if (!verdict.message.empty() && (graded_stack || may_be_singular)) {
      if (!note_the_way(&compared))
        compared.no_nan_from = plain().results.size() + inputs_.memories.size();
      if (may_be_singular) compared.no_nan_from = 0;
      verdict.message = difference(expected, got, compared);
    }
  }
  // Of gradients of matrices that are nearly singular few digits are left, and layers part in
  // these.
  size_t r = 0;
  const bool is_gradient = graded_stack &&
                           std::sscanf(verdict.message.c_str(), "result %zu, element", &r) == 1 &&
                           r >= plain().results.size() + inputs_.memories.size();
  const bool is_rounding = is_gradient && !options_.in_double && passes_in_double(stack);
  if (is_rounding) verdict.message.clear();
  if (!verdict.message.empty()) verdict.kind = Verdict::Kind::Failed;
  return verdict;
}

}  // namespace sb::composition
