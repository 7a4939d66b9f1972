// A typed call as compiled code sees it: type codes, and pointers to what they tell.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_TYPED_FRAME_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_TYPED_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

struct Kernel;
class OperatorEntry;

namespace internal {

struct TypedFrame;

// A bit for each argument, the first one lowest.
using ArgumentMask = uint64_t;
constexpr ArgumentMask mask_of(const CppSignature& types, auto&& holds) {
  ArgumentMask mask = 0;
  for (size_t i = 0; i < types.arguments.size(); ++i)
    if (holds(types.arguments[i])) mask |= ArgumentMask{1} << i;
  return mask;
}
constexpr bool is_tensor_code(TypeCode code) { return code == SB_T(Tensor); }
constexpr bool is_tensors_code(TypeCode code) {
  return (base_of(code) == BaseType::Tensor && !is_tensor_code(code)) || code == kDeepType;
}
constexpr bool is_special_code(TypeCode code) {
  return base_of(code) == BaseType::SymInt || base_of(code) == BaseType::Scalar ||
         base_of(code) == BaseType::Storage;
}
constexpr bool is_special_but_scalar(TypeCode code) {
  return is_special_code(code) && code != SB_T(Scalar);
}
// Calls f(i) for each bit.
template <class F>
[[gnu::always_inline]] inline void for_each_argument(ArgumentMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<size_t>(__builtin_ctzll(mask)));
}

// The slow path's description of a C++ signature; there is one for each.
struct CallDescription {
  const CppSignature* types;
  ArgumentMask tensors;        // arguments that are a Tensor
  ArgumentMask other_tensors;  // that may hold others: optional ones, lists, values of any type
  ArgumentMask special;        // that may be a symbolic number or a storage
  ArgumentMask special_but_scalar;
  bool returns_tensor;  // and nothing else
  // Calls the unboxed entry of a kernel of the signature, and moves what it returns to the results.
  void (*enter)(const Kernel& kernel, DispatchKeySet keys, const TypedFrame& frame);
};

// One call: where the arguments are, and where the results go. These exist: the slow path assigns
// to them.
struct TypedFrame {
  const CallDescription& description;
  const void* const* arguments;
  void* const* results;  // one for each return
  void* result;          // what the function returns: a tuple if there are several

  void enter(const Kernel& kernel, DispatchKeySet keys) const {
    description.enter(kernel, keys, *this);
  }
};

// f(value) for an argument, or a result, in its C++ type. Each use is a switch over all types: for
// code that is compiled once.
template <class F>
decltype(auto) with_argument(TypeCode code, const void* argument, F&& f) {
  if (code == SB_T(Tensor)) [[likely]]
    return f(*static_cast<const Tensor*>(argument));
  switch (code) {
#define SB_CASE(code, argument_type, result_type) \
  case code:                                      \
    return f(*static_cast<const std::decay_t<argument_type>*>(argument));
    SB_FORALL_CPP_TYPES(SB_CASE)
#undef SB_CASE
    default:
      return f(*static_cast<const IValue*>(argument));
  }
}
template <class F>
decltype(auto) with_result(TypeCode code, void* result, F&& f) {
  if (code == SB_T(Tensor)) [[likely]]
    return f(*static_cast<Tensor*>(result));
  switch (code) {
#define SB_CASE(code, argument_type, result_type) \
  case code:                                      \
    return f(*static_cast<result_type*>(result));
    SB_FORALL_CPP_TYPES(SB_CASE)
#undef SB_CASE
    default:
      return f(*static_cast<IValue*>(result));
  }
}

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_TYPED_FRAME_H_
