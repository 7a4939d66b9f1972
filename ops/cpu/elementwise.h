// Elementwise operators: the arithmetic once, as a function of Eigen arrays; everything else is
// shared.
//
//   SB_OP(mul, "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
//   SB_OP(mul_, inplace_of(mul));
//   SB_OP(mul_out, out_of(mul, "out"));
//
//   SB_ELEMENTWISE(mul_arithmetic, "mul", kBinaryFlags, mul_loops());   // see array_loops.h
//   #ifndef SB_CPU_VARIANT
//   Tensor mul_body(const Tensor& out, const Tensor& self, const Tensor& other) {
//     return elementwise(mul_arithmetic, out, self, other);
//   }
//   SB_LIBRARY_FRAGMENT(aten, m) {
//     define(m, mul).elementwise<mul_body>().inplace(mul_).out(mul_out);
//   }
//   #endif
//
// A body gets `out` undefined in the functional form, and `self` in the in-place form. The file is
// among the cpu_kernels of its library, so that the loops are compiled for each CPU capability.

#ifndef SWITCHBOARD_OPS_CPU_ELEMENTWISE_H_
#define SWITCHBOARD_OPS_CPU_ELEMENTWISE_H_

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/cpu/elementwise_op.h"

namespace sb {

// Computes op on CPU tensors, or only its shape on meta ones. `params` goes to the loop. Throws
// RuntimeError, with all arguments as they were.
Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a,
                   const void* params = nullptr);
Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a, const Tensor& b,
                   const void* params = nullptr);
Tensor elementwise(const ElementwiseOp& op, const Tensor& out, const Tensor& a, const Tensor& b,
                   const Tensor& c, const void* params = nullptr);

// The same in two steps, for operators with a TensorIterator of their own. Throws
// NotImplementedError unless op can compute on the iterator's device in its common dtype.
void check_implemented(const ElementwiseOp& op, const TensorIterator& iterator);
// After allocate_output. `out` is the dtype that op computes. Does nothing on meta tensors.
void run_elementwise(const ElementwiseOp& op, TensorIterator* iterator, DType out,
                     const void* params = nullptr);

// Gives `op` its arithmetic on another device. What `op` shares with the CPU then works for that
// device, too, where the forms of the operators are registered at its key: see impl_elementwise.
// Thread-safe. ValueError for CPU and Meta; RuntimeError where there is one already. As
// `REGISTER_PRIVATEUSE1_DISPATCH`.
void register_elementwise(const ElementwiseOp& op, DeviceType device, DeviceElementwise kernel);

// A 0-dim CPU tensor of a number, which does not raise the dtype within its category; of a symbol,
// one without data that stands for it (make_symbolic_number). As
// `at::native::wrapped_scalar_tensor`.
Tensor wrapped_scalar_tensor(const Scalar& value);
// The same as an operand beside another: only shape rules can do with a symbol, so that beside a
// tensor with data it is settled.
Tensor wrapped_scalar_tensor(const Scalar& value, const Tensor& beside);
// Whether an operator on the tensor computes with the values of numbers beside it, and not only
// with their kinds: a symbol must be settled then.
inline bool needs_values(const Tensor& t) { return !t.is_meta() && !t.impl()->mode_data(); }

namespace internal {

// The kernel that an operator has at CPU, which serves any device.
template <class Tag>
struct OnCpu {
  template <class R, class... A>
  struct Kernel {
    R operator()(A... args) const {
      return Op<Tag>().redispatch(DispatchKeySet(DispatchKey::CPU), args...);
    }
  };
};

}  // namespace internal

// Registers the forms of an elementwise operator at `key`, the key of a device that has registered
// its arithmetic: those that it was declared with.
//
//   register_elementwise(abs_arithmetic, DeviceType::PrivateUse1, my_abs);
//   SB_LIBRARY_IMPL(aten, PrivateUse1, m) { impl_elementwise(m, abs, DispatchKey::PrivateUse1); }
template <class Tag>
void impl_elementwise(Library& m, const Op<Tag>& op, DispatchKey key,
                      SourceLocation where = SourceLocation::current()) {
  const auto impl = [&]<class Form>(const Op<Form>& form) {
    using Kernel =
        typename internal::OpTraits<Form>::template Apply<internal::OnCpu<Form>::template Kernel>;
    m.impl(form, key, Kernel(), where);
  };
  impl(op);
  if constexpr (HasForm<OutForm, Tag>) impl(Op<form_of<OutForm, Tag>>());
  if constexpr (HasForm<InplaceForm, Tag>) impl(Op<form_of<InplaceForm, Tag>>());
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_ELEMENTWISE_H_
