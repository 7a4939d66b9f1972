#include "switchboard/ops/shape/dims.h"

#include "absl/strings/str_join.h"
#include "switchboard/ops/shape/by_size.h"

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
