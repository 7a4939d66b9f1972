#include "switchboard/ops/composite/split.h"

#include <new>
#include <stdexcept>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/shape/tensor_parts.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

int64_t checked_dim(const Tensor& self, int64_t dim) {
  check_defined("tensor_split", self);
  SB_CHECK(self.dim() > 0, "tensor_split: expected at least one dimension, got ", self.describe());
  return wrap_dim("tensor_split", dim, self.dim());
}

std::vector<Tensor> by_sections(const Tensor& self, int64_t sections, int64_t dim) {
  dim = checked_dim(self, dim);
  SB_CHECK(sections > 0, "tensor_split: expected at least one section, got ", sections);
  // One part after the other: the first `larger` have one element more.
  const SymInt size = self.sym_size(dim), small = size / sections, larger = size % sections;
  std::vector<Tensor> parts = make_parts("tensor_split", sections);
  SymInt start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const SymInt end = start + small + sym_int(larger > i);
    parts.push_back(slice(self, dim, start, end));
    start = end;
  }
  return parts;
}

std::vector<Tensor> by_indices(const Tensor& self, SymIntArrayRef indices, int64_t dim) {
  dim = checked_dim(self, dim);
  std::vector<Tensor> parts;
  SymInt start = 0;
  for (const SymInt& index : indices) {
    parts.push_back(slice(self, dim, start, index));
    start = index;
  }
  parts.push_back(slice(self, dim, start, self.sym_size(dim)));
  return parts;
}

std::vector<Tensor> by_tensor(const Tensor& self, const Tensor& given, int64_t dim) {
  check_defined("tensor_split", self);
  check_defined("tensor_split", given);
  SB_CHECK(given.dtype() == DType::Int64 && given.dim() <= 1,
           "tensor_split: tensor_indices_or_sections: expected a tensor of int64 of 0 or 1 "
           "dimensions, got ",
           given.describe());
  if (given.dim() == 0) return tensor_split_sections(self, item(given).to<int64_t>(), dim);
  std::vector<SymInt> indices;
  for (const Tensor& index : unbind(given)) indices.push_back(item(index).to_sym_int());
  return tensor_split_indices(self, SymIntArrayRef(absl::MakeConstSpan(indices)), dim);
}

// hsplit, vsplit, dsplit: the dimension that they cut.
enum class Cut { Vertical, Horizontal, Depth };
int64_t dim_of(Cut cut, const Tensor& self) {
  const char* const op = cut == Cut::Vertical ? "vsplit" : cut == Cut::Depth ? "dsplit" : "hsplit";
  check_defined(op, self);
  const int64_t least = cut == Cut::Horizontal ? 1 : cut == Cut::Vertical ? 2 : 3;
  SB_CHECK(self.dim() >= least, op, ": expected a tensor of at least ", least, " dimensions, got ",
           self.describe());
  if (cut == Cut::Horizontal) return self.dim() == 1 ? 0 : 1;
  return cut == Cut::Vertical ? 0 : 2;
}
template <Cut cut>
std::vector<Tensor> cut_sections(const Tensor& self, int64_t sections) {
  const int64_t dim = dim_of(cut, self);
  SB_CHECK(sections != 0, "split into 0 equal parts");
  SB_CHECK(self.sym_size(dim) % sections == 0, "split into ", sections,
           " equal parts: the size of dimension ", dim, " of ", self.describe(),
           " is no multiple of that");
  return tensor_split_sections(self, sections, dim);
}
template <Cut cut>
std::vector<Tensor> cut_indices(const Tensor& self, IntArrayRef indices) {
  return tensor_split_indices(self, indices, dim_of(cut, self));
}

// Tensors of the same memory that count versions alone.
std::vector<Tensor> apart(std::vector<Tensor> parts) {
  for (Tensor& part : parts) part = Tensor(part.impl()->shallow_copy());
  return parts;
}

std::vector<Tensor> unsafe_chunk_kernel(const Tensor& self, int64_t chunks, int64_t dim) {
  check_defined("unsafe_chunk", self);
  SB_CHECK(self.dim() > 0, "unsafe_chunk: expected at least one dimension, got ", self.describe());
  SB_CHECK(chunks > 0, "unsafe_chunk: chunks is not positive: ", chunks);
  const SymInt size = self.sym_size(wrap_dim("unsafe_chunk", dim, self.dim()));
  if (!same_size(size, SymInt(0))) return unsafe_split(self, (size + chunks - 1) / chunks, dim);
  make_parts("unsafe_chunk", chunks);  // throws if there cannot be so many
  const std::vector<int64_t> zeros(static_cast<size_t>(chunks));
  return unsafe_split_with_sizes(self, zeros, dim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, tensor_split_sections).composed(by_sections);
  define(m, tensor_split_indices).composed(by_indices);
  define(m, tensor_split_tensor).composed(by_tensor);
  define(m, hsplit).composed(cut_sections<Cut::Horizontal>);
  define(m, hsplit_array).composed(cut_indices<Cut::Horizontal>);
  define(m, vsplit).composed(cut_sections<Cut::Vertical>);
  define(m, vsplit_array).composed(cut_indices<Cut::Vertical>);
  define(m, dsplit).composed(cut_sections<Cut::Depth>);
  define(m, dsplit_array).composed(cut_indices<Cut::Depth>);
  define(m, unsafe_split, Tag::maybe_aliasing_or_mutating)
      .composite_explicit([](const Tensor& self, const SymInt& split_size, int64_t dim) {
        return apart(split(self, split_size, dim));
      })
      .out("Tensor_out");
  define(m, unsafe_split_with_sizes, Tag::maybe_aliasing_or_mutating)
      .composite_explicit([](const Tensor& self, SymIntArrayRef split_sizes, int64_t dim) {
        return apart(split_with_sizes(self, split_sizes, dim));
      })
      .out("out");
  define(m, unsafe_chunk, Tag::maybe_aliasing_or_mutating).composed(unsafe_chunk_kernel);
}

}  // namespace sb
