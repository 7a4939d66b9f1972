#include <string>

#include "switchboard/ops/foreach/foreach.h"

namespace sb {
namespace {

// _foreach_abs(Tensor[] self) -> Tensor[], and so on.
void define_unary(Library& m, const std::string& name) {
  define_foreach(m, "aten::_foreach_" + name + "(Tensor[] self) -> Tensor[]", "aten::" + name);
}

// With a list of tensors; `more` are arguments behind it.
void define_list(Library& m, const std::string& name, const std::string& overload,
                 const std::string& more = "") {
  define_foreach(
      m, "aten::_foreach_" + name + ".List(Tensor[] self, Tensor[] other" + more + ") -> Tensor[]",
      "aten::" + name + overload);
}

// With one number, and with a list of numbers.
void define_scalar(Library& m, const std::string& name) {
  define_foreach(m, "aten::_foreach_" + name + ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                 "aten::" + name + ".Scalar");
  define_foreach(
      m, "aten::_foreach_" + name + ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
      "aten::" + name + ".Scalar");
}

// self + value * f(tensor1, tensor2).
void define_pointwise(Library& m, const std::string& name) {
  const std::string tensors = "(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, ";
  define_foreach(m, "aten::_foreach_" + name + ".Scalar" + tensors + "Scalar value=1) -> Tensor[]",
                 "aten::" + name);
  define_foreach(
      m, "aten::_foreach_" + name + ".ScalarList" + tensors + "Scalar[] scalars) -> Tensor[]",
      "aten::" + name);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  for (const char* name : {"abs",     "acos",  "asin",  "atan",  "ceil",  "cos",        "cosh",
                           "erf",     "erfc",  "exp",   "expm1", "floor", "frac",       "lgamma",
                           "log",     "log10", "log1p", "log2",  "neg",   "reciprocal", "round",
                           "sigmoid", "sin",   "sinh",  "sqrt",  "tan",   "tanh",       "trunc"}) {
    define_unary(m, name);
  }
  for (const char* name : {"add", "sub", "mul", "div"}) define_scalar(m, name);
  for (const char* name : {"add", "sub"}) define_list(m, name, ".Tensor", ", *, Scalar alpha=1");
  for (const char* name : {"mul", "div"}) define_list(m, name, ".Tensor");
  for (const char* name : {"maximum", "minimum"}) define_list(m, name, "");
  for (const char* name : {"addcmul", "addcdiv"}) define_pointwise(m, name);
  define_foreach(m, "aten::_foreach_zero(Tensor[] self) -> Tensor[] self_out", "aten::zero");
  define_foreach(
      m,
      "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
      "aten::linalg_vector_norm", ForeachForms::FunctionalAndOut);
}

}  // namespace sb
