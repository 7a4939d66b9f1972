// The values that a derivative's formula reads, found at compile time by name in the operator's
// schema.
//
// In `SB_GRAD(self, (grad, other), mul(grad, conj(other)))` the names stand for values:
//
//   grad               the gradient of the (first) result; grad0, grad1, ... those of several
//   grads              all of them: absl::Span<const Tensor>; also those of a list of results
//   self, other, ...   arguments, of their C++ types (const Tensor&, IntArrayRef, ...)
//   self_meta, ...     sizes, dtype and device of a tensor argument, which is not kept for it:
//                      const InputMetadata&; of a list of tensors: absl::Span<const InputMetadata>
//   result             the (first) result; result0, result1, ... or the names that results have
//   needs              of the inputs that the formula is for, which of them want a gradient:
//                      std::array<bool, N>
//
// The values that a formula names are saved with the node, and nothing else is.

#ifndef SWITCHBOARD_AUTOGRAD_FORMULA_H_
#define SWITCHBOARD_AUTOGRAD_FORMULA_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "switchboard/dispatch/schema/schema_literal.h"
#include "switchboard/dispatch/typed_op.h"

namespace sb::internal {

// A string as a template argument.
template <size_t N>
struct FixedString {
  char text[N] = {};
  consteval FixedString(const char (&literal)[N]) {  // NOLINT
    std::copy_n(literal, N, text);
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

enum class SourceKind : uint8_t { Grad, Grads, Argument, Meta, Result, Needs };
struct Source {
  SourceKind kind = SourceKind::Grad;
  uint8_t index = 0;
};

// "(grad, other)" or "self": the names in it, in order.
struct NameList {
  static constexpr size_t kMost = 24;
  std::array<std::string_view, kMost> names{};
  size_t count = 0;
};
consteval NameList split_names(std::string_view text) {
  NameList list;
  size_t i = 0;
  const auto separates = [](char c) { return c == ' ' || c == ',' || c == '(' || c == ')'; };
  while (i < text.size()) {
    while (i < text.size() && separates(text[i])) ++i;
    const size_t begin = i;
    while (i < text.size() && !separates(text[i])) ++i;
    if (i > begin) list.names.at(list.count++) = text.substr(begin, i - begin);
  }
  return list;
}

// The index of an argument of that name; num_arguments where there is none.
consteval size_t find_argument(const SchemaLiteral& schema, std::string_view name) {
  size_t i = 0;
  while (i < schema.num_arguments && schema.arguments[i].name != name) ++i;
  return i;
}

// 0 for "result", 2 for "result2"; more than there can be for everything else.
consteval size_t numbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return 1000;
  if (name.size() == stem.size()) return 0;
  size_t n = 0;
  for (char c : name.substr(stem.size())) {
    if (c < '0' || c > '9') return 1000;
    n = 10 * n + static_cast<size_t>(c - '0');
  }
  return n;
}

consteval Source find_source(const SchemaLiteral& schema, std::string_view name) {
  const auto index = [](size_t i) { return static_cast<uint8_t>(i); };
  if (name == "grads") return {SourceKind::Grads, 0};
  if (name == "needs") return {SourceKind::Needs, 0};
  // Before grad and result, as operators of gradients have arguments of such names; theirs are then
  // the arguments, and the result's gradient is `grad0`, the result `result0`.
  if (const size_t i = find_argument(schema, name); i < schema.num_arguments)
    return {SourceKind::Argument, index(i)};
  if (const size_t i = numbered(name, "grad"); i < schema.num_returns)
    return {SourceKind::Grad, index(i)};
  if (const size_t i = numbered(name, "result"); i < schema.num_returns)
    return {SourceKind::Result, index(i)};
  for (size_t i = 0; i < schema.num_returns; ++i)
    if (schema.returns[i].name == name) return {SourceKind::Result, index(i)};
  if (name.ends_with("_meta")) {
    const size_t i = find_argument(schema, name.substr(0, name.size() - 5));
    if (i < schema.num_arguments) return {SourceKind::Meta, index(i)};
  }
  throw "a formula names what the schema does not have";
}

// The sources of a formula, and the arguments that it is for.
template <class Tag, FixedString names>
consteval auto find_sources() {
  constexpr NameList list = split_names(names.view());
  constexpr const SchemaLiteral& schema = OpTraits<Tag>::schema;
  std::array<Source, list.count> sources{};
  for (size_t i = 0; i < list.count; ++i) sources[i] = find_source(schema, list.names[i]);
  return sources;
}

template <class Tag, FixedString names>
consteval auto find_inputs() {
  constexpr NameList list = split_names(names.view());
  constexpr const SchemaLiteral& schema = OpTraits<Tag>::schema;
  std::array<size_t, list.count> inputs{};
  for (size_t i = 0; i < list.count; ++i) {
    inputs[i] = find_argument(schema, list.names[i]);
    if (inputs[i] == schema.num_arguments) throw "a formula is for what the schema does not have";
  }
  return inputs;
}

}  // namespace sb::internal

namespace sb {

// A formula for the gradients of `inputs`; made by SB_GRAD.
template <internal::FixedString inputs_, internal::FixedString reads_, class F>
struct Formula {
  static constexpr auto inputs = inputs_;
  static constexpr auto reads = reads_;
  using Function = F;
};
template <internal::FixedString inputs, internal::FixedString reads, class F>
constexpr Formula<inputs, reads, F> make_formula(F) {
  return {};
}

}  // namespace sb

// const auto& a, const auto& b, ...
#define SB_PARENS_ ()
#define SB_EXPAND_(...) SB_EXPAND2_(SB_EXPAND2_(SB_EXPAND2_(__VA_ARGS__)))
#define SB_EXPAND2_(...) SB_EXPAND1_(SB_EXPAND1_(SB_EXPAND1_(__VA_ARGS__)))
#define SB_EXPAND1_(...) __VA_ARGS__
#define SB_PARAMETERS_(...) __VA_OPT__(SB_EXPAND_(SB_PARAMETER_(__VA_ARGS__)))
#define SB_PARAMETER_(name, ...) \
  [[maybe_unused]] const auto& name __VA_OPT__(, SB_PARAMETER_AGAIN_ SB_PARENS_(__VA_ARGS__))
#define SB_PARAMETER_AGAIN_() SB_PARAMETER_

// SB_GRAD(self, (grad, other), mul(grad, conj(other))): the gradient of `self` as an expression of
// what is named. For several inputs at once, which the expression gives as a std::array or
// std::tuple: SB_GRAD((input, weight), (grad, ..., needs), ...). For a list of tensors, a
// std::vector. A gradient may be larger than its input where that was broadcast, and of a dtype
// that is not the input's: the engine sums and converts. An undefined one is a gradient of zeros.
#define SB_GRAD(inputs, reads, ...) \
  ::sb::make_formula<#inputs, #reads>([](SB_PARAMETERS_ reads) { return __VA_ARGS__; })

#endif  // SWITCHBOARD_AUTOGRAD_FORMULA_H_
