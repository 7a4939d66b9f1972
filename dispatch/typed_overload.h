// Typed calls of an operator that was looked up at run time.

#ifndef SWITCHBOARD_DISPATCH_TYPED_OVERLOAD_H_
#define SWITCHBOARD_DISPATCH_TYPED_OVERLOAD_H_

#include <utility>

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// As `c10::TypedOperatorHandle`: an operator as a function R(A...), called without boxing. One
// word; valid as long as its dispatcher; a call throws NotImplementedError after the operator was
// removed.
//
//   TypedOverload<Tensor(const Tensor&, const Tensor&, const Scalar&)> add(op);
//   Tensor z = add(x, y, 1);
template <class Signature>
class TypedOverload;

template <class R, class... A>
class TypedOverload<R(A...)> {
  static_assert(ExactSignature<R, A...>,
                "an argument or the return is not passed as the schema's C++ types are: see "
                "argument_type and return_type (cpp_types.h)");

 public:
  // Throws TypeError unless the schema has these C++ types (cpp_types.h), NotImplementedError if
  // the operator was removed. A signature that differs from those by a reference does not compile.
  explicit TypedOverload(const OperatorHandle& op) : entry_(&op.entry()) {
    entry_->check_signature(cpp_signature<R, A...>);
  }

  R operator()(A... args) const {
    return Call::call(*entry_, Found{entry_}, std::forward<A>(args)...);
  }
  // Enters the operator at the highest key of exactly `keys`; see OperatorHandle::redispatch_boxed.
  R redispatch(DispatchKeySet keys, A... args) const {
    return Call::redispatch(*entry_, Found{entry_}, keys, args...);
  }

 private:
  using Call = internal::TypedCall<R, A...>;
  struct Found {
    OperatorEntry* found;
    OperatorEntry* entry() const { return found; }
  };

  OperatorEntry* entry_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_TYPED_OVERLOAD_H_
