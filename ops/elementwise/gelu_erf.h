// The error function as gelu needs it: 1 + erf(x) to 4e-7, where libmvec's, which is right to the
// last places also near 0 and for tiny numbers, takes three times as long. For .cc files of
// cpu_kernels.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_GELU_ERF_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_GELU_ERF_H_

#include <cmath>
#include <type_traits>

#include "switchboard/ops/cpu/vector_math.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace sb::internal {

struct GeluErf {
  template <class P>
  static P packet(const P& x) {
    if constexpr (std::is_same_v<typename Eigen::internal::unpacket_traits<P>::type, float>) {
      namespace packets = Eigen::internal;
      // Its error must not carry it past 1, or gelu of a negative number would be positive.
      const P one = packets::pset1<P>(1.0F);
      const P erf = packets::generic_fast_erf_float(x);
      return packets::pmax(packets::pmin(erf, one), packets::pnegate(one));
    } else {
      return vec::internal::erf_function::packet(x);
    }
  }
  template <class T>
  static T scalar(const T& x) {
    return std::erf(x);
  }
};

template <class A>
auto gelu_erf(const Eigen::ArrayBase<A>& x) {
  return x.unaryExpr(vec::internal::Unary<GeluErf, typename A::Scalar>());
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_GELU_ERF_H_
