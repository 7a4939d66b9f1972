// Defines operators: what each is, and which forms it has.
//
//   SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
//   SB_OP(add_, inplace_of(add));
//   SB_OP(add_out, out_of(add, "out"));
//
//   SB_LIBRARY_FRAGMENT(aten, m) {
//     define(m, add).elementwise<add_body>().inplace(add_).out(add_out);
//     define(m, mm).structured<mm_rule, mm_kernel>().out(mm_out);
//     define(m, matmul).composed(matmul_kernel).out(matmul_out);
//     define(m, clone).composite_explicit(clone_kernel).out("out");
//     define(m, select).view(select_kernel).view_copy();
//     define(m, nonzero, Tag::dynamic_output_shape).cpu(nonzero_kernel).out("out");
//   }
//
// The operator is registered by define(), each kernel and each form by the word that names it, in
// the order in which they stand. A form of an operator that is elementwise or structured is made of
// the same body, or rule and kernel; the out= form of any other one calls the operator and copies
// its results. Derivatives stand apart, in a family's derivatives (autograd/derivatives.h).

#ifndef SWITCHBOARD_OPS_DEFINE_DEFINE_H_
#define SWITCHBOARD_OPS_DEFINE_DEFINE_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/define/structured.h"
#include "switchboard/ops/outputs/copy_to_out.h"

namespace sb {

// Operators of other names that follow from an operator's schema, which may be registered later.
//
// Of the view "f.o": f_copy.o, which calls `callee` (the view itself if none is given) and copies
// what still shares self's memory, and its out= form.
void define_view_copy(Library& m, std::string_view view_schema, std::string_view callee = {},
                      SourceLocation where = SourceLocation::current());
// Of the in-place operator "f_.o": f.o, which calls it on a clone of self, and its out= form.
void define_functional(Library& m, std::string_view inplace_schema,
                       SourceLocation where = SourceLocation::current());

// The part of a definition that does not depend on the operator's type. `handle()` is the operator.
class AnyDefinition {
 public:
  const OperatorHandle& handle() const { return op_; }

 protected:
  AnyDefinition(Library& m, const OperatorHandle& op, SourceLocation where)
      : m_(m), op_(op), where_(where) {}

  void add(std::string_view op, DispatchKey key, KernelFunction kernel) {
    m_.impl(op, key, std::move(kernel), where_);
  }
  // A kernel of the operator itself: its keys are those of the forms' kernels.
  void add_own(DispatchKey key, KernelFunction kernel);
  // Registers `schema`, a form of the operator, with the operator's tags.
  OperatorHandle define_form(std::string_view schema) { return define_form(parse_schema(schema)); }
  OperatorHandle define_form(FunctionSchema schema);
  // Gives the out= form `out` a kernel that copies.
  void copy_out(const OperatorHandle& out, const OutOptions& options);
  void define_out(std::string_view overload, std::vector<std::string> names,
                  const OutOptions& options);
  void add_on_clone(std::string_view inplace);

  Library& m_;
  OperatorHandle op_;
  SourceLocation where_;
  std::vector<DispatchKey> keys_;
};

namespace internal {

OperatorHandle define_operator(Library& m, FunctionSchema schema, TagSet tags,
                               SourceLocation where);

// Tags for how the forms of an operator are made, by what it is.
struct CopiedForms {};

template <class R, class... A>
struct ElementwiseKernel;
template <class... A>
struct ElementwiseKernel<Tensor, A...> {
  using Body = Tensor (*)(const Tensor& out, A...);
  struct Functional {
    Body body;
    Tensor none = {};  // saves making one for each call
    Tensor operator()(A... args) const { return body(none, args...); }
  };
  struct Inplace {
    Body body;
    Tensor operator()(A... args) const { return body(first(args...), args...); }
    template <class... Rest>
    static const Tensor& first(const Tensor& self, const Rest&...) {
      return self;
    }
  };
  struct Out {
    Body body;
    Tensor operator()(A... args, const Tensor& out) const {
      SB_CHECK(out.defined(), "out: expected a tensor, got an undefined one");
      return body(out, args...);
    }
  };
  // A body of the right type as it is, others (objects with templates of calls) by a function.
  template <auto body>
  static constexpr Body erase() {
    if constexpr (std::is_same_v<std::remove_const_t<decltype(body)>, Body>)
      return body;
    else
      return [](const Tensor& out, A... args) -> Tensor { return body(out, args...); };
  }
};
template <class Tag>
struct ElementwiseForms {
  using Kernel = typename OpTraits<Tag>::template Apply<ElementwiseKernel>;
  typename Kernel::Body body;

  template <class Form>
  KernelFunction make(bool) const {
    constexpr FormKind kind = form_kind<Form>();
    if constexpr (kind == FormKind::Functional)
      return sb::make_kernel(typename Kernel::Functional{body});
    else if constexpr (kind == FormKind::Inplace)
      return sb::make_kernel(typename Kernel::Inplace{body});
    else
      return sb::make_kernel(typename Kernel::Out{body});
  }
};
template <class Tag>
struct StructuredForms {
  const StructuredOp* op;
  StructuredOptions options;

  template <class Form>
  KernelFunction make(bool with_data) const {
    static_assert(std::is_same_v<Inputs<Form>, Inputs<Tag>>,
                  "the form has other inputs than the operator");
    return sb::make_kernel(structured_kernel<Form>(op, with_data, options));
  }
};

}  // namespace internal

// An operator that was declared by SB_OP, being defined. Everything throws what Library does.
template <class Tag, class Forms = internal::CopiedForms>
class OpDefinition : public AnyDefinition {
 public:
  OpDefinition(Library& m, const OperatorHandle& op, SourceLocation where, Forms forms = {})
      : AnyDefinition(m, op, where), forms_(forms) {}

  // body(out, arguments...) computes into `out`: undefined in the functional form, self in place
  // (see elementwise.h).
  template <auto body>
  auto elementwise() const {
    using Made = internal::ElementwiseForms<Tag>;
    return with_forms(Made{Made::Kernel::template erase<body>()});
  }
  // A shape rule and a kernel (see structured.h).
  template <auto rule, auto kernel>
  auto structured(StructuredOptions options = {}) const {
    return structured_of<rule, kernel, nullptr>(options);
  }
  // The same for an operator that writes to some elements of self and leaves the others, where the
  // data says which. check(arguments...) throws for what is wrong with the data; the kernel, which
  // does not throw, finds self's elements in its last argument. What is written to may not overlap
  // an argument other than self.
  template <auto rule, auto check, auto kernel>
  auto partial_write() const {
    return structured_of<rule, kernel, check>({.from_self = true});
  }
  // Composed of other operators, with their derivatives: at CompositeImplicitAutograd.
  template <class F>
  OpDefinition& composed(F f) {
    return kernel(DispatchKey::CompositeImplicitAutograd, std::move(f));
  }
  // The same for every device, with a derivative of its own, or that of its parts where the
  // operator has Tag::derived_through: at CompositeExplicitAutograd.
  template <class F>
  OpDefinition& composite_explicit(F f) {
    return kernel(DispatchKey::CompositeExplicitAutograd, std::move(f));
  }
  // A view of self, on every device.
  template <class F>
  OpDefinition& view(F f) {
    constexpr const auto& self = Op<Tag>::Traits::schema.arguments[0];
    static_assert(self.is_aliased && !self.is_written, "a view is of `Tensor(a) self`");
    return kernel(DispatchKey::CompositeExplicitAutograd, std::move(f));
  }
  template <class F>
  OpDefinition& cpu(F f) {
    return kernel(DispatchKey::CPU, std::move(f));
  }
  template <class F>
  OpDefinition& meta(F f) {
    return kernel(DispatchKey::Meta, std::move(f));
  }
  template <class F>
  OpDefinition& cpu_and_meta(F f) {
    return cpu(f).meta(f);
  }
  template <class F>
  OpDefinition& kernel(DispatchKey key, F f) {
    if constexpr (std::is_void_v<Tag>)
      add_own(key, make_kernel(std::move(f)));
    else
      add_own(key, Op<Tag>::make_kernel(std::move(f)));
    return *this;
  }
  // The functional form of `inplace`, which runs on a clone of self: at CompositeExplicitAutograd.
  template <class Inplace>
  OpDefinition& on_clone(const Op<Inplace>&) {
    add_on_clone(Op<Inplace>::name());
    return *this;
  }

  // Of an elementwise or structured operator, as it is; else with a kernel of their own, at the
  // keys of the operator's.
  template <class Form>
  OpDefinition& inplace(const Op<Form>& op) {
    static_assert(!kCopied, "an in-place form needs a kernel, or an operator that makes it");
    return natural(op);
  }
  template <class Form, class F>
  OpDefinition& inplace(const Op<Form>& op, F f) {
    return form(op, std::move(f));
  }
  template <class Form>
  OpDefinition& out(const Op<Form>& op) {
    if constexpr (kCopied)
      return out(op, kCopiedOut);
    else
      return natural(op);
  }
  template <class Form, class F>
  requires(!std::is_convertible_v<F, OutOptions>) OpDefinition& out(const Op<Form>& op, F f) {
    return form(op, std::move(f));
  }
  // A form that calls the operator and copies.
  template <class Form>
  OpDefinition& out(const Op<Form>&, const OutOptions& options) {
    copy_out(define_form(Form::schema), options);
    return *this;
  }
  // The same without a C++ handle: "<name>.<overload>", with keyword-only outs behind the
  // operator's arguments. Those that say how a new tensor is to be made (dtype, layout, device,
  // pin_memory) are left out: out says it. Without names, one out is called "out" and several
  // "out0", "out1", ... For a list of tensors there is a list of outs, and the form returns
  // nothing, as PyTorch's.
  OpDefinition& out(std::string_view overload, const OutOptions& options = kCopiedOut) {
    return out(overload, {}, options);
  }
  OpDefinition& out(std::string_view overload, std::vector<std::string> names,
                    const OutOptions& options = kCopiedOut) {
    define_out(overload, std::move(names), options);
    return *this;
  }
  // Those that SB_OP declared with inplace_of and out_of.
  OpDefinition& inplace() { return inplace(Op<form_of<InplaceForm, Tag>>()); }
  OpDefinition& out() { return out(Op<form_of<OutForm, Tag>>()); }
  OpDefinition& out(const OutOptions& options) { return out(Op<form_of<OutForm, Tag>>(), options); }
  OpDefinition& out_and_inplace() { return inplace().out(); }
  // See define_view_copy.
  OpDefinition& view_copy() {
    define_view_copy(m_, Tag::schema, {}, where_);
    return *this;
  }

 private:
  static constexpr bool kCopied = std::is_same_v<Forms, internal::CopiedForms>;

  template <auto rule, auto kernel, auto check>
  auto structured_of(StructuredOptions options) const {
    return with_forms(internal::StructuredForms<Tag>{
        &internal::structured_op<rule, kernel, check, internal::Inputs<Tag>,
                                 internal::OpTraits<Tag>::schema.num_returns>,
        options});
  }
  template <class Made>
  OpDefinition<Tag, Made> with_forms(Made made) const {
    OpDefinition<Tag, Made> result(m_, op_, where_, made);
    result.add_own(DispatchKey::CPU, made.template make<Tag>(true));
    result.add_own(DispatchKey::Meta, made.template make<Tag>(false));
    return result;
  }
  template <class, class>
  friend class OpDefinition;
  template <class Form>
  OpDefinition& natural(const Op<Form>&) {
    define_form(Form::schema);
    add(Op<Form>::name(), DispatchKey::CPU, forms_.template make<Form>(true));
    add(Op<Form>::name(), DispatchKey::Meta, forms_.template make<Form>(false));
    return *this;
  }
  template <class Form, class F>
  OpDefinition& form(const Op<Form>&, F f) {
    define_form(Form::schema);
    const KernelFunction kernel = Op<Form>::make_kernel(std::move(f));
    for (DispatchKey key : keys_) add(Op<Form>::name(), key, kernel);
    return *this;
  }

  [[no_unique_address]] Forms forms_;
};

// Registers an operator, of which the rest is then said. With Tag::dynamic_output_shape it gets a
// kernel at Meta that throws DynamicOutputShapeError.
template <class OpTag>
OpDefinition<OpTag> define(Library& m, const Op<OpTag>&, TagSet tags = {},
                           SourceLocation where = SourceLocation::current()) {
  return {m, internal::define_operator(m, parse_schema(OpTag::schema), tags, where), where};
}
// The same by its schema: what a kernel's type is, is checked when it is registered.
inline OpDefinition<void> define(Library& m, FunctionSchema schema, TagSet tags = {},
                                 SourceLocation where = SourceLocation::current()) {
  return {m, internal::define_operator(m, std::move(schema), tags, where), where};
}
inline OpDefinition<void> define(Library& m, std::string_view schema, TagSet tags = {},
                                 SourceLocation where = SourceLocation::current()) {
  return define(m, parse_schema(schema), tags, where);
}
// Says more of one that is registered.
template <class OpTag>
OpDefinition<OpTag> extend(Library& m, const Op<OpTag>&,
                           SourceLocation where = SourceLocation::current()) {
  return {m, m.dispatcher().find_op_or_throw(Op<OpTag>::name()), where};
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_DEFINE_H_
