// Operators that write to some elements of self and leave the others: how their forms are made,
// with the overlap rules of PyTorch.

#ifndef SWITCHBOARD_OPS_INDEXING_PARTIAL_WRITE_H_
#define SWITCHBOARD_OPS_INDEXING_PARTIAL_WRITE_H_

#include "switchboard/ops/define/structured.h"
#include "switchboard/ops/memory_overlap.h"

namespace sb {

namespace internal {

// Throws RuntimeError where `written` shares memory with itself or with another tensor argument
// than self.
template <class... A>
void check_apart(const Tensor& written, const Tensor&, const A&... others) {
  check_no_internal_overlap(written);
  for (const Tensor* t : tensors_of_call(others...)) {
    if (t->defined()) check_no_overlap(written, *t);
  }
}

template <class Rule, class Tag, auto rule, auto check, auto kernel, bool with_data>
struct PartialWrite;
template <auto plain_rule, auto sym_rule, class Tag, auto rule, auto check, auto kernel,
          bool with_data>
struct PartialWrite<BySizeRule<plain_rule, sym_rule>, Tag, rule, check, kernel, with_data>
    : PartialWrite<std::remove_const_t<decltype(plain_rule)>, Tag, rule, check, kernel, with_data> {
};
template <class... A, class Tag, auto rule, auto check, auto kernel, bool with_data>
struct PartialWrite<TensorMeta (*)(A...), Tag, rule, check, kernel, with_data> {
  using Forms = StructuredForms<TensorMeta (*)(A...)>;
  static constexpr StructuredOptions kOptions = {.from_self = true};
  // In PyTorch's order: what the rule refuses, then overlap, then what is wrong with the data,
  // which is found before self's elements go to out.
  static DType result_dtype(A... args) {
    if constexpr (!with_data && is_by_size<std::remove_const_t<decltype(rule)>>) {
      if (any_symbolic(args...)) return rule.sym_rule(args...).dtype;
    }
    return rule(args...).dtype;
  }
  static void check_all(const Tensor& out, A... args) {
    check_arguments(Op<Tag>::name(), tensors_of_call(args...));
    const DType dtype = result_dtype(args...);
    if (out.defined()) {
      check_apart(out, args...);
      SB_CHECK(out.dtype() == dtype, Op<Tag>::name(), ": out: expected ", to_string(dtype),
               ", got ", out.describe());
    }
    if constexpr (with_data) check(args...);
  }
  struct Functional {
    Tensor operator()(A... args) const {
      check_all(Tensor(), args...);
      return typename Forms::template Functional<Tag, rule, kernel, kOptions, with_data>()(args...);
    }
  };
  struct Out {
    Tensor operator()(A... args, const Tensor& out) const {
      check_all(out, args...);
      return typename Forms::template Out<Tag, rule, kernel, kOptions, with_data>()(args..., out);
    }
  };
  struct Inplace {
    Tensor operator()(A... args) const {
      check_all(first_tensor(args...), args...);
      return typename Forms::template Inplace<Tag, rule, kernel, kOptions, with_data>()(args...);
    }
  };
};

}  // namespace internal

// Defines all forms of `op`, declared by SB_STRUCTURED, at CPU and Meta. `check` has the parameters
// of the rule and throws for what is wrong with the data; the kernel, which does not throw, finds
// self's elements in its last argument. `Out` and in-place calls throw RuntimeError where what is
// written to overlaps an argument other than self.
template <auto rule, auto check, auto kernel, class Tag>
void define_partial_write(Library& m, const Op<Tag>& op,
                          SourceLocation where = SourceLocation::current()) {
  const auto define = [&]<bool with_data>(DispatchKey key, std::bool_constant<with_data>) {
    using Rule = std::remove_const_t<decltype(rule)>;
    using OutTag = form_of<OutForm, Tag>;
    using InplaceTag = form_of<InplaceForm, Tag>;
    using F = internal::PartialWrite<Rule, Tag, rule, check, kernel, with_data>;
    using O = internal::PartialWrite<Rule, OutTag, rule, check, kernel, with_data>;
    using I = internal::PartialWrite<Rule, InplaceTag, rule, check, kernel, with_data>;
    m.impl(op, key, typename F::Functional(), where);
    m.impl(Op<OutTag>(), key, typename O::Out(), where);
    m.impl(Op<InplaceTag>(), key, typename I::Inplace(), where);
  };
  m.define(op, {}, where);
  m.define(Op<form_of<OutForm, Tag>>(), {}, where);
  m.define(Op<form_of<InplaceForm, Tag>>(), {}, where);
  define(DispatchKey::CPU, std::true_type());
  define(DispatchKey::Meta, std::false_type());
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_PARTIAL_WRITE_H_
