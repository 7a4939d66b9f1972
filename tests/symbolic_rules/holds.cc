#include "switchboard/tests/symbolic_rules/holds.h"

#include <optional>

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/shape/memory_format.h"

namespace sb {
namespace {

constexpr Numbers kNumbers[] = {{3, 8, 9}, {1, 8, 9}, {0, 8, 9}, {2, 1, 7},   {5, 4, 1}, {7, 9, 8},
                                {3, 0, 9}, {3, 9, 0}, {1, 1, 1}, {4, 12, 12}, {2, 3, 4}, {6, 2, 2}};
constexpr const char* kNames[] = {"n", "h", "w"};

IntrusivePtr<ShapeEnv> make_env() {
  return ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false});
}
Sizes plain_sizes(const Numbers& numbers) { return {numbers[0], numbers[1], numbers[2]}; }
Sizes backed_sizes(ShapeEnv& env, const Numbers& hints) {
  return {env.create_symint(hints[0], kNames[0]), env.create_symint(hints[1], kNames[1]),
          env.create_symint(hints[2], kNames[2])};
}
SymInt unbacked_size(ShapeEnv& env) {
  SymInt size = env.create_unbacked_symint();
  constrain_range_for_size(size);
  return size;
}

// Null where it throws.
std::optional<Results> run_with_numbers(const Program& program, const Numbers& numbers) {
  try {
    return program(plain_sizes(numbers));
  } catch (const Error&) {
    return std::nullopt;
  }
}

symbolic::Expr expr_of(const SymInt& size) {
  return static_cast<const ExprSymNode*>(size.node())->expr();
}
// The symbols that were asked for, with those numbers; what became a number has no symbol.
symbolic::SymbolValues values_of(const Sizes& sizes, const Numbers& numbers) {
  symbolic::SymbolValues values;
  const SymInt* const symbols[] = {&sizes.n, &sizes.h, &sizes.w};
  for (size_t i = 0; i < 3; ++i) values[expr_of(*symbols[i])] = {.i = numbers[i]};
  return values;
}

std::string evaluated(SymIntArrayRef sizes, const symbolic::SymbolValues& values) {
  return absl::StrJoin(sizes, ", ", [&](std::string* text, const SymInt& size) {
    *text += size.is_symbolic() ? str_cat(symbolic::evaluate(expr_of(size), values).value().i)
                                : size.to_string();
  });
}
std::string shape_of(const Tensor& t, const symbolic::SymbolValues& values) {
  if (!t.defined()) return "undefined";
  return str_cat(to_string(t.dtype()), "[", evaluated(t.sym_sizes(), values), "] with strides [",
                 evaluated(t.sym_strides(), values), "]");
}
std::string shapes_of(const Results& results, const symbolic::SymbolValues& values) {
  return absl::StrJoin(results.tensors, " and ",
                       [&](std::string* text, const Tensor& t) { *text += shape_of(t, values); });
}
std::string numbers_text(const Numbers& numbers) {
  return str_cat("n=", numbers[0], " h=", numbers[1], " w=", numbers[2], ": ");
}
std::string shapes_differ(const Results& with_symbols, const symbolic::SymbolValues& values,
                          const Results& with_numbers, const Numbers& numbers) {
  const std::string got = shapes_of(with_symbols, values), expected = shapes_of(with_numbers, {});
  if (got == expected) return "";
  return str_cat(numbers_text(numbers), "expected ", expected, ", got ", got);
}

std::vector<std::pair<std::string, int64_t>> sources_of(const Numbers& numbers) {
  std::vector<std::pair<std::string, int64_t>> sources;
  for (size_t i = 0; i < 3; ++i) sources.emplace_back(kNames[i], numbers[i]);
  return sources;
}

}  // namespace

Tensor Sizes::operator()(std::initializer_list<SymInt> sizes, DType dtype,
                         MemoryFormat format) const {
  const SymIntArrayRef list = sizes;
  return empty_with_symbols(list, strides_in_format<SymInt>(list, format), dtype);
}

std::string guards_of(const Program& program, Numbers hints) {
  const IntrusivePtr<ShapeEnv> env = make_env();
  program(backed_sizes(*env, hints));
  return absl::StrJoin(env->guards(), ", ",
                       [](std::string* text, const Guard& guard) { *text += guard.text; });
}

std::string difference(const Program& program, Numbers hints) {
  const IntrusivePtr<ShapeEnv> env = make_env();
  const Sizes symbols = backed_sizes(*env, hints);
  const Results with_symbols = program(symbols);
  for (const Numbers& numbers : kNumbers) {
    const std::optional<Results> with_numbers = run_with_numbers(program, numbers);
    const GuardsResult guards = env->evaluate_guards(sources_of(numbers));
    if (!with_numbers) {
      if (guards.holds) return numbers_text(numbers) + "throws, and no guard says so";
      continue;
    }
    const std::string text =
        shapes_differ(with_symbols, values_of(symbols, numbers), *with_numbers, numbers);
    if (guards.holds && !text.empty()) return text;
    if (!guards.holds && text.empty()) {
      return str_cat(numbers_text(numbers), "refused, though the shapes are right: ", guards.failed,
                     " by ", to_string(guards.origin));
    }
  }
  return "";
}

std::string difference_unbacked(const Program& program) {
  const IntrusivePtr<ShapeEnv> env = make_env();
  const Sizes symbols = {unbacked_size(*env), unbacked_size(*env), unbacked_size(*env)};
  const Results with_symbols = program(symbols);
  if (!env->guards().empty()) return "recorded " + env->guards()[0].text;
  for (const Numbers& numbers : kNumbers) {
    if (std::ranges::any_of(numbers, [](int64_t size) { return size < 2; })) continue;
    const std::optional<Results> with_numbers = run_with_numbers(program, numbers);
    if (!with_numbers) continue;
    const std::string text =
        shapes_differ(with_symbols, values_of(symbols, numbers), *with_numbers, numbers);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace sb
