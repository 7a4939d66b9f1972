// What the tests of this folder are written with: the whole message of an error, and places in a
// test's own source.

#ifndef SWITCHBOARD_TESTS_ERRORS_MESSAGE_H_
#define SWITCHBOARD_TESTS_ERRORS_MESSAGE_H_

#include <source_location>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/table_dump.h"

namespace sb {

// "ValueError: ...": the kind and the text of what f throws, every line of it; "" if nothing.
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return str_cat(error.kind(), ": ", error.what());
  }
  return "";
}

// The line after this one, where a test registers something, or another one, counted from here:
// "tests/errors/calling_errors_test.cc:31".
inline std::string here(int lines_on = 1,
                        std::source_location where = std::source_location::current()) {
  return str_cat(where.file_name(), ":", static_cast<int>(where.line()) + lines_on);
}

// Everything that is registered: each operator of namespace demo with its schema, its kernels and
// its whole table.
inline std::string registry_text(const Dispatcher& dispatcher) {
  std::string text = to_string(dump_tables(dispatcher));
  for (const OperatorHandle& op : dispatcher.all_ops())
    text += str_cat(op.name().to_string(), ": ", dispatcher.describe_kernels(op.entry()), "\n");
  for (const std::string& name : dispatcher.dangling_ops("demo")) {
    const OperatorEntry& entry = *dispatcher.find_entry(OperatorName::parse(name));
    text += str_cat(name, ": ", dispatcher.describe_kernels(entry), "\n");
  }
  return text;
}

// message(f), where f is refused: it changes nothing that is registered.
template <class F>
std::string refusal(const Dispatcher& dispatcher, F&& f) {
  const std::string before = registry_text(dispatcher);
  const std::string text = message(f);
  CHECK(registry_text(dispatcher) == before);
  return text;
}

}  // namespace sb

#endif  // SWITCHBOARD_TESTS_ERRORS_MESSAGE_H_
