#include "switchboard/ops/composite/stack.h"

#include "absl/container/inlined_vector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// `rank` is 1, 2 or 3.
Tensor atleast(int64_t rank, const Tensor& self) {
  check_defined("atleast", self);
  if (self.dim() >= rank) return self;
  if (self.dim() == 0) return reshape(self, DimVector(static_cast<size_t>(rank), 1));
  Tensor result = self.dim() == 1 ? unsqueeze(self, 0) : self;
  return rank == 3 ? unsqueeze(result, -1) : result;
}
template <int64_t rank>
Tensor atleast_kernel(const Tensor& self) {
  return atleast(rank, self);
}
template <int64_t rank>
std::vector<Tensor> atleast_all(TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) results.push_back(atleast(rank, t));
  return results;
}

// What is to be joined, and where.
struct Joined {
  std::vector<Tensor> tensors;
  int64_t dim;
};
template <int64_t rank>
Joined along_dim(TensorList tensors) {
  SB_CHECK(!tensors.empty(), rank == 2 ? "vstack" : "dstack", ": expected a non-empty list");
  return {atleast_all<rank>(tensors), rank == 2 ? 0 : 2};
}
Joined horizontally(TensorList tensors) {
  SB_CHECK(!tensors.empty(), "hstack: expected a non-empty list");
  std::vector<Tensor> all = atleast_all<1>(tensors);
  const int64_t dim = all[0].dim() == 1 ? 0 : 1;
  return {std::move(all), dim};
}
Joined as_columns(TensorList tensors) {
  SB_CHECK(!tensors.empty(), "column_stack: expected a non-empty list");
  std::vector<Tensor> all;
  for (const Tensor& t : tensors) {
    check_defined("column_stack", t);
    all.push_back(t.dim() <= 1 ? reshape(t, {t.sym_numel(), 1}) : t);
  }
  return {std::move(all), 1};
}

template <Joined (*join)(TensorList)>
Tensor join_new(TensorList tensors) {
  const Joined joined = join(tensors);
  return cat(joined.tensors, joined.dim);
}
template <Joined (*join)(TensorList)>
Tensor join_to(TensorList tensors, const Tensor& out) {
  const Joined joined = join(tensors);
  return cat_out(joined.tensors, joined.dim, out);
}

Tensor block_diag_kernel(TensorList tensors) {
  if (tensors.empty()) return empty({1, 0});
  std::vector<Tensor> blocks;
  absl::InlinedVector<const Tensor*, 8> all;
  SymInt rows = 0, columns = 0;
  for (const Tensor& t : tensors) {
    check_defined("block_diag", t);
    SB_CHECK(t.device() == tensors[0].device(),
             "block_diag: expected all tensors to be on the same device, got ",
             tensors[0].describe(), " and ", t.describe());
    SB_CHECK(t.dim() <= 2, "block_diag: expected tensors of at most 2 dimensions, got ",
             t.describe());
    blocks.push_back(atleast(2, t));
    rows += blocks.back().sym_size(0);
    columns += blocks.back().sym_size(1);
    all.push_back(&t);
  }
  const Tensor result = new_zeros(tensors[0], {rows, columns}, result_type(all));
  SymInt row = 0, column = 0;
  for (const Tensor& block : blocks) {
    const SymInt height = block.sym_size(0), width = block.sym_size(1);
    copy_(narrow(narrow(result, 0, row, height), 1, column, width), block);
    row += height;
    column += width;
  }
  return result;
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, atleast_1d, Tag::maybe_aliasing_or_mutating).composed(atleast_kernel<1>);
  define(m, atleast_2d, Tag::maybe_aliasing_or_mutating).composed(atleast_kernel<2>);
  define(m, atleast_3d, Tag::maybe_aliasing_or_mutating).composed(atleast_kernel<3>);
  define(m, atleast_1d_Sequence).composed(atleast_all<1>);
  define(m, atleast_2d_Sequence).composed(atleast_all<2>);
  define(m, atleast_3d_Sequence).composed(atleast_all<3>);

  define(m, hstack).composed(join_new<horizontally>).out(hstack_out, join_to<horizontally>);
  define(m, vstack).composed(join_new<along_dim<2>>).out(vstack_out, join_to<along_dim<2>>);
  define(m, row_stack).composed(join_new<along_dim<2>>).out(row_stack_out, join_to<along_dim<2>>);
  define(m, dstack).composed(join_new<along_dim<3>>).out(dstack_out, join_to<along_dim<3>>);
  define(m, column_stack).composed(join_new<as_columns>).out(column_stack_out, join_to<as_columns>);

  const auto cat_new = [](TensorList tensors, int64_t dim) { return cat(tensors, dim); };
  const auto cat_to = [](TensorList tensors, int64_t dim, const Tensor& out) {
    return cat_out(tensors, dim, out);
  };
  define(m, concat).composed(cat_new).out(concat_out, cat_to);
  define(m, concatenate).composed(cat_new).out(concatenate_out, cat_to);
  define(m, _stack, Tag::derived_through)
      .composite_explicit([](TensorList tensors, int64_t dim) { return stack(tensors, dim); })
      .out(_stack_out, [](TensorList tensors, int64_t dim, const Tensor& out) {
        return stack_out(tensors, dim, out);
      });
  define(m, block_diag).composite_explicit(block_diag_kernel).out(block_diag_out);
}

}  // namespace sb
