#include "switchboard/custom_ops/opcheck/gallery.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "switchboard/autograd/function.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/custom_ops/opcheck/test_arguments.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using K = DispatchKey;

Tensor x() { return tensor_with({2, 3}, DType::Float32, {1, 2, 3, 4, 5, 6}); }
Tensor transposed_x() { return transpose(x(), 0, 1); }
Tensor leaf() { return requiring_grad(x()); }

// What is right in most of them.
Tensor twice(const Tensor& x) { return mul_Scalar(x, 2); }
Tensor like(const Tensor& x) { return empty_like(x); }
Tensor like_contiguous(const Tensor& x) {
  return empty_like(x, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                    MemoryFormat::Contiguous);
}
void no_context(FunctionContext&, const CallValues&, const CallValues&) {}

// "f(Tensor x) -> Tensor" with this kernel for the CPU and this shape rule.
template <class Kernel, class Rule>
void define_f(Library& m, const char* schema, Kernel kernel, Rule rule) {
  const OperatorHandle op = m.define(schema);
  m.impl(op, K::CPU, kernel);
  m.impl(op, K::Meta, rule);
}

struct RecordsTwice : Function<RecordsTwice> {
  static Tensor forward(FunctionContext&, const Tensor& x) { return twice(x); }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return twice(grad); }
};

std::vector<WrongOperator> of_schemas() {
  return {
      {"it writes to an argument that its schema does not mark", "wrong::undeclared_write",
       [](Library& m) {
         define_f(
             m, "undeclared_write(Tensor x) -> Tensor",
             [](const Tensor& x) {
               x.data<float>()[0] = 0;
               return twice(x);
             },
             like);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_schema: wrong::undeclared_write: argument 0 'x' is not declared as written "
       "to, "
       "and "
       "changed: elements differ; schema: wrong::undeclared_write(Tensor x) -> Tensor"},
      {"it returns a view that its schema does not mark", "wrong::undeclared_view",
       [](Library& m) {
         const auto first_row = [](const Tensor& x) { return select(x, 0, 0); };
         define_f(m, "undeclared_view(Tensor x) -> Tensor", first_row, first_row);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_schema: wrong::undeclared_view: result 0 is not declared to alias argument 0 "
       "'x', "
       "and shares its storage; schema: wrong::undeclared_view(Tensor x) -> Tensor"},
      {"it returns its argument itself", "wrong::returns_input",
       [](Library& m) {
         const auto self = [](const Tensor& x) { return x; };
         define_f(m, "returns_input(Tensor(a) x) -> Tensor(a)", self, self);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_schema: wrong::returns_input: result 0 is argument 0 'x' itself, which is "
       "not "
       "declared as written to: expected a view of it; schema: wrong::returns_input(Tensor(a) x) "
       "-> "
       "Tensor(a)"},
      {"its results share memory with each other", "wrong::shared_results",
       [](Library& m) {
         const auto both = [](const Tensor& x) {
           const Tensor y = empty_like(x);
           if (x.is_cpu()) copy_(y, x);
           return std::tuple(y, select(y, 0, 0));
         };
         define_f(m, "shared_results(Tensor x) -> (Tensor, Tensor)", both, both);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_schema: wrong::shared_results: results 0 and 1 are not declared to alias, "
       "and "
       "share "
       "their storage; schema: wrong::shared_results(Tensor x) -> (Tensor, Tensor)"},
  };
}

std::vector<WrongOperator> of_kernels() {
  return {
      {"it gives something else each time", "wrong::drifts",
       [](Library& m) {
         define_f(
             m, "drifts(Tensor x) -> Tensor",
             [calls = std::make_shared<int>(0)](const Tensor& x) {
               return mul_Scalar(x, ++*calls);
             },
             like);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_deterministic: wrong::drifts: two runs with the same arguments differ: "
       "result 0, "
       "element [0, 0] is 4, not 3 in the second run"},
      {"it reads memory in order, whatever the strides", "wrong::ignores_strides",
       [](Library& m) {
         define_f(
             m, "ignores_strides(Tensor x) -> Tensor",
             [](const Tensor& x) {
               const Tensor y = empty_on(x.device(), x.sizes(), x.dtype());
               const size_t n = static_cast<size_t>(x.numel());
               const size_t there =
                   x.storage()->nbytes() / x.itemsize() - static_cast<size_t>(x.storage_offset());
               std::memcpy(y.data_ptr(), x.data_ptr(), std::min(n, there) * x.itemsize());
               return y;
             },
             like_contiguous);
       },
       [] { return Arguments{x()}; }, false,
       "test_strides: wrong::ignores_strides: result 0, element [1] is 1, not 2 as with contiguous "
       "arguments; argument 0 'x' has strides [2]"},
      {"it throws where there are no elements", "wrong::no_zero_sizes",
       [](Library& m) {
         define_f(
             m, "no_zero_sizes(Tensor x) -> Tensor",
             [](const Tensor& x) {
               SB_CHECK(x.numel() > 0, "wrong::no_zero_sizes: no elements");
               return twice(x);
             },
             like);
       },
       [] { return Arguments{x()}; }, false,
       "refusal: wrong::no_zero_sizes: throws, and not on fake tensors, where no tensor has an "
       "element: RuntimeError: wrong::no_zero_sizes: no elements"},
      {"it throws what is no sb::Error", "wrong::foreign_exception",
       [](Library& m) {
         define_f(
             m, "foreign_exception(Tensor x, int row) -> Tensor",
             [](const Tensor& x, int64_t row) {
               if (row < 0 || row >= x.size(0)) throw std::out_of_range("no such row");
               return twice(x);
             },
             [](const Tensor& x, int64_t) { return like(x); });
       },
       [] {
         return Arguments{x(), 1};
       },
       false,
       "refusal: wrong::foreign_exception: throws an exception that is no sb::Error: no such row"},
      {"it throws when it has already written", "wrong::half_done",
       [](Library& m) {
         define_f(
             m, "half_done(Tensor(a!) x, Tensor y) -> ()",
             [](const Tensor& x, const Tensor& y) {
               if (x.numel() > 0 && x.dtype() == DType::Float32) x.data<float>()[0] += 1;
               SB_CHECK(x.sizes() == y.sizes(), "wrong::half_done: other sizes");
               copy_(x, y);
             },
             [](const Tensor& x, const Tensor& y) {
               SB_CHECK(x.sym_sizes().size() == y.sym_sizes().size(), "other sizes");
             });
       },
       [] {
         return Arguments{x(), x()};
       },
       false,
       "refusal: wrong::half_done: throws, and has changed argument 0 'x': elements differ; "
       "RuntimeError: wrong::half_done: other sizes"},
  };
}

std::vector<WrongOperator> of_derivatives() {
  return {
      {"its derivative is wrong by a factor", "wrong::gradient_factor",
       [](Library& m) {
         define_f(m, "gradient_factor(Tensor x) -> Tensor", twice, like);
         register_autograd(
             "wrong::gradient_factor",
             [](FunctionContext&, const Tensor& grad) {
               return std::vector<Tensor>{mul_Scalar(grad, 3)};
             },
             no_context, m);
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_gradients: wrong::gradient_factor: gradcheck: 6 of 36 derivatives are not "
       "those "
       "of "
       "finite differences; worst: output 0, element [0, 0], by input 0, element [0, 0]: analytic "
       "3, numeric 2"},
      {"its derivative does not multiply by what comes back", "wrong::gradient_constant",
       [](Library& m) {
         define_f(m, "gradient_constant(Tensor x) -> Tensor", twice, like);
         register_autograd(
             "wrong::gradient_constant",
             [](FunctionContext&, const Tensor& grad) {
               return std::vector<Tensor>{full_like(grad, 2)};
             },
             no_context, m);
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_gradients: wrong::gradient_constant: gradcheck: where the gradient of output "
       "0 is "
       "all zeros, that of input 0, element [0, 0], is 2: backward does not multiply by the "
       "gradient "
       "of the output"},
      {"it has no derivative", "wrong::no_gradient",
       [](Library& m) { define_f(m, "no_gradient(Tensor x) -> Tensor", twice, like); },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_autograd_registration: wrong::no_gradient: an argument requires a gradient, "
       "and there is no "
       "kernel at an autograd key: derive() it or register_autograd() one, not_differentiable() if "
       "it has none; schema: wrong::no_gradient(Tensor x) -> Tensor; kernels: CPU (gallery.cc), "
       "Meta "
       "(gallery.cc)"},
      {"its kernel at Autograd records nothing", "wrong::gradient_lost",
       [](Library& m) {
         define_f(m, "gradient_lost(Tensor x) -> Tensor", twice, like);
         m.impl("gradient_lost", K::Autograd, [](const Tensor& x) { return twice(detach(x)); });
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_autograd_registration: wrong::gradient_lost: an argument requires a "
       "gradient, and no result "
       "does: the kernel at Autograd records nothing; not_differentiable() says that there is "
       "nothing to record; schema: wrong::gradient_lost(Tensor x) -> Tensor; kernels: CPU "
       "(gallery.cc), Meta (gallery.cc), Autograd (gallery.cc)"},
      {"it writes to an argument, and its kernel at Autograd does not record it",
       "wrong::write_lost",
       [](Library& m) {
         const OperatorHandle op = m.define("write_lost(Tensor(a!) x) -> ()");
         const auto write = [](const Tensor& x) { mul_Scalar_(x, 2); };
         m.impl(op, K::CPU, write);
         m.impl(op, K::Meta, write);
         m.impl(op, K::Autograd, [op](DispatchKeySet keys, const Tensor& x) {
           const BelowAutogradGuard below;
           Stack stack{x};
           op.redispatch_boxed(keys - kAutogradFunctionalities, &stack);
         });
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_autograd_registration: wrong::write_lost: an argument requires a gradient, "
       "and no result does: the kernel at Autograd records nothing; not_differentiable() says that "
       "there is nothing to record; schema: wrong::write_lost(Tensor(a!) x) -> (); kernels: CPU "
       "(gallery.cc), Meta (gallery.cc), Autograd (gallery.cc)"},
      {"it is composed, but reads memory itself", "wrong::composite_by_pointer",
       [](Library& m) {
         m.impl(m.define("composite_by_pointer(Tensor x) -> Tensor"), K::CompositeImplicitAutograd,
                [](const Tensor& x) {
                  const Tensor y = empty_like(x);
                  if (x.is_cpu()) std::memcpy(y.data_ptr(), x.data_ptr(), x.storage()->nbytes());
                  return y;
                });
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_autograd_registration: wrong::composite_by_pointer: it is composed of other "
       "operators, and of these none records what an argument that requires a gradient does to a "
       "result; what reads memory itself is no composite; schema: "
       "wrong::composite_by_pointer(Tensor x) -> Tensor; kernels: CompositeImplicitAutograd "
       "(gallery.cc)"},
      {"its derivative stands at a backend's key", "wrong::gradient_at_cpu",
       [](Library& m) {
         define_f(
             m, "gradient_at_cpu(Tensor x) -> Tensor",
             [](const Tensor& x) { return RecordsTwice::apply(x); }, like);
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_autograd_registration: wrong::gradient_at_cpu: result 0 requires a gradient "
       "below autograd: a "
       "kernel of a backend records it; it belongs at Autograd; schema: "
       "wrong::gradient_at_cpu(Tensor x) -> Tensor; kernels: CPU (gallery.cc), Meta (gallery.cc)"},
      {"its derivative reads data into a number", "wrong::gradient_reads_data",
       [](Library& m) {
         define_f(
             m, "gradient_reads_data(Tensor x) -> Tensor",
             [](const Tensor& x) { return mul(x, x); }, like);
         register_autograd(
             "wrong::gradient_reads_data",
             [](FunctionContext& ctx, const Tensor& grad) {
               const Tensor x = ctx.saved_tensors()[0];
               // Without a dispatch, and so unseen by whoever traces.
               const Tensor y = mul_Scalar(cast_copy(x, x.dtype()), 2);
               return std::vector<Tensor>{mul(grad, y)};
             },
             [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
               ctx.save_for_backward({inputs.tensor("x")});
             },
             m);
       },
       [] { return Arguments{leaf()}; }, true,
       "opcheck: test_aot_dispatch_dynamic: wrong::gradient_reads_data: traced with its backward "
       "and run on other "
       "data, "
       "result 1, element [0, 0] is 2, not 12"},
  };
}

std::vector<WrongOperator> of_fakes() {
  return {
      {"its fake rule gives other sizes", "wrong::fake_sizes",
       [](Library& m) {
         define_f(
             m, "fake_sizes(Tensor x) -> Tensor",
             [](const Tensor& x) { return clone(transpose(x, 0, 1), MemoryFormat::Contiguous); },
             like);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_faketensor: wrong::fake_sizes: on fake tensors, result 0 has sizes [2, 3], "
       "not [3, 2]"},
      {"its fake rule gives other strides", "wrong::fake_strides",
       [](Library& m) { define_f(m, "fake_strides(Tensor x) -> Tensor", twice, like_contiguous); },
       [] { return Arguments{transposed_x()}; }, true,
       "opcheck: test_faketensor: wrong::fake_strides: on fake tensors, result 0 has strides [2, "
       "1], not [1, "
       "3]"},
      {"its fake rule gives another dtype", "wrong::fake_dtype",
       [](Library& m) {
         define_f(
             m, "fake_dtype(Tensor x) -> Tensor", [](const Tensor& x) { return sum_all(x); },
             [](const Tensor& x) { return empty({}, x.dtype(), std::nullopt, x.device()); });
       },
       [] { return Arguments{x()}; }, false,
       "test_faketensor: wrong::fake_dtype: on fake tensors, result 0 has dtype uint8, not int64"},
      {"its fake rule makes CPU tensors", "wrong::fake_device",
       [](Library& m) {
         define_f(m, "fake_device(Tensor x) -> Tensor", twice, like);
         m.own(register_fake_rule("wrong::fake_device", [](FakeCall& call) {
           const Tensor& x = call.tensor("x");
           call.give({call.empty(x.sym_sizes(), x.dtype(), DeviceType::CPU)});
           return true;
         }));
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_faketensor: wrong::fake_device: on fake tensors of cuda:0, result 0 has "
       "device cpu, not "
       "cuda:0"},
      {"it has no fake rule", "wrong::no_fake",
       [](Library& m) {
         m.define("no_fake(Tensor x) -> Tensor");
         m.impl("no_fake", K::CPU, twice);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_faketensor: wrong::no_fake: on fake tensors, the call throws "
       "NotImplementedError: "
       "wrong::no_fake: no shape rule for fake tensors, and no fallback: only operators of "
       "PyTorch's own namespaces may run on zeros; register a kernel for it at Meta, or a fake "
       "rule by register_fake"},
      {"its fake rule is a view, the result is none", "wrong::fake_view",
       [](Library& m) {
         define_f(
             m, "fake_view(Tensor(a) x) -> Tensor(a)", [](const Tensor& x) { return clone(x); },
             [](const Tensor& x) { return alias(x); });
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_faketensor: wrong::fake_view: on fake tensors, result 0 shares the storage "
       "of argument "
       "0 "
       "'x' in the fake run, and not in the real one"},
      {"its fake rule leaves alone an argument that it resizes", "wrong::fake_resize",
       [](Library& m) {
         define_f(
             m, "fake_resize(Tensor(a!) x) -> ()", [](const Tensor& x) { unsqueeze_(x, 0); },
             [](const Tensor&) {});
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_faketensor: wrong::fake_resize: on fake tensors, argument 0 'x' has sizes "
       "[2, 3], not "
       "[1, "
       "2, 3]"},
  };
}

std::vector<WrongOperator> of_transforms() {
  return {
      {"its functional form computes something else", "wrong::scale_",
       [](Library& m) {
         m.define("scale_(Tensor(a!) x) -> Tensor(a!)");
         m.impl("scale_", K::CPU, [](const Tensor& x) { return mul_Scalar_(x, 2); });
         m.impl("scale_", K::Meta, [](const Tensor& x) { return x; });
         define_f(
             m, "scale(Tensor x) -> Tensor", [](const Tensor& x) { return mul_Scalar(x, 3); },
             like);
       },
       [] { return Arguments{x()}; }, true,
       "opcheck: test_aot_dispatch_dynamic: wrong::scale_: functionalised, result 0, element [0, "
       "0] is 3, not 2"},
  };
}

}  // namespace

const std::vector<WrongOperator>& wrong_operators() {
  static const std::vector<WrongOperator> all = [] {
    std::vector<WrongOperator> all;
    for (auto* part : {of_schemas, of_kernels, of_derivatives, of_fakes, of_transforms})
      for (WrongOperator& op : part()) all.push_back(std::move(op));
    return all;
  }();
  return all;
}

}  // namespace sb
