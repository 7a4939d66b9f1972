#include "switchboard/fake/unbacked_bindings.h"

#include <algorithm>
#include <functional>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

using Part = UnbackedBinding::Part;
using Visit = std::function<void(const SymValue& number, Part part, size_t dim)>;

void visit_tensor(const Tensor& t, const Visit& visit) {
  if (!t.defined()) return;
  const SymIntArrayRef sizes = t.sym_sizes(), strides = t.sym_strides();
  for (size_t d = 0; d < sizes.size(); ++d) visit(sizes[d].value(), Part::Size, d);
  for (size_t d = 0; d < strides.size(); ++d) visit(strides[d].value(), Part::Stride, d);
  visit(t.sym_storage_offset().value(), Part::StorageOffset, 0);
}

// Calls visit(elements, number, part, dim) for every number of a result.
template <class F>
void visit_numbers(const IValue& value, std::vector<size_t>& elements, F&& visit) {
  const auto here = [&](const SymValue& number, Part part, size_t dim) {
    visit(elements, number, part, dim);
  };
  const auto in_list = [&](const auto& list, auto&& each) {
    for (size_t i = 0; i < list.size(); ++i) {
      elements.push_back(i);
      each(list[i]);
      elements.pop_back();
    }
  };
  if (value.is_Tensor()) {
    visit_tensor(value.to_tensor(), here);
  } else if (value.is_TensorList()) {
    in_list(value.to_tensor_list(), [&](const Tensor& t) { visit_tensor(t, here); });
  } else if (value.is_SymIntList()) {
    in_list(value.to_sym_int_list(), [&](const SymInt& n) { here(n.value(), Part::Number, 0); });
  } else if (value.is_List()) {
    in_list(value.to_list(),
            [&](const IValue& element) { visit_numbers(element, elements, visit); });
  } else if (value.is_symbolic() || value.is_Int() || value.is_Double()) {
    here(value.to_scalar().sym_value(), Part::Number, 0);
  } else if (value.is_Bool()) {
    here(SymValue::of_bool(value.to_bool()), Part::Number, 0);
  }
}

}  // namespace

std::string UnbackedBinding::to_string() const {
  std::string text = str_cat(symbol.node()->to_string(), " is result ", result);
  for (const size_t i : elements) text += str_cat("[", i, "]");
  switch (part) {
    case Part::Number:
      return text;
    case Part::Size:
      return str_cat(text, ".size(", dim, ")");
    case Part::Stride:
      return str_cat(text, ".stride(", dim, ")");
    case Part::StorageOffset:
      return str_cat(text, ".storage_offset()");
  }
  SB_ASSERT(false);
}

std::vector<UnbackedBinding> unbacked_bindings(const ShapeEnv& env, size_t before,
                                               absl::Span<const IValue> results) {
  const std::vector<SymbolInfo> symbols = env.symbols();
  std::vector<UnbackedBinding> bindings;
  for (size_t s = before; s < symbols.size(); ++s) {
    const SymbolInfo& symbol = symbols[s];
    if (!symbol.unbacked || !symbol.replacement.empty()) continue;
    const size_t found = bindings.size();
    for (size_t i = 0; i < results.size() && bindings.size() == found; ++i) {
      std::vector<size_t> elements;
      visit_numbers(results[i], elements,
                    [&](const std::vector<size_t>& at, const SymValue& n, Part part, size_t dim) {
                      if (bindings.size() > found || !n.is_symbolic()) return;
                      if (n.node()->to_string() == symbol.name)
                        bindings.push_back({n, i, at, part, dim});
                    });
    }
    SB_CHECK(bindings.size() > found, "unbacked_bindings: no result is ", symbol.name,
             ", which was made by ", to_string(symbol.origin));
  }
  return bindings;
}

void rebind_unbacked(absl::Span<const UnbackedBinding> bindings, absl::Span<const IValue> results) {
  for (const UnbackedBinding& b : bindings) {
    std::optional<SymValue> now;
    if (b.result < results.size()) {
      std::vector<size_t> elements;
      visit_numbers(results[b.result], elements,
                    [&](const std::vector<size_t>& at, const SymValue& n, Part part, size_t dim) {
                      if (at == b.elements && part == b.part && dim == b.dim) now = n;
                    });
    }
    SB_CHECK_VALUE(now, "rebind_unbacked: the results have no such place: ", b.to_string());
    ShapeEnv& env = shape_env_of(*b.symbol.node());
    const std::string name = b.symbol.node()->to_string();
    if (now->is_symbolic()) {
      const SymValue same[] = {b.symbol, *now};
      check(SymBool(sym_apply(SymOp::Eq, same)), "as in the run before");
    } else if (b.symbol.kind() == SymKind::Float) {
      env.bind_unbacked_float(name, now->as_float());
    } else {
      env.bind_unbacked(name, now->as_int());
    }
  }
}

}  // namespace sb
