// Other names of operators: each calls the operator that it stands for, with the same arguments.

#include <string>

#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/special_functions.h"
#include "switchboard/ops/elementwise/unary_math.h"

namespace sb {
namespace {

// "aten::abs_(...)" with another name before the first '.' or '('.
std::string renamed(std::string_view schema, std::string_view name) {
  return "aten::" + std::string(name) + std::string(schema.substr(schema.find_first_of(".(")));
}

// Defines `schema` as another form of calling what `find` finds, at each call.
OpDefinition<void> define_found(Library& m, const std::string& schema, OperatorHandle find(),
                                DispatchKey key) {
  return define(m, schema, Tag::derived_through)
      .kernel(key, [find](const OperatorHandle&, DispatchKeySet, Stack* stack) {
        find().call_boxed(stack);
      });
}

// The same for a declared operator.
template <class Tag>
OpDefinition<void> define_same(Library& m, const std::string& schema, const Op<Tag>&,
                               DispatchKey key) {
  static constinit const Op<Tag> target;
  const auto find = [] { return target.handle(); };
  return define_found(m, schema, find, key);
}

enum Forms { kAllForms, kWithoutOut, kWithoutInplace };

// Defines `name` with the overload and the forms of `target`.
template <class Tag>
void define_alias(Library& m, std::string_view name, const Op<Tag>& target,
                  Forms forms = kAllForms) {
  constexpr DispatchKey key = DispatchKey::CompositeImplicitAutograd;
  define_same(m, renamed(Tag::schema, name), target, key);
  if constexpr (HasForm<OutForm, Tag>) {
    using Out = form_of<OutForm, Tag>;
    if (forms != kWithoutOut) define_same(m, renamed(Out::schema, name), Op<Out>(), key);
  }
  if constexpr (HasForm<InplaceForm, Tag>) {
    using Inplace = form_of<InplaceForm, Tag>;
    if (forms != kWithoutInplace) {
      define_same(m, renamed(Inplace::schema, std::string(name) + "_"), Op<Inplace>(), key);
    }
  }
}

// Python's `self & other` is __and__, its `self &= other` __iand__. `out`, if not empty, is the
// overload of an out= form that copies.
template <class Tag>
void define_python_operator(Library& m, const std::string& name, const std::string& overload,
                            const Op<Tag>& target, DispatchKey key, std::string_view out = "") {
  const auto schema = [&](std::string_view of, std::string_view prefix) {
    return "aten::__" + std::string(prefix) + name + "__." + overload +
           std::string(of.substr(of.find('(')));
  };
  auto functional = define_same(m, schema(Tag::schema, ""), target, key);
  if (!out.empty()) functional.out(out);
  using Inplace = form_of<InplaceForm, Tag>;
  define_same(m, schema(Inplace::schema, "i"), Op<Inplace>(), key);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  constexpr DispatchKey composite = DispatchKey::CompositeImplicitAutograd;
  define_python_operator(m, "and", "Tensor", bitwise_and, composite);
  define_python_operator(m, "and", "Scalar", bitwise_and_Scalar, composite);
  define_python_operator(m, "or", "Tensor", bitwise_or, composite);
  define_python_operator(m, "or", "Scalar", bitwise_or_Scalar, composite);
  define_python_operator(m, "xor", "Tensor", bitwise_xor, composite);
  define_python_operator(m, "xor", "Scalar", bitwise_xor_Scalar, composite);
  // Not composed in PyTorch: each is a kernel of its own.
  constexpr DispatchKey own = DispatchKey::CompositeExplicitAutograd;
  define_python_operator(m, "lshift", "Tensor", bitwise_left_shift, own, "Tensor_out");
  define_python_operator(m, "lshift", "Scalar", bitwise_left_shift_Tensor_Scalar, own,
                         "Scalar_out");
  define_python_operator(m, "rshift", "Tensor", bitwise_right_shift, own, "Tensor_out");
  define_python_operator(m, "rshift", "Scalar", bitwise_right_shift_Tensor_Scalar, own,
                         "Scalar_out");
}

SB_LIBRARY_FRAGMENT(aten, m) {
  take_numbers_for_tensors({"aten::divide", "aten::divide_", "aten::multiply", "aten::multiply_",
                            "aten::subtract", "aten::subtract_", "aten::true_divide",
                            "aten::true_divide_"});
  define_alias(m, "absolute", abs);
  define_alias(m, "arccos", acos);
  define_alias(m, "arccosh", acosh);
  define_alias(m, "arcsin", asin);
  define_alias(m, "arcsinh", asinh);
  define_alias(m, "arctan", atan);
  define_alias(m, "arctan2", atan2);
  define_alias(m, "arctanh", atanh);
  define_alias(m, "clip", clamp);
  define_alias(m, "clip", clamp_Tensor);
  define_alias(m, "divide", div);
  define_alias(m, "divide", div_Tensor_mode);
  define_alias(m, "fix", trunc);
  define_alias(m, "greater", gt);
  define_alias(m, "greater", gt_Scalar);
  define_alias(m, "greater_equal", ge);
  define_alias(m, "greater_equal", ge_Scalar);
  define_alias(m, "less", lt);
  define_alias(m, "less", lt_Scalar);
  define_alias(m, "less_equal", le);
  define_alias(m, "less_equal", le_Scalar);
  define_alias(m, "multiply", mul);
  define_alias(m, "negative", neg);
  define_alias(m, "not_equal", ne);
  define_alias(m, "not_equal", ne_Scalar);
  define_alias(m, "subtract", sub);
  define_alias(m, "true_divide", div);
  // These have no out= form with a number.
  define_alias(m, "divide", div_Scalar, kWithoutOut);
  define_alias(m, "divide", div_Scalar_mode, kWithoutOut);
  define_alias(m, "multiply", mul_Scalar, kWithoutOut);
  define_alias(m, "subtract", sub_Scalar, kWithoutOut);
  define_alias(m, "true_divide", div_Scalar, kWithoutOut);

  // torch.special's have no in-place forms.
  constexpr DispatchKey composite = DispatchKey::CompositeImplicitAutograd;
  define_alias(m, "special_erf", erf, kWithoutInplace);
  define_alias(m, "special_erfc", erfc, kWithoutInplace);
  define_alias(m, "special_exp2", exp2, kWithoutInplace);
  define_alias(m, "special_expit", sigmoid, kWithoutInplace);
  define_alias(m, "special_expm1", expm1, kWithoutInplace);
  define_alias(m, "special_log1p", log1p, kWithoutInplace);
  define_alias(m, "special_logit", logit, kWithoutInplace);
  define_alias(m, "special_sinc", sinc, kWithoutInplace);
  define_alias(m, "special_digamma", digamma, kWithoutInplace);
  define_alias(m, "special_psi", digamma, kWithoutInplace);
  define_alias(m, "special_erfinv", erfinv, kWithoutInplace);
  define_alias(m, "special_gammaln", lgamma, kWithoutInplace);
  define_alias(m, "special_multigammaln", mvlgamma, kWithoutInplace);
  define_alias(m, "special_gammainc", igamma, kWithoutInplace);
  define_alias(m, "special_gammaincc", igammac, kWithoutInplace);
  define_alias(m, "special_i0", i0, kWithoutInplace);
  define_alias(m, "special_polygamma", polygamma);
  // Their schemas differ in names or defaults.
  define_same(m, "aten::special_round(Tensor self, *, int decimals=0) -> Tensor", round_decimals,
              composite);
  define_same(m,
              "aten::special_round.out(Tensor self, *, int decimals=0, Tensor(a!) out) -> "
              "Tensor(a!)",
              round_decimals_out, composite);
  define_same(m, "aten::special_xlogy(Tensor self, Tensor other) -> Tensor", xlogy, composite);
  define_same(m,
              "aten::special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> "
              "Tensor(a!)",
              xlogy_out, composite);
  define_same(m, "aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
              xlogy_Scalar_Other, composite);
  define_same(m, "aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
              xlogy_Scalar_Self, composite);
  define_same(m,
              "aten::special_xlogy.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) "
              "-> Tensor(a!)",
              xlogy_Scalar_Other_out, composite);
  define_same(m,
              "aten::special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) "
              "-> Tensor(a!)",
              xlogy_Scalar_Self_out, composite);
}

}  // namespace
}  // namespace sb
