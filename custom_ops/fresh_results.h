// Checks the promise of a custom operator that its results are new tensors, which share no memory
// with its arguments, nor with one another. A function that breaks this would change other tensors
// behind autograd's back, and compilers'.

#ifndef SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_
#define SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/storage.h"
#include "switchboard/dispatch/make_kernel.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/schema/boxing.h"

namespace sb::internal {

// Watches one call. As `_c_check_aliasing_constraint`.
class FreshResults {
 public:
  explicit FreshResults(const OperatorHandle& op) : op_(op) {}

  // Arguments and results in the order of the schema.
  void note_argument(const IValue& value);
  // Throws RuntimeError that names the result, what it shares memory with, and the schema.
  void check_result(const IValue& value);

 private:
  struct Seen {
    Storage storage;  // kept, so that no new one takes its address
    size_t index;     // of the argument or result
  };
  using List = absl::InlinedVector<Seen, 4>;

  const OperatorHandle& op_;
  List arguments_;
  List results_;
  size_t num_arguments_ = 0;
  size_t num_results_ = 0;
};

// The function of a kernel with that check around it.
template <class R, class... A>
struct FreshKernel {
  template <class F>
  static KernelFunction make(F f, const OperatorHandle& op) {
    if constexpr (FunctionTypeOf<F>::takes_key_set) {
      return make_kernel([f = std::move(f), op](DispatchKeySet keys, A... args) mutable -> R {
        return checked([&] { return f(keys, args...); }, op, args...);
      });
    } else {
      return make_kernel([f = std::move(f), op](A... args) mutable -> R {
        return checked([&] { return f(args...); }, op, args...);
      });
    }
  }

 private:
  template <class Run, class... B>
  static R checked(Run run, const OperatorHandle& op, const B&... args) {
    if constexpr (std::is_void_v<R>) {
      run();
    } else {
      FreshResults fresh(op);
      (fresh.note_argument(value_of(args)), ...);
      R result = run();
      check(&fresh, result);
      return result;
    }
  }
  template <class T>
  static void check(FreshResults* fresh, const T& result) {
    fresh->check_result(value_of(result));
  }
  template <class... T>
  static void check(FreshResults* fresh, const std::tuple<T...>& results) {
    std::apply([&](const auto&... result) { (fresh->check_result(value_of(result)), ...); },
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

// A kernel of a custom operator. Boxed ones and those of schemas that say what is shared are taken
// as they are.
template <class F>
KernelFunction make_fresh_kernel(F f, const OperatorHandle& op, bool results_are_new) {
  if constexpr (std::is_same_v<F, Fallthrough> || std::is_same_v<F, KernelFunction> ||
                is_boxed_kernel<F>) {
    return make_kernel(std::move(f));
  } else {
    check_not_empty(f);
    if (!results_are_new) return make_kernel(std::move(f));
    return FunctionTypeOf<F>::template Apply<FreshKernel>::make(std::move(f), op);
  }
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_FRESH_RESULTS_H_
