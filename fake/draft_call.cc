#include "switchboard/fake/draft_call.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/call_arguments.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/fake/real_run.h"

namespace sb::internal {
namespace {

// A fake tensor like the real one, of sizes that only data tells.
Tensor like_example(FakeMode& mode, const Tensor& real) {
  const size_t rank = static_cast<size_t>(real.dim());
  std::vector<SymInt> sizes(rank), strides(rank);
  for (SymInt& size : sizes) {
    size = mode.shape_env()->create_unbacked_symint();
    constrain_range_for_size(size);
  }
  // Dense, its dimensions in the same order in memory.
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(real.strides()[a], b) < std::pair(real.strides()[b], a);
  });
  SymInt stride = 1;
  for (const size_t d : order) {
    strides[d] = stride;
    stride *= sym_max(sizes[d], SymInt(1));
  }
  return mode.empty(sizes, strides, real.dtype(), real.device());
}

class Example {
 public:
  // Of a call whose arguments are on the end of the stack.
  Example(FakeMode& mode, const OperatorHandle& op, const RealRun& real, Stack* stack)
      : mode_(mode),
        op_(op),
        real_(real),
        stack_(stack),
        given_(stack->end() - static_cast<int64_t>(op.entry().num_arguments()), stack->end()),
        base_(stack->size() - given_.size()) {}

  // Puts the arguments back.
  void begin_again() const {
    stack_->resize(base_);
    std::ranges::copy(given_, std::back_inserter(*stack_));
  }
  absl::Span<const IValue> results() const { return absl::MakeConstSpan(*stack_).subspan(base_); }

  // Results like the example's, in the place of the arguments.
  void give(DraftFault fault, std::string_view why) const {
    std::vector<IValue> results = real_.results();
    for (size_t i = 0; i < results.size(); ++i) {
      map_tensors(results[i], [&](const Tensor& t) { return fake_of(t); });
      if (op_.schema().returns[i].type.base != BaseType::Int) make_symbolic(results[i]);
    }
    DraftLog& log = *mode_.options().draft;
    const std::string name = op_.name().to_string();
    log.add_profile(
        name, OpProfile::of(std::vector<IValue>(given_.begin(), given_.end()), real_.results()));
    log.add({fault, why.starts_with(name) ? std::string(why) : str_cat(name, ": ", why),
             str_cat("sb::register_fake(\"", name, "\", ...);  // ", op_.schema().to_string()),
             render_call(op_, given_)});
    stack_->resize(base_);
    std::ranges::move(results, std::back_inserter(*stack_));
    real_.give(this->results());
  }

  // How a fake result differs from the real one; empty where it does not.
  std::string difference() const {
    const absl::Span<const IValue> fake = results();
    std::string found;
    for (size_t i = 0; i < fake.size() && found.empty(); ++i) {
      const IValue &f = fake[i], &r = real_.results()[i];
      if (f.is_Tensor() && r.is_Tensor()) {
        found = difference(f.to_tensor(), r.to_tensor());
      } else if (f.is_TensorList() && r.is_TensorList()) {
        const auto &fakes = f.to_tensor_list(), &reals = r.to_tensor_list();
        if (fakes.size() != reals.size())
          found = str_cat("a list of ", fakes.size(), " tensors for one of ", reals.size());
        for (size_t j = 0; j < fakes.size() && found.empty(); ++j)
          found = difference(fakes[j], reals[j]);
      }
      if (!found.empty()) found = str_cat("result ", i, ": ", found);
    }
    return found;
  }

 private:
  Tensor fake_of(const Tensor& real) const {
    if (!real.defined()) return real;
    Tensor argument;
    for_each_tensor(given_, [&](const Tensor& fake) {
      if (fake.defined() && real_of(fake).is_same(real)) argument = fake;
    });
    return argument.defined() ? argument : like_example(mode_, real);
  }

  // A number that may be a symbol, which has a value when the results are told what they stand for.
  void make_symbolic(IValue& number) const {
    ShapeEnv& env = *mode_.shape_env();
    if (number.is_Int()) number = IValue(env.create_unbacked_symint());
    if (number.is_Double()) number = IValue(env.create_unbacked_symfloat());
    if (number.is_Bool()) number = IValue(env.create_unbacked_symbool());
  }

  bool is(const SymInt& size, int64_t real) const {
    const std::optional<SymValue> n = mode_.shape_env()->at_hand(size.value());
    return !n || n->as_int() == real;
  }

  std::string difference(const Tensor& fake, const Tensor& real) const {
    const std::string both =
        str_cat(fake.describe(), " for ", real.defined() ? real.describe() : "no tensor");
    if (fake.defined() != real.defined()) return both;
    if (!fake.defined()) return "";
    if (fake.dtype() != real.dtype() || fake.dim() != real.dim()) return both;
    for (int64_t d = 0; d < real.dim(); ++d) {
      if (!is(fake.sym_size(d), real.size(d))) return both;
    }
    if (real.numel() == 0) return "";
    for (int64_t d = 0; d < real.dim(); ++d) {
      if (real.size(d) > 1 && !is(fake.sym_stride(d), real.stride(d)))
        return str_cat("stride ", fake.sym_stride(d).to_string(), " for ", real.stride(d),
                       " of dimension ", d, " of ", real.describe());
    }
    return "";
  }

  FakeMode& mode_;
  const OperatorHandle& op_;
  const RealRun& real_;
  Stack* const stack_;
  const Stack given_;
  const size_t base_;
};

}  // namespace

void run_in_draft(FakeMode& mode, const OperatorHandle& op, const RealRun& real, Stack* stack,
                  absl::FunctionRef<void()> run) {
  const Example example(mode, op, real, stack);
  for (bool done = false; !done;) {
    try {
      run();
      done = true;
    } catch (const ModeDeclined&) {
      throw;
    } catch (const Error& error) {
      const bool asks = dynamic_cast<const GuardOnDataDependentError*>(&error) != nullptr;
      if (asks && mode.shape_env()->assume_refused()) {
        example.begin_again();
        continue;
      }
      // The operator runs on the example, so it is its rule that does not.
      if (!real.has_run()) throw;
      return example.give(DraftFault::MissingRule, error.what());
    }
  }
  if (!real.has_run()) return;
  std::string difference;
  try {
    real.give(example.results());
    difference = example.difference();
  } catch (const RuntimeError& error) {  // the rule told a range that does not hold
    difference = error.what();
  }
  if (!difference.empty()) example.give(DraftFault::WrongRule, difference);
}

}  // namespace sb::internal
