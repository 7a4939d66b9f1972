#include <numeric>
#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <SizeType Int>
Tensor permuted(const Tensor& self, IntArrayRef dims) {
  const size_t rank = static_cast<size_t>(self.dim());
  SB_CHECK(dims.size() == rank, "permute: dims ", shape_text(dims), " has ", dims.size(),
           " entries, expected one for each dimension of ", self.describe());
  dim_set("permute", dims, self.dim());  // refuses one named twice
  const SizesRef<Int> old_sizes = sizes_of<Int>(self);
  const SizesRef<Int> old_strides = strides_of<Int>(self);
  SizeVector<Int> sizes(rank);
  SizeVector<Int> strides(rank);
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = static_cast<size_t>(wrap_dim("permute", dims[i], self.dim()));
    sizes[i] = old_sizes[d];
    strides[i] = old_strides[d];
  }
  return alias_of_shape(self, sizes, strides, storage_offset_of<Int>(self));
}

Tensor permute_kernel(const Tensor& self, IntArrayRef dims) {
  check_defined("permute", self);
  return by_size(self.is_symbolic(), [&]<class Int>() { return permuted<Int>(self, dims); });
}

Tensor swap_dims(const char* op, const Tensor& self, int64_t dim0, int64_t dim1) {
  check_defined(op, self);
  const size_t a = static_cast<size_t>(wrap_dim(op, dim0, self.dim()));
  const size_t b = static_cast<size_t>(wrap_dim(op, dim1, self.dim()));
  if (self.is_symbolic()) {
    DimVector order(static_cast<size_t>(self.dim()));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (!order.empty()) std::swap(order[a], order[b]);
    return permuted<SymInt>(self, order);
  }
  return alias_transposed(self, a, b);
}
Tensor swap_dims_in_place(const char* op, const Tensor& self, int64_t dim0, int64_t dim1) {
  check_defined(op, self);
  const size_t a = static_cast<size_t>(wrap_dim(op, dim0, self.dim()));
  const size_t b = static_cast<size_t>(wrap_dim(op, dim1, self.dim()));
  if (self.is_symbolic()) {
    const Tensor swapped = swap_dims(op, self, dim0, dim1);
    self.impl()->set_sym_sizes_and_strides(swapped.sym_sizes(), swapped.sym_strides(),
                                           swapped.sym_storage_offset());
  } else {
    self.impl()->set_transposed(*self.impl(), a, b);
  }
  return self;
}

Tensor transpose_kernel(const Tensor& self, int64_t dim0, int64_t dim1) {
  return swap_dims("transpose", self, dim0, dim1);
}
Tensor transpose_in_place(const Tensor& self, int64_t dim0, int64_t dim1) {
  return swap_dims_in_place("transpose_", self, dim0, dim1);
}

void check_matrix(const char* op, const Tensor& self) {
  SB_CHECK(self.dim() <= 2, op, ": expected a tensor of at most 2 dimensions, got ",
           self.describe());
}
Tensor t_kernel(const Tensor& self) {
  check_matrix("t", self);
  return swap_dims("t", self, 0, self.dim() == 2 ? 1 : 0);
}
Tensor t_in_place(const Tensor& self) {
  check_matrix("t_", self);
  return swap_dims_in_place("t_", self, 0, self.dim() == 2 ? 1 : 0);
}

Tensor movedim_kernel(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  check_defined("movedim", self);
  SB_CHECK(source.size() == destination.size(), "movedim: source ", shape_text(source), " has ",
           source.size(), " entries, destination ", shape_text(destination), " has ",
           destination.size());
  const int64_t rank = self.dim();
  // As PyTorch: IndexError for any out of range, before one that appears twice.
  for (const IntArrayRef list : {source, destination}) {
    for (int64_t d : list) wrap_dim("movedim", d, rank);
  }
  const DimSet moved = dim_set("movedim", source, rank);
  const DimSet taken = dim_set("movedim", destination, rank);
  if (rank == 0) return alias(self);
  DimVector order(static_cast<size_t>(rank));
  for (size_t i = 0; i < source.size(); ++i) {
    order[static_cast<size_t>(wrap_dim("movedim", destination[i], rank))] =
        wrap_dim("movedim", source[i], rank);
  }
  // The others keep their order.
  size_t to = 0;
  for (size_t from = 0; from < order.size(); ++from) {
    if (moved[from]) continue;
    while (taken[to]) ++to;
    order[to++] = static_cast<int64_t>(from);
  }
  return permute(self, order);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, permute).view(permute_kernel);
  define(m, transpose).view(transpose_kernel);
  define(m, transpose_, Tag::inplace_view).composite_explicit(transpose_in_place);
  define(m, t).view(t_kernel);
  define(m, t_, Tag::inplace_view).composite_explicit(t_in_place);

  define(m, swapaxes).composed([](const Tensor& self, int64_t a, int64_t b) {
    return transpose(self, a, b);
  });
  define(m, swapaxes_, Tag::inplace_view).composed([](const Tensor& self, int64_t a, int64_t b) {
    return transpose_(self, a, b);
  });
  define(m, swapdims).composed([](const Tensor& self, int64_t a, int64_t b) {
    return transpose(self, a, b);
  });
  define(m, swapdims_, Tag::inplace_view).composed([](const Tensor& self, int64_t a, int64_t b) {
    return transpose_(self, a, b);
  });
  define(m, movedim).composed(movedim_kernel);
  define(m, movedim_int).composed([](const Tensor& self, int64_t source, int64_t destination) {
    return movedim(self, {source}, {destination});
  });
}

}  // namespace sb
