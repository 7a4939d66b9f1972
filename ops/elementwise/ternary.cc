#include <complex>

#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/elementwise/ternary.h"
#endif

namespace sb {

namespace {
// Products of small integers are computed as int, which 65535 * 65535 overflows.
template <class T>
auto unsigned_of(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(x);
  } else {
    return x;
  }
}
}  // namespace
SB_ELEMENTWISE(addcmul_arithmetic, "addcmul", kBinaryFlags,
               element_loops<3>(
                   [](const auto& n, const auto& x, const auto& y, const auto& z) {
                     return unsigned_of(x) + unsigned_of(n[0]) * unsigned_of(y) * unsigned_of(z);
                   },
                   IntegerTypes(), FloatTypes(), ComplexTypes()));

namespace {
struct NoIntegerDivision {
  void operator()(const Tensor& out, const Tensor& self, const Tensor& tensor1,
                  const Tensor& tensor2, const Scalar& value) const;
};
}  // namespace
SB_ELEMENTWISE(addcdiv_arithmetic, "addcdiv", kBinaryFlags,
               element_loops<3>([](const auto& n, const auto& x, const auto& y,
                                   const auto& z) { return x + n[0] * y / z; },
                                FloatTypes(), ComplexTypes()));

namespace {
struct Lerp {
  template <class T>
  T operator()(const T& start, const T& end, const T& weight) const {
    return std::norm(weight) < 0.25 ? start + weight * (end - start)
                                    : end - (end - start) * (T(1) - weight);
  }
};

struct OneDType {
  template <class Weight>
  void operator()(const Tensor& out, const Tensor& self, const Tensor& end,
                  const Weight& weight) const;
};
}  // namespace
SB_ELEMENTWISE(lerp_Scalar_arithmetic, "lerp_Scalar", kBinaryFlags,
               element_loops<2>([](const auto& n, const auto& start,
                                   const auto& end) { return Lerp()(start, end, n[0]); },
                                FloatTypes(), ComplexTypes()));
SB_ELEMENTWISE(lerp_Tensor_arithmetic, "lerp_Tensor", kUnaryFlags,
               element_loops<3>(Lerp(), FloatTypes(), ComplexTypes()));

#ifndef SB_CPU_VARIANT

void NoIntegerDivision::operator()(const Tensor&, const Tensor&, const Tensor& tensor1,
                                   const Tensor& tensor2, const Scalar&) const {
  SB_CHECK(!is_integral(tensor1.dtype(), true) || !is_integral(tensor2.dtype(), true),
           "addcdiv: arguments tensor1 and tensor2: integers are not divided, got ",
           to_string(tensor1.dtype()), " and ", to_string(tensor2.dtype()));
}

template <class Weight>
void OneDType::operator()(const Tensor&, const Tensor& self, const Tensor& end,
                          const Weight& weight) const {
  SB_CHECK(self.dtype() == end.dtype(), "lerp: argument end: expected ", to_string(self.dtype()),
           ", got ", to_string(end.dtype()));
  if constexpr (std::is_same_v<Weight, Tensor>) {
    SB_CHECK(self.dtype() == weight.dtype(), "lerp: argument weight: expected ",
             to_string(self.dtype()), ", got ", to_string(weight.dtype()));
  }
}

#endif

#ifndef SB_CPU_VARIANT
SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, addcmul, Tag::pointwise).elementwise<regular<addcmul_arithmetic>>().out_and_inplace();
  define(m, addcdiv, Tag::pointwise)
      .elementwise<regular<addcdiv_arithmetic, NoIntegerDivision>>()
      .inplace(addcdiv_)
      .out(addcdiv_out);
  define(m, lerp_Scalar, Tag::pointwise)
      .elementwise<regular<lerp_Scalar_arithmetic, OneDType>>()
      .inplace(lerp_Scalar_)
      .out(lerp_Scalar_out);
  define(m, lerp_Tensor, Tag::pointwise)
      .elementwise<regular<lerp_Tensor_arithmetic, OneDType>>()
      .inplace(lerp_Tensor_)
      .out(lerp_Tensor_out);
}
#endif  // SB_CPU_VARIANT

}  // namespace sb
