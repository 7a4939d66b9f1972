// glu and log_sigmoid with their gradients.

#include <cmath>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {

// a * sigmoid(b), its derivative by b, and that times the gradient.
SB_ELEMENTWISE(glu_arithmetic, "glu", kBinaryFlags,
               element_loops<2>([](auto a, auto b) { return a / (1 + std::exp(-b)); },
                                FloatTypes()));
SB_ELEMENTWISE(glu_gate_arithmetic, "glu_backward", kBinaryFlags,
               element_loops<3>(
                   [](auto g, auto a, auto b) {
                     const auto gate = 1 / (1 + std::exp(-b));
                     return g * a * gate * (1 - gate);
                   },
                   FloatTypes()));

// What log_sigmoid keeps for its gradient.
SB_ELEMENTWISE(log_sigmoid_buffer_arithmetic, "log_sigmoid", kUnaryFlags,
               element_loops<1>([](auto x) { return std::exp(-std::abs(x)); }, FloatTypes()));
SB_ELEMENTWISE(log_sigmoid_arithmetic, "log_sigmoid", kUnaryFlags,
               element_loops<1>(
                   [](auto x) {
                     return (x < 0 ? x : decltype(x)(0)) - std::log1p(std::exp(-std::abs(x)));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(log_sigmoid_backward_arithmetic, "log_sigmoid_backward", kUnaryFlags,
               element_loops<3>(
                   [](auto x, auto buffer, auto g) {
                     const auto rest = buffer / (1 + buffer);
                     return g * (x < 0 ? 1 - rest : rest);
                   },
                   FloatTypes()));

namespace {

struct Halves {
  int64_t dim;
  SymInt size;
};
Halves halves_of(const char* op, const Tensor& self, int64_t dim) {
  check_defined(op, self);
  SB_CHECK(self.dim() > 0, op, ": argument self: 0-dim tensors are not supported");
  dim = wrap_dim(op, dim, self.dim());
  const SymInt size = self.sym_size(dim);
  SB_CHECK(size % 2 == 0, op, ": argument self: expected an even size of dimension ", dim, ", got ",
           size_text(size));
  return {dim, size / 2};
}

Tensor glu_body(const Tensor& out, const Tensor& self, int64_t dim) {
  const Halves half = halves_of("glu", self, dim);
  return elementwise(glu_arithmetic, out, narrow(self, half.dim, 0, half.size),
                     narrow(self, half.dim, half.size, half.size));
}

template <SizeType Int>
BasicTensorMeta<Int> glu_backward_rule(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const Halves half = halves_of("glu_backward", self, dim);
  SB_CHECK(grad_output.dtype() == self.dtype(), "glu_backward: argument grad_output: expected ",
           to_string(self.dtype()), ", got ", to_string(grad_output.dtype()));
  SB_CHECK(!is_integral(self.dtype(), true), "glu_backward: result type ",
           to_string(default_dtype()), " can't be cast to the desired output type ",
           to_string(self.dtype()));
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), "glu_backward: not implemented for ",
                           to_string(self.dtype()));
  const SizeVector<Int> sizes = size_vector<Int>(self);
  SizeVector<Int> shape = sizes;
  shape[static_cast<size_t>(half.dim)] = size_as<Int>(half.size);
  const SizesRef<Int> given = sizes_of<Int>(grad_output);
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, "glu_backward: argument grad_output: expected shape ",
             shape_text(SizesRef<Int>(shape)), ", got ", shape_text(given));
  };
  fits(given.size() <= shape.size());
  for (size_t i = 1; i <= given.size(); ++i) {
    const Int &size = given[given.size() - i], &expected = shape[shape.size() - i];
    if (!known(size == expected) && !is_one(size)) fits(size == expected);
  }
  return {sizes, self.dtype()};
}
void glu_backward_kernel(const Tensor& grad_output, const Tensor& self, int64_t dim,
                         const Tensor& out) {
  const Halves half = halves_of("glu_backward", self, dim);
  const Tensor a = narrow(self, half.dim, 0, half.size);
  const Tensor b = narrow(self, half.dim, half.size, half.size);
  elementwise(glu_arithmetic, narrow(out, half.dim, 0, half.size), grad_output, b);
  elementwise(glu_gate_arithmetic, narrow(out, half.dim, half.size, half.size), grad_output, a, b);
}

template <SizeType Int>
std::array<BasicTensorMeta<Int>, 2> log_sigmoid_rule(const Tensor& self) {
  check_defined("log_sigmoid", self);
  SB_CHECK_NOT_IMPLEMENTED(is_floating_point(self.dtype()), "log_sigmoid: not implemented for ",
                           to_string(self.dtype()));
  const BasicTensorMeta<Int> meta{size_vector<Int>(self), self.dtype()};
  return {meta, meta};
}
void log_sigmoid_kernel(const Tensor& self, const Tensor& output, const Tensor& buffer) {
  elementwise(log_sigmoid_buffer_arithmetic, buffer, self);
  elementwise(log_sigmoid_arithmetic, output, self);
}
constexpr auto kLogSigmoidRule = by_size_rule<log_sigmoid_rule<int64_t>, log_sigmoid_rule<SymInt>>;
// As PyTorch: buffer becomes contiguous.
template <bool with_data>
std::tuple<Tensor, Tensor> log_sigmoid_to(const Tensor& self, const Tensor& output,
                                          const Tensor& buffer) {
  check_defined("log_sigmoid", self);
  check_defined("log_sigmoid", buffer);
  if (any_symbolic(self, buffer)) {
    structured_form<kLogSigmoidRule, log_sigmoid_kernel>(log_sigmoid_forward_out, with_data)(
        self, output, buffer);
    set_symbolic_sizes(buffer, self.sym_sizes());
    return {output, buffer};
  }
  const bool direct = buffer.is_contiguous() || buffer.sizes() != self.sizes();
  const Tensor target = direct ? buffer : empty_on(buffer.device(), self.sizes(), buffer.dtype());
  structured_form<kLogSigmoidRule, log_sigmoid_kernel>(log_sigmoid_forward_out, with_data)(
      self, output, target);
  resize_tensor(buffer, self.sizes());
  if constexpr (with_data) {
    if (!direct) copy_elements(buffer, target);
  }
  return {output, buffer};
}

Tensor log_sigmoid_backward_body(const Tensor& out, const Tensor& grad_output, const Tensor& self,
                                 const Tensor& buffer) {
  for (const Tensor* t : {&grad_output, &self, &buffer}) {
    check_defined("log_sigmoid_backward", *t);
    SB_CHECK(t->dtype() == self.dtype(), "log_sigmoid_backward: expected tensors of ",
             to_string(self.dtype()), ", got ", to_string(t->dtype()));
  }
  const Tensor result = out.defined() ? out : empty_like(grad_output);
  return elementwise(log_sigmoid_backward_arithmetic, result, self, buffer, grad_output);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, glu).elementwise<glu_body>().out(glu_out);
  define(m, glu_backward)
      .structured<by_size_rule<glu_backward_rule<int64_t>, glu_backward_rule<SymInt>>,
                  glu_backward_kernel>()
      .out(glu_backward_out);

  define(m, log_sigmoid_forward).structured<kLogSigmoidRule, log_sigmoid_kernel>();
  define(m, log_sigmoid_forward_out).cpu(log_sigmoid_to<true>).meta(log_sigmoid_to<false>);
  define(m, log_sigmoid_backward)
      .elementwise<log_sigmoid_backward_body>()
      .out(log_sigmoid_backward_out);
  define(m, log_sigmoid)
      .composed([](const Tensor& self) { return std::get<0>(log_sigmoid_forward(self)); })
      .out(log_sigmoid_out, [](const Tensor& self, const Tensor& out) {
        log_sigmoid_forward_out(self, out, new_empty(self, {0}));
        return out;
      });
}

}  // namespace
}  // namespace sb
