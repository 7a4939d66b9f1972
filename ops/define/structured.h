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

#ifndef SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_
#define SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_

#include <array>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/derived_schema.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {

// What a result will be. Empty strides are contiguous ones.
template <SizeType Int>
struct BasicTensorMeta {
  SizeVector<Int> sizes;
  DType dtype = DType::Float32;
  SizeVector<Int> strides = {};
};
using TensorMeta = BasicTensorMeta<int64_t>;
using SymTensorMeta = BasicTensorMeta<SymInt>;

// A shape rule that is a template over the type of a size, as define_structured takes it:
//   define_structured<by_size_rule<mm_rule<int64_t>, mm_rule<SymInt>>, mm_kernel>(m, mm);
// With a plain rule symbolic sizes are settled; see by_size.h.
template <auto rule, auto rule_for_symbols>
struct BySizeRule {
  template <class... A>
  constexpr auto operator()(const A&... args) const {
    return rule(args...);
  }
  template <class... A>
  static auto sym_rule(const A&... args) {
    return rule_for_symbols(args...);
  }
};
template <auto rule, auto rule_for_symbols>
inline constexpr BySizeRule<rule, rule_for_symbols> by_size_rule{};

// What an out= form accepts. By default the rule's dtype and nothing else, and an `out` that shares
// memory with an input is computed apart and copied.
struct StructuredOptions {
  bool cast_to_out = false;     // any dtype that the result can be cast to (can_cast)
  bool refuse_overlap = false;  // RuntimeError where out shares memory with an input
  // The kernel begins with self's elements in out, which is written to before: it may throw for
  // nothing. Where the data may be wrong, as indices may: define_partial_write. In place, out is
  // self, and only the other arguments count as inputs.
  bool from_self = false;
};

namespace internal {

// The tensors among a call's arguments.
using TensorArguments = absl::InlinedVector<const Tensor*, 4>;
inline void collect_tensors(TensorArguments* all, const Tensor& t) { all->push_back(&t); }
inline void collect_tensors(TensorArguments* all, const std::optional<Tensor>& t) {
  if (t && t->defined()) all->push_back(&*t);
}
inline void collect_tensors(TensorArguments* all, TensorList list) {
  for (const Tensor& t : list) all->push_back(&t);
}
template <class T>
void collect_tensors(TensorArguments*, const T&) {}
template <class... A>
TensorArguments tensors_of(const A&... args) {
  TensorArguments all;
  (collect_tensors(&all, args), ...);
  return all;
}

// Throws RuntimeError unless all are defined and on one device, 0-dim CPU tensors aside.
Device check_arguments(std::string_view op, const TensorArguments& tensors);
Tensor make_result(const TensorMeta& meta, Device device);
Tensor make_result(const SymTensorMeta& meta, Device device);
// Throws RuntimeError where two of them are one tensor, or share memory.
void check_outs_apart(std::string_view op, std::initializer_list<const Tensor*> outs);

// Of a call with symbolic sizes, which has no data to write: makes the checks, and gives out the
// shape.
void set_symbolic_output(std::string_view op, const Tensor& out, const SymTensorMeta& meta,
                         Device device, StructuredOptions options, bool inplace);

// One output of an out= or in-place call.
class OutputPlan {
 public:
  // Makes the checks; changes nothing yet. So of several outs none is changed where another is
  // refused, or where the kernel throws.
  OutputPlan(std::string_view op, const Tensor& out, const TensorMeta& meta, Device device,
             absl::Span<const Tensor* const> inputs, StructuredOptions options, bool inplace);
  // What the kernel writes to: out itself, or a tensor of its own.
  const Tensor& target() const { return target_; }
  // Whether out's storage will have to grow, for which there may be no memory.
  bool must_grow() const;
  // Lets the kernel write to a tensor of its own, where out itself would do.
  void keep_apart();
  // Makes room in out, so that finish() cannot run out of memory: of several outs, none has changed
  // where there is no room for another.
  void reserve();
  // Gives out the shape and, where the kernel wrote elsewhere, the elements.
  void finish(bool with_data);

 private:
  const Tensor& out_;
  Tensor target_;
  DimVector sizes_;
  DimVector strides_;
};

template <class... Rest>
const Tensor& first_tensor(const Tensor& self, const Rest&...) {
  return self;
}

// Gives out self's elements, for operators with from_self.
void start_from(const Tensor& out, const Tensor& self);

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
      const TensorArguments tensors = tensors_of(args...);
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
      const TensorArguments tensors = tensors_of(args...);
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
        const TensorArguments tensors = tensors_of(args...);
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
        const TensorArguments tensors = tensors_of(args...);
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
concept HasOut = requires {
  typename Tag::Out;
};
template <class Tag>
concept HasInplace = requires {
  typename Tag::Inplace;
};

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
    using OutTag = typename Tag::Out;
    constexpr Op<OutTag> out;
    m.define(out, {}, where);
    m.impl(out, DispatchKey::CPU,
           typename Forms::template Out<OutTag, rule, kernel, options, true>(), where);
    m.impl(out, DispatchKey::Meta,
           typename Forms::template Out<OutTag, rule, kernel, options, false>(), where);
  }
  if constexpr (internal::HasInplace<Tag>) {
    using InplaceTag = typename Tag::Inplace;
    constexpr Op<InplaceTag> inplace;
    m.define(inplace, {}, where);
    m.impl(inplace, DispatchKey::CPU,
           typename Forms::template Inplace<InplaceTag, rule, kernel, options, true>(), where);
    m.impl(inplace, DispatchKey::Meta,
           typename Forms::template Inplace<InplaceTag, rule, kernel, options, false>(), where);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_
