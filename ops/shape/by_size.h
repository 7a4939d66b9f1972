// Shape rules and kernels of one text for sizes that are numbers and for symbolic ones.
//
// Reading a symbolic tensor's sizes as numbers settles them: right, but what is recorded then
// accepts no other sizes. A rule that is a template over the type of a size reads them as they are:
//
//   template <class Int>
//   BasicTensorMeta<Int> mm_rule(const Tensor& self, const Tensor& mat2) {
//     SB_CHECK(sizes_of<Int>(self)[1] == sizes_of<Int>(mat2)[0], ...);
//     return {{sizes_of<Int>(self)[0], sizes_of<Int>(mat2)[1]}, self.dtype()};
//   }
//
// SB_CHECK on symbols records what it checks; so does `if`. `known(a == b)` is true only where that
// holds for all sizes, and records nothing.

#ifndef SWITCHBOARD_OPS_SHAPE_BY_SIZE_H_
#define SWITCHBOARD_OPS_SHAPE_BY_SIZE_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/core/symbols/symbolic_shape.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/shape/dims.h"

namespace sb {

// int64_t or SymInt.
template <class Int>
concept SizeType = std::same_as<Int, int64_t> || std::same_as<Int, SymInt>;

template <SizeType Int>
using SizesRef = std::conditional_t<std::same_as<Int, int64_t>, IntArrayRef, SymIntArrayRef>;
template <SizeType Int>
using SizeVector = std::conditional_t<std::same_as<Int, int64_t>, DimVector, SymDimVector>;

template <SizeType Int>
SizesRef<Int> sizes_of(const Tensor& t) {
  if constexpr (std::same_as<Int, int64_t>)
    return t.sizes();
  else
    return t.sym_sizes();
}
template <SizeType Int>
SizesRef<Int> strides_of(const Tensor& t) {
  if constexpr (std::same_as<Int, int64_t>)
    return t.strides();
  else
    return t.sym_strides();
}
template <SizeType Int>
Int numel_of(const Tensor& t) {
  if constexpr (std::same_as<Int, int64_t>)
    return t.numel();
  else
    return t.sym_numel();
}
template <SizeType Int>
Int storage_offset_of(const Tensor& t) {
  if constexpr (std::same_as<Int, int64_t>)
    return t.storage_offset();
  else
    return t.sym_storage_offset();
}

// An argument of the schema type SymInt[] (or SymInt), of which none is a symbol for int64_t.
template <SizeType Int>
SizesRef<Int> sizes_as(SymIntArrayRef sizes) {
  if constexpr (std::same_as<Int, int64_t>)
    return sizes.expect_ints();
  else
    return sizes;
}
template <SizeType Int>
Int size_as(const SymInt& size) {
  if constexpr (std::same_as<Int, int64_t>)
    return size.expect_int();
  else
    return size;
}
// Products that do not fit throw RuntimeError.
inline int64_t product_of(int64_t a, int64_t b) { return checked_mul(a, b); }
inline SymInt product_of(const SymInt& a, const SymInt& b) { return a * b; }

// Compares a size with 1 as same_size() does.
template <SizeType Int>
bool is_one(const Int& size) {
  return same_size(size, Int(1));
}

// "[2, s0]", for messages.
std::string symbolic_shape_text(SymIntArrayRef sizes);
std::string shape_text(std::same_as<SymIntArrayRef> auto sizes) {
  return symbolic_shape_text(sizes);
}

// A view of base's storage, which it cannot leave.
inline Tensor alias_of_shape(const Tensor& base, IntArrayRef sizes, IntArrayRef strides,
                             int64_t offset) {
  return alias_with_unchecked(base, sizes, strides, offset);
}
inline Tensor alias_of_shape(const Tensor& base, SymIntArrayRef sizes, SymIntArrayRef strides,
                             const SymInt& offset) {
  return alias_with_symbols(base, sizes, strides, offset);
}

// f.operator()<SymInt>() if `symbolic`, else f.operator()<int64_t>().
template <class F>
auto by_size(bool symbolic, F&& f) {
  if (symbolic) [[unlikely]]
    return f.template operator()<SymInt>();
  return f.template operator()<int64_t>();
}
// Returns whether one of them is symbolic.
template <class T>
bool any_symbolic(const T&) {
  return false;
}
inline bool any_symbolic(const Tensor& t) { return t.is_symbolic(); }
inline bool any_symbolic(const SymInt& s) { return s.is_symbolic(); }
inline bool any_symbolic(SymIntArrayRef list) {
  for (const SymInt& s : list)
    if (s.is_symbolic()) return true;
  return false;
}
inline bool any_symbolic(TensorList list) {
  for (const Tensor& t : list)
    if (t.is_symbolic()) return true;
  return false;
}
template <class T>
bool any_symbolic(const std::optional<T>& value) {
  return value && any_symbolic(*value);
}
template <class A, class B, class... Rest>
bool any_symbolic(const A& a, const B& b, const Rest&... rest) {
  return any_symbolic(a) || any_symbolic(b) || (any_symbolic(rest) || ...);
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_BY_SIZE_H_
