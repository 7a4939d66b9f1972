#include <string>

#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/define/define.h"
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

// With one number, and with a list of numbers: `element` of each.
void define_scalar(Library& m, const std::string& name, const std::string& element) {
  define_foreach(m, "aten::_foreach_" + name + ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
                 element);
  define_foreach(
      m, "aten::_foreach_" + name + ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]",
      element);
}

// With a 0-dim tensor.
void define_tensor(Library& m, const std::string& name, const std::string& more = "") {
  define_foreach(
      m, "aten::_foreach_" + name + ".Tensor(Tensor[] self, Tensor other" + more + ") -> Tensor[]",
      "aten::" + name + ".Tensor");
}

void define_pow(Library& m) {
  const std::string pow = "aten::_foreach_pow";
  define_foreach(m, pow + ".List(Tensor[] self, Tensor[] exponent) -> Tensor[]",
                 {"aten::pow.Tensor_Tensor", "aten::pow_.Tensor"});
  for (const char* exponent : {".Scalar(Tensor[] self, Scalar exponent) -> Tensor[]",
                               ".ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]"}) {
    define_foreach(m, pow + exponent, {"aten::pow.Tensor_Scalar", "aten::pow_.Scalar"});
  }
  define_foreach(m, pow + ".ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
                 "aten::pow.Scalar", ForeachForms::Functional);
}

void define_lerp(Library& m) {
  const std::string lerp = "aten::_foreach_lerp";
  define_foreach(m, lerp + ".List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]",
                 "aten::lerp.Tensor");
  for (const char* weight :
       {".Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]",
        ".ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]"}) {
    define_foreach(m, lerp + weight, "aten::lerp.Scalar");
  }
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

// The same with a vector of values, one for each tensor: f.ScalarList of what it holds.
void define_pointwise_by_vector(Library& m, const std::string& name) {
  const auto by_numbers = [&m](const std::string& full_name) {
    return [list = full_name + ".ScalarList", &dispatcher = m.dispatcher()](
               const OperatorHandle& op, DispatchKeySet, Stack* stack) {
      const Tensor scalars = stack->back().to_tensor();
      const size_t first = stack->size() - op.schema().arguments.size();
      const size_t length = (*stack)[first].to_tensor_list().size();
      SB_CHECK(scalars.defined() && scalars.dim() == 1 &&
                   scalars.size(0) == static_cast<int64_t>(length) && scalars.is_contiguous(),
               op.schema().name.to_string(), ": scalars: expected a contiguous vector of ", length,
               " elements, got ", scalars.describe());
      stack->back() = to_list(scalars);
      dispatcher.find_op_or_throw(list).call_boxed(stack);
    };
  };
  const std::string others = "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ";
  const std::string full_name = "aten::_foreach_" + name;
  define(m, full_name + ".Tensor(Tensor[] self, " + others + "Tensor[]", Tag::derived_through)
      .composite_explicit(by_numbers(full_name))
      .out("Tensor_out");
  define(m, full_name + "_.Tensor(Tensor(a!)[] self, " + others + "()", Tag::derived_through)
      .composite_explicit(by_numbers(full_name + "_"));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  for (const char* name :
       {"abs",   "acos", "asin",  "atan",       "ceil",  "cos",    "cosh",    "erf",
        "erfc",  "exp",  "expm1", "floor",      "frac",  "lgamma", "log",     "log10",
        "log1p", "log2", "neg",   "reciprocal", "round", "rsqrt",  "sigmoid", "sign",
        "sin",   "sinh", "sqrt",  "tan",        "tanh",  "trunc"}) {
    define_unary(m, name);
  }
  for (const std::string name : {"add", "sub", "mul", "div"})
    define_scalar(m, name, "aten::" + name + ".Scalar");
  define_tensor(m, "add", ", *, Scalar alpha=1");
  for (const char* name : {"mul", "div"}) define_tensor(m, name);
  for (const char* name : {"add", "sub"}) define_list(m, name, ".Tensor", ", *, Scalar alpha=1");
  for (const char* name : {"mul", "div"}) define_list(m, name, ".Tensor");
  for (const char* name : {"maximum", "minimum"}) define_list(m, name, "");
  for (const char* name : {"clamp_max", "clamp_min"}) define_list(m, name, ".Tensor");
  for (const char* name : {"clamp_max", "minimum"}) define_scalar(m, name, "aten::clamp_max");
  for (const char* name : {"clamp_min", "maximum"}) define_scalar(m, name, "aten::clamp_min");
  define_pow(m);
  define_lerp(m);
  for (const char* name : {"addcmul", "addcdiv"}) {
    define_pointwise(m, name);
    define_pointwise_by_vector(m, name);
  }
  define_foreach(m, "aten::_foreach_zero(Tensor[] self) -> Tensor[] self_out", "aten::zero");
  define_foreach(m,
                 "aten::_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> "
                 "Tensor[] self_out",
                 "aten::copy");
  define_foreach(
      m, "aten::_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]",
      "aten::clone", ForeachForms::FunctionalAndOut);
  define_foreach(m, "aten::_foreach_max(Tensor[] self) -> Tensor[]", "aten::max",
                 ForeachForms::FunctionalAndOut);
  define_foreach(m, "aten::_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]", "aten::mm",
                 ForeachForms::Functional);
  define_foreach(m,
                 "aten::_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? "
                 "dtype=None) -> Tensor[]",
                 "aten::linalg__powsum", ForeachForms::FunctionalAndOut);
  define_foreach(
      m,
      "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
      "aten::linalg_vector_norm", ForeachForms::FunctionalAndOut);
}

}  // namespace sb
