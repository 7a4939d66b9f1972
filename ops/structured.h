// One body for the functional, in-place and out= forms of an operator, on CPU and Meta.
//
// A structured operator is two functions:
//
//   TensorMeta mm_rule(const Tensor& self, const Tensor& mat2);                    // shape rule
//   void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out);     // arithmetic
//
//   SB_STRUCTURED_NO_INPLACE(mm, "aten::mm(Tensor self, Tensor mat2) -> Tensor", "out");
//   SB_LIBRARY_FRAGMENT(aten, m) { define_structured<mm_rule, mm_kernel>(m, mm); }
//
// The rule makes every check of the arguments, and throws; it may not read data. The kernel finds
// `out` with the rule's shape, dtype and device, sharing no memory with the inputs, and may only
// throw for what it reads in the data. Everything between the two is here: that an `out` has the
// right dtype and device, that it is resized as PyTorch does, and that a call that throws leaves
// its arguments as they were.
//
// An operator with several results has a rule that returns std::array<TensorMeta, N>, a kernel that
// takes N outs, and is declared by SB_STRUCTURED_MULTI. One that changes some elements of self and
// leaves the others (triu) has options {.from_self = true}: its kernel finds self's elements in
// `out`, in place or not. Where indices say which (index_add): indexing/partial_write.h.
//
// Elementwise operators are not made this way: see elementwise.h.

#ifndef SWITCHBOARD_OPS_STRUCTURED_H_
#define SWITCHBOARD_OPS_STRUCTURED_H_

#include <array>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/by_size.h"
#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/define/structured.h"
#include "switchboard/ops/dims.h"

namespace sb {

namespace internal {

inline void collect_of_call(TensorArguments* all, const Tensor& t) { all->push_back(&t); }
inline void collect_of_call(TensorArguments* all, const std::optional<Tensor>& t) {
  if (t && t->defined()) all->push_back(&*t);
}
inline void collect_of_call(TensorArguments* all, TensorList list) {
  for (const Tensor& t : list) all->push_back(&t);
}
template <class T>
void collect_of_call(TensorArguments*, const T&) {}
template <class... A>
TensorArguments tensors_of_call(const A&... args) {
  TensorArguments all;
  (collect_of_call(&all, args), ...);
  return all;
}

template <class... Rest>
const Tensor& first_tensor(const Tensor& self, const Rest&...) {
  return self;
}

// Whether a rule has a form for symbols.
template <class Rule>
inline constexpr bool is_by_size = false;
template <auto rule, auto sym_rule>
inline constexpr bool is_by_size<BySizeRule<rule, sym_rule>> = true;
// The forms of an operator whose rule has parameters A...
template <class R>
struct StructuredForms;
template <auto rule, auto sym_rule>
struct StructuredForms<BySizeRule<rule, sym_rule>> : StructuredForms<decltype(rule)> {};
template <class... A>
struct StructuredForms<TensorMeta (*)(A...)> {
  template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data>
  struct Functional {
    Tensor operator()(A... args) const {
      const TensorArguments tensors = tensors_of_call(args...);
      const Device device = check_arguments(Op<Tag>::name(), tensors);
      if constexpr (!with_data && is_by_size<std::remove_const_t<decltype(rule)>>) {
        if (any_symbolic(args...)) return make_result(rule.sym_rule(args...), device);
      }
      Tensor result = make_result(rule(args...), device);
      if constexpr (with_data) {
        if constexpr (options.from_self) start_from(result, first_tensor(args...));
        kernel(args..., result);
      }
      return result;
    }
  };
  template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data,
            bool inplace = false>
  struct Out {
    Tensor operator()(A... args, const Tensor& out) const {
      const TensorArguments tensors = tensors_of_call(args...);
      const Device device = check_arguments(Op<Tag>::name(), tensors);
      if constexpr (!with_data && is_by_size<std::remove_const_t<decltype(rule)>>) {
        if (any_symbolic(args...) || out.is_symbolic()) {
          set_symbolic_output(Op<Tag>::name(), out, rule.sym_rule(args...), device, options,
                              inplace);
          return out;
        }
      }
      const absl::Span<const Tensor* const> inputs = tensors;
      OutputPlan plan(Op<Tag>::name(), out, rule(args...), device,
                      inputs.subspan(inplace && options.from_self ? 1 : 0), options, inplace);
      if constexpr (with_data) {
        if constexpr (options.from_self) start_from(plan.target(), first_tensor(args...));
        kernel(args..., plan.target());
      }
      plan.finish(with_data);
      return out;
    }
  };
  template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data>
  struct Inplace {
    Tensor operator()(A... args) const {
      return Out<Tag, rule, kernel, options, with_data, true>()(args..., first_tensor(args...));
    }
  };
};

// The same for several results.
template <size_t n, class... A>
struct StructuredForms<std::array<TensorMeta, n> (*)(A...)> {
  template <size_t>
  using TensorAt = Tensor;
  template <class Indices>
  struct WithOuts;
  template <size_t... I>
  struct WithOuts<std::index_sequence<I...>> {
    using Results = std::tuple<TensorAt<I>...>;

    template <class Tag, auto rule, auto kernel, StructuredOptions, bool with_data>
    struct Functional {
      Results operator()(A... args) const {
        const TensorArguments tensors = tensors_of_call(args...);
        const Device device = check_arguments(Op<Tag>::name(), tensors);
        if constexpr (!with_data && is_by_size<std::remove_const_t<decltype(rule)>>) {
          if (any_symbolic(args...)) {
            const std::array<SymTensorMeta, n> metas = rule.sym_rule(args...);
            return Results(make_result(metas[I], device)...);
          }
        }
        const std::array<TensorMeta, n> metas = rule(args...);
        Results results(make_result(metas[I], device)...);
        if constexpr (with_data) kernel(args..., std::get<I>(results)...);
        return results;
      }
    };
    template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data>
    struct Out {
      Results operator()(A... args, const TensorAt<I>&... outs) const {
        const TensorArguments tensors = tensors_of_call(args...);
        const Device device = check_arguments(Op<Tag>::name(), tensors);
        if constexpr (!with_data && is_by_size<std::remove_const_t<decltype(rule)>>) {
          if (any_symbolic(args...) || (outs.is_symbolic() || ...)) {
            const std::array<SymTensorMeta, n> metas = rule.sym_rule(args...);
            (set_symbolic_output(Op<Tag>::name(), outs, metas[I], device, options, false), ...);
            return {outs...};
          }
        }
        const std::array<TensorMeta, n> metas = rule(args...);
        check_outs_apart(Op<Tag>::name(), {&outs...});
        OutputPlan plans[] = {OutputPlan(Op<Tag>::name(), outs, metas[I], device, tensors, options,
                                         /*inplace=*/false)...};
        if ((plans[I].must_grow() || ...)) (plans[I].keep_apart(), ...);
        if constexpr (with_data) kernel(args..., plans[I].target()...);
        (plans[I].reserve(), ...);
        (plans[I].finish(with_data), ...);
        return {outs...};
      }
    };
  };
  using Forms = WithOuts<std::make_index_sequence<n>>;
  template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data>
  using Functional = typename Forms::template Functional<Tag, rule, kernel, options, with_data>;
  template <class Tag, auto rule, auto kernel, StructuredOptions options, bool with_data>
  using Out = typename Forms::template Out<Tag, rule, kernel, options, with_data>;
};

template <class Tag>
concept HasOut = HasForm<OutForm, Tag>;
template <class Tag>
concept HasInplace = HasForm<InplaceForm, Tag>;

}  // namespace internal

// Defines the operator `op`, declared by SB_STRUCTURED (or _NO_INPLACE, or _MULTI), with all its
// forms, and registers them at CPU and Meta.
template <auto rule, auto kernel, StructuredOptions options = StructuredOptions{}, class Tag>
void define_structured(Library& m, const Op<Tag>& op,
                       SourceLocation where = SourceLocation::current()) {
  using Forms = internal::StructuredForms<std::remove_const_t<decltype(rule)>>;
  m.define(op, {}, where);
  m.impl(op, DispatchKey::CPU,
         typename Forms::template Functional<Tag, rule, kernel, options, true>(), where);
  m.impl(op, DispatchKey::Meta,
         typename Forms::template Functional<Tag, rule, kernel, options, false>(), where);
  if constexpr (internal::HasOut<Tag>) {
    using OutTag = form_of<OutForm, Tag>;
    constexpr Op<OutTag> out;
    m.define(out, {}, where);
    m.impl(out, DispatchKey::CPU,
           typename Forms::template Out<OutTag, rule, kernel, options, true>(), where);
    m.impl(out, DispatchKey::Meta,
           typename Forms::template Out<OutTag, rule, kernel, options, false>(), where);
  }
  if constexpr (internal::HasInplace<Tag>) {
    using InplaceTag = form_of<InplaceForm, Tag>;
    constexpr Op<InplaceTag> inplace;
    m.define(inplace, {}, where);
    m.impl(inplace, DispatchKey::CPU,
           typename Forms::template Inplace<InplaceTag, rule, kernel, options, true>(), where);
    m.impl(inplace, DispatchKey::Meta,
           typename Forms::template Inplace<InplaceTag, rule, kernel, options, false>(), where);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STRUCTURED_H_
