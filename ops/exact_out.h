// out= forms of composed operators that, unlike a copy, refuse an `out` of another dtype, or one
// that the result cannot be cast to.

#ifndef SWITCHBOARD_OPS_EXACT_OUT_H_
#define SWITCHBOARD_OPS_EXACT_OUT_H_

#include <string_view>

#include "switchboard/ops/copy_to_out.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/resize.h"

namespace sb {

// Gives `out` the shape and elements of `result`. RuntimeError, changing nothing, where the dtypes
// differ or copy_result_to_out throws.
inline void write_exact_out(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a defined tensor, got an undefined one");
  SB_CHECK(out.dtype() == result.dtype(), op, ": expected out tensor to have dtype ",
           to_string(result.dtype()), ", but got ", to_string(out.dtype()));
  copy_result_to_out(op, result, out);
}

// The same, and an out of another shape gets the strides of the result, too: as an out= form that
// hands its out to a structured operator.
inline void write_structured_out(std::string_view op, const Tensor& result, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a defined tensor, got an undefined one");
  SB_CHECK(out.dtype() == result.dtype(), op, ": expected out tensor to have dtype ",
           to_string(result.dtype()), ", but got ", to_string(out.dtype()));
  check_result_fits_out(op, result, out);
  resize_output(out, result.sizes(), result.strides());
  copy_result_to_out(op, result, out);
}

// For any dtype that the result can be cast to.
inline void write_cast_contiguous_out(std::string_view op, const Tensor& result,
                                      const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a defined tensor, got an undefined one");
  SB_CHECK(can_cast(result.dtype(), out.dtype()), op, ": result type ", to_string(result.dtype()),
           " can't be cast to the desired output type ", to_string(out.dtype()));
  copy_result_to_out(op, result, out);
}

namespace internal {

template <auto& functional, auto write>
struct ExactOut {
  template <class R, class... A>
  struct Kernel {
    Tensor operator()(A... args, const Tensor& out) const {
      write(functional.name(), functional.call(args...), out);
      return out;
    }
  };
};

template <auto& functional, auto write, class Tag>
void define_exact_out(Library& m, const Op<Tag>&, SourceLocation where) {
  using Kernel =
      typename OpTraits<Tag>::template Apply<ExactOut<functional, write>::template Kernel>;
  constexpr Op<form_of<OutForm, Tag>> out;
  m.define(out, {}, where);
  m.impl(out, DispatchKey::CompositeImplicitAutograd, Kernel(), where);
}

}  // namespace internal

// Defines the out= form of an operator declared by SB_STRUCTURED_NO_INPLACE.
template <auto& functional, auto write = write_exact_out>
void define_exact_out(Library& m, SourceLocation where = SourceLocation::current()) {
  internal::define_exact_out<functional, write>(m, functional, where);
}

// The operator at CompositeImplicitAutograd together with such an out= form.
template <auto& functional, auto write = write_exact_out, class F>
void define_composite(Library& m, F kernel, SourceLocation where = SourceLocation::current()) {
  m.define(functional, {}, where);
  m.impl(functional, DispatchKey::CompositeImplicitAutograd, kernel, where);
  define_exact_out<functional, write>(m, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_EXACT_OUT_H_
