#include "switchboard/ops/composite/shape.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/trace_hooks.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/repeat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

void check_matrices(const char* op, const Tensor& self) {
  check_defined(op, self);
  SB_CHECK(self.dim() != 1, op, ": expected a matrix or a batch of matrices, got ",
           self.describe());
}
Tensor transpose_matrices(const Tensor& self) {
  check_matrices("mT", self);
  return self.dim() == 0 ? self : transpose(self, -2, -1);
}
Tensor adjoint_matrices(const Tensor& self) {
  check_matrices("adjoint", self);
  return self.dim() == 0 ? self : conj(transpose(self, -2, -1));
}
Tensor adjoint_matrix(const Tensor& self) {
  check_matrices("matrix_H", self);
  SB_CHECK(self.dim() <= 2, "matrix_H: expected a matrix, got ", self.describe());
  return self.dim() == 0 ? conj(self) : adjoint_matrices(self);
}
Tensor reverse_dims(const Tensor& self) {
  check_defined("numpy_T", self);
  DimVector dims(static_cast<size_t>(self.dim()));
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(dims.size() - 1 - d);
  return permute(self, dims);
}

Tensor ravel_kernel(const Tensor& self) {
  check_defined("ravel", self);
  return view(contiguous(self), {-1});
}

Tensor tile_kernel(const Tensor& self, SymIntArrayRef dims) {
  check_defined("tile", self);
  SymDimVector repeats(dims.begin(), dims.end());
  while (static_cast<int64_t>(repeats.size()) < self.dim()) repeats.insert(repeats.begin(), 1);
  return repeat(self, SymIntArrayRef(repeats));
}

std::vector<Tensor> broadcast_all(TensorList tensors) {
  SymDimVector sizes;
  for (const Tensor& t : tensors) {
    check_defined("broadcast_tensors", t);
    sizes = broadcast_sizes<SymInt>(sizes, t.sym_sizes());
  }
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) {
    const SymIntArrayRef own = t.sym_sizes();
    bool same = own.size() == sizes.size();
    for (size_t d = 0; same && d < own.size(); ++d) same = same_size(own[d], sizes[d]);
    results.push_back(same ? t : expand(t, SymIntArrayRef(sizes)));
  }
  return results;
}

Tensor sum_to_size_kernel(const Tensor& self, SymIntArrayRef size) {
  check_defined("sum_to_size", self);
  const SymIntArrayRef from = self.sym_sizes();
  const size_t added = from.size() - std::min(size.size(), from.size());
  const auto fits = [&](size_t i) {
    return is_one(size[i]) || expect_true(size[i] == from[added + i]);
  };
  bool expandable = size.size() <= from.size();
  for (size_t i = 0; expandable && i < size.size(); ++i) expandable = fits(i);
  SB_CHECK(expandable, "sum_to_size: size ", shape_text(size), " does not broadcast to ",
           shape_text(from));
  if (size.empty()) return sum(self);
  DimVector dims;
  for (size_t d = 0; d < from.size(); ++d) {
    if (d < added || (is_one(size[d - added]) && !is_one(from[d])))
      dims.push_back(static_cast<int64_t>(d));
  }
  const Tensor result = dims.empty() ? self : sum_dim(self, IntArrayRef(dims), true);
  // Of a size of 1 nothing is summed: then the result is self, of its dtype.
  if (added == 0 && result.dtype() != self.dtype()) {
    for (const int64_t d : dims)
      check(from[static_cast<size_t>(d)] != 1,
            str_cat("sum_to_size was traced as a sum, which is ", to_string(result.dtype()),
                    ", and gives ", to_string(self.dtype()), " for a size of 1"));
  }
  internal::trace_hooks->gave_view_or_copy(self, result, "aten::sum_to_size",
                                           internal::ViewOrCopyBy::Sizes);
  return added > 0 ? view(result, size) : result;
}

std::vector<Tensor> grids(TensorList tensors, bool swap) {
  SB_CHECK(!tensors.empty(), "meshgrid: expected a non-empty list");
  for (const Tensor& t : tensors) {
    check_defined("meshgrid", t);
    SB_CHECK(t.dim() <= 1, "meshgrid: expected tensors of 0 or 1 dimensions, got ", t.describe());
    SB_CHECK(t.dtype() == tensors[0].dtype() && t.device() == tensors[0].device(),
             "meshgrid: expected tensors of one dtype on one device, got ", tensors[0].describe(),
             " and ", t.describe());
  }
  std::vector<Tensor> all(tensors.begin(), tensors.end());
  swap &= all.size() >= 2;
  if (swap) std::swap(all[0], all[1]);
  SymDimVector sizes;
  for (const Tensor& t : all) sizes.push_back(t.sym_numel());
  for (size_t i = 0; i < all.size(); ++i) {
    SymDimVector alone(all.size(), 1);
    alone[i] = sizes[i];
    all[i] = expand(view(all[i], SymIntArrayRef(alone)), SymIntArrayRef(sizes));
  }
  if (swap) std::swap(all[0], all[1]);
  return all;
}
std::vector<Tensor> meshgrid_kernel(TensorList tensors) { return grids(tensors, false); }
std::vector<Tensor> meshgrid_indexing_kernel(TensorList tensors, std::string_view indexing) {
  SB_CHECK(indexing == "ij" || indexing == "xy", "meshgrid: indexing: expected 'xy' or 'ij', got '",
           indexing, "'");
  return grids(tensors, indexing == "xy");
}

Tensor cartesian_prod_kernel(TensorList tensors) {
  for (const Tensor& t : tensors) {
    check_defined("cartesian_prod", t);
    SB_CHECK(t.dim() == 1, "cartesian_prod: expected tensors of 1 dimension, got ", t.describe());
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = grids(tensors, false);
  for (Tensor& grid : columns) grid = flatten(grid);
  return stack(columns, 1);
}

// The sizes of self with its last three replaced.
SymDimVector with_image(const Tensor& self, const SymInt& c, const SymInt& h, const SymInt& w) {
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end() - 3);
  sizes.insert(sizes.end(), {c, h, w});
  return sizes;
}
void check_image(const char* op, const Tensor& self, int64_t factor) {
  check_defined(op, self);
  SB_CHECK(self.dim() >= 3, op, ": expected at least 3 dimensions, got ", self.describe());
  SB_CHECK(factor > 0, op, ": expected a positive factor, got ", factor);
}
// Shows self in six dimensions, [n, `parts`...], puts these in the order `dims`, and gives them the
// shape `sizes`. As PyTorch's kernels, the result is channels-last where self is.
Tensor rearranged(const Tensor& self, const SymDimVector& parts, IntArrayRef dims,
                  const SymDimVector& sizes) {
  const MemoryFormat format = suggest_memory_format(self);
  SymDimVector six(parts);
  six.insert(six.begin(), sym_product(self.sym_sizes().first(sizes.size() - 3)));
  const Tensor result =
      clone(permute(reshape(self, SymIntArrayRef(six)), dims), MemoryFormat::Contiguous);
  const Tensor image = view(result, SymIntArrayRef(sizes));
  return format == MemoryFormat::Contiguous ? image : clone(image, format);
}

Tensor pixel_shuffle_kernel(const Tensor& self, int64_t factor) {
  check_image("pixel_shuffle", self, factor);
  const SymInt channels = self.sym_size(-3), h = self.sym_size(-2), w = self.sym_size(-1);
  const int64_t square = checked_mul(factor, factor);
  SB_CHECK(channels % square == 0, "pixel_shuffle: the number of channels of ", self.describe(),
           " is not a multiple of ", square);
  const SymInt c = channels / square;
  const SymDimVector sizes = with_image(self, c, h * factor, w * factor);
  if (same_size(self.sym_numel(), SymInt(0))) return new_empty(self, SymIntArrayRef(sizes));
  return rearranged(self, {c, factor, factor, h, w}, {0, 1, 4, 2, 5, 3}, sizes);
}

Tensor pixel_unshuffle_kernel(const Tensor& self, int64_t factor) {
  check_image("pixel_unshuffle", self, factor);
  const SymInt c = self.sym_size(-3), height = self.sym_size(-2), width = self.sym_size(-1);
  SB_CHECK(sym_and(height % factor == 0, width % factor == 0),
           "pixel_unshuffle: height or width of ", self.describe(), " is not a multiple of ",
           factor);
  // As PyTorch, which keeps the shape of what is empty.
  if (same_size(self.sym_numel(), SymInt(0))) return clone(self);
  const SymInt h = height / factor, w = width / factor;
  return rearranged(self, {c, h, factor, w, factor}, {0, 1, 3, 5, 2, 4},
                    with_image(self, c * checked_mul(factor, factor), h, w));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, mT).composed(transpose_matrices);
  define(m, mH).composed(adjoint_matrices);
  define(m, adjoint).composed(adjoint_matrices);
  define(m, matrix_H).composed(adjoint_matrix);
  define(m, numpy_T).composed(reverse_dims);
  define(m, moveaxis).composed([](const Tensor& self, IntArrayRef source, IntArrayRef destination) {
    return movedim(self, source, destination);
  });
  define(m, moveaxis_int).composed([](const Tensor& self, int64_t source, int64_t destination) {
    return movedim_int(self, source, destination);
  });
  define(m, ravel).composed(ravel_kernel);
  define(m, tile).composed(tile_kernel);
  define(m, broadcast_tensors).composed(broadcast_all);
  define(m, sum_to_size).composed(sum_to_size_kernel);
  define(m, meshgrid).composed(meshgrid_kernel);
  define(m, meshgrid_indexing).composed(meshgrid_indexing_kernel);
  define(m, cartesian_prod, Tag::maybe_aliasing_or_mutating).composed(cartesian_prod_kernel);

  const auto functional = DispatchKey::CompositeExplicitAutogradNonFunctional;
  define(m, pixel_shuffle, Tag::derived_through)
      .kernel(functional, pixel_shuffle_kernel)
      .out(pixel_shuffle_out);
  define(m, pixel_unshuffle, Tag::derived_through)
      .kernel(functional, pixel_unshuffle_kernel)
      .out(pixel_unshuffle_out);
}

}  // namespace sb
