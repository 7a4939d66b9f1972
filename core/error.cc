#include "switchboard/core/error.h"

#include <cstdio>
#include <cstdlib>

namespace sb {

[[gnu::cold]] void rethrow_with_context(const Error& error, std::string_view context) {
  const std::string message = str_cat(context, error.what());
  if (dynamic_cast<const IndexError*>(&error)) throw IndexError(message);
  if (dynamic_cast<const TypeError*>(&error)) throw TypeError(message);
  if (dynamic_cast<const ValueError*>(&error)) throw ValueError(message);
  if (dynamic_cast<const DataDependentOutputError*>(&error))
    throw DataDependentOutputError(message);
  if (dynamic_cast<const DynamicOutputShapeError*>(&error)) throw DynamicOutputShapeError(message);
  if (dynamic_cast<const NotImplementedError*>(&error)) throw NotImplementedError(message);
  throw RuntimeError(message);
}

namespace internal {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace internal
}  // namespace sb
