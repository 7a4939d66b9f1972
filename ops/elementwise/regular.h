// Operators whose arguments are tensors, which are the inputs, and numbers, which the arithmetic
// takes as they are.
//
//   // unary_math.cc, among the cpu_kernels
//   SB_ELEMENTWISE(acos_arithmetic, "acos", kFloatFlags,
//                  array_loops<1>([](const auto& a) { return vec::acos(a); },
//                                 FloatTypes(), ComplexTypes()));
//   define(m, acos).elementwise<regular<acos_arithmetic>>().inplace(acos_).out(acos_out);

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_REGULAR_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_REGULAR_H_

#include "switchboard/ops/elementwise/element_loops.h"
#ifndef SB_CPU_VARIANT
#include <string_view>

#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#endif

#ifndef SB_CPU_VARIANT
namespace sb {
namespace internal {

// The arguments of a call, sorted.
struct RegularCall {
  absl::InlinedVector<const Tensor*, 3> tensors;
  Numbers numbers;

  template <class... A>
  explicit RegularCall(const A&... args) {
    (add(args), ...);
  }
  void add(const Tensor& t) { tensors.push_back(&t); }
  void add(const Scalar& number) { numbers.values[numbers.count++] = number; }
  void add(double number) { add(Scalar(number)); }
  void add(bool number) { add(Scalar(number)); }
  void add(int64_t number) { add(Scalar(number)); }
};

// Throws RuntimeError for a number that is none of the dtype that the call is computed in.
void check_numbers(const ElementwiseOp& op, const RegularCall& call);

}  // namespace internal

// For Check: refuses nothing.
struct NoCheck {
  template <class... A>
  void operator()(const A&...) const {}
};

template <const ElementwiseOp& arithmetic, class Check>
struct Regular {
  template <class... A>
  Tensor operator()(const Tensor& out, const A&... args) const {
    Check()(out, args...);
    constexpr size_t tensors = (std::is_same_v<A, Tensor> + ...);
    if constexpr (tensors == sizeof...(A)) {
      return elementwise(arithmetic, out, args...);
    } else {
      const internal::RegularCall call(args...);
      internal::check_numbers(arithmetic, call);
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return elementwise(arithmetic, out, *call.tensors[I]..., &call.numbers);
      }
      (std::make_index_sequence<tensors>());
    }
  }
};

// The body of such an operator: computes `arithmetic` on the tensors among the arguments, with the
// numbers among them. `Check` is called first, with `out` and the arguments, and throws what the
// operator refuses. Throws RuntimeError where a number is none of the dtype that is computed in.
template <const ElementwiseOp& arithmetic, class Check = NoCheck>
inline constexpr Regular<arithmetic, Check> regular{};

// For Check. Refuses complex tensors.
template <const ElementwiseOp& arithmetic>
struct NotComplex {
  template <class... A>
  void operator()(const Tensor&, const Tensor& self, const A&...) const {
    SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), arithmetic.name,
                             ": argument self: complex tensors are not supported, got ",
                             to_string(self.dtype()));
  }
};
// For Check. Refuses any `out` that is not bool.
template <const ElementwiseOp& arithmetic>
struct BoolOut {
  void operator()(const Tensor& out, const Tensor&) const {
    SB_CHECK(!out.defined() || out.dtype() == DType::Bool, arithmetic.name,
             ": argument out: expected bool, got ", to_string(out.dtype()));
  }
};
// Refuses both.
template <const ElementwiseOp& arithmetic>
struct RealToBoolOut {
  void operator()(const Tensor& out, const Tensor& self) const {
    NotComplex<arithmetic>()(out, self);
    BoolOut<arithmetic>()(out, self);
  }
};

}  // namespace sb
#endif

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_REGULAR_H_
