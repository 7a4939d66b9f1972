#include "switchboard/ops/products/matmul.h"

#include <cmath>
#include <limits>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/gemm.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// What every product demands of its two operands.
void check_operands(const char* op, const Tensor& a, const Tensor& b) {
  SB_CHECK(a.dtype() == b.dtype(), op, ": expected operands of one dtype, got ", a.describe(),
           " and ", b.describe());
  SB_CHECK_NOT_IMPLEMENTED(has_gemm(a.dtype()), op, ": not implemented for ", to_string(a.dtype()));
}

void check_rank(const char* op, const char* argument, const Tensor& t, int64_t rank) {
  SB_CHECK(t.dim() == rank, op, ": ", argument, ": expected ", rank, " dimensions, got ",
           t.describe());
}

// IndexError where PyTorch asks for a size before it looks at the rank.
void check_has_dim(const char* op, const char* argument, const Tensor& t, int64_t dim) {
  SB_CHECK_INDEX(t.dim() > dim, op, ": ", argument, ": has no dimension ", dim, ", got ",
                 t.describe());
}

template <class Truth>
void check_inner(const char* op, const Tensor& a, const Tensor& b, const Truth& agree) {
  SB_CHECK(agree, op, ": ", a.describe(), " and ", b.describe(), " cannot be multiplied");
}

// Scalars are converted to the result's dtype, where they must fit.
void check_factor(const char* op, const char* name, const Scalar& value, DType dtype) {
  if (is_complex(dtype) || value.is_symbolic()) return;
  const double v = value.to<double>();  // refuses a complex number
  double limit = std::numeric_limits<double>::infinity();
  if (dtype == DType::Float32 || dtype == DType::BFloat16) limit = 3.4028234663852886e38;
  if (dtype == DType::Float16) limit = 65504;
  if (is_integral(dtype)) {
    const int bits = static_cast<int>(8 * itemsize(dtype)) - (dtype == DType::UInt8 ? 0 : 1);
    // PyTorch lets negative numbers into uint8, where they wrap.
    const double end = std::ldexp(1.0, bits);
    SB_CHECK(value.is_int() && dtype == DType::Int64 ? true : v < end && v >= -end, op, ": ", name,
             ": ", value.to_string(), " does not fit ", to_string(dtype));
  } else {
    SB_CHECK(!(std::isfinite(v) && std::abs(v) > limit), op, ": ", name, ": ", value.to_string(),
             " does not fit ", to_string(dtype));
  }
}

// Whether `self` broadcasts to `sizes`.
template <SizeType Int>
void check_expands(const char* op, const Tensor& self, SizesRef<Int> sizes) {
  const SizesRef<Int> own = sizes_of<Int>(self);
  const auto fits = [&](const auto& truth) {
    SB_CHECK(truth, op, ": self: ", self.describe(), " does not broadcast to ", shape_text(sizes));
  };
  fits(own.size() <= sizes.size());
  for (size_t i = 1; i <= own.size(); ++i) {
    const Int& size = own[own.size() - i];
    if (!is_one(size)) fits(size == sizes[sizes.size() - i]);
  }
}

bool is_zero(const Scalar& s) { return s.to<std::complex<double>>() == 0.0; }

// As matrices: a matrix, a vector as a column, a batch of matrices.
MatrixRef matrix(const Tensor& t) {
  return {t.data_ptr(), t.sizes()[0], t.sizes()[1], t.strides()[0], t.strides()[1]};
}
MatrixRef column(const Tensor& t) { return {t.data_ptr(), t.numel(), 1, t.strides()[0], 1}; }
MatrixRef batch(const Tensor& t) {
  return {t.data_ptr(),   t.sizes()[1], t.sizes()[2],  t.strides()[1],
          t.strides()[2], t.sizes()[0], t.strides()[0]};
}

MatrixRef item(const Tensor& t, int64_t i) {
  MatrixRef one = batch(t);
  // Where there is no element there may be no address to add to, and strides mean nothing.
  if (t.numel() != 0) {
    one.data =
        static_cast<char*>(one.data) + i * one.batch_stride * static_cast<int64_t>(t.itemsize());
  }
  one.count = 1;
  return one;
}

// Puts `self` where beta * self is to be added to, when gemm asks for it.
class Addend {
 public:
  Addend(const Tensor& self, const Scalar& beta, const Tensor& out)
      : self_(self), out_(out), counts_(!is_zero(beta)) {}
  void operator()() const {
    if (counts_) copy_elements(out_, self_);
  }

 private:
  const Tensor& self_;
  const Tensor& out_;
  const bool counts_;
};

template <SizeType Int>
BasicTensorMeta<Int> mm_rule(const Tensor& self, const Tensor& mat2) {
  check_rank("mm", "self", self, 2);
  check_rank("mm", "mat2", mat2, 2);
  check_inner("mm", self, mat2, sizes_of<Int>(self)[1] == sizes_of<Int>(mat2)[0]);
  check_operands("mm", self, mat2);
  return {{sizes_of<Int>(self)[0], sizes_of<Int>(mat2)[1]}, self.dtype()};
}
void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  gemm(out.dtype(), 1, matrix(self), matrix(mat2), 0, matrix(out));
}

template <SizeType Int>
BasicTensorMeta<Int> mv_rule(const Tensor& self, const Tensor& vec) {
  check_has_dim("mv", "self", self, 0);
  check_rank("mv", "self", self, 2);
  check_rank("mv", "vec", vec, 1);
  check_inner("mv", self, vec, sizes_of<Int>(self)[1] == sizes_of<Int>(vec)[0]);
  check_operands("mv", self, vec);
  return {{sizes_of<Int>(self)[0]}, self.dtype()};
}
void mv_kernel(const Tensor& self, const Tensor& vec, const Tensor& out) {
  gemm(out.dtype(), 1, matrix(self), column(vec), 0, column(out));
}

template <SizeType Int>
BasicTensorMeta<Int> dot_rule(const Tensor& self, const Tensor& tensor) {
  check_rank("dot", "self", self, 1);
  check_rank("dot", "tensor", tensor, 1);
  check_inner("dot", self, tensor, numel_of<Int>(self) == numel_of<Int>(tensor));
  check_operands("dot", self, tensor);
  return {{}, self.dtype()};
}
void dot_kernel(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  gemm(out.dtype(), 1, column(self).transposed(), column(tensor), 0, {out.data_ptr(), 1, 1, 1, 1});
}

// The shape of a batched product.
template <SizeType Int>
SizeVector<Int> bmm_sizes(const char* op, const Tensor& a, const Tensor& b) {
  check_rank(op, "batch1", a, 3);
  check_rank(op, "batch2", b, 3);
  check_inner(op, a, b, sizes_of<Int>(a)[0] == sizes_of<Int>(b)[0]);
  check_inner(op, a, b, sizes_of<Int>(a)[2] == sizes_of<Int>(b)[1]);
  check_operands(op, a, b);
  return {sizes_of<Int>(a)[0], sizes_of<Int>(a)[1], sizes_of<Int>(b)[2]};
}
template <SizeType Int>
BasicTensorMeta<Int> bmm_rule(const Tensor& self, const Tensor& mat2) {
  return {bmm_sizes<Int>("bmm", self, mat2), self.dtype()};
}
void bmm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  gemm(out.dtype(), 1, batch(self), batch(mat2), 0, batch(out));
}

template <SizeType Int>
BasicTensorMeta<Int> addmm_rule(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                const Scalar& beta, const Scalar& alpha) {
  check_rank("addmm", "mat1", mat1, 2);
  check_rank("addmm", "mat2", mat2, 2);
  check_inner("addmm", mat1, mat2, sizes_of<Int>(mat1)[1] == sizes_of<Int>(mat2)[0]);
  check_operands("addmm", mat1, mat2);
  SB_CHECK(self.dtype() == mat2.dtype(), "addmm: self: expected ", to_string(mat2.dtype()),
           ", got ", self.describe());
  check_factor("addmm", "beta", beta, self.dtype());
  check_factor("addmm", "alpha", alpha, self.dtype());
  const SizeVector<Int> sizes = {sizes_of<Int>(mat1)[0], sizes_of<Int>(mat2)[1]};
  check_expands<Int>("addmm", self, sizes);
  return {sizes, self.dtype()};
}
void addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                  const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  gemm(out.dtype(), alpha, matrix(mat1), matrix(mat2), beta, matrix(out), Addend(self, beta, out));
}

// As PyTorch: `self` may have another dtype, and is converted. Where `mat` has no element and beta
// is not 0, the result is beta * self, in self's own shape: even if that is one element for many.
template <SizeType Int>
BasicTensorMeta<Int> addmv_rule(const Tensor& self, const Tensor& mat, const Tensor& vec,
                                const Scalar& beta, const Scalar& alpha) {
  SB_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1,
           "addmv: expected a vector, a matrix and a vector, got ", self.describe(), ", ",
           mat.describe(), " and ", vec.describe());
  const auto check_fits = [&](const auto& fits) {
    const auto text = [&] {
      return str_cat("addmv: ", self.describe(), ", ", mat.describe(), " and ", vec.describe(),
                     " do not fit");
    };
    // PyTorch's own message fails where self has no dimension.
    if (self.dim() == 0)
      SB_CHECK_INDEX(fits, text());
    else
      SB_CHECK(fits, text());
  };
  const Int rows = sizes_of<Int>(mat)[0], own = numel_of<Int>(self);
  check_fits(sizes_of<Int>(mat)[1] == sizes_of<Int>(vec)[0]);
  if (!is_one(own)) check_fits(rows == own);
  check_operands("addmv", mat, vec);
  SB_CHECK(self.dtype() == vec.dtype(), "addmv: self: expected ", to_string(vec.dtype()), ", got ",
           self.describe());
  check_factor("addmv", "beta", beta, vec.dtype());
  check_factor("addmv", "alpha", alpha, vec.dtype());
  BasicTensorMeta<Int> meta{{rows}, vec.dtype()};
  if (!is_zero(beta) && same_size(numel_of<Int>(mat), Int(0))) {
    meta.sizes = size_vector<Int>(self);
  }
  return meta;
}
void addmv_kernel(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                  const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  const Addend addend(self, beta, out);
  const int64_t stride = out.dim() == 0 ? 1 : out.strides()[0];
  const MatrixRef result = {out.data_ptr(), out.numel(), 1, stride, 1};
  if (mat.numel() == 0) {
    gemm(out.dtype(), 0, {nullptr, out.numel(), 0, 1, 1}, {nullptr, 0, 1, 1, 1}, beta, result,
         addend);
  } else {
    gemm(out.dtype(), alpha, matrix(mat), column(vec), beta, result, addend);
  }
}

template <SizeType Int>
BasicTensorMeta<Int> baddbmm_rule(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                  const Scalar& beta, const Scalar& alpha) {
  check_has_dim("baddbmm", "batch1", batch1, 1);
  check_has_dim("baddbmm", "batch2", batch2, 2);
  const SizeVector<Int> sizes = bmm_sizes<Int>("baddbmm", batch1, batch2);
  check_factor("baddbmm", "beta", beta, batch2.dtype());
  check_factor("baddbmm", "alpha", alpha, batch2.dtype());
  check_expands<Int>("baddbmm", self, sizes);
  SB_CHECK(self.dtype() == batch2.dtype(), "baddbmm: self: expected ", to_string(batch2.dtype()),
           ", got ", self.describe());
  return {sizes, batch2.dtype()};
}
void baddbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  gemm(out.dtype(), alpha, batch(batch1), batch(batch2), beta, batch(out), Addend(self, beta, out));
}

template <SizeType Int>
BasicTensorMeta<Int> addbmm_rule(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                 const Scalar& beta, const Scalar& alpha) {
  check_has_dim("addbmm", "batch1", batch1, 1);
  check_has_dim("addbmm", "batch2", batch2, 2);
  const SizeVector<Int> product = bmm_sizes<Int>("addbmm", batch1, batch2);
  SB_CHECK(self.dtype() == batch2.dtype(), "addbmm: self: expected ", to_string(batch2.dtype()),
           ", got ", self.describe());
  check_factor("addbmm", "beta", beta, self.dtype());
  check_factor("addbmm", "alpha", alpha, self.dtype());
  const SizeVector<Int> sizes = {product[1], product[2]};
  check_expands<Int>("addbmm", self, sizes);
  return {sizes, self.dtype()};
}
void addbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  const Addend addend(self, beta, out);
  const int64_t count = batch1.size(0);
  if (count == 0) {
    const MatrixRef none = {nullptr, 0, 0, 1, 1};
    return gemm(out.dtype(), 0, {nullptr, out.size(0), 0, 1, 1}, none, beta, matrix(out), addend);
  }
  // A later product may find no memory when the first is written: in a tensor of its own.
  const Tensor sum = count == 1 ? out : empty_on(out.device(), out.sizes(), out.dtype());
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0) {
      gemm(out.dtype(), alpha, item(batch1, i), item(batch2, i), beta, matrix(sum),
           Addend(self, beta, sum));
    } else {
      gemm(out.dtype(), alpha, item(batch1, i), item(batch2, i), 1, matrix(sum));
    }
  }
  if (count != 1) copy_elements(out, sum);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, mm).structured<by_size_rule<mm_rule<int64_t>, mm_rule<SymInt>>, mm_kernel>().out(
      mm_out);
  define(m, mv).structured<by_size_rule<mv_rule<int64_t>, mv_rule<SymInt>>, mv_kernel>().out(
      mv_out);
  define(m, dot).structured<by_size_rule<dot_rule<int64_t>, dot_rule<SymInt>>, dot_kernel>().out(
      dot_out);
  define(m, bmm).structured<by_size_rule<bmm_rule<int64_t>, bmm_rule<SymInt>>, bmm_kernel>().out(
      bmm_out);
  define(m, addmm)
      .structured<by_size_rule<addmm_rule<int64_t>, addmm_rule<SymInt>>, addmm_kernel>()
      .inplace(addmm_)
      .out(addmm_out);
  define(m, addmv)
      .structured<by_size_rule<addmv_rule<int64_t>, addmv_rule<SymInt>>, addmv_kernel>()
      .out_and_inplace();
  define(m, baddbmm)
      .structured<by_size_rule<baddbmm_rule<int64_t>, baddbmm_rule<SymInt>>, baddbmm_kernel>()
      .inplace(baddbmm_)
      .out(baddbmm_out);
  define(m, addbmm)
      .structured<by_size_rule<addbmm_rule<int64_t>, addbmm_rule<SymInt>>, addbmm_kernel>()
      .out(addbmm_out);
  define(m, addbmm_)
      .composite_explicit(
          [](const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
             const Scalar& alpha) { return addbmm_out(self, batch1, batch2, beta, alpha, self); });
}

}  // namespace sb
