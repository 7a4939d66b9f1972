// Checks what the schema of a custom operator promises of its results: that they are new tensors,
// which share no memory with its arguments, nor with one another; or that they are the arguments
// that it writes to. A function that breaks this would change other tensors behind autograd's back,
// and compilers'.

#ifndef SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_
#define SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/storage.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb::internal {

enum class ResultPromise : uint8_t {
  New,      // new tensors
  Written,  // the arguments that are written to, in their order (Tag::inplace, Tag::out)
  None,     // whatever the schema says of shared memory
};
ResultPromise result_promise(const FunctionSchema& schema, TagSet tags);

// Watches one call. As `_c_check_aliasing_constraint`.
class ResultCheck {
 public:
  ResultCheck(const OperatorHandle& op, ResultPromise promise) : op_(op), promise_(promise) {}

  // Arguments and results in the order of the schema.
  void note_argument(const IValue& value);
  // Throws RuntimeError that names the result, what it shares memory with or is not, and the
  // schema.
  void check_result(const IValue& value);

 private:
  void check_written(const IValue& value) const;

  struct Seen {
    Storage storage;  // kept, so that no new one takes its address
    size_t index;     // of the argument or result
  };
  using List = absl::InlinedVector<Seen, 4>;

  const OperatorHandle& op_;
  const ResultPromise promise_;
  absl::InlinedVector<IValue, 2> written_;  // arguments that are
  List arguments_;
  List results_;
  size_t num_arguments_ = 0;
  size_t num_results_ = 0;
};

// The function of a kernel with that check around it.
template <class R, class... A>
struct CheckedKernel {
  template <class F>
  static KernelFunction make(F f, const OperatorHandle& op, ResultPromise promise) {
    if constexpr (FunctionTypeOf<F>::takes_key_set) {
      return make_kernel(
          [f = std::move(f), op, promise](DispatchKeySet keys, A... args) mutable -> R {
            return checked([&] { return f(keys, args...); }, op, promise, args...);
          });
    } else {
      return make_kernel([f = std::move(f), op, promise](A... args) mutable -> R {
        return checked([&] { return f(args...); }, op, promise, args...);
      });
    }
  }

 private:
  template <class Run, class... B>
  static R checked(Run run, const OperatorHandle& op, ResultPromise promise, const B&... args) {
    if constexpr (std::is_void_v<R>) {
      run();
    } else {
      ResultCheck call(op, promise);
      (call.note_argument(value_of(args)), ...);
      R result = run();
      check(&call, result);
      return result;
    }
  }
  template <class T>
  static void check(ResultCheck* call, const T& result) {
    call->check_result(value_of(result));
  }
  template <class... T>
  static void check(ResultCheck* call, const std::tuple<T...>& results) {
    std::apply([&](const auto&... result) { (call->check_result(value_of(result)), ...); },
               results);
  }
  // Only tensors are of interest.
  template <class T>
  static IValue value_of(const T& value) {
    if constexpr (base_of(type_code_of<T>()) == BaseType::Tensor)
      return box(value);
    else
      return {};
  }
  template <class T>
  static constexpr TypeCode type_code_of() {
    if constexpr (SchemaArgument<T>)
      return CodeOfArgument<std::decay_t<T>>::value;
    else
      return CodeOfReturn<std::decay_t<T>>::value;
  }
};

// A boxed kernel with that check around it.
template <class F>
KernelFunction make_checked_boxed_kernel(F f, ResultPromise promise) {
  return make_kernel(
      [f = std::move(f), promise](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        const FunctionSchema& schema = op.schema();
        ResultCheck call(op, promise);
        for (size_t i = stack->size() - schema.arguments.size(); i < stack->size(); ++i)
          call.note_argument((*stack)[i]);
        f(op, keys, stack);
        for (size_t i = stack->size() - schema.returns.size(); i < stack->size(); ++i)
          call.check_result((*stack)[i]);
      });
}

// The same for a kernel that somebody else has made.
KernelFunction make_checked_kernel(const KernelFunction& kernel, ResultPromise promise);

// A kernel of a custom operator.
template <class F>
KernelFunction make_checked_kernel(F f, const OperatorHandle& op, ResultPromise promise) {
  if constexpr (std::is_same_v<F, Fallthrough> || std::is_same_v<F, KernelFunction>) {
    return make_kernel(std::move(f));
  } else {
    if constexpr (!is_boxed_kernel<F>) check_not_empty(f);
    if (promise == ResultPromise::None) return make_kernel(std::move(f));
    if constexpr (is_boxed_kernel<F>)
      return make_checked_boxed_kernel(std::move(f), promise);
    else
      return FunctionTypeOf<F>::template Apply<CheckedKernel>::make(std::move(f), op, promise);
  }
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_
