// The in-place and out= schemas of an operator, derived at compile time from its functional schema:
//
//   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
//   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
//
// The overload name of the out= form is irregular in ATen ("out", "Tensor_out", "dim_max"), so it
// is given. Operators that return several Tensors have an out= form, whose outs are named:
//
//   aten::aminmax(Tensor self) -> (Tensor min, Tensor max)
//   aten::aminmax.out(Tensor self, *, Tensor(a!) min, Tensor(b!) max) ->
//       (Tensor(a!) min, Tensor(b!) max)
//
// Write other operators with SB_OP.

#ifndef SWITCHBOARD_OPS_DEFINE_DERIVED_SCHEMA_H_
#define SWITCHBOARD_OPS_DEFINE_DERIVED_SCHEMA_H_

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// A schema made at compile time. Schemas of ATen have fewer characters than this.
struct DerivedSchema {
  static constexpr size_t kCapacity = 512;

  std::array<char, kCapacity> text{};
  size_t length = 0;

  consteval void append(std::string_view part) {
    for (char c : part) text.at(length++) = c;
  }
  // "Tensor(a!)", "Tensor(b!)", ...
  consteval void append_written_tensor(size_t i) {
    append("Tensor(");
    text.at(length++) = static_cast<char>('a' + i);
    append("!)");
  }
  constexpr std::string_view view() const { return {text.data(), length}; }
};

namespace internal {

struct SchemaParts {
  std::string_view name;       // "aten::add"
  std::string_view overload;   // ".Tensor", or nothing
  std::string_view arguments;  // without the parentheses
};

consteval SchemaParts split_schema(std::string_view functional) {
  const size_t open = functional.find('(');
  const size_t close = functional.rfind(") -> Tensor");
  if (close == std::string_view::npos || close + 11 != functional.size()) {
    throw "only an operator that returns one Tensor has derived forms";
  }
  const std::string_view full_name = functional.substr(0, open);
  const size_t dot = full_name.find('.');
  return {full_name.substr(0, dot),
          dot == std::string_view::npos ? std::string_view() : full_name.substr(dot),
          functional.substr(open + 1, close - open - 1)};
}

}  // namespace internal

// `self`, the first argument, is written to and returned.
consteval DerivedSchema inplace_schema(std::string_view functional) {
  const internal::SchemaParts parts = internal::split_schema(functional);
  if (!parts.arguments.starts_with("Tensor self")) throw "the first argument is not `Tensor self`";
  DerivedSchema result;
  result.append(parts.name);
  result.append("_");
  result.append(parts.overload);
  result.append("(Tensor(a!)");
  result.append(parts.arguments.substr(6));
  result.append(") -> Tensor(a!)");
  return result;
}

// A keyword-only last argument `out` is written to and returned.
consteval DerivedSchema out_schema(std::string_view functional, std::string_view overload) {
  const internal::SchemaParts parts = internal::split_schema(functional);
  DerivedSchema result;
  result.append(parts.name);
  result.append(".");
  result.append(overload);
  result.append("(");
  result.append(parts.arguments);
  if (parts.arguments.find("*, ") == std::string_view::npos) {
    result.append(parts.arguments.empty() ? "*" : ", *");
  }
  result.append(", Tensor(a!) out) -> Tensor(a!)");
  return result;
}

// Keyword-only last arguments of the given names are written to and returned. The results keep
// their own names.
consteval DerivedSchema multi_out_schema(std::string_view functional, std::string_view overload,
                                         std::initializer_list<std::string_view> outs) {
  const size_t open = functional.find('(');
  const size_t close = functional.rfind(") -> (Tensor");
  if (close == std::string_view::npos) throw "expected an operator that returns several Tensors";
  const std::string_view full_name = functional.substr(0, open);
  const std::string_view arguments = functional.substr(open + 1, close - open - 1);
  DerivedSchema result;
  result.append(full_name.substr(0, full_name.find('.')));
  result.append(".");
  result.append(overload);
  result.append("(");
  result.append(arguments);
  if (arguments.find("*, ") == std::string_view::npos) {
    result.append(arguments.empty() ? "*" : ", *");
  }
  size_t i = 0;
  for (std::string_view out : outs) {
    result.append(", ");
    result.append_written_tensor(i++);
    result.append(" ");
    result.append(out);
  }
  // Each "Tensor" among the results is annotated.
  std::string_view results = functional.substr(close + 5);
  result.append(") -> ");
  for (i = 0; i < outs.size(); ++i) {
    const size_t at = results.find("Tensor");
    if (at == std::string_view::npos) throw "expected as many results as outs";
    result.append(results.substr(0, at));
    result.append_written_tensor(i);
    results.remove_prefix(at + 6);
  }
  if (results.find("Tensor") != std::string_view::npos) throw "expected as many outs as results";
  result.append(results);
  return result;
}

}  // namespace sb

// Declares `handle` and `handle_out`: operators with several results. The names of the outs follow
// the overload name of the out= form.
#define SB_STRUCTURED_MULTI(handle, schema_text, out_overload, ...)       \
  struct handle##_out_op {                                                \
    static constexpr ::sb::DerivedSchema derived =                        \
        ::sb::multi_out_schema(schema_text, out_overload, {__VA_ARGS__}); \
    static constexpr ::std::string_view schema = derived.view();          \
  };                                                                      \
  struct handle##_op {                                                    \
    static constexpr ::std::string_view schema = schema_text;             \
    using Out = handle##_out_op;                                          \
  };                                                                      \
  inline constinit const ::sb::Op<handle##_op> handle{};                  \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

// Declares `handle` by SB_OP together with `handle_out`: operators without an in-place form.
#define SB_STRUCTURED_NO_INPLACE(handle, schema_text, out_overload)                             \
  struct handle##_out_op {                                                                      \
    static constexpr ::sb::DerivedSchema derived = ::sb::out_schema(schema_text, out_overload); \
    static constexpr ::std::string_view schema = derived.view();                                \
  };                                                                                            \
  struct handle##_op {                                                                          \
    static constexpr ::std::string_view schema = schema_text;                                   \
    using Out = handle##_out_op;                                                                \
  };                                                                                            \
  inline constinit const ::sb::Op<handle##_op> handle{};                                        \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

// Declares `handle`, `handle_` and `handle_out`.
#define SB_STRUCTURED(handle, schema_text, out_overload)                                        \
  struct handle##_out_op {                                                                      \
    static constexpr ::sb::DerivedSchema derived = ::sb::out_schema(schema_text, out_overload); \
    static constexpr ::std::string_view schema = derived.view();                                \
  };                                                                                            \
  struct handle##_inplace_op {                                                                  \
    static constexpr ::sb::DerivedSchema derived = ::sb::inplace_schema(schema_text);           \
    static constexpr ::std::string_view schema = derived.view();                                \
  };                                                                                            \
  struct handle##_op {                                                                          \
    static constexpr ::std::string_view schema = schema_text;                                   \
    using Out = handle##_out_op;                                                                \
    using Inplace = handle##_inplace_op;                                                        \
  };                                                                                            \
  inline constinit const ::sb::Op<handle##_op> handle{};                                        \
  inline constinit const ::sb::Op<handle##_inplace_op> handle##_{};                             \
  inline constinit const ::sb::Op<handle##_out_op> handle##_out {}

#endif  // SWITCHBOARD_OPS_DEFINE_DERIVED_SCHEMA_H_
