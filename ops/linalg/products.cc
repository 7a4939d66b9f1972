#include "switchboard/ops/linalg/products.h"

#include <algorithm>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_vector(const char* op, const char* name, const Tensor& t) {
  check_defined(op, t);
  SB_CHECK(t.dim() == 1, op, ": ", name, ": expected a vector, got ", t.describe());
}

Tensor outer_kernel(const Tensor& self, const Tensor& vec2) {
  check_vector("outer: self", "self", self);
  check_vector("outer: vec2", "vec2", vec2);
  return mul(unsqueeze(self, 1), vec2);
}
Tensor outer_out_kernel(const Tensor& self, const Tensor& vec2, const Tensor& out) {
  check_vector("outer: self", "self", self);
  check_vector("outer: vec2", "vec2", vec2);
  return mul_out(unsqueeze(self, 1), vec2, out);
}

Tensor vdot_kernel(const Tensor& self, const Tensor& other) {
  check_vector("vdot", "self", self);
  return dot(is_complex(self.dtype()) ? conj_physical(self) : self, other);
}

Tensor tensordot_kernel(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                        IntArrayRef dims_other) {
  check_defined("tensordot: self", self);
  check_defined("tensordot: other", other);
  SB_CHECK(dims_self.size() == dims_other.size(),
           "tensordot: expected equally many dimensions of both, got ", shape_text(dims_self),
           " and ", shape_text(dims_other));
  const DimSet summed_self = dim_set("tensordot", dims_self, self.dim());
  const DimSet summed_other = dim_set("tensordot", dims_other, other.dim());
  Tensor lhs = self;
  Tensor rhs = other;
  DimVector lhs_order, rhs_order;
  SymDimVector sizes;
  SymInt rows = 1, depth = 1, cols = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (summed_self[static_cast<size_t>(d)]) continue;
    lhs_order.push_back(d);
    sizes.push_back(self.sym_size(d));
    rows *= self.sym_size(d);
  }
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t a = wrap_dim("tensordot", dims_self[i], self.dim());
    const int64_t b = wrap_dim("tensordot", dims_other[i], other.dim());
    const SymInt size = lhs.sym_size(a), against = rhs.sym_size(b);
    // Against a size of 1, the other side is summed at once.
    if (!known(size == against) && is_one(against)) {
      lhs = sum_dim(lhs, {a}, true, lhs.dtype());
    } else if (!known(size == against) && is_one(size)) {
      rhs = sum_dim(rhs, {b}, true, rhs.dtype());
    } else {
      SB_CHECK(size == against, "tensordot: dimension ", a, " of ", self.describe(), " and ", b,
               " of ", other.describe(), " differ");
      depth *= size;
    }
    lhs_order.push_back(a);
    rhs_order.push_back(b);
  }
  for (int64_t d = 0; d < other.dim(); ++d) {
    if (summed_other[static_cast<size_t>(d)]) continue;
    rhs_order.push_back(d);
    sizes.push_back(other.sym_size(d));
    cols *= other.sym_size(d);
  }
  return reshape(mm(reshape(permute(lhs, lhs_order), {rows, depth}),
                    reshape(permute(rhs, rhs_order), {depth, cols})),
                 SymIntArrayRef(sizes));
}

Tensor inner_kernel(const Tensor& self, const Tensor& other) {
  check_defined("inner: self", self);
  check_defined("inner: other", other);
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  SB_CHECK(self.sym_size(-1) == other.sym_size(-1), "inner: last dimensions of ", self.describe(),
           " and ", other.describe(), " differ");
  return tensordot(self, other, {-1}, {-1});
}

// As PyTorch, the result is a view of the elementwise product. Operands whose memory order leaves
// no such view, as a transposed and a contiguous matrix, are refused. An out needs no view.
template <bool for_out>
Tensor kron_of(const Tensor& self, const Tensor& other) {
  check_defined("kron: self", self);
  check_defined("kron: other", other);
  const int64_t rank = std::max(self.dim(), other.dim());
  const auto size = [&](const Tensor& t, int64_t d) {
    const int64_t at = d - (rank - t.dim());
    return at < 0 ? SymInt(1) : t.sym_size(at);
  };
  SymDimVector lhs, rhs, sizes;
  for (int64_t d = 0; d < rank; ++d) {
    lhs.insert(lhs.end(), {size(self, d), 1});
    rhs.insert(rhs.end(), {1, size(other, d)});
    sizes.push_back(size(self, d) * size(other, d));
  }
  const Tensor product = mul(view(self, SymIntArrayRef(lhs)), view(other, SymIntArrayRef(rhs)));
  return for_out ? reshape(product, SymIntArrayRef(sizes)) : view(product, SymIntArrayRef(sizes));
}

Tensor vecdot_kernel(const Tensor& x, const Tensor& y, int64_t dim) {
  check_defined("linalg_vecdot: x", x);
  check_defined("linalg_vecdot: y", y);
  SB_CHECK(is_floating_point(x.dtype()) || is_complex(x.dtype()),
           "linalg_vecdot: expected floating-point or complex tensors, got ", x.describe());
  SB_CHECK(x.dtype() == y.dtype(), "linalg_vecdot: expected one dtype, got ", x.describe(), " and ",
           y.describe());
  // Two vectors, which do not broadcast, are multiplied whatever the dimension.
  if (x.dim() == 1 && y.dim() == 1) {
    SB_CHECK(x.sym_size(0) == y.sym_size(0), "linalg_vecdot: expected vectors of one size, got ",
             x.describe(), " and ", y.describe());
    dim = 0;
  }
  return sum_dim(mul(is_complex(x.dtype()) ? conj_physical(x) : x, y), {dim});
}

// The product of matrices[from..to], split as `splits` says.
using Splits = std::vector<std::vector<size_t>>;
Tensor multiply(TensorList matrices, size_t from, size_t to, const Splits& splits) {
  if (from == to) return matrices[from];
  const size_t middle = splits[from][to];
  return mm(multiply(matrices, from, middle, splits), multiply(matrices, middle + 1, to, splits));
}

Tensor product_of(const char* op, TensorList matrices) {
  for (size_t i = 0; i < matrices.size(); ++i) {
    SB_CHECK(matrices[i].dim() == 2, op, ": expected matrices, got ", matrices[i].describe());
    if (i == 0) continue;
    SB_CHECK(matrices[i - 1].sym_size(1) == matrices[i].sym_size(0), op, ": ",
             matrices[i - 1].describe(), " and ", matrices[i].describe(), " cannot be multiplied");
  }
  // The cheapest way to multiply each run of neighbours, from short to long ones. In double: only
  // the order of the costs counts, and every order is right, so that nothing is asked of symbols.
  const auto size = [&](size_t i, int64_t d) {
    return static_cast<double>(stand_in(matrices[i].sym_size(d)));
  };
  const size_t n = matrices.size();
  std::vector<std::vector<double>> costs(n, std::vector<double>(n, 0));
  Splits splits(n, std::vector<size_t>(n, 0));
  for (size_t length = 2; length <= n; ++length) {
    for (size_t from = 0; from + length <= n; ++from) {
      const size_t to = from + length - 1;
      for (size_t k = from; k < to; ++k) {
        const double cost =
            costs[from][k] + costs[k + 1][to] + size(from, 0) * size(k, 1) * size(to, 1);
        if (k == from || cost < costs[from][to]) {
          costs[from][to] = cost;
          splits[from][to] = k;
        }
      }
    }
  }
  return multiply(matrices, 0, n - 1, splits);
}

Tensor multi_dot_kernel(TensorList tensors) {
  const size_t n = tensors.size();
  SB_CHECK(n >= 2, "linalg_multi_dot: expected at least 2 tensors, got ", n);
  for (const Tensor& t : tensors) {
    check_defined("linalg_multi_dot", t);
    SB_CHECK(t.dtype() == tensors[0].dtype() && t.device() == tensors[0].device(),
             "linalg_multi_dot: expected one dtype and device, got ", tensors[0].describe(),
             " and ", t.describe());
  }
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  SymDimVector sizes;
  if (tensors[0].dim() == 1) {
    matrices[0] = unsqueeze(tensors[0], 0);
  } else {
    sizes.push_back(tensors[0].dim() == 0 ? SymInt(0) : tensors[0].sym_size(0));
  }
  if (tensors[n - 1].dim() == 1) {
    matrices[n - 1] = unsqueeze(tensors[n - 1], 1);
  } else {
    sizes.push_back(tensors[n - 1].dim() == 0 ? SymInt(0) : tensors[n - 1].sym_size(-1));
  }
  const Tensor product = product_of("linalg_multi_dot", matrices);
  return sizes.size() == 2 ? product : view(product, SymIntArrayRef(sizes));
}

Tensor chain_matmul_kernel(TensorList matrices) {
  SB_CHECK(!matrices.empty(), "chain_matmul: expected at least one matrix");
  for (const Tensor& t : matrices) check_defined("chain_matmul", t);
  const Tensor product = product_of("chain_matmul", matrices);
  return matrices.size() == 1 ? clone(product) : product;
}

Tensor cross_kernel(const Tensor& self, const Tensor& other, int64_t dim) {
  check_defined("linalg_cross: self", self);
  check_defined("linalg_cross: other", other);
  SB_CHECK(self.dim() == other.dim(), "linalg_cross: expected equally many dimensions, got ",
           self.describe(), " and ", other.describe());
  const int64_t d = wrap_dim("linalg_cross", dim, self.dim());
  SB_CHECK(self.dim() > 0, "linalg_cross: expected dimensions, got ", self.describe());
  SB_CHECK(sym_and(self.sym_size(d) == 3, other.sym_size(d) == 3), "linalg_cross: dimension ", dim,
           " must have 3 elements, got ", self.describe(), " and ", other.describe());
  SB_CHECK(self.dtype() == other.dtype(), "linalg_cross: expected one dtype, got ", self.describe(),
           " and ", other.describe());
  // As many steps ahead, beginning anew behind the last element.
  const auto ahead = [&](const Tensor& t, int64_t steps) {
    const Tensor parts[] = {narrow(t, d, steps, 3 - steps), narrow(t, d, 0, steps)};
    return cat(parts, d);
  };
  return contiguous(
      sub(mul(ahead(self, 1), ahead(other, 2)), mul(ahead(self, 2), ahead(other, 1))));
}
int64_t cross_dim(const Tensor& self, std::optional<int64_t> dim) {
  if (dim) return *dim;
  check_defined("cross: self", self);
  const auto* three = std::find(self.sizes().begin(), self.sizes().end(), 3);
  SB_CHECK(three != self.sizes().end(), "cross: no dimension has 3 elements: ", self.describe());
  return three - self.sizes().begin();
}

Tensor trilinear_kernel(const Tensor& i1, const Tensor& i2, const Tensor& i3, IntArrayRef expand1,
                        IntArrayRef expand2, IntArrayRef expand3, IntArrayRef sumdim, int64_t) {
  check_defined("_trilinear: i1", i1);
  const int64_t rank = i1.dim() + static_cast<int64_t>(expand1.size());
  const auto expanded = [&](Tensor t, IntArrayRef places) {
    check_defined("_trilinear", t);
    SB_CHECK(t.dim() + static_cast<int64_t>(places.size()) == rank,
             "_trilinear: expected operands of ", rank, " dimensions with the new ones, got ",
             t.describe());
    const DimSet set = dim_set("_trilinear", places, rank);
    for (int64_t d = 0; d < rank; ++d) {
      if (set[static_cast<size_t>(d)]) t = unsqueeze(t, d);
    }
    return t;
  };
  const Tensor product =
      mul(mul(expanded(i1, expand1), expanded(i2, expand2)), expanded(i3, expand3));
  return sumdim.empty() ? product : sum_dim(product, sumdim, false, product.dtype());
}

Tensor bilinear_kernel(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const std::optional<Tensor>& bias) {
  check_defined("bilinear: input1", input1);
  check_defined("bilinear: input2", input2);
  check_defined("bilinear: weight", weight);
  const auto check = [&](const SymBool& fits) {
    SB_CHECK(fits, "bilinear: ", input1.describe(), ", ", input2.describe(), " and weight ",
             weight.describe(), " do not fit");
  };
  check(input1.dim() == input2.dim() && input1.dim() >= 1 && weight.dim() == 3);
  const auto batch_of = [](const Tensor& t) {
    return t.sym_sizes().first(t.sym_sizes().size() - 1);
  };
  check(equal_sizes<SymInt>(batch_of(input1), batch_of(input2)));
  check(input1.sym_size(-1) == weight.sym_size(1));
  check(input2.sym_size(-1) == weight.sym_size(2));
  const bool has_bias = is_given(bias);
  const SymInt outputs = weight.sym_size(0);
  if (has_bias) {
    SB_CHECK(bias->dim() == 1, "bilinear: bias: expected one dimension");
    SB_CHECK(bias->sym_size(0) == outputs, "bilinear: bias: expected ", outputs.to_string(),
             " elements");
  }
  SymDimVector sizes(input1.sym_sizes().begin(), input1.sym_sizes().end());
  sizes.back() = outputs;
  const SymInt rows = sym_product(batch_of(input1));
  const auto as_rows = [&](const Tensor& t) {
    return reshape(t, SymIntArrayRef{rows, t.sym_size(-1)});
  };
  const Tensor product =
      reshape(_trilinear(as_rows(input1), weight, as_rows(input2), {1, 3}, {0}, {1, 2}, {2, 3}),
              SymIntArrayRef(sizes));
  return has_bias ? add(product, *bias) : product;
}

Tensor int_mm_kernel(const Tensor& self, const Tensor& mat2) {
  for (const Tensor* t : {&self, &mat2}) {
    check_defined("_int_mm", *t);
    SB_CHECK(t->dim() == 2 && (t->dtype() == DType::Int8 || t->dtype() == DType::UInt8),
             "_int_mm: expected matrices of int8 or uint8, got ", t->describe());
  }
  return mm(to_dtype(self, DType::Int32), to_dtype(mat2, DType::Int32));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, outer).composed(outer_kernel).out(outer_out, outer_out_kernel);
  define(m, ger).composed(outer_kernel).out(ger_out, outer_out_kernel);
  define(m, vdot)
      .composite_explicit(vdot_kernel)
      .out(vdot_out, {.dtype = OutDType::Exact, .key = DispatchKey::CompositeImplicitAutograd});
  define(m, tensordot).composed(tensordot_kernel).out(tensordot_out, kCopiedOut);
  define(m, inner)
      .composed(inner_kernel)
      .out(inner_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        if (self.dim() == 0 || other.dim() == 0) return mul_out(self, other, out);
        copy_result_to_out("inner", inner(self, other), out, kCopiedOut);
        return out;
      });
  define(m, kron)
      .composed(kron_of<false>)
      .out(kron_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        copy_result_to_out("kron", kron_of<true>(self, other), out, kCastOut);
        return out;
      });
  define(m, linalg_matmul)
      .composed([](const Tensor& self, const Tensor& other) { return matmul(self, other); })
      .out(linalg_matmul_out, kCopiedOut);
  define(m, linalg_vecdot).composed(vecdot_kernel).out(linalg_vecdot_out, kCopiedOut);
  define(m, linalg_multi_dot).composed(multi_dot_kernel).out(linalg_multi_dot_out, kCopiedOut);
  define(m, chain_matmul).composed(chain_matmul_kernel).out(chain_matmul_out, kCopiedOut);
  define(m, linalg_cross)
      .composite_explicit(cross_kernel)
      .out(linalg_cross_out,
           {.dtype = OutDType::Exact, .key = DispatchKey::CompositeImplicitAutograd});
  define(m, cross)
      .composed([](const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
        return linalg_cross(self, other, cross_dim(self, dim));
      })
      .out(cross_out, kCopiedOut);
  define(m, _int_mm)
      .composite_explicit(int_mm_kernel)
      .out(_int_mm_out, {.dtype = OutDType::Exact, .key = DispatchKey::CompositeImplicitAutograd});
  define(m, _trilinear).composite_explicit(trilinear_kernel).out("out");
  define(m, bilinear).composed(bilinear_kernel);
}

}  // namespace sb
