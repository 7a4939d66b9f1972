// Errors that a caller can cause are exceptions under sb::Error; errors that only Switchboard's own
// code can cause abort through SB_ASSERT.
//
// Messages have one shape: operator, argument, what was expected, what came; then what exists. They
// are facts in lower case, and hold the name of the thing at fault, never only a number.

#ifndef SWITCHBOARD_CORE_ERROR_H_
#define SWITCHBOARD_CORE_ERROR_H_

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "switchboard/core/str_cat.h"

namespace sb {

// The base of everything that Switchboard throws on purpose.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  // The name of the kind, as Python spells it: "RuntimeError", "IndexError", ...
  virtual std::string_view kind() const noexcept { return "RuntimeError"; }
};

// Defines one kind of error. As the Python exception of the same name.
#define SB_DEFINE_ERROR_KIND(Name)                                    \
  class Name : public ::sb::Error {                                   \
   public:                                                            \
    using ::sb::Error::Error;                                         \
    std::string_view kind() const noexcept override { return #Name; } \
  }

SB_DEFINE_ERROR_KIND(RuntimeError);         // the general kind: shapes, devices, aliasing, state
SB_DEFINE_ERROR_KIND(IndexError);           // a dimension or an element out of range
SB_DEFINE_ERROR_KIND(TypeError);            // an argument of the wrong type
SB_DEFINE_ERROR_KIND(ValueError);           // an argument of the right type and a wrong value
SB_DEFINE_ERROR_KIND(NotImplementedError);  // no kernel, or a feature that does not exist

// A result, or its shape, depends on data that a meta or fake tensor does not have. As
// `DataDependentOutputException` and `DynamicOutputShapeException`.
class DataDependentOutputError : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};
class DynamicOutputShapeError : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};

// Throws an error of the same kind as `error`, with `context` put before its message. Use it in a
// catch block.
[[noreturn]] void rethrow_with_context(const Error& error, std::string_view context);

namespace internal {

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void throw_error(const Parts&... parts) {
  throw E(str_cat(parts...));
}

// Turns a check's condition into a bool. A SymBool's check_truth() says true for what can be known
// at run time only, and has it checked then; anything else is its truth.
template <class Condition>
[[gnu::always_inline]] constexpr bool check_truth(
    const Condition& condition, const char* text,
    std::source_location where = std::source_location::current()) {
  if constexpr (requires { condition.check_truth(text, where); }) {
    return condition.check_truth(text, where);
  } else {
    return static_cast<bool>(condition);
  }
}

[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace internal
}  // namespace sb

// Throws the given kind of error unless `condition` holds. The other arguments make the message, as
// sb::str_cat joins them; they are only evaluated on failure. A SymBool (sym_bool.h) that cannot be
// known yet passes and is checked at run time, as `torch._check` does.
#define SB_CHECK_KIND(Kind, condition, ...)                                \
  (__builtin_expect(::sb::internal::check_truth(condition, #condition), 1) \
       ? (void)0                                                           \
       : ::sb::internal::throw_error<::sb::Kind>(__VA_ARGS__))

#define SB_CHECK(condition, ...) SB_CHECK_KIND(RuntimeError, condition, __VA_ARGS__)
#define SB_CHECK_INDEX(condition, ...) SB_CHECK_KIND(IndexError, condition, __VA_ARGS__)
#define SB_CHECK_TYPE(condition, ...) SB_CHECK_KIND(TypeError, condition, __VA_ARGS__)
#define SB_CHECK_VALUE(condition, ...) SB_CHECK_KIND(ValueError, condition, __VA_ARGS__)
#define SB_CHECK_NOT_IMPLEMENTED(condition, ...) \
  SB_CHECK_KIND(NotImplementedError, condition, __VA_ARGS__)

// Throws the given kind of error: SB_THROW(TypeError, "...").
#define SB_THROW(Kind, ...) ::sb::internal::throw_error<::sb::Kind>(__VA_ARGS__)

// Aborts unless `condition` holds: for what only a bug of Switchboard's own can break. Always on.
#define SB_ASSERT(condition)                         \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? (void)0                                     \
       : ::sb::internal::assertion_failed(#condition, __FILE__, __LINE__))

#endif  // SWITCHBOARD_CORE_ERROR_H_
