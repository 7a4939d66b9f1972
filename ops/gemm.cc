#include "switchboard/ops/gemm.h"

#include <complex>
#include <cstring>
#include <new>
#include <vector>

#include "switchboard/core/dtype_types.h"

namespace sb {
namespace {

// A matrix of another element type than gemm_of computes in, converted to a buffer. Integers keep
// their value modulo 2^64, so that the low bits of results are right.
template <class To>
class Converted {
 public:
  Converted(DType dtype, const MatrixRef& m, bool read)
      : buffer_(static_cast<size_t>(m.rows * m.cols)),
        ref_{buffer_.data(), m.rows, m.cols, 1, m.rows},
        source_(m) {
    if (!read) return;
    visit_narrow(dtype, [&]<class From>() {
      for_each([&](size_t i, int64_t at) {
        buffer_[i] = static_cast<To>(static_cast<const From*>(source_.data)[at]);
      });
    });
  }

  const MatrixRef& ref() const { return ref_; }

  void write_back(DType dtype) const {
    visit_narrow(dtype, [&]<class From>() {
      for_each([&](size_t i, int64_t at) {
        static_cast<From*>(source_.data)[at] = static_cast<From>(buffer_[i]);
      });
    });
  }

 private:
  template <class F>
  static void visit_narrow(DType dtype, const F& f) {
    if constexpr (std::is_same_v<To, float>) {
      return dtype == DType::Float16 ? f.template operator()<Half>()
                                     : f.template operator()<BFloat16>();
    } else {
      switch (dtype) {
        case DType::UInt8:
          return f.template operator()<uint8_t>();
        case DType::Int8:
          return f.template operator()<int8_t>();
        case DType::Int16:
          return f.template operator()<int16_t>();
        default:
          return f.template operator()<int32_t>();
      }
    }
  }
  template <class F>
  void for_each(const F& f) const {
    size_t i = 0;
    for (int64_t c = 0; c < source_.cols; ++c) {
      for (int64_t r = 0; r < source_.rows; ++r) {
        f(i++, r * source_.row_stride + c * source_.col_stride);
      }
    }
  }

  std::vector<To> buffer_;
  MatrixRef ref_;
  MatrixRef source_;
};

template <class T>
void gemm_converted(DType dtype, T alpha, const MatrixRef& a, const MatrixRef& b, T beta,
                    const MatrixRef& c) {
  const bool multiply = alpha != T(0);
  const Converted<T> lhs(dtype, a, multiply);
  const Converted<T> rhs(dtype, b, multiply);
  const Converted<T> result(dtype, c, beta != T(0));
  internal::gemm_of<T>(alpha, lhs.ref(), rhs.ref(), beta, result.ref());
  result.write_back(dtype);
}

void gemm_unguarded(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
                    const Scalar& beta, const MatrixRef& c) {
  const auto direct = [&]<class T>() {
    internal::gemm_of<T>(alpha.to<T>(), a, b, beta.to<T>(), c);
  };
  switch (dtype) {
    case DType::Float32:
      return direct.operator()<float>();
    case DType::Float64:
      return direct.operator()<double>();
    case DType::Complex64:
      return direct.operator()<std::complex<float>>();
    case DType::Complex128:
      return direct.operator()<std::complex<double>>();
    case DType::Float16:
    case DType::BFloat16:
      return gemm_converted<float>(dtype, alpha.to<float>(), a, b, beta.to<float>(), c);
    default: {
      SB_ASSERT(has_gemm(dtype));
      const auto to_uint64 = [](const Scalar& s) { return static_cast<uint64_t>(s.to<int64_t>()); };
      if (dtype == DType::Int64)
        internal::gemm_of<uint64_t>(to_uint64(alpha), a, b, to_uint64(beta), c);
      else
        gemm_converted<uint64_t>(dtype, to_uint64(alpha), a, b, to_uint64(beta), c);
    }
  }
}

}  // namespace

void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c) {
  try {
    gemm_unguarded(dtype, alpha, a, b, beta, c);
  } catch (const std::bad_alloc&) {  // an operand whose strides or dtype Eigen cannot read in place
    SB_THROW(RuntimeError, "matrix product: out of memory for copies of operands of ", a.rows,
             " x ", a.cols, " and ", b.rows, " x ", b.cols, " elements");
  }
}

}  // namespace sb
