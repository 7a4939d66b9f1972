// Channels and chunks in another order.

#include <vector>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The channels, dimension 1, as a matrix of a row for each group, by columns.
Tensor channel_shuffle_of(const Tensor& self, const SymInt& groups) {
  constexpr const char* op = "channel_shuffle";
  check_defined(op, self);
  SB_CHECK(self.dim() > 2, op, ": expected more than 2 dimensions, got ", self.describe());
  SB_CHECK(groups > 0, op, ": argument groups: expected a positive number, got ",
           groups.to_string());
  const SymInt channels = self.sym_size(1);
  SB_CHECK(channels % groups == 0, op, ": the number of channels of ", self.describe(),
           " is not a multiple of ", groups.to_string());
  if (same_size(self.sym_numel(), SymInt(0))) return clone(self);
  SymDimVector split(self.sym_sizes().begin(), self.sym_sizes().end());
  split[1] = groups;
  split.insert(split.begin() + 2, channels / groups);
  const Tensor parts = transpose(reshape(self, SymIntArrayRef(split)), 1, 2);
  const Tensor result = view(clone(parts, MemoryFormat::Contiguous), self.sym_sizes());
  const MemoryFormat format = suggest_memory_format(self);
  return format == MemoryFormat::Contiguous ? result : clone(result, format);
}

// Each tensor, filled up with zeros, as `num_chunks` pieces along dim in a row each, beside those
// of the others.
Tensor chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  constexpr const char* op = "_chunk_cat";
  SB_CHECK(!tensors.empty(), op, ": expected a non-empty list");
  SB_CHECK(num_chunks > 0, op, ": argument num_chunks: expected a positive number, got ",
           num_chunks);
  check_defined(op, tensors[0]);
  const int64_t axis = wrap_dim(op, dim, tensors[0].dim());
  const SymInt count(num_chunks);
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) {
    check_defined(op, t);
    SB_CHECK(t.dim() > axis && t.dtype() == tensors[0].dtype(), op,
             ": expected tensors of one dtype with dimension ", axis, ", got ",
             tensors[0].describe(), " and ", t.describe());
    SB_CHECK(t.sym_numel() > 0, op, ": expected tensors with elements, got ", t.describe());
    const auto first = static_cast<size_t>(axis);
    SB_CHECK(equal_sizes<SymInt>(t.sym_sizes().first(first), tensors[0].sym_sizes().first(first)),
             op, ": expected the same sizes before dimension ", axis, ", got ",
             tensors[0].describe(), " and ", t.describe());
    const SymInt size = t.sym_size(axis), piece = sym_floor_div(size + count - 1, count);
    SymDimVector missing(t.sym_sizes().begin(), t.sym_sizes().end());
    missing[first] = piece * count - size;
    const Tensor filled[] = {t, new_zeros(t, SymIntArrayRef(missing))};
    SymDimVector row(t.sym_sizes().begin(), t.sym_sizes().begin() + axis);
    SymInt rest = piece;
    for (int64_t d = axis + 1; d < t.dim(); ++d) rest *= t.sym_size(d);
    row.insert(row.end(), {count, rest});
    rows.push_back(reshape(cat(filled, axis), SymIntArrayRef(row)));
  }
  return cat(rows, axis + 1);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, "aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", Tag::derived_through)
      .composite_explicit(channel_shuffle_of)
      .out("out");
  define(m, "aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor")
      .composed(channel_shuffle_of);
  define(m, "aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
         Tag::derived_through)
      .composite_explicit(chunk_cat)
      .out("out", kCastOut);
  define(m, "aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", Tag::derived_through)
      .composite_explicit([](const Tensor& self, SymIntArrayRef size) {
        return clone(reshape(self, size), MemoryFormat::Contiguous);
      });
}

}  // namespace
}  // namespace sb
