#include "switchboard/core/symbols/symbolic_shape.h"

#include <algorithm>
#include <utility>

namespace sb {

SymDimVector contiguous_strides(SymIntArrayRef sizes) {
  SymDimVector strides(sizes.size());
  SymInt stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    if (d != 0) stride *= sym_max(sizes[d], SymInt(1));
  }
  return strides;
}

namespace {

bool known(const SymBool& truth) { return statically_known(truth).value_or(false); }
// What nobody can tell before the data is there is taken not to be so.
bool asked(const SymBool& truth) {
  if (const std::optional<bool> sure = statically_known(truth)) return *sure;
  if (has_hint(truth)) return guard_bool(truth);
  try {
    return guard_size_oblivious(truth);
  } catch (const RuntimeError&) {
    return false;
  }
}

}  // namespace

bool is_known_dense(const SymbolicShape& shape, absl::Span<const size_t> order) {
  // As strides are made: a size that may be 0 counts as 1. Where one is, they may be any.
  SymInt usual = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const SymInt &size = shape.sizes[order[i]], &stride = shape.strides[order[i]];
    const auto is_plain_product = [&] {
      SymInt product = 1;
      for (size_t k = 0; k < i; ++k) product *= shape.sizes[order[k]];
      return known(stride == product);
    };
    // Without a second element a dimension has any stride.
    if (!known(stride == usual) && !known(size <= 1) && !is_plain_product()) return false;
    usual *= sym_max(size, SymInt(1));
  }
  return true;
}

bool is_known_dense(const SymbolicShape& shape, absl::Span<const int64_t> sizes,
                    absl::Span<const int64_t> strides) {
  absl::InlinedVector<size_t, 5> order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(d);
  std::ranges::stable_sort(order, {}, [&](size_t d) { return std::pair(strides[d], sizes[d]); });
  return is_known_dense(shape, order);
}

bool is_dense(const SymbolicShape& shape, absl::Span<const size_t> order) {
  if (is_known_dense(shape, order)) return true;
  SymInt expected = 1;
  for (const size_t d : order) {
    const SymInt& size = shape.sizes[d];
    const SymInt& stride = shape.strides[d];
    if (!known(stride == expected) && !asked(size == 1) && !asked(stride == expected)) return false;
    expected *= size;
  }
  return true;
}

}  // namespace sb
