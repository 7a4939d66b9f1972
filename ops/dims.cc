#include "switchboard/ops/dims.h"

#include "absl/strings/str_join.h"
#include "switchboard/ops/by_size.h"

namespace sb {
namespace internal {

void throw_bad_dim(const char* op, int64_t dim, int64_t rank) {
  const int64_t range = rank == 0 ? 1 : rank;
  SB_THROW(IndexError, op, ": dimension ", dim, " is out of range: expected one in [", -range, ", ",
           range - 1, "]");
}

void throw_undefined(const char* op) { SB_THROW(RuntimeError, op, ": got an undefined tensor"); }

}  // namespace internal

void check_dtype(std::string_view op, const char* argument, const Tensor& t, DType expected) {
  SB_CHECK(t.dtype() == expected, op, ": ", argument, ": expected ", to_string(expected), ", got ",
           t.describe());
}

DimSet dim_set(const char* op, IntArrayRef dims, int64_t rank) {
  SB_CHECK(rank <= static_cast<int64_t>(kMaxDimSet), op, ": expected a tensor of at most ",
           kMaxDimSet, " dimensions, got ", rank);
  DimSet set;
  for (int64_t d : dims) {
    const size_t wrapped = static_cast<size_t>(wrap_dim(op, d, rank));
    SB_CHECK(!set[wrapped], op, ": dim ", d, " appears twice in the list of dims");
    set[wrapped] = true;
  }
  return set;
}

bool is_contiguous_with_symbols(const Tensor& t) {
  const SymIntArrayRef sizes = t.sym_sizes(), strides = t.sym_strides();
  // As they are made, where a size that may be 0 counts as 1.
  const SymDimVector usual = contiguous_strides(sizes);
  bool is_usual = true;
  for (size_t d = 0; d < sizes.size() && is_usual; ++d) is_usual = known(strides[d] == usual[d]);
  if (is_usual) return true;
  SymInt expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (!known(strides[d] == expected) && !is_one(sizes[d]) && !same_size(strides[d], expected))
      return false;
    expected *= sizes[d];
  }
  return true;
}

std::string symbolic_shape_text(SymIntArrayRef sizes) {
  std::string text = "[";
  for (const SymInt& size : sizes) {
    if (text.size() > 1) text += ", ";
    text += size.to_string();
  }
  return text + "]";
}

std::string shape_text(IntArrayRef sizes) { return str_cat("[", absl::StrJoin(sizes, ", "), "]"); }

}  // namespace sb
