// What the files of factorizations.h share. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_FACTORIZATION_H_
#define SWITCHBOARD_OPS_LINALG_FACTORIZATION_H_

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/matrix_batch.h"

namespace sb {

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

inline Tensor empty_batch(const Tensor& like, std::initializer_list<SymInt> last, DType dtype) {
  const SymDimVector sizes = sym_batch_and(like, last);
  const SymIntArrayRef all = sizes;
  if (any_symbolic(all)) return empty_with_symbols(all, {}, dtype);
  return empty_on(like.device(), all.expect_ints(), dtype);
}

// A column-major copy in double precision: what is large to compile exists for that alone.
inline DType wide_dtype(DType dtype) {
  return is_complex(dtype) ? DType::Complex128 : DType::Float64;
}
inline Tensor wide_copy(const Tensor& a) {
  const Tensor copy = empty_matrices(a, a.size(-2), a.size(-1), wide_dtype(a.dtype()));
  copy_elements(copy, a);
  return copy;
}
template <class F>
void visit_wide_type(DType dtype, const F& f) {
  if (is_complex(dtype)) {
    f.template operator()<std::complex<double>>();
  } else {
    f.template operator()<double>();
  }
}

// Whether what is computed of `a` is recorded for derivatives.
inline bool requires_grad_now(const Tensor& a) {
  return internal::grad_hooks->is_grad_enabled() && internal::grad_hooks->requires_grad(a);
}

// The info of a matrix with NaN or an infinity, as LAPACK has it where it looks for them.
inline constexpr int32_t kNotFinite = -4;
// The info of decompose(), which may not end where there is NaN, for a matrix that has elements.
template <class Matrix, class F>
int32_t decompose_finite(const Matrix& matrix, const F& decompose) {
  if (matrix.size() == 0) return 0;
  return matrix.allFinite() ? decompose() : kNotFinite;
}

inline void check_errors(const char* name, const Tensor& info, bool wanted) {
  if (wanted) _linalg_check_errors(info, name, info.dim() == 0);
}

// The operator at CPU and Meta, with an out= form as PyTorch's structured operators have.
void define_factorization(Library& m, const auto& op, auto cpu, auto meta,
                          std::string_view out_overload, std::vector<std::string> outs) {
  define(m, op).cpu(cpu).meta(meta).out(out_overload, std::move(outs), kStructuredOut);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_FACTORIZATION_H_
