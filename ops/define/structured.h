// Structured operators: one shape rule and one kernel make the functional, in-place and out= forms,
// on CPU and Meta.
//
//   TensorMeta mm_rule(const Tensor& self, const Tensor& mat2);                    // shape rule
//   void mm_kernel(const Tensor& self, const Tensor& mat2, const Tensor& out);     // arithmetic
//   define(m, mm).structured<mm_rule, mm_kernel>().out(mm_out);
//
// The rule makes every check of the arguments, and throws; it may not read data. The kernel finds
// `out` with the rule's shape, dtype and device, sharing no memory with the inputs, and may only
// throw for what it reads in the data. Everything between the two is here: that an `out` has the
// right dtype and device, that it is resized as PyTorch does, and that a call that throws leaves
// its arguments as they were.
// An operator with several results has a rule that returns std::array<TensorMeta, N> and a kernel
// that takes N outs. Elementwise operators are not made this way: see elementwise.h.

#ifndef SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_
#define SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/typed_op.h"
#include "switchboard/ops/outputs/output_plan.h"

namespace sb {

// A shape rule that is a template over the type of a size:
//   .structured<by_size_rule<mm_rule<int64_t>, mm_rule<SymInt>>, mm_kernel>()
// With a plain rule symbolic sizes are settled; see by_size.h.
template <auto rule, auto rule_for_symbols>
struct BySizeRule {
  static constexpr auto plain_rule = rule;
  static constexpr auto sym_rule = rule_for_symbols;
};
template <auto rule, auto rule_for_symbols>
inline constexpr BySizeRule<rule, rule_for_symbols> by_size_rule{};

namespace internal {

// A structured operator without its types: functions that find the arguments, of the schema's
// types, behind pointers.
struct StructuredOp {
  using Arguments = const void* const*;
  void (*rule)(Arguments args, TensorMeta* metas) = nullptr;
  void (*sym_rule)(Arguments args, SymTensorMeta* metas) = nullptr;  // none: a plain rule
  void (*kernel)(Arguments args, const Tensor* const* outs) = nullptr;
  void (*check)(Arguments args, const Tensor* const* outs) = nullptr;  // of partial_write()
  size_t num_results = 0;
};
enum class FormKind : uint8_t { Functional, Inplace, Out };
// A form of one, at CPU (with_data) or Meta.
struct StructuredCall {
  const StructuredOp* op;
  std::string_view name;                 // of the form
  absl::Span<const TypeCode> arguments;  // of the form: with the outs
  StructuredOptions options;
  FormKind form;
  bool with_data;

  void operator()(StructuredOp::Arguments args, Tensor* results) const;
};

// The kernels of all operators of one signature.
template <class R, class... A>
struct StructuredKernel {
  StructuredCall call;

  R operator()(A... args) const {
    const void* const pointers[] = {static_cast<const void*>(std::addressof(args))...};
    if constexpr (std::is_same_v<R, Tensor>) {
      Tensor result;
      call(pointers, &result);
      return result;
    } else {
      return results(pointers, std::make_index_sequence<std::tuple_size_v<R>>());
    }
  }

 private:
  template <size_t... I>
  R results(StructuredOp::Arguments pointers, std::index_sequence<I...>) const {
    Tensor results[sizeof...(I)];
    call(pointers, results);
    return R(std::move(results[I])...);
  }
};

// Functions of other types called on arguments A..., the schema's, behind pointers.
template <class... A>
struct Erased {
  template <class, class... P>
  struct To {
    // The last parameters of a kernel, beyond A..., are outs.
    template <class F, size_t... I, size_t... O>
    static decltype(auto) apply(const F& f, StructuredOp::Arguments args, const Tensor* const* outs,
                                std::index_sequence<I...>, std::index_sequence<O...>) {
      return f(adapt_argument<std::tuple_element_t<I, std::tuple<P...>>>(
                   *static_cast<const std::decay_t<A>*>(args[I]))...,
               *outs[O]...);
    }
    template <class F>
    static decltype(auto) call(const F& f, StructuredOp::Arguments args,
                               const Tensor* const* outs = nullptr) {
      return apply(f, args, outs, std::index_sequence_for<A...>(),
                   std::make_index_sequence<sizeof...(P) - sizeof...(A)>());
    }
  };
  template <auto f>
  using Of = typename FunctionTypeOf<std::remove_const_t<decltype(f)>>::template Apply<To>;

  template <auto rule, class Meta>
  static void rule_of(StructuredOp::Arguments args, Meta* metas) {
    auto results = Of<rule>::call(rule, args);
    if constexpr (std::is_same_v<decltype(results), Meta>) {
      *metas = std::move(results);
    } else {
      for (auto& result : results) *metas++ = std::move(result);
    }
  }
  template <auto kernel>
  static void kernel_of(StructuredOp::Arguments args, const Tensor* const* outs) {
    Of<kernel>::call(kernel, args, outs);
  }
  template <auto rule, auto kernel, auto check>
  static constexpr StructuredOp make(size_t num_results) {
    StructuredOp op;
    if constexpr (requires { rule.sym_rule; }) {
      op.rule = &rule_of<rule.plain_rule, TensorMeta>;
      op.sym_rule = &rule_of<rule.sym_rule, SymTensorMeta>;
    } else {
      op.rule = &rule_of<rule, TensorMeta>;
    }
    op.kernel = &kernel_of<kernel>;
    if constexpr (!std::is_null_pointer_v<std::remove_const_t<decltype(check)>>)
      op.check = &kernel_of<check>;
    op.num_results = num_results;
    return op;
  }
};

// Reads from a form's schema which argument is written to: `self`, or the outs behind the inputs.
template <class Tag>
constexpr FormKind form_kind() {
  const SchemaLiteral& schema = OpTraits<Tag>::schema;
  const auto& first = schema.arguments[0];
  if (first.is_written && first.name == "self") return FormKind::Inplace;
  return schema.arguments[schema.num_arguments - 1].is_written ? FormKind::Out
                                                               : FormKind::Functional;
}
template <class Tag, size_t... I>
Erased<typename OpTraits<Tag>::template Argument<I>...> inputs_of(std::index_sequence<I...>);
// The inputs of a form, which are those of its operator.
template <class Tag>
using Inputs = decltype(inputs_of<Tag>(
    std::make_index_sequence<OpTraits<Tag>::schema.num_arguments -
                             (form_kind<Tag>() == FormKind::Out ? OpTraits<Tag>::schema.num_returns
                                                                : 0)>()));

template <auto rule, auto kernel, auto check, class Inputs, size_t num_results>
inline constexpr StructuredOp structured_op =
    Inputs::template make<rule, kernel, check>(num_results);

template <class R, class... A>
struct SignatureOf {
  static constexpr const CppSignature& value = cpp_signature<R, A...>;
};
template <class Form>
constexpr auto structured_kernel(const StructuredOp* op, bool with_data,
                                 StructuredOptions options) {
  using Traits = OpTraits<Form>;
  return typename Traits::template Apply<StructuredKernel>{
      {op, Op<Form>::name(), Traits::template Apply<SignatureOf>::value.arguments, options,
       form_kind<Form>(), with_data}};
}

}  // namespace internal

// A form of a structured operator (functional, in-place or out=, as its schema says) as a function
// object, at CPU (with_data) or Meta: for kernels that do something before or after.
template <auto rule, auto kernel, class Form>
constexpr auto structured_form(const Op<Form>&, bool with_data, StructuredOptions options = {}) {
  return internal::structured_kernel<Form>(
      &internal::structured_op<rule, kernel, nullptr, internal::Inputs<Form>,
                               internal::OpTraits<Form>::schema.num_returns>,
      with_data, options);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_STRUCTURED_H_
