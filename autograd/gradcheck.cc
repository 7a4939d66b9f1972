#include "switchboard/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck_numbers.h"
#include "switchboard/autograd/gradcheck_run.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

using internal::element_index;
using internal::GradcheckNumbers;
using internal::GradcheckSubject;
using internal::largest_difference;
using internal::numbers_of;
using internal::plain_tensor_like;
using internal::tensor_like;
using internal::text_of;
using Number = std::complex<double>;
using Tensors = std::vector<Tensor>;

// What backward begins with, instead of 1, so that a gradient that is not linear in it is seen.
constexpr double kSeed = 2;

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && std::ranges::equal(a.sizes(), b.sizes());
}

// How far apart they are, in tolerances: up to 1 is close.
double distance(Number analytic, Number numeric, const GradcheckOptions& options) {
  if (analytic == numeric) return 0;
  const double d = std::abs(analytic - numeric) / (options.atol + options.rtol * std::abs(numeric));
  return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

// A fault that ends a check.
struct Fault {
  std::string text;
};

// One check, from the first run to the report.
class Gradcheck {
 public:
  Gradcheck(const DifferentiableFunction& f, const Tensors& inputs, const GradcheckOptions& options,
            const GradcheckSubject& subject)
      : f_(f), options_(options), subject_(subject), leaves_(inputs) {
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (!requires_grad(inputs[j])) continue;
      wanted_.push_back(j);
      values_.push_back(numbers_of(inputs[j]));
      leaves_[j] = tensor_like(inputs[j], values_.back());
    }
  }

  GradcheckReport run() {
    try {
      check();
    } catch (Fault& fault) {
      report_.error = std::move(fault.text);
    }
    return std::move(report_);
  }

 private:
  // The derivatives of one output by the real parts of one input's elements, and by the imaginary
  // ones: for each element of the input, those of the output's elements.
  struct Differences {
    std::vector<GradcheckNumbers> by_real;
    std::vector<GradcheckNumbers> by_imaginary;
  };

  void check() {
    results_ = f_(leaves_);
    std::vector<size_t> differentiable, constant;
    for (size_t i = 0; i < results_.size(); ++i) {
      expect(results_[i].defined(), subject_.output(i), " is an undefined tensor");
      if (requires_grad(results_[i]))
        differentiable.push_back(i);
      else if (is_differentiable(results_[i].dtype()))
        constant.push_back(i);
    }
    run_again();
    const bool must_be_constant = differentiable.empty() || !subject_.may_lose_gradients;
    if (must_be_constant && !constant.empty()) check_constant(constant);
    if (differentiable.empty()) return;
    bool reached = false;
    for (size_t i : differentiable) reached |= check_zero_gradient(i);
    expect(reached,
           "the outputs require a gradient and were computed from none of the inputs that the "
           "function was given");
    find_differences(differentiable);
    for (size_t k = 0; k < differentiable.size(); ++k)
      compare_output(differentiable[k], differences_[k]);
  }

  template <class... Parts>
  static void expect(bool condition, const Parts&... parts) {
    if (!condition) throw Fault{str_cat(parts...)};
  }

  void run_again() const {
    const Tensors again = f_(leaves_);
    expect(again.size() == results_.size(), "the function gave ", results_.size(), " outputs, and ",
           again.size(), " when it was run again");
    for (size_t i = 0; i < again.size(); ++i) {
      expect(again[i].defined() && same_shape(again[i], results_[i]), subject_.output(i), " was ",
             results_[i].describe(), ", and ", again[i].describe(),
             " when the function was run again");
      const double difference = largest_difference(again[i], results_[i]);
      expect(difference <= options_.nondet_tol,
             "the function is not deterministic: ", subject_.output(i), " differs by ",
             text_of(difference), " from one run to the next (nondet_tol ",
             text_of(options_.nondet_tol), ")");
    }
  }

  const Tensor& input(size_t w) const { return leaves_[wanted_[w]]; }
  // "input 0, element [1, 2]".
  std::string name_input(size_t w, size_t element) const {
    return str_cat(subject_.input(wanted_[w]), ", element ",
                   text_of(element_index(input(w), element)));
  }

  // The outputs at the inputs with one element moved.
  Tensors moved(size_t w, size_t element, Number by) const {
    GradcheckNumbers values = values_[w];
    values[element] += by;
    Tensors inputs = leaves_;
    inputs[wanted_[w]] = tensor_like(input(w), values);
    return f_(inputs);
  }

  void find_differences(const std::vector<size_t>& outputs) {
    differences_.assign(outputs.size(), std::vector<Differences>(wanted_.size()));
    for (size_t w = 0; w < wanted_.size(); ++w) {
      for (size_t e = 0; e < values_[w].size(); ++e) {
        difference(outputs, w, e, options_.eps, &Differences::by_real);
        if (is_complex(input(w).dtype()))
          difference(outputs, w, e, Number(0, options_.eps), &Differences::by_imaginary);
      }
    }
  }
  void difference(const std::vector<size_t>& outputs, size_t w, size_t e, Number step,
                  std::vector<GradcheckNumbers> Differences::*part) {
    const Tensors above = moved(w, e, step), below = moved(w, e, -step);
    for (size_t k = 0; k < outputs.size(); ++k) {
      const size_t i = outputs[k];
      for (const Tensors* const side : {&above, &below}) {
        expect(side->size() == results_.size() && (*side)[i].defined() &&
                   same_shape((*side)[i], results_[i]),
               subject_.output(i), " is not ", results_[i].describe(), " any more when ",
               name_input(w, e), " moves");
      }
      GradcheckNumbers slope = numbers_of(above[i]);
      const GradcheckNumbers low = numbers_of(below[i]);
      for (size_t n = 0; n < slope.size(); ++n) slope[n] = (slope[n] - low[n]) / (2 * options_.eps);
      (differences_[k][w].*part).push_back(std::move(slope));
    }
  }

  // Outputs that require no gradient: they may not depend on the inputs.
  void check_constant(const std::vector<size_t>& outputs) {
    find_differences(outputs);
    for (size_t k = 0; k < outputs.size(); ++k) {
      for (size_t w = 0; w < wanted_.size(); ++w) {
        const Differences& d = differences_[k][w];
        for (const auto* const part : {&d.by_real, &d.by_imaginary})
          for (size_t e = 0; e < part->size(); ++e) check_zero_slope(outputs[k], w, e, (*part)[e]);
      }
    }
  }
  void check_zero_slope(size_t i, size_t w, size_t e, const GradcheckNumbers& slope) {
    for (size_t n = 0; n < slope.size(); ++n) {
      ++report_.compared;
      expect(std::abs(slope[n]) <= options_.atol, subject_.output(i),
             " does not require a gradient, and its element ",
             text_of(element_index(results_[i], n)), " depends on ", name_input(w, e), ": numeric ",
             text_of(slope[n]));
    }
  }

  // The gradients of the inputs that require one, where that of output i is `seed`.
  Tensors backward_from(size_t i, const GradcheckNumbers& seed) const {
    Tensors leaves;
    for (size_t j : wanted_) leaves.push_back(leaves_[j]);
    GradOptions options;
    options.retain_graph = true;
    options.allow_unused = true;
    return grad({results_[i]}, leaves, {plain_tensor_like(results_[i], seed)}, options);
  }

  // Gives whether backward came to an input.
  bool check_zero_gradient(size_t i) const {
    const Tensors grads = backward_from(i, GradcheckNumbers(size_of(i)));
    bool reached = false;
    for (size_t w = 0; w < grads.size(); ++w) {
      if (!grads[w].defined()) continue;
      reached = true;
      const GradcheckNumbers values = numbers_of(grads[w]);
      for (size_t e = 0; e < values.size(); ++e)
        expect(values[e] == Number(), "where the gradient of ", subject_.output(i),
               " is all zeros, that of ", name_input(w, e), ", is ", text_of(values[e]),
               ": backward does not multiply by the gradient of the output");
    }
    return reached;
  }

  size_t size_of(size_t i) const { return static_cast<size_t>(results_[i].numel()); }

  // Compares the derivatives of an output's elements with the differences.
  void compare_output(size_t i, const std::vector<Differences>& differences) {
    for (size_t n = 0; n < size_of(i); ++n) {
      for (const bool imaginary : {false, true}) {
        if (imaginary && !is_complex(results_[i].dtype())) continue;
        GradcheckNumbers seed(size_of(i));
        seed[n] = imaginary ? Number(0, kSeed) : Number(kSeed);
        const Tensors grads = backward_from(i, seed), again = backward_from(i, seed);
        for (size_t w = 0; w < grads.size(); ++w) {
          GradcheckNumbers analytic(values_[w].size());
          if (grads[w].defined() && again[w].defined()) {
            check_repeatable(w, grads[w], again[w]);
            analytic = numbers_of(grads[w]);
          }
          compare(i, n, imaginary, w, analytic, differences[w]);
        }
      }
    }
  }
  void check_repeatable(size_t w, const Tensor& grad, const Tensor& again) const {
    const double difference = largest_difference(grad, again);
    expect(difference <= options_.nondet_tol, "backward is not deterministic: the gradient of ",
           subject_.input(wanted_[w]), " differs by ", text_of(difference),
           " from one run to the next (nondet_tol ", text_of(options_.nondet_tol), ")");
  }

  // One component of an output's n-th element by all elements of an input.
  void compare(size_t i, size_t n, bool imaginary, size_t w, const GradcheckNumbers& grads,
               const Differences& d) {
    const auto part = [&](Number z) { return imaginary ? z.imag() : z.real(); };
    for (size_t e = 0; e < values_[w].size(); ++e) {
      const Number analytic = grads[e] / kSeed;
      const Number numeric(part(d.by_real[e][n]),
                           d.by_imaginary.empty() ? 0 : part(d.by_imaginary[e][n]));
      ++report_.compared;
      const double far = distance(analytic, numeric, options_);
      if (far <= 1) continue;
      ++report_.mismatches;
      if (report_.worst && far <= worst_ * (1 + 1e-6)) continue;  // of equal ones the first
      worst_ = far;
      report_.worst = GradMismatch{subject_.input(wanted_[w]),
                                   element_index(input(w), e),
                                   subject_.output(i),
                                   element_index(results_[i], n),
                                   imaginary,
                                   analytic,
                                   numeric};
    }
  }

  const DifferentiableFunction& f_;
  const GradcheckOptions& options_;
  const GradcheckSubject& subject_;
  std::vector<size_t> wanted_;            // the inputs that require a gradient
  std::vector<GradcheckNumbers> values_;  // of these
  Tensors leaves_;                        // the inputs; copies of those that require a gradient
  Tensors results_;                       // of the first run
  std::vector<std::vector<Differences>> differences_;  // by output, and place in wanted_
  GradcheckReport report_;
  double worst_ = 0;
};

}  // namespace

namespace internal {

GradcheckReport run_gradcheck(const DifferentiableFunction& f, const Tensors& inputs,
                              const GradcheckOptions& options, const GradcheckSubject& subject) {
  const GradModeGuard on(true);
  return Gradcheck(f, inputs, options, subject).run();
}

void check_gradcheck_inputs(std::string_view who, std::string_view what, const Tensors& inputs) {
  bool any = false;
  for (size_t j = 0; j < inputs.size(); ++j) {
    const Tensor& input = inputs[j];
    if (!requires_grad(input)) continue;
    any = true;
    SB_CHECK_VALUE(input.dtype() == DType::Float64 || input.dtype() == DType::Complex128, who, ": ",
                   what, " ", j, " requires a gradient: expected float64 or complex128, got ",
                   input.describe());
    SB_CHECK(!has_internal_overlap(input), who, ": ", what, " ", j,
             " requires a gradient: expected elements that do not overlap, got ", input.describe(),
             " with strides ",
             text_of(std::vector<int64_t>(input.strides().begin(), input.strides().end())),
             "; clone it first");
  }
  SB_CHECK_VALUE(any, who, ": expected an input that requires a gradient, got ", inputs.size(),
                 " that do not");
}

}  // namespace internal

std::string GradcheckReport::to_string() const {
  if (!error.empty()) return error;
  if (!worst) return "";
  return str_cat(mismatches, " of ", compared,
                 " derivatives are not those of finite differences; worst: ", worst->output,
                 ", element ", text_of(worst->output_element),
                 worst->imaginary ? " (imaginary part)" : "", ", by ", worst->input, ", element ",
                 text_of(worst->input_element), ": analytic ", text_of(worst->analytic),
                 ", numeric ", text_of(worst->numeric));
}

GradcheckReport gradcheck_report(const DifferentiableFunction& f, const Tensors& inputs,
                                 const GradcheckOptions& options) {
  SB_CHECK_VALUE(f != nullptr, "gradcheck: expected a function, got an empty one");
  internal::check_gradcheck_inputs("gradcheck", "input", inputs);
  return internal::run_gradcheck(f, inputs, options, GradcheckSubject());
}

void gradcheck(const DifferentiableFunction& f, const Tensors& inputs,
               const GradcheckOptions& options) {
  const GradcheckReport report = gradcheck_report(f, inputs, options);
  SB_CHECK_KIND(GradcheckError, report.passed(), "gradcheck: ", report.to_string());
}

}  // namespace sb
