// out= forms that call the functional form and copy its result: for operators that are composed of
// others, or have nothing to gain. As the out= kernels that PyTorch generates.

#ifndef SWITCHBOARD_OPS_DEFINE_OUT_BY_COPY_H_
#define SWITCHBOARD_OPS_DEFINE_OUT_BY_COPY_H_

#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Gives `out` the shape and elements of `result`, converted. Throws RuntimeError, changing nothing,
// where `out` is undefined, on another device, overlaps itself, or cannot grow.
void copy_result_to_out(std::string_view op, const Tensor& result, const Tensor& out);
// Makes its checks only, those of growing the storage aside.
void check_result_fits_out(std::string_view op, const Tensor& result, const Tensor& out);

// A result and the out that is to have it.
using ResultAndOut = std::pair<Tensor, Tensor>;
// The same for several: none has changed where another is refused, or where there is no room for
// it. With `keep_strides`, an out of another shape gets the strides of its result, too.
void copy_results_to_outs(std::string_view op, absl::Span<const ResultAndOut> pairs,
                          bool keep_strides = false);

namespace internal {

template <auto& functional>
struct OutByCopy {
  template <class R, class... A>
  struct Kernel {
    Tensor operator()(A... args, const Tensor& out) const {
      copy_result_to_out(functional.name(), functional.call(args...), out);
      return out;
    }
  };
};

template <auto& functional, DispatchKey key, class Tag>
void define_out_by_copy(Library& m, const Op<Tag>&, SourceLocation where) {
  using Kernel = typename OpTraits<Tag>::template Apply<OutByCopy<functional>::template Kernel>;
  constexpr Op<typename Tag::Out> out;
  m.define(out, {}, where);
  m.impl(out, key, Kernel(), where);
}

}  // namespace internal

// Defines the out= form of an operator declared by SB_STRUCTURED or SB_STRUCTURED_NO_INPLACE:
// define_out_by_copy<add_Scalar>(m). `key` is CompositeImplicitAutograd where the operator's is.
template <auto& functional, DispatchKey key = DispatchKey::CompositeExplicitAutograd>
void define_out_by_copy(Library& m, SourceLocation where = SourceLocation::current()) {
  internal::define_out_by_copy<functional, key>(m, functional, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_OUT_BY_COPY_H_
