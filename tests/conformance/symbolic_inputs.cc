#include "switchboard/tests/conformance/symbolic_inputs.h"

#include "absl/strings/str_join.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"

namespace sb::conformance {
namespace {

std::string text(SymIntArrayRef list) {
  return absl::StrJoin(list, ", ",
                       [](std::string* out, const SymInt& s) { *out += s.to_string(); });
}

}  // namespace

IValue read_number(const Json& value,
                   absl::FunctionRef<SymInt(const std::string& path, size_t dim)> size) {
  const auto product = [&](const Json& places) {
    SymInt n = 1;
    for (const Json& place : places)
      n *= size(place.at(0).get<std::string>(), place.at(1).get<size_t>());
    return n;
  };
  if (value.is_object() && value.contains("sym")) return product(value["sym"]);
  if (!value.is_object() || !value.contains("syms")) return read_value(value);
  std::vector<SymInt> list;
  for (const Json& item : value["syms"])
    list.push_back(item.is_number() ? SymInt(item.get<int64_t>()) : product(item));
  return list;
}

const SymbolicInput& SymbolicInputs::find(const std::string& path) const {
  const auto found = std::ranges::find(inputs_, path, &SymbolicInput::path);
  if (found == inputs_.end()) throw MalformedCase(str_cat("no tensor ", path));
  return *found;
}

SymbolicInputs::At SymbolicInputs::at(
    absl::FunctionRef<int64_t(const SymbolicInput& input, size_t d)> size) const {
  At at;
  at.sources = numbers_;
  const auto bind = [&](const SymInt& symbol, std::string source, int64_t value) {
    if (!symbol.is_symbolic()) return;
    const symbolic::Expr e = static_cast<const ExprSymNode*>(symbol.node())->expr();
    if (!e->is_symbol() || !at.values.try_emplace(e, symbolic::Number{.i = value}).second) return;
    at.sources.emplace_back(e->has_unbacked ? *e->name : std::move(source), value);
  };
  for (const SymbolicInput& in : inputs_) {
    Ints sizes;
    for (size_t d = 0; d < in.shape.size(); ++d) sizes.push_back(size(in, d));
    for (size_t d = 0; d < sizes.size(); ++d)
      bind(in.sizes[d], str_cat(in.path, ".size(", d, ")"), sizes[d]);
    const Ints strides = strides_at(in.stride, sizes);
    for (size_t d = 0; d < sizes.size(); ++d)
      bind(in.strides[d], str_cat(in.path, ".stride(", d, ")"), strides[d]);
  }
  return at;
}

int64_t evaluated(const SymInt& n, const symbolic::SymbolValues& values) {
  if (!n.is_symbolic()) return n.expect_int();
  const auto found = symbolic::evaluate(static_cast<const ExprSymNode*>(n.node())->expr(), values);
  return found ? found->i : -1;
}

Difference compare_at(const Json& expected, const IValue& actual,
                      const symbolic::SymbolValues& values) {
  if (!expected.is_object() || !expected.contains("dtype")) return std::nullopt;
  if (!actual.is_Tensor()) return str_cat("expected a tensor, got ", actual.to_string());
  const Tensor& t = actual.to_tensor();
  if (!t.defined()) return "expected a tensor, got an undefined one";
  const std::string dtype = expected["dtype"].get<std::string>();
  if (sb::to_string(t.dtype()) != dtype)
    return str_cat("expected ", dtype, ", got ", sb::to_string(t.dtype()));
  Ints sizes, strides;
  for (const SymInt& s : t.sym_sizes()) sizes.push_back(evaluated(s, values));
  for (const SymInt& s : t.sym_strides()) strides.push_back(evaluated(s, values));
  const Ints shape = expected["shape"].get<Ints>(), stride = expected["stride"].get<Ints>();
  const bool unknown = std::ranges::find(sizes, -1) != sizes.end();
  if (unknown && sizes.size() == shape.size()) return std::nullopt;
  bool same = sizes == shape;
  if (same && std::ranges::find(shape, 0) == shape.end()) {
    for (size_t d = 0; d < shape.size(); ++d) same &= shape[d] == 1 || strides[d] == stride[d];
  }
  if (same) return std::nullopt;
  return str_cat("expected [", absl::StrJoin(shape, ", "), "] with strides [",
                 absl::StrJoin(stride, ", "), "], got [", absl::StrJoin(sizes, ", "), "] with [",
                 absl::StrJoin(strides, ", "), "] from [", text(t.sym_sizes()), "] with [",
                 text(t.sym_strides()), "]");
}

std::string guards_text(const ShapeEnv& env) {
  std::string text;
  for (const Guard& guard : env.guards())
    text += str_cat("\n", guard.text, " by ", sb::to_string(guard.origin));
  return text;
}

}  // namespace sb::conformance
