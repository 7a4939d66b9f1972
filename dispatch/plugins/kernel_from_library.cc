#include "switchboard/dispatch/plugins/kernel_from_library.h"

#include <atomic>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/dispatch/plugins/load_library.h"

namespace sb {
namespace {

using BoxedFunction = void (*)(const OperatorHandle&, DispatchKeySet, Stack*);

struct LibraryKernel final : KernelState {
  LibraryKernel(std::string path, std::string symbol)
      : path(std::move(path)), symbol(std::move(symbol)) {}

  static void call(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys,
                   Stack* stack) {
    static_cast<const LibraryKernel*>(kernel.state)->find(op)(op, keys, stack);
  }

  BoxedFunction find(const OperatorHandle& op) const {
    if (const BoxedFunction known = function.load(std::memory_order_acquire)) return known;
    try {
      // Threads that come here together find the same function.
      const auto found = reinterpret_cast<BoxedFunction>(internal::symbol_of_library(path, symbol));
      function.store(found, std::memory_order_release);
      return found;
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(op.name().to_string(), ": "));
    }
  }

  const std::string path;
  const std::string symbol;
  mutable std::atomic<BoxedFunction> function{nullptr};
};

}  // namespace

void impl_from_library(Library& m, std::string_view op, DispatchKey key, std::string path,
                       std::string symbol, SourceLocation where) {
  SB_CHECK(functionality_of(key) == DispatchKey::Dense, m.to_string(), ": '", op, "' [",
           to_string(key),
           "]: a kernel of a shared object goes to the key of a dense backend; name one, as CPU",
           "\nat: ", to_string(where));
  KernelFunction kernel;
  kernel.state = make_intrusive<LibraryKernel>(std::move(path), std::move(symbol));
  kernel.entries = {nullptr, &LibraryKernel::call, kernel.state.get()};
  m.impl(op, key, std::move(kernel), where);
}

}  // namespace sb
