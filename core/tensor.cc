#include "switchboard/core/tensor.h"

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb {

[[gnu::cold]] std::string Tensor::describe() const {
  if (!defined()) return "undefined tensor";
  const auto size_text = [](std::string* text, const SymInt& size) { *text += size.to_string(); };
  return str_cat(to_string(dtype()), "[", absl::StrJoin(sym_sizes(), ", ", size_text), "] on ",
                 to_string(device()));
}

void Tensor::throw_bad_dim(int64_t dim) const {
  const int64_t rank = this->dim();
  SB_CHECK_INDEX(rank != 0, "dimension ", dim, " is out of range: ", describe(),
                 " has no dimensions");
  SB_THROW(IndexError, "dimension ", dim, " is out of range: expected one in [", -rank, ", ",
           rank - 1, "] for ", describe());
}

void Tensor::throw_no_strides() {
  SB_THROW(RuntimeError, "strides: expected a tensor, got an undefined one");
}

void Tensor::throw_wrong_type(DType asked) const {
  SB_THROW(TypeError, "data: expected a tensor of ", to_string(asked), ", got ", describe());
}

}  // namespace sb
