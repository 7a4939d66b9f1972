#include "switchboard/core/error.h"

#include <cstdio>
#include <cstdlib>
#include <typeinfo>

namespace sb {

[[gnu::cold]] void rethrow_with_context(const Error& error, std::string_view context) {
  const std::string message = str_cat(context, error.what());
  const std::type_info& kind = typeid(error);
  if (kind == typeid(IndexError)) throw IndexError(message);
  if (kind == typeid(TypeError)) throw TypeError(message);
  if (kind == typeid(ValueError)) throw ValueError(message);
  if (kind == typeid(DataDependentOutputError)) throw DataDependentOutputError(message);
  if (kind == typeid(DynamicOutputShapeError)) throw DynamicOutputShapeError(message);
  if (kind == typeid(NotImplementedError)) throw NotImplementedError(message);
  if (kind == typeid(RuntimeError)) throw RuntimeError(message);
  throw;  // of a kind of somebody's own, which may hold more than a message
}

namespace internal {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace internal
}  // namespace sb
