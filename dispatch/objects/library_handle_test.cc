#include "switchboard/dispatch/objects/library_handle.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("what a library registered goes with its handle, and stays if that is released") {
  const auto defining = [](const char* schema) {
    auto library = std::make_unique<Library>(Library::Kind::Fragment, "handle_test");
    library->define(schema);
    return internal::library_handle(std::move(library));
  };
  const auto exists = [](const char* op) { return default_dispatcher().find_op(op).has_value(); };
  {
    const RegistrationHandle handle = defining("goes() -> ()");
    CHECK(exists("handle_test::goes"));
  }
  CHECK_FALSE(exists("handle_test::goes"));
  defining("stays() -> ()").release();
  CHECK(exists("handle_test::stays"));
}

}  // namespace
}  // namespace sb
