#include "switchboard/ops/random/normal_of_tensors.h"

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

using OptionalGenerator = std::optional<Generator>;

void check_mean(const Tensor& mean) {
  SB_CHECK(mean.defined(), "normal: argument mean: expected a tensor, got an undefined one");
}
void check_std(const Tensor& std) {
  SB_CHECK(std.defined(), "normal: argument std: expected a tensor, got an undefined one");
  SB_CHECK(!is_complex(std.dtype()), "normal: argument std: expected a real tensor, got ",
           std.describe());
  if (std.is_meta() || std.numel() == 0) return;
  // NaN is not at least 0.
  SB_CHECK(item(all(ge_Scalar(std, 0))).to<bool>(),
           "normal: argument std: expected all elements to be at least 0");
}

// Each overload: the shape of the result, for an out where there is one; whose dtype and device a
// result without out has; and how a new tensor is filled, which is as it would be if it were out.
struct TensorFloat {
  static auto sizes(const Tensor& mean, double, const Tensor* out) {
    check_mean(mean);
    // PyTorch broadcasts the mean to an out that is there.
    return broadcast_sizes<SymInt>(mean.sym_sizes(), out ? out->sym_sizes() : mean.sym_sizes());
  }
  static const Tensor& like(const Tensor& mean, double) { return mean; }
  static Tensor fill(const Tensor& to, const Tensor& mean, double std,
                     const OptionalGenerator& generator) {
    return add_(normal_(to, 0, std, generator), mean);
  }
};
struct FloatTensor {
  static auto sizes(double, const Tensor& std, const Tensor*) {
    check_std(std);
    return broadcast_sizes<SymInt>(std.sym_sizes(), std.sym_sizes());
  }
  static const Tensor& like(double, const Tensor& std) { return std; }
  static Tensor fill(const Tensor& to, double mean, const Tensor& std,
                     const OptionalGenerator& generator) {
    return add_Scalar_(mul_(normal_(to, 0, 1, generator), std), mean);
  }
};
struct TensorTensor {
  static auto sizes(const Tensor& mean, const Tensor& std, const Tensor*) {
    check_mean(mean);
    check_std(std);
    return broadcast_sizes<SymInt>(mean.sym_sizes(), std.sym_sizes());
  }
  static const Tensor& like(const Tensor& mean, const Tensor&) { return mean; }
  static Tensor fill(const Tensor& to, const Tensor& mean, const Tensor& std,
                     const OptionalGenerator& generator) {
    return add_(mul_(normal_(to, 0, 1, generator), std), mean);
  }
};

// The result, which has the dtype of `out` where there is one.
template <class Form, class Mean, class Std>
Tensor drawn(const Mean& mean, const Std& std, const OptionalGenerator& generator,
             const Tensor* out) {
  const auto sizes = Form::sizes(mean, std, out);
  const Tensor& model = out ? *out : Form::like(mean, std);
  const Tensor result = empty(SymIntArrayRef(sizes), model.dtype(), std::nullopt, model.device());
  return Form::fill(result, mean, std, generator);
}

template <class Form, class Mean, class Std, class Tag>
void define_normal(Library& m, const Op<Tag>& op) {
  define(m, op, sb::Tag::nondeterministic_seeded)
      .composite_explicit([](Mean mean, Std std, const OptionalGenerator& generator) {
        return drawn<Form>(mean, std, generator, nullptr);
      })
      .out(Op<form_of<OutForm, Tag>>(),
           [](Mean mean, Std std, const OptionalGenerator& generator, const Tensor& out) {
             SB_CHECK(out.defined(), "normal: out: expected a tensor, got an undefined one");
             copy_result_to_out("normal", drawn<Form>(mean, std, generator, &out), out);
             return out;
           });
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_normal<TensorFloat, const Tensor&, double>(m, normal_Tensor_float);
  define_normal<FloatTensor, double, const Tensor&>(m, normal_float_Tensor);
  define_normal<TensorTensor, const Tensor&, const Tensor&>(m, normal_Tensor_Tensor);

  // After these: a packet takes `normal(x, 1, out=o)` for one with means in x.
  define(m, normal_functional, Tag::nondeterministic_seeded)
      .composite_explicit(
          [](const Tensor& self, double mean, double std, const OptionalGenerator& generator) {
            return normal_(clone(self), mean, std, generator);
          });
  define(m, normal_out, Tag::nondeterministic_seeded)
      .composite_explicit([](const Tensor& self, double mean, double std,
                             const OptionalGenerator& generator, const Tensor& out) {
        copy_result_to_out("normal", normal_functional(self, mean, std, generator), out);
        return out;
      });
}

}  // namespace
}  // namespace sb
